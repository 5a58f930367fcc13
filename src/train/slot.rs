//! The variables that an optimizer keeps.

use crate::core::{DType, Result};
use crate::graph::{Graph, Initializer, Tensor, Variable, VariableOptions};

/// The handles of a variable's new slots: `dense/kernel/Adam`, `dense/kernel/Adam_1`, …
pub(super) fn make_slots(
    variable: &Variable,
    optimizer: &str,
    slots: Vec<(&'static str, Initializer)>,
) -> Result<Vec<Tensor>> {
    let graph = variable.graph();
    let make = |(_, initializer): (&str, Initializer)| {
        let slot = graph.unique_variable_scope(&format!("{}/{optimizer}", variable.name()));
        Ok(extra_variable(&graph, &slot, &variable.shape(), variable.dtype(), initializer)?.handle())
    };
    slots.into_iter().map(make).collect()
}

/// A variable that belongs to the optimizer and is saved with the model.
pub(super) fn extra_variable(
    graph: &Graph,
    name: &str,
    shape: &[usize],
    dtype: DType,
    initializer: Initializer,
) -> Result<Variable> {
    let options = VariableOptions { dtype, initializer, trainable: false, ..VariableOptions::default() };
    graph.get_variable(name, shape, options)
}
