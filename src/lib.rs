//! tpulab: how a TensorFlow 1.x program moves from Estimator to TPUEstimator, on a simulated TPU.
//!
//! With `use tpulab as tf;` the names are TensorFlow's in Rust's case: `tf::layers::dense`, `tf::losses`, `tf::tpu`. The
//! numbers are TensorFlow's too. The TPU is simulated: threads share each batch as its cores do, and average their
//! gradients.
//!
//! # A whole program
//!
//! Four examples, repeated to batches of 16, of which each of eight cores gets two rows.
//!
//! ```
//! use tpulab as tf;
//! use tpulab::prelude::*;
//!
//! fn input_fn(batch_size: usize) -> Result<Dataset> {
//!     let features = Frame::new([("x", Column::from(vec![0.0f32, 1.0, 2.0, 3.0]))])?;
//!     let labels = Column::from(vec![0i32, 0, 1, 1]);
//!     Ok(Dataset::from_tensor_slices((&features, &labels))?.repeat().batch(batch_size, Remainder::Drop))
//! }
//!
//! fn model_fn(features: &Tensors, labels: Option<&Tensor>, _: ModeKeys, _: &Params) -> Result<TpuEstimatorSpec> {
//!     let net = tf::feature_column::input_layer(features, &[tf::feature_column::numeric_column("x")])?;
//!     let logits = tf::layers::dense(&net, 2, None)?;
//!     let Some(labels) = labels else {
//!         return Ok(TpuEstimatorSpec::predict(Tensors::from([("logits", logits)])));
//!     };
//!     let loss = tf::losses::sparse_softmax_cross_entropy(labels, &logits)?;
//!     let optimizer = CrossShardOptimizer::new(tf::train::AdagradOptimizer::new(0.1));
//!     let train_op = optimizer.minimize(&loss, Some(&features.graph().global_step()))?;
//!     Ok(TpuEstimatorSpec::train(loss, train_op))
//! }
//!
//! let classifier = TpuEstimator::new(model_fn).train_batch_size(16).build()?;
//! let report = classifier.train(|params| input_fn(params.batch_size()), MaxSteps(100))?;
//! assert_eq!((report.steps(), report.shards()), (100, 8));
//! assert!(report.losses()[99] < report.losses()[0]);
//! # Ok::<(), Error>(())
//! ```
//!
//! # The map
//!
//! Each floor stands only on those above it in this list, which is also the order to read them in.
//!
//! | floor | what it gives |
//! |---|---|
//! | [`core`] | concrete values, their types and shapes, errors, random streams |
//! | [`notebook`] | how a value shows itself in a cell, logs, progress, input, the stop flag |
//! | [`wire`] | TensorFlow's way to write messages, records and checksums |
//! | [`storage`] | local folders and `gs://` buckets behind one face |
//! | [`data`] | columns, frames, the CSV reader, datasets |
//! | [`plot`] | figures from plain numbers |
//! | [`graph`] | tensors that stand for values to come, operations, gradients |
//! | [`nn`], [`layers`], [`losses`], [`metrics`], [`feature_column`], [`train`] | what a model function calls |
//! | [`engine`] | compiles a graph into a plan and runs it, on one replica or many |
//! | [`checkpoint`] | TensorFlow's checkpoint files |
//! | [`summary`] | TensorFlow's event files, which TensorBoard shows |
//! | [`estimator`] | [`Estimator`](estimator::Estimator) and the training loop; knows of no TPU |
//! | [`tpu`] | [`TpuEstimator`](tpu::TpuEstimator) and the simulated TPU |
//! | [`lab`] | how a notebook tests its claims |
//! | [`iris`], [`flags`], [`prelude`] | the tutorial's data, its command line, and all names that a cell needs |
//!
//! # Errors
//!
//! Whatever can fail returns [`core::Result`], with one error type for all floors. An [`Error`](core::Error) has a stable
//! code, says what was found where and what to do, and knows the exception that TensorFlow raises in its place. Wrong
//! input is never a panic, and what can be found before the first step is found there.
//!
//! ```
//! use tpulab::prelude::*;
//! use tpulab::tpu::{BatchPlan, Topology, TpuConfig};
//!
//! let error = BatchPlan::on_tpu(ModeKeys::Train, Some(100), &TpuConfig::new(), Topology::new("v3-8")?).unwrap_err();
//! assert_eq!((error.code(), error.exception()), ("TPU012", Exception::ValueError));
//! # Ok::<(), Error>(())
//! ```

#[cfg(feature = "linfa")]
pub use linfa;
pub use ndarray;
pub use serde_json;

pub mod core;
pub mod notebook;
pub mod wire;
pub mod storage;
pub mod data;
pub mod plot;
pub mod graph;
pub mod nn;
pub mod layers;
pub mod losses;
pub mod metrics;
pub mod feature_column;
pub mod train;
pub mod engine;
pub mod checkpoint;
pub mod summary;
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

/// The code of the page for one's own data, compiled.
#[cfg(doctest)]
#[doc = include_str!("../docs/your_own_data.md")]
mod your_own_data {}
