//! Predictions, one example at a time.

use super::{Prediction, RunError};
use crate::core::{Array, Result};
use crate::engine::{Flow, LoopEnd, PlanId, Runner};
use crate::notebook::StopFlag;
use std::fmt;

/// The predictions for a dataset, computed as they are asked for: one for each example, or one for each batch.
///
/// Nothing runs before the first is taken. TensorFlow: the generator that `predict` returns.
#[must_use = "predictions are computed when they are taken, for instance with `for`"]
pub struct Predictions {
    runner: Box<dyn Runner>,
    plan: PlanId,
    names: Vec<String>,
    single_examples: bool,
    /// How many rows of a batch are real: padding comes behind them.
    real_rows: Box<dyn FnMut() -> Option<usize> + Send>,
    batch: Vec<Array>,
    rows: usize,
    at: usize,
    /// How many batches were run.
    batches: u64,
    ended: bool,
}

impl Predictions {
    /// Predictions of `plan`, which fetches the tensors called `names`. `real_rows` tells for each batch how many of
    /// its rows are no padding, `None` if all are.
    pub(crate) fn new(
        runner: Box<dyn Runner>,
        plan: PlanId,
        names: Vec<String>,
        single_examples: bool,
        real_rows: Box<dyn FnMut() -> Option<usize> + Send>,
    ) -> Self {
        Predictions {
            runner,
            plan,
            names,
            single_examples,
            real_rows,
            batch: Vec::new(),
            rows: 0,
            at: 0,
            batches: 0,
            ended: false,
        }
    }

    /// Runs the next batch; false where there is none.
    fn run_batch(&mut self) -> Result<bool> {
        if StopFlag::process().stop_requested() {
            return Err(RunError::Interrupted { mode: "predict", step: self.batches, saved: None }.into());
        }
        self.batches += 1;
        let (plan, count) = (self.plan, self.names.len());
        let batch = &mut self.batch;
        let end = self.runner.run_loop(plan, 1, &mut |executor| {
            batch.clear();
            batch.extend((0..count).map(|fetch| executor.concatenated(plan, fetch)));
            Ok(Flow::Continue)
        })?;
        Ok(end != LoopEnd::EndOfInput)
    }

    fn next_batch(&mut self) -> Result<Option<Prediction>> {
        if !self.run_batch()? {
            return Ok(None);
        }
        let real_rows = (self.real_rows)();
        let entries = self.names.iter().zip(&self.batch).map(|(name, array)| {
            let real = real_rows.map_or_else(|| Ok(array.clone()), |rows| array.rows(0, rows))?;
            Ok((name.clone(), real))
        });
        Ok(Some(Prediction { entries: entries.collect::<Result<_>>()? }))
    }

    fn next_example(&mut self) -> Result<Option<Prediction>> {
        while self.at == self.rows {
            if !self.run_batch()? {
                return Ok(None);
            }
            self.rows = self.examples()?;
            self.at = 0;
        }
        let row = self.at;
        self.at += 1;
        let entries = self.names.iter().zip(&self.batch).map(|(name, array)| Ok((name.clone(), array.row(row)?)));
        Ok(Some(Prediction { entries: entries.collect::<Result<_>>()? }))
    }

    /// How many examples the batch has: all of its predictions must have a row for each.
    fn examples(&mut self) -> Result<usize> {
        let rows = self.batch.first().and_then(|array| array.shape().first()).copied().unwrap_or(0);
        for (name, array) in self.names.iter().zip(&self.batch) {
            if array.shape().first() != Some(&rows) {
                let found = array.shape().to_vec();
                return Err(RunError::PredictionRows { name: name.clone(), found, rows }.into());
            }
        }
        Ok((self.real_rows)().unwrap_or(rows).min(rows))
    }
}

impl Iterator for Predictions {
    type Item = Result<Prediction>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let next = if self.single_examples { self.next_example() } else { self.next_batch() };
        self.ended = !matches!(next, Ok(Some(_)));
        next.transpose()
    }
}

impl fmt::Debug for Predictions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Predictions({:?})", self.names)
    }
}
