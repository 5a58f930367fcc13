//! The squared error as a loss.

use super::LossOptions;
use crate::core::{DType, Result};
use crate::graph::{Tensor, ops};
use crate::nn;

/// Mean of `(predictions - labels)²`, computed in float32; both have one shape. One number. TensorFlow:
/// `tf.losses.mean_squared_error`.
///
/// # Errors
/// `GRAPH001` if the shapes differ, such as `[batch]` and `[batch, 1]`; `GRAPH004` for texts.
pub fn mean_squared_error(labels: &Tensor, predictions: &Tensor) -> Result<Tensor> {
    LossOptions::new().mean_squared_error(labels, predictions)
}

impl LossOptions {
    /// [`mean_squared_error`] with these options.
    ///
    /// # Errors
    /// As there, and `GRAPH001` for the weights.
    pub fn mean_squared_error(&self, labels: &Tensor, predictions: &Tensor) -> Result<Tensor> {
        self.in_scope(predictions, "mean_squared_error", || {
            nn::require_same_shape("mean_squared_error", labels, predictions)?;
            let labels = ops::cast(labels, DType::Float32)?;
            let predictions = ops::cast(predictions, DType::Float32)?;
            self.weigh(&ops::squared_difference(&predictions, &labels)?)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::Shape;
    use crate::graph::Graph;

    #[test]
    fn a_column_and_a_row_are_not_broadcast() {
        let graph = Graph::new();
        let labels = graph.placeholder("labels", DType::Float64, Shape::new(&[Some(8)]));
        let column = graph.placeholder("predictions", DType::Float32, Shape::new(&[Some(8), Some(1)]));
        assert_eq!(
            mean_squared_error(&labels, &column).unwrap_err().to_string(),
            "GRAPH001: mean_squared_error: left is [8], right is [8, 1]; both must have one shape"
        );
        let row = ops::squeeze(&column, &[1]).unwrap();
        assert_eq!(mean_squared_error(&labels, &row).unwrap().dtype(), DType::Float32);
    }
}
