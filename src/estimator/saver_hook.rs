//! Saves checkpoints while a training runs.

use super::hook::{RunContext, RunValues, SessionRunHook, SessionState};
use super::model_dir::ModelDir;
use super::{RunConfig, SaveCheckpoints};
use crate::core::{Clock, Result};
use crate::storage::Location;
use std::time::Duration;

/// Saves a checkpoint at the start, every so often between loops, and at the end. TensorFlow:
/// `tf.train.CheckpointSaverHook`.
///
/// Every training has one for its model_dir; a further one can save elsewhere or more often.
#[derive(Clone, Debug)]
pub struct CheckpointSaverHook {
    model_dir: ModelDir,
    config: RunConfig,
    clock: Clock,
    last_step: Option<u64>,
    last_time: Duration,
    saved: Option<Location>,
}

impl CheckpointSaverHook {
    /// Saves into `folder` that often.
    ///
    /// # Errors
    /// `STOR003` to `STOR007` if `folder` cannot be.
    pub fn new(folder: &str, when: SaveCheckpoints) -> Result<Self> {
        let config = RunConfig::new().model_dir(folder).save_checkpoints(when);
        Ok(CheckpointSaverHook::of(&ModelDir::new(&config)?, &config, Clock::system()))
    }

    pub(crate) fn of(model_dir: &ModelDir, config: &RunConfig, clock: Clock) -> Self {
        CheckpointSaverHook {
            model_dir: model_dir.clone(),
            config: config.clone(),
            clock,
            last_step: None,
            last_time: Duration::ZERO,
            saved: None,
        }
    }

    /// The checkpoint that was saved since this was last asked.
    pub(crate) fn take_saved(&mut self) -> Option<Location> {
        self.saved.take()
    }

    /// After how many steps at most it wants to be asked again.
    pub(crate) fn patience(&self, step: u64) -> u64 {
        match self.config.save_checkpoints {
            SaveCheckpoints::Steps(every) if every > 0 => {
                self.last_step.unwrap_or(step).saturating_add(every).saturating_sub(step).max(1)
            }
            _ => u64::MAX,
        }
    }

    fn save(&mut self, variables: &crate::engine::VariableStore, step: u64) -> Result<()> {
        if self.last_step == Some(step) {
            return Ok(());
        }
        self.saved = Some(self.model_dir.save(&self.config, variables, step)?);
        self.last_step = Some(step);
        self.last_time = self.clock.now();
        Ok(())
    }
}

impl SessionRunHook for CheckpointSaverHook {
    fn after_create_session(&mut self, session: &SessionState<'_>) -> Result<()> {
        match self.config.save_checkpoints {
            SaveCheckpoints::Never => Ok(()),
            _ => self.save(session.variables, session.global_step),
        }
    }

    fn after_run(&mut self, context: &mut RunContext, values: &RunValues<'_>) -> Result<()> {
        let due = match self.config.save_checkpoints {
            SaveCheckpoints::Never | SaveCheckpoints::Steps(0) => false,
            SaveCheckpoints::Steps(every) => {
                self.last_step.is_none_or(|last| context.global_step >= last.saturating_add(every))
            }
            SaveCheckpoints::Secs(every) => self.clock.now().saturating_sub(self.last_time) >= every,
        };
        if due { self.save(values.variables, context.global_step) } else { Ok(()) }
    }

    fn end(&mut self, session: &SessionState<'_>) -> Result<()> {
        self.save(session.variables, session.global_step)
    }
}
