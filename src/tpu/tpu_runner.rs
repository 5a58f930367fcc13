//! Runs loops of steps on simulated cores.

use super::infeed::Infeed;
use super::sources::Sources;
use super::{BatchError, ProgramError};
use crate::core::Result;
use crate::data::{Batch, DatasetIterator, Position};
use crate::engine::{Executor, Flow, LoopEnd, PlanId, Runner};
use crate::notebook::logging;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Runs loops of steps: the infeed's thread brings the batches, the cores run them shard by shard.
#[derive(Debug)]
pub(super) struct TpuRunner {
    executor: Executor,
    infeed: Infeed,
}

impl TpuRunner {
    pub fn new(executor: Executor, sources: Sources) -> Result<Self> {
        logging::info("Starting infeed thread controller.");
        Ok(TpuRunner { executor, infeed: Infeed::start(sources)? })
    }
}

impl Runner for TpuRunner {
    fn run_loop(
        &mut self,
        plan: PlanId,
        steps: u64,
        on_step: &mut dyn FnMut(&Executor) -> Result<Flow>,
    ) -> Result<LoopEnd> {
        logging::info(format!("Enqueue next ({steps}) batch(es) of data to infeed."));
        logging::info(format!("Dequeue next ({steps}) batch(es) of data from outfeed."));
        self.infeed.enqueue(steps);
        for done in 0..steps {
            let Some(batch) = self.infeed.next()? else {
                return Err(ProgramError::EndOfInput { done, needed: steps }.into());
            };
            self.executor.run(plan, batch)?;
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
        self.infeed.position()
    }
}

/// Predicts batch by batch, each padded with zeros to the size that the cores share.
pub(super) struct PaddingRunner {
    executor: Executor,
    input: DatasetIterator,
    batch: Batch,
    size: usize,
    /// The rows of the last batch that are no padding.
    real_rows: Arc<AtomicUsize>,
}

impl PaddingRunner {
    pub fn new(executor: Executor, input: DatasetIterator, size: usize, real_rows: Arc<AtomicUsize>) -> Self {
        PaddingRunner { executor, input, batch: Batch::default(), size, real_rows }
    }
}

impl Runner for PaddingRunner {
    fn run_loop(
        &mut self,
        plan: PlanId,
        steps: u64,
        on_step: &mut dyn FnMut(&Executor) -> Result<Flow>,
    ) -> Result<LoopEnd> {
        for _ in 0..steps {
            if !self.input.next_into(&mut self.batch)? {
                // One batch more carries the signal to stop; its results are thrown away.
                logging::info("Stop signal received: the prediction loop ends.");
                return Ok(LoopEnd::EndOfInput);
            }
            let rows = self.batch.rows();
            if rows > self.size {
                return Err(BatchError::PredictRows { rows, size: self.size }.into());
            }
            self.batch.pad(self.size);
            self.real_rows.store(rows, Ordering::Relaxed);
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

impl fmt::Debug for PaddingRunner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PaddingRunner").field("size", &self.size).finish_non_exhaustive()
    }
}
