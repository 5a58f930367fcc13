//! Weights, reduction and name of a loss.

use super::Reduction;
use crate::core::{DType, Result};
use crate::graph::{Tensor, ops};
use crate::nn;

/// A loss with weights, another reduction or a name. Default: weights of 1, [`Reduction::SumByNonzeroWeights`].
///
/// Each loss of [`losses`](crate::losses) is a method here too.
///
/// # Examples
/// ```
/// use tpulab as tf;
/// use tpulab::prelude::*;
/// use tpulab::losses::{LossOptions, Reduction};
/// let graph = Graph::new();
/// let logits = graph.placeholder("logits", DType::Float32, Shape::new(&[None, Some(3)]));
/// let labels = graph.placeholder("labels", DType::Int32, Shape::new(&[None]));
/// let sum = LossOptions::new().reduction(Reduction::Sum).sparse_softmax_cross_entropy(&labels, &logits)?;
/// assert_eq!(sum.name(), "sparse_softmax_cross_entropy_loss/Sum:0");
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct LossOptions {
    pub(super) weights: Option<Tensor>,
    pub(super) label_smoothing: f64,
    reduction: Reduction,
    scope: Option<String>,
}

impl LossOptions {
    /// No weights, the default reduction, no name.
    pub fn new() -> Self {
        LossOptions::default()
    }

    /// What each loss is multiplied with: one number, or as many dimensions as the losses have, each of their size or
    /// of size 1.
    pub fn weights(mut self, weights: &Tensor) -> Self {
        self.weights = Some(weights.clone());
        self
    }

    /// What becomes of the losses of single examples.
    pub fn reduction(mut self, reduction: Reduction) -> Self {
        self.reduction = reduction;
        self
    }

    /// How far labels of 0 and 1 are moved towards indifference, from 0 (not at all, the default) to 1. Counts for
    /// softmax and sigmoid cross entropy.
    pub fn label_smoothing(mut self, label_smoothing: f64) -> Self {
        self.label_smoothing = label_smoothing;
        self
    }

    /// The name that its ops start with, instead of the loss's own.
    pub fn scope(mut self, scope: &str) -> Self {
        self.scope = Some(scope.to_string());
        self
    }

    /// Weighs and reduces the losses of single examples, and remembers the result in the collection `losses`. The
    /// result has the dtype of `losses`; in between all is float32. TensorFlow: `tf.losses.compute_weighted_loss`.
    ///
    /// # Errors
    /// `GRAPH001` if the weights do not stretch to the losses.
    pub fn compute_weighted_loss(&self, losses: &Tensor) -> Result<Tensor> {
        self.in_scope(losses, "weighted_loss", || self.weigh(losses))
    }

    /// Runs `build` inside the loss's name scope.
    pub(super) fn in_scope(
        &self,
        like: &Tensor,
        default: &str,
        build: impl FnOnce() -> Result<Tensor>,
    ) -> Result<Tensor> {
        like.graph().name_scope(self.scope.as_deref().unwrap_or(default), build)
    }

    pub(super) fn weigh(&self, losses: &Tensor) -> Result<Tensor> {
        let plain = ops::cast(losses, DType::Float32)?;
        let loss = match &self.weights {
            None => self.reduction.reduce(&plain, None)?,
            Some(weights) => {
                nn::check_broadcast_of_weights("loss", weights, &plain)?;
                let weights = ops::cast(weights, DType::Float32)?;
                self.reduction.reduce(&ops::multiply(&plain, &weights)?, Some(&weights))?
            }
        };
        let loss = ops::cast(&loss, losses.dtype())?;
        loss.graph().add_to_collection(LOSSES, &loss);
        Ok(loss)
    }
}

/// The collection that holds all losses of a graph.
const LOSSES: &str = "losses";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{Array, Shape};
    use crate::graph::Graph;

    fn losses(graph: &Graph, dtype: DType) -> Tensor {
        graph.placeholder("losses", dtype, Shape::new(&[None]))
    }

    fn op_names(graph: &Graph) -> Vec<String> {
        graph.nodes().into_iter().skip(1).map(|node| node.name).collect()
    }

    #[test]
    fn without_weights_the_mean_takes_four_nodes() {
        for reduction in [Reduction::SumByNonzeroWeights, Reduction::Mean, Reduction::SumOverBatchSize] {
            let graph = Graph::new();
            let options = LossOptions::new().reduction(reduction);
            let loss = options.compute_weighted_loss(&losses(&graph, DType::Float32)).unwrap();
            assert_eq!(loss.shape(), Shape::scalar());
            assert_eq!(
                op_names(&graph),
                [
                    "weighted_loss/num_elements/Size",
                    "weighted_loss/num_elements/Cast",
                    "weighted_loss/Sum",
                    "weighted_loss/value"
                ]
            );
        }
    }

    #[test]
    fn unreduced_losses_keep_their_shape_and_are_collected() {
        let graph = Graph::new();
        let each = losses(&graph, DType::Float32);
        let weights = graph.constant(2.0f32);
        let options = LossOptions::new().weights(&weights).reduction(Reduction::None).scope("each");
        let loss = options.compute_weighted_loss(&each).unwrap();
        assert_eq!((loss.name(), loss.shape().to_string()), ("each/mul:0".to_string(), "[?]".to_string()));
        assert!(graph.collection("losses")[0].is_same(&loss));
    }

    #[test]
    fn float64_losses_pass_through_float32() {
        let graph = Graph::new();
        let loss = LossOptions::new().compute_weighted_loss(&losses(&graph, DType::Float64)).unwrap();
        assert_eq!(loss.dtype(), DType::Float64);
        assert_eq!(graph.tensor("weighted_loss/value").unwrap().dtype(), DType::Float32);
    }

    #[test]
    fn weights_that_do_not_stretch_are_refused() {
        let graph = Graph::new();
        let weights = graph.constant(Array::full(&[2, 1], 1.0f32));
        let error = LossOptions::new().weights(&weights).compute_weighted_loss(&losses(&graph, DType::Float32));
        assert_eq!(
            error.unwrap_err().to_string(),
            "GRAPH001: loss weights: left is [2, 1], right is [?]; weights must be one number, or have the rank of the \
             values and each size equal to theirs or 1"
        );
    }
}
