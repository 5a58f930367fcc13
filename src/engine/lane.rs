//! The replicas that one thread runs.

use super::bank::{Bank, Dims};
use super::execute::{Context, StreamKey};
use super::plan::{Binding, Plan};
use crate::core::{Error, Result};

/// Some replicas, one after the other in one bank.
#[derive(Debug, Default)]
pub(super) struct Lane {
    /// The number of the first one.
    pub first: usize,
    pub count: usize,
    pub bank: Bank,
    /// The shapes of values of all its replicas together.
    dims: Vec<Dims>,
}

/// Why a phase ended early.
#[derive(Debug)]
pub(super) struct Failure {
    /// The step that failed. With the earliest step and the first lane, all numbers of threads report the same error.
    pub step: usize,
    pub error: Error,
}

/// What all lanes of a phase read.
#[derive(Clone, Copy)]
pub(super) struct Work<'a> {
    pub plan: &'a Plan,
    pub phase: usize,
    pub binding: &'a Binding,
    /// What all replicas share, where there are several.
    pub shared: Option<&'a Bank>,
    pub stream: StreamKey,
}

impl Lane {
    /// Splits `replicas` over `lanes`, in order and as evenly as can be.
    pub fn split(replicas: usize, lanes: usize) -> Vec<Lane> {
        let start = |lane: usize| lane * replicas / lanes;
        let lane = |lane| Lane { first: start(lane), count: start(lane + 1) - start(lane), ..Lane::default() };
        (0..lanes).map(lane).collect()
    }

    /// Makes room for the values of all its replicas.
    pub fn bind(&mut self, plan: &Plan, dims: &[Dims]) {
        plan.reserve(dims, &mut self.bank, self.count, false);
        self.dims.clear();
        let values = plan.values.iter().zip(dims);
        self.dims.extend(values.map(|(value, dims)| if value.slot.shared { *dims } else { dims.times(self.count) }));
    }

    /// Runs one phase for all its replicas, step by step: at once where the step allows it.
    pub fn run(&mut self, work: Work<'_>) -> Result<(), Failure> {
        let Work { plan, phase, binding, shared, stream } = work;
        let Lane { first, count, bank, dims } = self;
        for (number, step) in plan.phases[phase].each.iter().enumerate() {
            let failed = |error| Failure { step: number, error };
            if *count > 1 && binding.together[phase][number] {
                let stream = StreamKey { replica: *first, ..stream };
                let mut context = Context { plan, dims, bank, replica: 0, replicas: *count, shared, stream };
                context.run(step).map_err(failed)?;
                continue;
            }
            for replica in 0..*count {
                let stream = StreamKey { replica: *first + replica, ..stream };
                let dims = &binding.dims;
                let mut context = Context { plan, dims, bank, replica, replicas: 1, shared, stream };
                context.run(step).map_err(failed)?;
            }
        }
        Ok(())
    }
}
