//! A metric, and metrics under names.

use crate::core::Result;
use crate::graph::{GraphError, Tensor};
use std::fmt;

/// A quality measured over a stream of batches. TensorFlow: the pair that each of `tf.metrics` returns.
#[derive(Clone, Debug)]
pub struct Metric {
    /// What all batches so far give; reading it changes nothing.
    pub value: Tensor,
    /// Counts the current batch in, and gives the value thereafter.
    #[doc(alias = "update_op")]
    pub update: Tensor,
}

/// Metrics under names, in order. TensorFlow: the dict `eval_metric_ops`.
///
/// # Examples
/// ```
/// use tpulab as tf;
/// use tpulab::prelude::*;
/// use tpulab::metrics::Metrics;
/// let graph = Graph::new();
/// let labels = graph.placeholder("labels", DType::Int32, Shape::new(&[None]));
/// let predicted = graph.placeholder("predicted", DType::Int64, Shape::new(&[None]));
/// let metrics = Metrics::from([("accuracy", tf::metrics::accuracy(&labels, &predicted)?)]);
/// assert_eq!(metrics.get("accuracy")?.update.name(), "accuracy/update_op:0");
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Metrics {
    entries: Vec<(String, Metric)>,
}

impl Metrics {
    /// No metrics yet.
    pub fn new() -> Self {
        Metrics::default()
    }

    /// Adds a metric, or replaces the one of that name.
    pub fn insert(&mut self, name: impl Into<String>, metric: Metric) {
        let name = name.into();
        match self.entries.iter_mut().find(|(known, _)| *known == name) {
            Some(entry) => entry.1 = metric,
            None => self.entries.push((name, metric)),
        }
    }

    /// The metric called `name`.
    ///
    /// # Errors
    /// `GRAPH008` if there is none.
    pub fn get(&self, name: &str) -> Result<&Metric> {
        let found = self.entries.iter().find(|(known, _)| known == name);
        found.map(|(_, metric)| metric).ok_or_else(|| {
            let known = self.names().into_iter().map(str::to_string).collect();
            GraphError::Unknown { kind: "metric", name: name.to_string(), known }.into()
        })
    }

    /// The names, in order.
    pub fn names(&self) -> Vec<&str> {
        self.entries.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// The entries, in order.
    pub fn entries(&self) -> &[(String, Metric)] {
        &self.entries
    }

    /// The number of metrics.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl<const N: usize> From<[(&str, Metric); N]> for Metrics {
    fn from(entries: [(&str, Metric); N]) -> Self {
        let mut metrics = Metrics::new();
        for (name, metric) in entries {
            metrics.insert(name, metric);
        }
        metrics
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.entries.iter().map(|(name, metric)| (name, metric))).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Graph;

    #[test]
    fn a_later_metric_replaces_an_earlier_one_of_its_name() {
        let graph = Graph::new();
        let metric = |value: f32| Metric { value: graph.constant(value), update: graph.constant(value) };
        let metrics = Metrics::from([("a", metric(1.0)), ("b", metric(2.0)), ("a", metric(3.0))]);
        assert_eq!(metrics.names(), ["a", "b"]);
        assert_eq!(metrics.get("a").unwrap().value.name(), "Const_4:0");
        assert_eq!(metrics.get("c").unwrap_err().to_string(), "GRAPH008: no metric `c`; there are `a`, `b`");
    }
}
