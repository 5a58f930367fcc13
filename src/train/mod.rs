//! Optimizers: how gradients change variables.
//!
//! Knows the graph alone: no files, no loop, no TPU. An optimizer adds update ops to the graph; an engine runs them.

mod adagrad;
mod adam;
mod error;
mod ftrl;
mod gradient_descent;
mod learning_rate;
mod momentum;
mod number;
mod optimizer;
mod rms_prop;
mod schedule;
mod slot;
mod update;

pub use adagrad::AdagradOptimizer;
pub use adam::AdamOptimizer;
pub use error::TrainError;
pub use ftrl::FtrlOptimizer;
pub use gradient_descent::GradientDescentOptimizer;
pub use learning_rate::LearningRate;
pub use momentum::MomentumOptimizer;
pub use optimizer::{GradientAndVariable, Optimizer};
pub use rms_prop::RmsPropOptimizer;
pub use schedule::{Decay, exponential_decay, piecewise_constant};
