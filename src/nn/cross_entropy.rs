//! Cross entropy of independent yes-or-no answers.

use crate::core::Result;
use crate::graph::{Tensor, ops};

/// Cross entropy of each logit `x` with its label `z` in `[0, 1]`: `max(x, 0) - x·z + log(1 + e^-|x|)`, which neither
/// overflows nor loses small values. TensorFlow: `tf.nn.sigmoid_cross_entropy_with_logits`.
///
/// Labels and logits have one shape, which the result has too.
///
/// # Errors
/// `GRAPH001` if the shapes differ, `GRAPH003` or `GRAPH004` for the dtypes.
pub fn sigmoid_cross_entropy_with_logits(labels: &Tensor, logits: &Tensor) -> Result<Tensor> {
    super::require_same_shape("sigmoid_cross_entropy_with_logits", labels, logits)?;
    logits.graph().name_scope("logistic_loss", || {
        // Chosen by comparison and not by `maximum` and `abs`: at a logit of 0 their gradients would not add up to
        // `sigmoid(0) - z`, and fresh weights of zero give just that.
        let zeros = ops::zeros_like(logits)?;
        let is_positive = ops::greater_equal(logits, &zeros)?;
        let positive_part = ops::where_(&is_positive, logits, &zeros)?;
        let negative_magnitude = ops::where_(&is_positive, &ops::negative(logits)?, logits)?;
        let linear = ops::subtract(&positive_part, &ops::multiply(logits, labels)?)?;
        ops::add(&linear, &ops::log1p(&ops::exp(&negative_magnitude)?)?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{DType, Shape};
    use crate::graph::Graph;

    #[test]
    fn labels_of_another_shape_are_refused() {
        let graph = Graph::new();
        let labels = graph.placeholder("labels", DType::Float32, Shape::new(&[None]));
        let logits = graph.placeholder("logits", DType::Float32, Shape::new(&[None, Some(1)]));
        assert_eq!(
            sigmoid_cross_entropy_with_logits(&labels, &logits).unwrap_err().to_string(),
            "GRAPH001: sigmoid_cross_entropy_with_logits: left is [?], right is [?, 1]; both must have one shape"
        );
    }
}
