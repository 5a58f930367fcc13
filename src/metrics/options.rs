//! Weights and name of a metric.

use crate::core::{DType, Result};
use crate::graph::{Tensor, ops};
use crate::nn;

/// A metric with weights or a name. Default: weights of 1, the metric's own name.
///
/// Each metric of [`metrics`](crate::metrics) is a method here too.
///
/// # Examples
/// ```
/// use tpulab::prelude::*;
/// use tpulab::metrics::MetricOptions;
/// let graph = Graph::new();
/// let labels = graph.placeholder("labels", DType::Int32, Shape::new(&[None]));
/// let predicted = graph.placeholder("predicted", DType::Int64, Shape::new(&[None]));
/// MetricOptions::new().name("acc_op").accuracy(&labels, &predicted)?;
/// assert!(graph.variable("acc_op/total").is_ok());
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct MetricOptions {
    pub(super) weights: Option<Tensor>,
    pub(super) name: Option<String>,
}

impl MetricOptions {
    /// No weights, no name.
    pub fn new() -> Self {
        MetricOptions::default()
    }

    /// How much each value counts: one number, or as many dimensions as the values have, each of their size or of
    /// size 1.
    pub fn weights(mut self, weights: &Tensor) -> Self {
        self.weights = Some(weights.clone());
        self
    }

    /// The name that its variables and ops start with, instead of the metric's own.
    pub fn name(mut self, name: &str) -> Self {
        self.name = Some(name.to_string());
        self
    }

    /// The name of the metric's scope.
    pub(super) fn name_or<'a>(&'a self, default: &'a str) -> &'a str {
        self.name.as_deref().unwrap_or(default)
    }

    /// The weights as float32, stretched to one for each of `values`.
    ///
    /// Weights of one dimension more or fewer than the values lose or gain a last one, as in TensorFlow.
    pub(super) fn weights_for(&self, place: &str, values: &Tensor) -> Result<Option<Tensor>> {
        let Some(weights) = &self.weights else { return Ok(None) };
        let (own, target) = (weights.shape().rank(), values.shape().rank());
        let mut weights = ops::cast(weights, DType::Float32)?;
        if own == target + 1 {
            weights = ops::squeeze(&weights, &[-1])?;
        } else if own > 0 && own + 1 == target {
            weights = ops::expand_dims(&weights, -1)?;
        }
        nn::check_broadcast_of_weights(place, &weights, values)?;
        if weights.shape() == values.shape() && weights.shape().elements().is_some() {
            return Ok(Some(weights));
        }
        let ones = ops::fill_like(&ops::cast(values, DType::Float32)?, 1.0)?;
        Ok(Some(ops::multiply(&weights, &ones)?))
    }
}

/// Labels and predictions without a last dimension of size 1 that only one of them has.
pub(super) fn aligned(place: &str, labels: &Tensor, predictions: &Tensor) -> Result<(Tensor, Tensor)> {
    let (labels, predictions) = nn::squeeze_to_rank_difference(labels, predictions, 0)?;
    nn::require_same_shape(place, &labels, &predictions)?;
    Ok((labels, predictions))
}
