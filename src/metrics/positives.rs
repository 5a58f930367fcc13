//! Precision and recall, from counts of right and wrong positives.

use super::options::aligned;
use super::running_sum::RunningSum;
use super::{Metric, MetricOptions};
use crate::core::{DType, Result};
use crate::graph::ops::{self, Binary, Op};
use crate::graph::{Graph, Tensor};

/// How many of the predicted positives are positive; 0 where nothing was predicted positive. TensorFlow:
/// `tf.metrics.precision`.
///
/// Labels and predictions are truth values, or numbers that are true unless 0. Keeps
/// `precision/true_positives/count` and `precision/false_positives/count`.
///
/// # Errors
/// `GRAPH001` if the shapes differ, `GRAPH004` for texts.
pub fn precision(labels: &Tensor, predictions: &Tensor) -> Result<Metric> {
    MetricOptions::new().precision(labels, predictions)
}

/// How many of the positives are predicted positive; 0 where nothing is positive. TensorFlow: `tf.metrics.recall`.
///
/// Labels and predictions are truth values, or numbers that are true unless 0. Keeps `recall/true_positives/count` and
/// `recall/false_negatives/count`.
///
/// # Errors
/// `GRAPH001` if the shapes differ, `GRAPH004` for texts.
pub fn recall(labels: &Tensor, predictions: &Tensor) -> Result<Metric> {
    MetricOptions::new().recall(labels, predictions)
}

impl MetricOptions {
    /// [`precision`] with these options.
    ///
    /// # Errors
    /// As there, and `GRAPH001` for the weights.
    pub fn precision(&self, labels: &Tensor, predictions: &Tensor) -> Result<Metric> {
        self.share_of_true_positives("precision", labels, predictions, |labels, predictions| {
            self.count("false_positives", &ops::logical_and(&ops::logical_not(labels)?, predictions)?)
        })
    }

    /// [`recall`] with these options.
    ///
    /// # Errors
    /// As there, and `GRAPH001` for the weights.
    pub fn recall(&self, labels: &Tensor, predictions: &Tensor) -> Result<Metric> {
        self.share_of_true_positives("recall", labels, predictions, |labels, predictions| {
            self.count("false_negatives", &ops::logical_and(labels, &ops::logical_not(predictions)?)?)
        })
    }

    /// `true_positives / (true_positives + mistakes)`.
    fn share_of_true_positives(
        &self,
        name: &str,
        labels: &Tensor,
        predictions: &Tensor,
        mistakes: impl FnOnce(&Tensor, &Tensor) -> Result<RunningSum>,
    ) -> Result<Metric> {
        let graph = labels.graph();
        graph.name_scope(self.name_or(name), || {
            let (labels, predictions) = aligned(name, labels, predictions)?;
            let (labels, predictions) = (ops::cast(&labels, DType::Bool)?, ops::cast(&predictions, DType::Bool)?);
            let right = self.count("true_positives", &ops::logical_and(&labels, &predictions)?)?;
            let wrong = mistakes(&labels, &predictions)?;
            Ok(Metric {
                value: share(&graph, "value", &right.value, &wrong.value)?,
                update: share(&graph, "update_op", &right.updated, &wrong.updated)?,
            })
        })
    }

    /// The weight of all cases that are true.
    fn count(&self, name: &str, cases: &Tensor) -> Result<RunningSum> {
        cases.graph().name_scope(name, || {
            let mut counted = ops::cast(cases, DType::Float32)?;
            if let Some(weights) = self.weights_for(name, &counted)? {
                counted = ops::multiply(&counted, &weights)?;
            }
            RunningSum::new("count", &[], &ops::reduce_sum(&counted, &[])?)
        })
    }
}

fn share(graph: &Graph, name: &str, right: &Tensor, wrong: &Tensor) -> Result<Tensor> {
    graph.add(Op::Binary(Binary::DivNoNan), name, &[right, &ops::add(right, wrong)?])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::Shape;

    #[test]
    fn counts_are_named_as_tensorflow_names_them() {
        let graph = Graph::new();
        let labels = graph.placeholder("labels", DType::Int32, Shape::new(&[None]));
        let predictions = graph.placeholder("predictions", DType::Float32, Shape::new(&[None, Some(1)]));
        precision(&labels, &predictions).unwrap();
        recall(&labels, &predictions).unwrap();
        let names: Vec<String> = graph.variables().iter().map(|variable| variable.name()).collect();
        assert_eq!(
            names,
            [
                "precision/true_positives/count",
                "precision/false_positives/count",
                "recall/true_positives/count",
                "recall/false_negatives/count"
            ]
        );
    }
}
