//! Losses: how wrong predictions are, as one number to make small.
//!
//! Knows no variables and no training. Each loss is remembered in the graph's collection `losses`.

mod cross_entropy;
mod options;
mod reduction;
mod regularization;
mod squared_error;

pub use cross_entropy::{sigmoid_cross_entropy, softmax_cross_entropy, sparse_softmax_cross_entropy};
pub use options::LossOptions;
pub use reduction::Reduction;
pub use regularization::get_regularization_loss;
pub use squared_error::mean_squared_error;
