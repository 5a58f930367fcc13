//! Finds where a NaN came from, by replaying the steps before it.

use super::run_error::NanOrigin;
use crate::core::{Array, Result};
use crate::data::{Batch, Position};
use crate::engine::{BatchSource, Executor, PlanId, Request, VariableStore};
use crate::graph::{Graph, Operation, Tensor};

/// The state of a training at the start of a loop, from which its steps can be replayed.
#[derive(Clone, Debug)]
pub(super) struct Snapshot {
    pub step: u64,
    pub variables: VariableStore,
    pub position: Position,
}

/// What a replay needs beside a snapshot.
pub(super) struct Replay<'a> {
    pub graph: &'a Graph,
    pub loss: &'a Tensor,
    pub train_op: &'a Operation,
    pub feeds: &'a [Tensor],
    pub executor: &'a mut Executor,
    pub plan: PlanId,
    pub input: Box<dyn BatchSource>,
}

impl Replay<'_> {
    /// Replays the steps behind `snapshot` up to `last_step`, and names the first tensor that is not finite: in the
    /// first step after which a variable is not finite, or else in the last one.
    pub fn find_origin(mut self, snapshot: &Snapshot, last_step: u64) -> Result<Option<NanOrigin>> {
        self.executor.store_mut().clone_from(&snapshot.variables);
        let mut batch = Batch::default();
        for step in snapshot.step + 1..=last_step {
            if !self.input.next_into(&mut batch)? {
                return Ok(None);
            }
            let before = self.executor.store().clone();
            self.executor.set_step(step - 1);
            self.executor.run(self.plan, &batch)?;
            let broken = first_broken_variable(self.executor.store())?;
            if step < last_step && broken.is_none() {
                continue;
            }
            self.executor.store_mut().clone_from(&before);
            self.executor.set_step(step - 1);
            let found = self.first_broken_tensor(&batch, step)?;
            let of_variable = |(name, found)| NanOrigin { step, replica: 0, tensor: name, found };
            return Ok(found.or(broken.map(of_variable)));
        }
        Ok(None)
    }

    /// Runs one step op by op, with every value kept, and looks through them in the order of the graph.
    fn first_broken_tensor(&mut self, batch: &Batch, step: u64) -> Result<Option<NanOrigin>> {
        let fetches = self.graph.floating_ancestors(self.loss, self.train_op);
        let names: Vec<String> = fetches.iter().map(Tensor::name).collect();
        let request =
            Request { feeds: self.feeds.to_vec(), fetches, targets: vec![self.train_op.clone()], unfused: true };
        let plan = self.executor.prepare(&request)?;
        self.executor.run(plan, batch)?;
        for (fetch, tensor) in names.into_iter().enumerate() {
            for replica in 0..self.executor.replicas() {
                if let Some(found) = not_finite(&self.executor.output(plan, fetch, replica))? {
                    return Ok(Some(NanOrigin { step, replica, tensor, found }));
                }
            }
        }
        Ok(None)
    }
}

fn first_broken_variable(variables: &VariableStore) -> Result<Option<(String, &'static str)>> {
    for name in variables.names() {
        if let Some(found) = not_finite(&variables.get(&name)?)? {
            return Ok(Some((name, found)));
        }
    }
    Ok(None)
}

fn not_finite(array: &Array) -> Result<Option<&'static str>> {
    let values = array.to_f64_vec()?;
    if values.iter().any(|value| value.is_nan()) {
        return Ok(Some("NaN"));
    }
    Ok(values.iter().any(|value| value.is_infinite()).then_some("infinity"))
}
