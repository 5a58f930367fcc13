//! Cross entropies as losses.

use super::LossOptions;
use crate::core::Result;
use crate::graph::ops::{self, Entropy, Op};
use crate::graph::{GraphError, Tensor};
use crate::nn;

/// Mean cross entropy of logits `[batch, classes]` with class numbers `[batch]`, int32 or int64; labels `[batch, 1]`
/// are taken as `[batch]`. One number. TensorFlow: `tf.losses.sparse_softmax_cross_entropy`.
///
/// [`LossOptions`] takes weights and another reduction.
///
/// # Errors
/// `GRAPH001` or `GRAPH002` for the shapes, `GRAPH004` for the dtypes. A label that is no class fails when it is run.
///
/// # Examples
/// ```
/// use tpulab as tf;
/// use tpulab::prelude::*;
/// let graph = Graph::new();
/// let logits = graph.placeholder("logits", DType::Float32, Shape::new(&[None, Some(3)]));
/// let labels = graph.placeholder("labels", DType::Int32, Shape::new(&[None]));
/// let loss = tf::losses::sparse_softmax_cross_entropy(&labels, &logits)?;
/// assert_eq!(loss.name(), "sparse_softmax_cross_entropy_loss/value:0");
/// # Ok::<(), Error>(())
/// ```
pub fn sparse_softmax_cross_entropy(labels: &Tensor, logits: &Tensor) -> Result<Tensor> {
    LossOptions::new().sparse_softmax_cross_entropy(labels, logits)
}

/// Mean cross entropy of logits `[batch, classes]` with a distribution over the classes for each row,
/// `[batch, classes]`. One number. TensorFlow: `tf.losses.softmax_cross_entropy`.
///
/// # Errors
/// `GRAPH001` or `GRAPH002` for the shapes, `GRAPH004` for the dtypes.
pub fn softmax_cross_entropy(onehot_labels: &Tensor, logits: &Tensor) -> Result<Tensor> {
    LossOptions::new().softmax_cross_entropy(onehot_labels, logits)
}

/// Mean cross entropy of logits with labels from 0 to 1, each for itself; both have one shape. One number.
/// TensorFlow: `tf.losses.sigmoid_cross_entropy`.
///
/// # Errors
/// `GRAPH001` if the shapes differ, `GRAPH004` for the dtypes.
pub fn sigmoid_cross_entropy(multi_class_labels: &Tensor, logits: &Tensor) -> Result<Tensor> {
    LossOptions::new().sigmoid_cross_entropy(multi_class_labels, logits)
}

impl LossOptions {
    /// [`sparse_softmax_cross_entropy`] with these options.
    ///
    /// # Errors
    /// As there, and `GRAPH001` for the weights.
    pub fn sparse_softmax_cross_entropy(&self, labels: &Tensor, logits: &Tensor) -> Result<Tensor> {
        self.in_scope(logits, "sparse_softmax_cross_entropy_loss", || {
            let (labels, logits) = nn::squeeze_to_rank_difference(labels, logits, 1)?;
            let mut options = self.clone();
            if let Some(weights) = &mut options.weights
                && weights.shape().rank() == labels.shape().rank() + 1
            {
                *weights = nn::squeeze_last(weights)?;
            }
            let op = Op::Entropy(Entropy::SparseSoftmaxCrossEntropyWithLogits);
            let losses = logits.graph().add(op, "xentropy/xentropy", &[&logits, &labels])?;
            options.weigh(&losses)
        })
    }

    /// [`softmax_cross_entropy`] with these options.
    ///
    /// # Errors
    /// As there, and `GRAPH001` for the weights.
    pub fn softmax_cross_entropy(&self, onehot_labels: &Tensor, logits: &Tensor) -> Result<Tensor> {
        self.in_scope(logits, "softmax_cross_entropy_loss", || {
            let mut labels = ops::cast(onehot_labels, logits.dtype())?;
            nn::require_same_shape("softmax_cross_entropy", &labels, logits)?;
            if self.label_smoothing > 0.0 {
                let Some(classes) = logits.shape().size(1) else {
                    let (op, found) = ("softmax_cross_entropy".to_string(), logits.shape());
                    let expected = "a known number of classes to smooth the labels over".to_string();
                    return Err(GraphError::Shape { op, found, expected }.into());
                };
                let kept = (&labels * (1.0 - self.label_smoothing))?;
                labels = (&kept + self.label_smoothing / classes as f64)?;
            }
            let losses = nn::softmax_cross_entropy_with_logits(&ops::stop_gradient(&labels)?, logits)?;
            self.weigh(&losses)
        })
    }

