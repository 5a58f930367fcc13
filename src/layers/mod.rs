//! Layers: ops together with the variables they train.
//!
//! Knows nothing of losses and optimizers, but remembers penalties on weights in a collection of the graph. Names are TensorFlow's, so checkpoints of both fit each other.

mod dense;
mod dropout;
mod flatten;
mod regularizer;

pub use dense::{Dense, dense};
pub use dropout::{Phase, dropout};
pub use flatten::flatten;
pub(crate) use regularizer::REGULARIZATION_LOSSES;
pub use regularizer::{Regularizer, l1_regularizer, l2_regularizer};
