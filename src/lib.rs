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