    /// [`sigmoid_cross_entropy`] with these options.
    ///
    /// # Errors
    /// As there, and `GRAPH001` for the weights.
    pub fn sigmoid_cross_entropy(&self, multi_class_labels: &Tensor, logits: &Tensor) -> Result<Tensor> {
        self.in_scope(logits, "sigmoid_cross_entropy_loss", || {
            let mut labels = ops::cast(multi_class_labels, logits.dtype())?;
            if self.label_smoothing > 0.0 {
                let kept = (&labels * (1.0 - self.label_smoothing))?;
                labels = (&kept + 0.5 * self.label_smoothing)?;
            }
            self.weigh(&nn::sigmoid_cross_entropy_with_logits(&labels, logits)?)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{DType, Shape};
    use crate::graph::{Graph, gradients};
    use crate::layers;

    fn placeholder(graph: &Graph, dtype: DType, sizes: &[Option<usize>]) -> Tensor {
        graph.placeholder("x", dtype, Shape::new(sizes))
    }

    #[test]
    fn labels_of_one_column_are_squeezed_and_so_are_weights() {
        let graph = Graph::new();
        let logits = placeholder(&graph, DType::Float32, &[Some(8), Some(3)]);
        let column = placeholder(&graph, DType::Int64, &[Some(8), Some(1)]);
        let weights = placeholder(&graph, DType::Float32, &[Some(8), Some(1)]);
        let loss = LossOptions::new().weights(&weights).sparse_softmax_cross_entropy(&column, &logits).unwrap();
        assert_eq!(loss.shape(), Shape::scalar());
        let squeezed = "sparse_softmax_cross_entropy_loss/remove_squeezable_dimensions/Squeeze";
        assert_eq!(graph.tensor(squeezed).unwrap().shape().to_string(), "[8]");
    }

    #[test]
    fn labels_of_other_shapes_and_types_are_refused() {
        let graph = Graph::new();
        let logits = placeholder(&graph, DType::Float32, &[Some(8), Some(3)]);
        let refusal = |dtype, sizes: &[Option<usize>]| {
            sparse_softmax_cross_entropy(&placeholder(&graph, dtype, sizes), &logits).unwrap_err().to_string()
        };
        assert_eq!(
            refusal(DType::Int32, &[Some(4)]),
            "GRAPH001: SparseSoftmaxCrossEntropyWithLogits: left is [8, 3], right is [4]; there must be one label for \
             each row of logits"
        );
        assert_eq!(
            refusal(DType::Float32, &[Some(8)]),
            "GRAPH004: SparseSoftmaxCrossEntropyWithLogits: expected labels of int32 or int64, found float32; `cast` it \
             first"
        );
        let onehot = placeholder(&graph, DType::Float32, &[Some(8), Some(4)]);
        assert_eq!(
            softmax_cross_entropy(&onehot, &logits).unwrap_err().to_string(),
            "GRAPH001: softmax_cross_entropy: left is [8, 4], right is [8, 3]; both must have one shape"
        );
    }

    #[test]
    fn no_gradient_reaches_labels() {
        let graph = Graph::new();
        let x = placeholder(&graph, DType::Float32, &[None, Some(3)]);
        let labels = layers::dense(&x, 3, None).unwrap();
        let logits = layers::dense(&x, 3, None).unwrap();
        let loss = LossOptions::new().label_smoothing(0.1).softmax_cross_entropy(&labels, &logits).unwrap();
        let found = gradients(&loss, &graph.trainable_variables()).unwrap();
        assert_eq!(found.iter().map(Option::is_some).collect::<Vec<_>>(), [false, false, true, true]);
    }

    #[test]
    fn a_second_loss_has_a_scope_of_its_own() {
        let graph = Graph::new();
        let logits = placeholder(&graph, DType::Float32, &[None]);
        let labels = placeholder(&graph, DType::Int32, &[None]);
        sigmoid_cross_entropy(&labels, &logits).unwrap();
        let second = sigmoid_cross_entropy(&labels, &logits).unwrap();
        assert_eq!(second.name(), "sigmoid_cross_entropy_loss_1/value:0");
        assert_eq!(graph.collection("losses").len(), 2);
    }
}
