//! Metrics that are means over all examples.

use super::options::aligned;
use super::running_sum::RunningSum;
use super::{Metric, MetricOptions};
use crate::core::{DType, Result};
use crate::graph::ops::{self, Binary, Op};
use crate::graph::{Graph, Tensor};

/// The mean of all values of all batches, float32; 0 before the first. TensorFlow: `tf.metrics.mean`.
///
/// Keeps `mean/total` and `mean/count`.
///
/// # Errors
/// `GRAPH004` for texts.
pub fn mean(values: &Tensor) -> Result<Metric> {
    MetricOptions::new().mean(values)
}

/// How often predictions equal labels, from 0 to 1. TensorFlow: `tf.metrics.accuracy`.
///
/// Both have one shape, but for a last dimension of size 1; predictions of another dtype are cast to that of the
/// labels. Keeps `accuracy/total` and `accuracy/count`.
///
/// # Errors
/// `GRAPH001` if the shapes differ, `GRAPH004` for texts.
///
/// # Examples
/// ```
/// use tpulab as tf;
/// use tpulab::prelude::*;
/// let graph = Graph::new();
/// let labels = graph.placeholder("labels", DType::Int32, Shape::new(&[None]));
/// let logits = graph.placeholder("logits", DType::Float32, Shape::new(&[None, Some(3)]));
/// let accuracy = tf::metrics::accuracy(&labels, &tf::argmax(&logits, 1)?)?;
/// assert_eq!(accuracy.value.name(), "accuracy/value:0");
/// # Ok::<(), Error>(())
/// ```
pub fn accuracy(labels: &Tensor, predictions: &Tensor) -> Result<Metric> {
    MetricOptions::new().accuracy(labels, predictions)
}

/// The mean of `(predictions - labels)²`. TensorFlow: `tf.metrics.mean_squared_error`.
///
/// # Errors
/// `GRAPH001` if the shapes differ, `GRAPH003` if the dtypes do.
pub fn mean_squared_error(labels: &Tensor, predictions: &Tensor) -> Result<Metric> {
    MetricOptions::new().mean_squared_error(labels, predictions)
}

/// The root of the mean of `(predictions - labels)²`. TensorFlow: `tf.metrics.root_mean_squared_error`.
///
/// # Errors
/// As for [`mean_squared_error`].
pub fn root_mean_squared_error(labels: &Tensor, predictions: &Tensor) -> Result<Metric> {
    MetricOptions::new().root_mean_squared_error(labels, predictions)
}

impl MetricOptions {
    /// [`mean`] with these options.
    ///
    /// # Errors
    /// As there, and `GRAPH001` for the weights.
    pub fn mean(&self, values: &Tensor) -> Result<Metric> {
        self.mean_under("mean", values)
    }

    /// [`accuracy`] with these options.
    ///
    /// # Errors
    /// As there, and `GRAPH001` for the weights.
    pub fn accuracy(&self, labels: &Tensor, predictions: &Tensor) -> Result<Metric> {
        let (labels, predictions) = aligned("accuracy", labels, predictions)?;
        let predictions = ops::cast(&predictions, labels.dtype())?;
        let is_correct = ops::cast(&ops::equal(&predictions, &labels)?, DType::Float32)?;
        self.mean_under("accuracy", &is_correct)
    }

    /// [`mean_squared_error`] with these options.
    ///
    /// # Errors
    /// As there, and `GRAPH001` for the weights.
    pub fn mean_squared_error(&self, labels: &Tensor, predictions: &Tensor) -> Result<Metric> {
        self.squared_error_under("mean_squared_error", labels, predictions)
    }

    /// [`root_mean_squared_error`] with these options.
    ///
    /// # Errors
    /// As there, and `GRAPH001` for the weights.
    pub fn root_mean_squared_error(&self, labels: &Tensor, predictions: &Tensor) -> Result<Metric> {
        let mean = self.squared_error_under("root_mean_squared_error", labels, predictions)?;
        Ok(Metric { value: ops::sqrt(&mean.value)?, update: ops::sqrt(&mean.update)? })
    }

    fn squared_error_under(&self, name: &str, labels: &Tensor, predictions: &Tensor) -> Result<Metric> {
        let (labels, predictions) = aligned(name, labels, predictions)?;
        self.mean_under(name, &ops::squared_difference(&labels, &predictions)?)
    }

