//! What train, evaluate and predict give back.

use super::{Placement, RunError};
use crate::core::{Array, Result};
use std::fmt;

/// What a training did: the loss of every step, in TPU runs with the loss of each shard.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct TrainReport {
    pub(crate) first_step: u64,
    pub(crate) losses: Vec<f64>,
    pub(crate) shard_losses: Vec<f64>,
    pub(crate) shards: usize,
    pub(crate) loops: u64,
    pub(crate) global_step: u64,
    pub(crate) placement: Option<Placement>,
}

impl TrainReport {
    /// The global step after the training.
    pub fn global_step(&self) -> u64 {
        self.global_step
    }

    /// The global step before the training.
    pub fn first_step(&self) -> u64 {
        self.first_step
    }

    /// How many steps were made.
    pub fn steps(&self) -> usize {
        self.losses.len()
    }

    /// How many loops they were: as many as steps in an `Estimator`, steps / iterations on a TPU.
    pub fn loops(&self) -> u64 {
        self.loops
    }

    /// The loss of each step, before its update: the mean over the batch, in TPU runs over all shards.
    pub fn losses(&self) -> &[f64] {
        &self.losses
    }

    /// The loss of the last step; none if there was no step.
    pub fn loss(&self) -> Option<f64> {
        self.losses.last().copied()
    }

    /// How many shards a batch was split into; 1 in an `Estimator`.
    pub fn shards(&self) -> usize {
        self.shards
    }

    /// The loss of each shard in step number `step` of this training, counted from 0.
    pub fn shard_losses(&self, step: usize) -> Option<&[f64]> {
        self.shard_losses.get(step * self.shards..(step + 1) * self.shards)
    }

    /// Which device ran which op, if the session's configuration asks to log it.
    pub fn placement(&self) -> Option<&Placement> {
        self.placement.as_ref()
    }

    /// Shows the report as text.
    pub fn evcxr_display(&self) {
        println!("{self}");
    }
}

impl fmt::Display for TrainReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.loss() {
            None => write!(f, "no step was made; global step {}", self.global_step),
            Some(loss) => write!(
                f,
                "{} steps in {} loops, global step {} to {}, loss of the last step {loss:.6}",
                self.steps(),
                self.loops,
                self.first_step,
                self.global_step
            ),
        }
    }
}

/// What an evaluation found: metrics under names, in alphabetical order, with `loss` and `global_step` among them.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Evaluation {
    pub(crate) entries: Vec<(String, f64)>,
    pub(crate) global_step: u64,
    pub(crate) steps: u64,
}

impl Evaluation {
    pub(crate) fn new(mut entries: Vec<(String, f64)>, global_step: u64, steps: u64) -> Self {
        entries.push(("global_step".to_string(), global_step as f64));
        entries.sort_by(|(left, _), (right, _)| left.cmp(right));
        Evaluation { entries, global_step, steps }
    }

    /// The value called `name`, such as `accuracy` or `loss`.
    ///
    /// # Errors
    /// `RUN007` if there is none.
    pub fn get(&self, name: &str) -> Result<f64> {
        let found = self.entries.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| *value).ok_or_else(|| {
            let known = self.entries.iter().map(|(name, _)| name.clone()).collect();
            RunError::UnknownKey { key: name.to_string(), known }.into()
        })
    }

    /// All values with their names.
    pub fn entries(&self) -> &[(String, f64)] {
        &self.entries
    }

    /// The global step of the checkpoint that was evaluated.
    pub fn global_step(&self) -> u64 {
        self.global_step
    }

    /// How many batches were evaluated.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Shows the values as text.
    pub fn evcxr_display(&self) {
        println!("{self}");
    }
}

impl fmt::Display for Evaluation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (name, value)) in self.entries.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            match name.as_str() {
                "global_step" => write!(f, "{comma}{name} = {}", self.global_step)?,
                // TensorFlow's metrics are float32, and so are the digits that it shows.
                _ => write!(f, "{comma}{name} = {}", *value as f32)?,
            }
        }
        Ok(())
    }
}

/// What a model predicts for one example: values under names.
#[derive(Clone, PartialEq, Default)]
pub struct Prediction {
    pub(crate) entries: Vec<(String, Array)>,
}

impl Prediction {
    /// The value called `name`, such as `probabilities`.
    ///
    /// # Errors
    /// `RUN007` if there is none.
    pub fn get(&self, name: &str) -> Result<&Array> {
        let found = self.entries.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value).ok_or_else(|| {
            let known = self.entries.iter().map(|(name, _)| name.clone()).collect();
            RunError::UnknownKey { key: name.to_string(), known }.into()
        })
    }

    /// All values with their names.
    pub fn entries(&self) -> &[(String, Array)] {
        &self.entries
    }

    /// Shows the values as text.
    pub fn evcxr_display(&self) {
        println!("{self:?}");
    }
}

impl fmt::Debug for Prediction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map()
            .entries(self.entries.iter().map(|(name, value)| (name, format_args!("{value}").to_string())))
            .finish()
    }
}
