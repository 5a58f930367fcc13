//! The state that metrics keep.

use crate::core::Result;
use crate::graph::{Initializer, LOCAL_VARIABLES, Tensor, VariableOptions};

/// A sum over all batches, in a local variable that starts at 0.
pub(super) struct RunningSum {
    /// What the batches before this one add up to.
    pub value: Tensor,
    /// The same with this batch, which reading it counts in.
    pub updated: Tensor,
}

impl RunningSum {
    /// A sum called `name` inside the current scope, to which each batch adds `amount`: float32 of known `shape`.
    pub fn new(name: &str, shape: &[usize], amount: &Tensor) -> Result<RunningSum> {
        let graph = amount.graph();
        let options = VariableOptions {
            initializer: Initializer::Zeros,
            trainable: false,
            collections: vec![LOCAL_VARIABLES.to_string()],
            ..VariableOptions::default()
        };
        let variable = graph.get_variable(&format!("{}/{name}", graph.scope()), shape, options)?;
        let value = variable.value();
        let added = variable.assign_add(amount)?;
        let updated = graph.control_dependencies(&[added], || variable.value());
        Ok(RunningSum { value, updated })
    }
}