    fn mean_under(&self, name: &str, values: &Tensor) -> Result<Metric> {
        let graph = values.graph();
        graph.name_scope(self.name_or(name), || {
            let values = ops::cast(values, DType::Float32)?;
            let (values, number) = match self.weights_for(name, &values)? {
                None => {
                    let number = ops::cast(&ops::size(&values)?, DType::Float32)?;
                    (values, number)
                }
                Some(weights) => (ops::multiply(&values, &weights)?, ops::reduce_sum(&weights, &[])?),
            };
            let total = RunningSum::new("total", &[], &ops::reduce_sum(&values, &[])?)?;
            let count = RunningSum::new("count", &[], &number)?;
            Ok(Metric {
                value: quotient(&graph, "value", &total.value, &count.value)?,
                update: quotient(&graph, "update_op", &total.updated, &count.updated)?,
            })
        })
    }
}

/// `total / count`, and 0 where nothing was counted.
fn quotient(graph: &Graph, name: &str, total: &Tensor, count: &Tensor) -> Result<Tensor> {
    // Weights may be negative; their sum is no count then.
    let count = ops::maximum(count, &graph.number_like("Maximum/y", 0.0, count)?)?;
    graph.add(Op::Binary(Binary::DivNoNan), name, &[total, &count])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{Array, Shape};

    fn placeholder(graph: &Graph, dtype: DType, sizes: &[Option<usize>]) -> Tensor {
        graph.placeholder("x", dtype, Shape::new(sizes))
    }

    #[test]
    fn state_is_local_and_named_after_the_metric() {
        let graph = Graph::new();
        let labels = placeholder(&graph, DType::Int32, &[None]);
        let predictions = placeholder(&graph, DType::Int64, &[None]);
        accuracy(&labels, &predictions).unwrap();
        accuracy(&labels, &predictions).unwrap();
        MetricOptions::new().name("acc_op").accuracy(&labels, &predictions).unwrap();
        let names: Vec<String> = graph.variables().iter().map(|variable| variable.name()).collect();
        assert_eq!(
            names,
            [
                "accuracy/total",
                "accuracy/count",
                "accuracy_1/total",
                "accuracy_1/count",
                "acc_op/total",
                "acc_op/count"
            ]
        );
        assert!(graph.variables().iter().all(|variable| variable.is_local() && !variable.is_trainable()));
    }

    #[test]
    fn the_update_reads_what_it_has_added() {
        let graph = Graph::new();
        let metric = mean(&placeholder(&graph, DType::Int32, &[None])).unwrap();
        assert_eq!((metric.value.name(), metric.update.name()), ("mean/value:0".into(), "mean/update_op:0".into()));
        let nodes = graph.nodes();
        let control_names = |tensor: &Tensor| -> Vec<Vec<&str>> {
            let node = nodes.iter().find(|node| node.name == tensor.op().name()).expect("it was just added");
            let reads = node.inputs.iter().map(|&(input, _)| &nodes[input]);
            reads.map(|read| read.control_inputs.iter().map(|&id| nodes[id].name.as_str()).collect()).collect()
        };
        assert_eq!(control_names(&metric.update)[0], ["mean/AssignAddVariableOp"]);
        assert!(control_names(&metric.value).concat().is_empty());
    }

    #[test]
    fn a_column_is_compared_with_a_row_and_tables_are_refused() {
        let graph = Graph::new();
        let labels = placeholder(&graph, DType::Int32, &[Some(8), Some(1)]);
        let predictions = placeholder(&graph, DType::Int64, &[Some(8)]);
        assert!(accuracy(&labels, &predictions).is_ok());
        let logits = placeholder(&graph, DType::Float32, &[Some(8), Some(3)]);
        assert_eq!(
            accuracy(&labels, &logits).unwrap_err().to_string(),
            "GRAPH001: accuracy: left is [8, 1], right is [8, 3]; both must have one shape"
        );
    }

    #[test]
    fn weights_are_brought_to_the_shape_of_the_values() {
        let graph = Graph::new();
        let values = placeholder(&graph, DType::Float32, &[Some(4), Some(2)]);
        for sizes in [&[][..], &[Some(4)], &[Some(4), Some(1)], &[Some(4), Some(2)], &[Some(4), Some(2), Some(1)]] {
            let weights = placeholder(&graph, DType::Float32, sizes);
            MetricOptions::new().weights(&weights).mean(&values).unwrap();
        }
        let weights = graph.constant(Array::full(&[3, 2], 1.0f32));
        assert_eq!(
            MetricOptions::new().weights(&weights).mean(&values).unwrap_err().to_string(),
            "GRAPH001: mean weights: left is [3, 2], right is [4, 2]; weights must be one number, or have the rank of \
             the values and each size equal to theirs or 1"
        );
    }
}
