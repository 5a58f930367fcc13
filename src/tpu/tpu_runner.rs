//! Runs loops of steps on simulated cores.

use super::ProgramError;
use super::infeed::Infeed;
use super::sources::Sources;
use crate::core::Result;
use crate::data::Position;
use crate::engine::{Executor, Flow, LoopEnd, PlanId, Runner};
use crate::notebook::logging;

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
