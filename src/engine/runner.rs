//! Runs a plan over batches, a loop of steps at a time.

use super::{EngineError, Executor, Feed, PlanId};
use crate::core::{Array, Result};
use crate::data::{Batch, DatasetIterator, Position};
use std::fmt;

/// How a loop of steps ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopEnd {
    /// After all its steps.
    Completed,
    /// The input had no batch for the next step.
    EndOfInput,
    /// It was told to stop.
    Stopped,
}

/// Whether a loop shall go on after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// With the next step.
    Continue,
    /// No further step.
    Stop,
}

/// Runs a plan over batches, a loop of steps at a time: locally step by step, on a TPU `iterations_per_loop` at once.
pub trait Runner: fmt::Debug {
    /// Runs `plan` for up to `steps` batches, each once, and calls `on_step` after each with the outputs at hand.
    ///
    /// Takes exactly as many batches from the input as it runs steps.
    ///
    /// # Errors
    /// What the input, the plan or `on_step` fails with.
    fn run_loop(
        &mut self,
        plan: PlanId,
        steps: u64,
        on_step: &mut dyn FnMut(&Executor) -> Result<Flow>,
    ) -> Result<LoopEnd>;

    /// What runs the plans.
    fn executor(&mut self) -> &mut Executor;

    /// Where the input stands: behind the last batch that a loop took.
    fn input_position(&mut self) -> Position;
}

/// Anything that batches can be read from.
pub trait BatchSource: Send {
    /// Writes the next batch into `batch`; false at the end.
    ///
    /// # Errors
    /// What reading fails with.
    fn next_into(&mut self, batch: &mut Batch) -> Result<bool>;

    /// Where it stands: behind the last batch that was read.
    fn position(&self) -> Position;
}

impl BatchSource for DatasetIterator {
    fn next_into(&mut self, batch: &mut Batch) -> Result<bool> {
        DatasetIterator::next_into(self, batch)
    }

    fn position(&self) -> Position {
        DatasetIterator::position(self)
    }
}

/// Takes batches from their source in the calling thread.
pub struct LocalRunner {
    executor: Executor,
    input: Box<dyn BatchSource>,
    batch: Batch,
}

impl LocalRunner {
    /// Runs the plans of `executor` over `input`.
    pub fn new(executor: Executor, input: impl BatchSource + 'static) -> Self {
        LocalRunner { executor, input: Box::new(input), batch: Batch::default() }
    }
}

impl Runner for LocalRunner {
    fn run_loop(
        &mut self,
        plan: PlanId,
        steps: u64,
        on_step: &mut dyn FnMut(&Executor) -> Result<Flow>,
    ) -> Result<LoopEnd> {
        for _ in 0..steps {
            if !self.input.next_into(&mut self.batch)? {
                return Ok(LoopEnd::EndOfInput);
            }
            self.executor.run(plan, &self.batch)?;
            if on_step(&self.executor)? == Flow::Stop {
                return Ok(LoopEnd::Stopped);
            }
        }
        Ok(LoopEnd::Completed)
    }

    fn executor(&mut self) -> &mut Executor {
        &mut self.executor
    }

    fn input_position(&mut self) -> Position {
        self.input.position()
    }
}

impl fmt::Debug for LocalRunner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalRunner").field("executor", &self.executor).finish_non_exhaustive()
    }
}

/// Features in their order, then the labels.
impl Feed for Batch {
    fn array(&self, column: usize) -> Option<&Array> {
        let features = self.features();
        match features.get(column) {
            Some((_, values)) => Some(values),
            None if column == features.len() => self.labels(),
            None => None,
        }
    }
}

/// The panic of another thread as an error.
pub(crate) fn thread_panicked(panic: &(dyn std::any::Any + Send)) -> crate::core::Error {
    let text = panic.downcast_ref::<&str>().copied().or(panic.downcast_ref::<String>().map(String::as_str));
    EngineError::Worker { message: text.unwrap_or("no message").to_string() }.into()
}
