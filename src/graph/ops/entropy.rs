//! Softmax and the cross entropies.

use super::{
    Backward, Gradients, Op, Outputs, Signature, exp, expand_dims, multiply, reduce_sum, require_floating,
    require_rank, require_same_dtype, subtract,
};
use crate::core::{DType, Result, Shape};
use crate::graph::{GraphError, Tensor};

/// Softmax and the cross entropies, over the last of two dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the variants carry the names of TensorFlow's ops")]
pub enum Entropy {
    Softmax,
    LogSoftmax,
    /// Inputs: logits, labels `[batch]`; outputs: loss `[batch]`, backprop `[batch, classes]`.
    SparseSoftmaxCrossEntropyWithLogits,
    /// Inputs: logits, labels `[batch, classes]`; outputs: loss `[batch]`, backprop `[batch, classes]`.
    SoftmaxCrossEntropyWithLogits,
}

impl Entropy {
    pub(crate) fn type_name(self) -> &'static str {
        match self {
            Entropy::Softmax => "Softmax",
            Entropy::LogSoftmax => "LogSoftmax",
            Entropy::SparseSoftmaxCrossEntropyWithLogits => "SparseSoftmaxCrossEntropyWithLogits",
            Entropy::SoftmaxCrossEntropyWithLogits => "SoftmaxCrossEntropyWithLogits",
        }
    }

    pub(super) fn infer(self, inputs: &[Signature<'_>]) -> Result<Outputs> {
        let (op, logits) = (self.type_name(), inputs[0]);
        require_floating(op, logits)?;
        match self {
            Entropy::Softmax | Entropy::LogSoftmax => {
                if logits.shape.rank() == 0 {
                    let expected = "at least one dimension".to_string();
                    let found = logits.shape.clone();
                    return Err(GraphError::Shape { op: op.to_string(), found, expected }.into());
                }
                return Ok(vec![(logits.dtype, logits.shape.clone())]);
            }
            Entropy::SparseSoftmaxCrossEntropyWithLogits => {
                require_rank(op, logits, 2)?;
                let labels = inputs[1];
                if !matches!(labels.dtype, DType::Int32 | DType::Int64) {
                    let expected = "labels of int32 or int64".to_string();
                    return Err(GraphError::DType { op: op.to_string(), found: labels.dtype, expected }.into());
                }
                let rows = Shape::new(&[logits.shape.size(0)]);
                if !labels.shape.is_compatible(&rows) {
                    let rule = "there must be one label for each row of logits".to_string();
                    let (left, right) = (logits.shape.clone(), labels.shape.clone());
                    return Err(GraphError::Shapes { op: op.to_string(), left, right, rule }.into());
                }
            }
            Entropy::SoftmaxCrossEntropyWithLogits => {
                require_rank(op, logits, 2)?;
                require_same_dtype(op, logits, inputs[1])?;
                if !logits.shape.is_compatible(inputs[1].shape) {
                    let rule = "logits and labels must have one shape".to_string();
                    let (left, right) = (logits.shape.clone(), inputs[1].shape.clone());
                    return Err(GraphError::Shapes { op: op.to_string(), left, right, rule }.into());
                }
            }
        }
        let rows = logits.shape.size(0).or(inputs[1].shape.size(0));
        Ok(vec![(logits.dtype, Shape::new(&[rows])), (logits.dtype, Shape::new(&[rows, logits.shape.size(1)]))])
    }

    pub(super) fn gradient(self, node: &Backward<'_>) -> Result<Gradients> {
        match self {
            Entropy::Softmax => {
                let (y, dy) = (node.output(0), node.gradient(0)?);
                let total = expand_dims(&reduce_sum(&multiply(dy, &y)?, &[-1])?, -1)?;
                Ok(vec![Some(multiply(&subtract(dy, &total)?, &y)?)])
            }
            Entropy::LogSoftmax => {
                let (y, dy) = (node.output(0), node.gradient(0)?);
                let total = expand_dims(&reduce_sum(dy, &[-1])?, -1)?;
                Ok(vec![Some(subtract(dy, &multiply(&total, &exp(&y)?)?)?)])
            }
            Entropy::SparseSoftmaxCrossEntropyWithLogits | Entropy::SoftmaxCrossEntropyWithLogits => {
                if node.gradients[1].is_some() {
                    return Err(node.refuse("second derivatives through it are not defined here"));
                }
                let rows = expand_dims(node.gradient(0)?, -1)?;
                let logits = multiply(&rows, &node.output(1))?;
                // The labels' gradient, for labels that are themselves computed.
                let labels = match self {
                    Entropy::SoftmaxCrossEntropyWithLogits => {
                        let log_probabilities = log_softmax(&node.input(0))?;
                        Some(super::negative(&multiply(&rows, &log_probabilities)?)?)
                    }
                    _ => None,
                };
                Ok(vec![Some(logits), labels])
            }
        }
    }
}

/// `eˣ / Σ eˣ` along the last dimension, from logits less their largest. TensorFlow: `tf.nn.softmax`.
///
/// # Errors
/// `GRAPH002` for one number, `GRAPH004` if `logits` is not floating point.
pub fn softmax(logits: &Tensor) -> Result<Tensor> {
    logits.graph.add(Op::Entropy(Entropy::Softmax), "Softmax", &[logits])
}

/// The logarithm of [`softmax`], exact where that would round to 0. TensorFlow: `tf.nn.log_softmax`.
///
/// # Errors
/// As for [`softmax`].
pub fn log_softmax(logits: &Tensor) -> Result<Tensor> {
    logits.graph.add(Op::Entropy(Entropy::LogSoftmax), "LogSoftmax", &[logits])
}

/// Cross entropy of each row: logits `[batch, classes]`, labels `[batch]` of class numbers, result `[batch]`.
/// TensorFlow: `tf.nn.sparse_softmax_cross_entropy_with_logits`.
///
/// # Errors
/// `GRAPH001` or `GRAPH002` for the shapes, `GRAPH004` for the dtypes. A label that is no class fails when it is run.
pub fn sparse_softmax_cross_entropy_with_logits(labels: &Tensor, logits: &Tensor) -> Result<Tensor> {
    let op = Entropy::SparseSoftmaxCrossEntropyWithLogits;
    logits.graph.add(Op::Entropy(op), op.type_name(), &[logits, labels])
}

/// Cross entropy of each row: logits and labels `[batch, classes]`, where a row of labels is a distribution; result
/// `[batch]`. TensorFlow: `tf.nn.softmax_cross_entropy_with_logits_v2`.
///
/// # Errors
/// `GRAPH001` or `GRAPH002` for the shapes, `GRAPH003` or `GRAPH004` for the dtypes.
pub fn softmax_cross_entropy_with_logits(labels: &Tensor, logits: &Tensor) -> Result<Tensor> {
    let op = Entropy::SoftmaxCrossEntropyWithLogits;
    logits.graph.add(Op::Entropy(op), op.type_name(), &[logits, labels])
}
