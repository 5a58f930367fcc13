//! What becomes of the losses of single examples.

use crate::core::Result;
use crate::graph::Tensor;
use crate::graph::ops::{self, Binary, Op};

/// What becomes of the losses of single examples, each multiplied by its weight. TensorFlow: `tf.losses.Reduction`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Reduction {
    /// They stay as they are.
    None,
    /// Their sum.
    Sum,
    /// Their sum, divided by their number.
    SumOverBatchSize,
    /// Their sum, divided by the sum of the weights.
    Mean,
    /// Their sum, divided by how many weights are not zero; without weights, the mean over the batch. The default.
    #[default]
    #[doc(alias = "SUM_OVER_NONZERO_WEIGHTS")]
    SumByNonzeroWeights,
}

impl Reduction {
    /// Reduces float32 losses, which `weights` have already been multiplied into.
    ///
    /// A quotient is 0 where its divisor is: an empty batch has no loss.
    pub(super) fn reduce(self, losses: &Tensor, weights: Option<&Tensor>) -> Result<Tensor> {
        let divisor = match (self, weights) {
            (Reduction::None, _) => return Ok(losses.clone()),
            (Reduction::Sum, _) => return ops::reduce_sum(losses, &[]),
            (Reduction::Mean, Some(weights)) => ops::reduce_sum(&over_losses(weights, losses)?, &[])?,
            (Reduction::SumByNonzeroWeights, Some(weights)) => number_present(weights, losses)?,
            (_, None) | (Reduction::SumOverBatchSize, Some(_)) => number_of_elements(losses)?,
        };
        let sum = ops::reduce_sum(losses, &[])?;
        losses.graph().add(Op::Binary(Binary::DivNoNan), "value", &[&sum, &divisor])
    }
}

fn number_of_elements(losses: &Tensor) -> Result<Tensor> {
    losses.graph().name_scope("num_elements", || ops::cast(&ops::size(losses)?, losses.dtype()))
}

/// How many losses have a weight other than zero.
fn number_present(weights: &Tensor, losses: &Tensor) -> Result<Tensor> {
    weights.graph().name_scope("num_present", || {
        let zeros = ops::zeros_like(weights)?;
        let present = ops::cast(&ops::not_equal(weights, &zeros)?, losses.dtype())?;
        ops::reduce_sum(&over_losses(&present, losses)?, &[])
    })
}

/// Weights stretched to one for each loss.
fn over_losses(weights: &Tensor, losses: &Tensor) -> Result<Tensor> {
    ops::multiply(weights, &ops::fill_like(losses, 1.0)?)
}
