//! The gradients that the first step applies.

use serde_json::{Map, Value};
use std::sync::mpsc::Sender;
use tpulab::estimator::{RunContext, RunValues};
use tpulab::prelude::*;
use tpulab::train::GradientAndVariable;

/// An optimizer that makes known in the graph what it applies: inside a [`CrossShardOptimizer`] the sums over all cores.
#[derive(Debug)]
pub struct KnownGradients(pub Box<dyn Optimizer>);

impl Optimizer for KnownGradients {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn slot_names(&self) -> Vec<&'static str> {
        self.0.slot_names()
    }

    fn apply_gradients(&self, pairs: &[GradientAndVariable], global_step: Option<&Variable>) -> Result<Operation> {
        for (gradient, variable) in pairs {
            if let Some(gradient) = gradient {
                gradient.graph().add_to_collection(&collection(variable), gradient);
            }
        }
        self.0.apply_gradients(pairs, global_step)
    }
}

fn collection(variable: &Variable) -> String {
    format!("gradient of {}", variable.name())
}

/// Sends the gradients of the first step by their variables' names.
#[derive(Debug)]
pub struct FirstGradients {
    /// Variables' names, and the gradients that are still to be fetched.
    wanted: Vec<(String, Tensor)>,
    sender: Sender<Value>,
}

impl FirstGradients {
    pub fn new(sender: Sender<Value>) -> Self {
        FirstGradients { wanted: Vec::new(), sender }
    }
}

impl SessionRunHook for FirstGradients {
    fn begin(&mut self, graph: &Graph) -> Result<()> {
        for variable in graph.trainable_variables() {
            if let Some(gradient) = graph.collection(&collection(&variable)).first() {
                self.wanted.push((variable.name(), gradient.clone()));
            }
        }
        Ok(())
    }

    fn before_run(&mut self, _context: &RunContext) -> Result<Vec<Tensor>> {
        Ok(self.wanted.iter().map(|(_, gradient)| gradient.clone()).collect())
    }

    fn after_run(&mut self, _context: &mut RunContext, values: &RunValues<'_>) -> Result<()> {
        let mut gradients = Map::new();
        for (index, (name, _)) in self.wanted.drain(..).enumerate() {
            if let Some(gradient) = values.get(index) {
                gradients.insert(name, super::run::to_json(gradient)?);
            }
        }
        if !gradients.is_empty() {
            // Who does not wait for the gradients does not want them.
            let _ = self.sender.send(Value::Object(gradients));
        }
        Ok(())
    }
}
