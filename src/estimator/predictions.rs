//! Predictions, one example at a time.

use super::{Prediction, RunError};
use crate::core::{Array, Result};
use crate::engine::{Flow, LoopEnd, PlanId, Runner};
use std::fmt;

/// The predictions for a dataset, one for each example, computed as they are asked for.
///
/// Nothing runs before the first is taken. TensorFlow: the generator that `predict` returns.
#[must_use = "predictions are computed when they are taken, for instance with `for`"]
pub struct Predictions {
    runner: Box<dyn Runner>,
    plan: PlanId,
    names: Vec<String>,
    /// How many rows of a batch are real: padding comes behind them.
    real_rows: Box<dyn FnMut() -> Option<usize> + Send>,
    batch: Vec<Array>,
    rows: usize,
    at: usize,
    ended: bool,
}

impl Predictions {
    /// Predictions of `plan`, which fetches the tensors called `names`. `real_rows` tells for each batch how many of
    /// its rows are no padding, `None` if all are.
    pub(crate) fn new(
        runner: Box<dyn Runner>,
        plan: PlanId,
        names: Vec<String>,
        real_rows: Box<dyn FnMut() -> Option<usize> + Send>,
    ) -> Self {
        Predictions { runner, plan, names, real_rows, batch: Vec::new(), rows: 0, at: 0, ended: false }
    }

    fn next_batch(&mut self) -> Result<bool> {
        let (plan, count) = (self.plan, self.names.len());
        let batch = &mut self.batch;
        let end = self.runner.run_loop(plan, 1, &mut |executor| {
            batch.clear();
            batch.extend((0..count).map(|fetch| executor.concatenated(plan, fetch)));
            Ok(Flow::Continue)
        })?;
        if end == LoopEnd::EndOfInput {
            return Ok(false);
        }
        let rows = self.batch.first().and_then(|array| array.shape().first()).copied().unwrap_or(0);
        for (name, array) in self.names.iter().zip(&self.batch) {
            if array.shape().first() != Some(&rows) {
                let found = array.shape().to_vec();
                return Err(RunError::PredictionRows { name: name.clone(), found, rows }.into());
            }
        }
        self.rows = (self.real_rows)().unwrap_or(rows).min(rows);
        self.at = 0;
        Ok(true)
    }
}

impl Iterator for Predictions {
    type Item = Result<Prediction>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.ended && self.at == self.rows {
            match self.next_batch() {
                Ok(true) => {}
                Ok(false) => self.ended = true,
                Err(error) => {
                    self.ended = true;
                    return Some(Err(error));
                }
            }
        }
        if self.ended {
            return None;
        }
        let row = self.at;
        self.at += 1;
        let entries = self.names.iter().zip(&self.batch).map(|(name, array)| Ok((name.clone(), array.row(row)?)));
        Some(entries.collect::<Result<_>>().map(|entries| Prediction { entries }))
    }
}

impl fmt::Debug for Predictions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Predictions({:?})", self.names)
    }
}
