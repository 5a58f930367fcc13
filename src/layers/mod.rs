//! Layers: ops together with the variables they train.
//!
//! Knows nothing of losses and optimizers. Names are TensorFlow's, so checkpoints of both fit each other.

mod dense;
mod dropout;
mod flatten;

pub use dense::{Dense, dense};
pub use dropout::{Phase, dropout};
pub use flatten::flatten;
