//! What a training writes for TensorBoard.

use super::RunValues;
use super::training::{Loops, Training};
use crate::core::{Clock, Result};
use crate::graph::Tensor;
use crate::storage::Location;
use crate::summary::{self, EventWriter, SessionStatus};

/// Writes loss, summaries and speed to the event file of a training. TensorFlow: `SummarySaverHook` and
/// `StepCounterHook`.
#[derive(Debug)]
pub(super) struct Summaries {
    events: EventWriter,
    /// Steps between two records; 0 for none.
    every: u64,
    /// What the loss is called, unless the model function has a summary of that name.
    loss: Option<String>,
    /// What the model function asked for.
    scalars: Vec<(String, Tensor)>,
    last: Option<u64>,
}

impl Summaries {
    /// Begins the event file of a training that stands at `step`. What the model function asked for is written where
    /// a host computes: a TPU has no kernel for it.
    pub fn new(training: &Training<'_>) -> Result<Self> {
        let Training { config, model_dir, graph, ref loss, first_step: step, .. } = *training;
        let on_host = training.loops == Loops::Single;
        let scalars = if on_host { summary::scalars(graph) } else { Vec::new() };
        let loss = match scalars.iter().any(|(tag, _)| tag == "loss") {
            true => None,
            // The node's name is the tag, and another node may be called `loss`.
            false if on_host => Some(summary::scalar("loss", loss)?.name().trim_end_matches(":0").to_string()),
            false => Some("loss".to_string()),
        };
        let mut events = EventWriter::with_clock(model_dir.location(), Clock::system())?;
        events.session(SessionStatus::Start, "", step)?;
        Ok(Summaries { events, every: config.save_summary_steps, loss, scalars, last: None })
    }

    /// After how many steps it wants to write.
    fn patience(&self, step: u64) -> u64 {
        match self.last {
            _ if self.every == 0 => u64::MAX,
            None => 1,
            Some(last) => last.saturating_add(self.every).saturating_sub(step).max(1),
        }
    }

    /// How many steps may run in one go: a step whose summaries are written runs alone.
    pub fn steps_in_one_go(&self, step: u64) -> u64 {
        let patience = self.patience(step);
        if self.scalars.is_empty() { patience } else { (patience - 1).max(1) }
    }

    /// The values that it wants to see of a loop of `steps` steps.
    pub fn before_run(&self, step: u64, steps: u64) -> Vec<Tensor> {
        if self.patience(step) > steps {
            return Vec::new();
        }
        self.scalars.iter().map(|(_, value)| value.clone()).collect()
    }

    /// Writes what is due after a loop that ended at `step`.
    pub fn after_run(&mut self, step: u64, steps: u64, values: &RunValues<'_>) -> Result<()> {
        if self.patience(step - steps) > steps {
            return Ok(());
        }
        let mut numbers: Vec<(&str, f32)> = Vec::with_capacity(self.scalars.len() + 1);
        numbers.extend(self.loss.as_deref().map(|tag| (tag, values.loss as f32)));
        for (index, (tag, _)) in self.scalars.iter().enumerate() {
            if let Some(value) = values.get(index) {
                numbers.push((tag, value.to_f64_vec()?.first().copied().unwrap_or(f64::NAN) as f32));
            }
        }
        self.last = Some(step);
        self.events.scalars(&numbers, step)
    }

    /// Notes the speed, in steps and, on a TPU, in examples.
    pub fn speed(&mut self, step: u64, steps_per_second: f64, examples: Option<usize>) -> Result<()> {
        self.events.scalars(&[("global_step/sec", steps_per_second as f32)], step)?;
        match examples {
            Some(rows) => self.events.scalars(&[("examples/sec", (steps_per_second * rows as f64) as f32)], step),
            None => Ok(()),
        }
    }

    /// Notes a checkpoint.
    pub fn checkpoint(&mut self, prefix: &Location, step: u64) -> Result<()> {
        self.events.session(SessionStatus::Checkpoint, &prefix.to_string(), step)
    }
}
