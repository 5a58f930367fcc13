//! `tf.metrics`: streaming metrics.

use crate::graph::Tensor;

/// One streaming metric: its value so far, and the operation's output that takes in a batch.
#[derive(Clone, Debug)]
pub struct Metric {
    /// The value over all batches so far.
    pub value: Tensor,
    /// Takes in the current batch, and gives the value after it.
    pub update: Tensor,
}

/// Metrics under names, in order.
#[derive(Clone, Debug, Default)]
pub struct Metrics {
    entries: Vec<(String, Metric)>,
}

impl Metrics {
    /// The entries, in order.
    pub fn entries(&self) -> &[(String, Metric)] {
        &self.entries
    }
}

impl<const N: usize> From<[(&str, Metric); N]> for Metrics {
    fn from(entries: [(&str, Metric); N]) -> Self {
        Metrics { entries: entries.into_iter().map(|(name, metric)| (name.to_string(), metric)).collect() }
    }
}
