//! What neural networks are made of: activations, cross entropies, dropout.
//!
//! Knows no variables and no training: each function puts a few ops into the graph of its arguments.

mod cross_entropy;
mod dimensions;

use crate::core::Result;
use crate::graph::Tensor;

pub use crate::graph::ops::{
    bias_add, dropout, elu, l2_loss, log_softmax, relu, sigmoid, softmax, softmax_cross_entropy_with_logits, softplus,
    sparse_softmax_cross_entropy_with_logits, tanh,
};
pub use cross_entropy::sigmoid_cross_entropy_with_logits;
pub(crate) use dimensions::{check_broadcast_of_weights, require_same_shape, squeeze_last, squeeze_to_rank_difference};

/// What a layer may apply to its result, such as [`relu`]; a function of one's own or a closure that captures nothing
/// serves as well.
pub type Activation = fn(&Tensor) -> Result<Tensor>;
