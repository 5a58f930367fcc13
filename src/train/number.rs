//! The numbers of optimizers and schedules.

use super::TrainError;
use crate::core::{Array, DType, Result};
use crate::graph::{Graph, Tensor};

/// A float32 scalar for updates to read.
pub(super) fn number(graph: &Graph, name: &str, value: f64) -> Result<Tensor> {
    graph.typed_constant(name, Array::from(value), DType::Float32)
}

/// Refuses a number of an optimizer unless `holds`.
pub(super) fn require(
    place: &'static str,
    argument: &'static str,
    expected: &'static str,
    found: f64,
    holds: bool,
) -> Result<()> {
    match holds {
        true => Ok(()),
        false => Err(TrainError::Number { place, argument, expected, found: found.to_string() }.into()),
    }
}
