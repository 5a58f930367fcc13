//! tpulab: how a TensorFlow 1.x program moves from Estimator to TPUEstimator, on a simulated TPU.

pub use ndarray;

pub mod core;
pub mod notebook;
pub mod wire;
pub mod storage;
pub mod data;
pub mod graph;
pub mod nn;
pub mod layers;
pub mod losses;
pub mod metrics;
pub mod feature_column;
pub mod train;
pub mod engine;
pub mod checkpoint;
pub mod estimator;
pub mod tpu;
pub mod lab;
pub mod iris;
pub mod flags;
pub mod prelude;

pub use graph::ops::{
    abs, add, add_n, argmax, broadcast_like, cast, check_numerics, clip_by_global_norm, clip_by_value, concat,
    div_no_nan, divide, equal, exp, expand_dims, floor, gather, global_norm, greater, greater_equal, identity, less,
    less_equal, log, log1p, logical_and, logical_not, logical_or, matmul, maximum, minimum, multiply, negative,
    not_equal, one_hot, pad, pow, reduce_all, reduce_any, reduce_max, reduce_mean, reduce_min, reduce_prod, reduce_sum,
    reshape, rsqrt, sigmoid, sign, slice, sqrt, square, squared_difference, squeeze, stop_gradient, subtract, tanh,
    transpose, unsorted_segment_sum, where_, zeros_like,
};
