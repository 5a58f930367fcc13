//! The layer that drops values while training.

use crate::core::Result;
use crate::graph::{Tensor, ops};

/// Whether a layer that behaves differently in training is used for training.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Variables are being trained.
    Training,
    /// Evaluation and prediction.
    Inference,
}

/// In training sets each element to 0 with probability `rate` and scales the others by `1 / (1 - rate)`; else gives
/// `x` as it is. TensorFlow: `tf.layers.dropout`.
///
/// # Errors
/// `GRAPH004` if `x` is not floating point, `GRAPH006` if `rate` is not in `[0, 1)`.
pub fn dropout(x: &Tensor, rate: f64, phase: impl Into<Phase>) -> Result<Tensor> {
    let phase = phase.into();
    x.graph().name_scope("dropout", || match phase {
        Phase::Training => ops::dropout(x, rate),
        Phase::Inference => ops::identity(x),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{DType, Shape};
    use crate::graph::Graph;

    #[test]
    fn nothing_is_dropped_at_inference() {
        let graph = Graph::new();
        let x = graph.placeholder("x", DType::Float32, Shape::new(&[None, Some(4)]));
        assert_eq!(dropout(&x, 0.4, Phase::Inference).unwrap().name(), "dropout/Identity:0");
        assert!(dropout(&x, 0.4, Phase::Training).unwrap().name().starts_with("dropout_1/dropout/"));
        assert_eq!(
            dropout(&x, 1.0, Phase::Training).unwrap_err().to_string(),
            "GRAPH006: dropout: rate must be in [0, 1), found 1; give the probability that an element is dropped"
        );
    }
}
