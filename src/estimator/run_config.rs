//! How an estimator runs.

use super::{ConfigProto, EstimatorError, Fidelity};
use crate::core::Result;
use crate::engine::Precision;
use std::time::Duration;

/// When training saves a checkpoint, apart from its start and its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SaveCheckpoints {
    /// Every so many steps; 0 is the same as `Never`. TensorFlow: `save_checkpoints_steps`.
    Steps(u64),
    /// Every so often, on the wall clock. TensorFlow: `save_checkpoints_secs`.
    Secs(Duration),
    /// Not at all.
    Never,
}

/// How an estimator runs: where it keeps its model, how often it saves and logs, from which seed it draws.
/// TensorFlow: `tf.estimator.RunConfig`.
///
/// Each setting is a field, and a method of the same name sets it. They are checked when an estimator is built.
///
/// # Examples
/// ```
/// use tpulab::estimator::{RunConfig, SaveCheckpoints};
/// use tpulab::prelude::*;
/// let config = RunConfig::new().tf_random_seed(1).save_checkpoints(SaveCheckpoints::Steps(500));
/// config.validate()?;
/// assert_eq!((config.tf_random_seed, config.keep_checkpoint_max), (Some(1), 5));
///
/// let error = config.log_step_count_steps(Some(0)).validate().unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "EST004: log_step_count_steps is 0; expected 1 or more; give `None` to log no speed",
/// );
/// # Ok::<(), Error>(())
/// ```
///
/// Negative numbers, seeds that are no integers, and steps together with seconds do not compile:
/// ```compile_fail
/// # use tpulab::estimator::RunConfig;
/// RunConfig::new().save_summary_steps(-1);
/// ```
/// ```compile_fail
/// # use tpulab::estimator::RunConfig;
/// RunConfig::new().keep_checkpoint_max(-1);
/// ```
/// ```compile_fail
/// # use tpulab::estimator::RunConfig;
/// RunConfig::new().tf_random_seed(0.5);
/// ```
/// ```compile_fail
/// # use tpulab::estimator::{RunConfig, SaveCheckpoints};
/// RunConfig::new().save_checkpoints(SaveCheckpoints::Steps(100), SaveCheckpoints::Secs(600));
/// ```
/// ```compile_fail
/// # use tpulab::estimator::RunConfig;
/// RunConfig::new().session_config("allow_soft_placement");
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RunConfig {
    /// The folder or bucket that keeps the model; `None` for a temporary folder.
    pub model_dir: Option<String>,
    /// The seed of all random draws; `None` to draw one and keep it with the model.
    pub tf_random_seed: Option<u64>,
    /// Steps between two summaries, 100 unless set; 0 for none.
    pub save_summary_steps: u64,
    /// When checkpoints are saved, every 600 s unless set.
    pub save_checkpoints: SaveCheckpoints,
    /// How many checkpoints are kept, 5 unless set; 0 keeps all.
    pub keep_checkpoint_max: usize,
    /// A checkpoint each so many hours is kept for ever, 10000 unless set.
    pub keep_checkpoint_every_n_hours: f64,
    /// Steps between two log lines on speed and loss, 100 unless set; `None` for none.
    pub log_step_count_steps: Option<u64>,
    /// What the session is told about devices; `None` for soft placement alone.
    pub session_config: Option<ConfigProto>,
    /// Whether the original's traps are reproduced or avoided, avoided unless set.
    pub fidelity: Fidelity,
    /// The width of the arithmetic, float32 unless set.
    pub precision: Precision,
    /// How many threads compute; `None` for one per CPU. The results are the same.
    pub worker_threads: Option<usize>,
}

impl Default for RunConfig {
    fn default() -> Self {
        RunConfig {
            model_dir: None,
            tf_random_seed: None,
            save_summary_steps: 100,
            save_checkpoints: SaveCheckpoints::Secs(Duration::from_secs(600)),
            keep_checkpoint_max: 5,
            keep_checkpoint_every_n_hours: 10_000.0,
            log_step_count_steps: Some(100),
            session_config: None,
            fidelity: Fidelity::default(),
            precision: Precision::default(),
            worker_threads: None,
        }
    }
}

impl RunConfig {
    /// TensorFlow's defaults.
    pub fn new() -> Self {
        RunConfig::default()
    }

    /// Keeps the model in this folder or bucket. Empty means a temporary folder, which faithful runs refuse.
    pub fn model_dir(mut self, path: impl Into<String>) -> Self {
        self.model_dir = Some(path.into());
        self
    }

    /// Draws all random numbers from this seed.
    pub fn tf_random_seed(mut self, seed: u64) -> Self {
        self.tf_random_seed = Some(seed);
        self
    }

    /// Writes summaries every so many steps; 0 for none.
    pub fn save_summary_steps(mut self, steps: u64) -> Self {
        self.save_summary_steps = steps;
        self
    }

    /// Saves checkpoints that often.
    #[doc(alias = "save_checkpoints_steps")]
    #[doc(alias = "save_checkpoints_secs")]
    pub fn save_checkpoints(mut self, when: SaveCheckpoints) -> Self {
        self.save_checkpoints = when;
        self
    }

    /// Keeps this many checkpoints; 0 keeps all.
    pub fn keep_checkpoint_max(mut self, checkpoints: usize) -> Self {
        self.keep_checkpoint_max = checkpoints;
        self
    }

    /// Keeps a checkpoint each so many hours for ever; more than 0.
    pub fn keep_checkpoint_every_n_hours(mut self, hours: f64) -> Self {
        self.keep_checkpoint_every_n_hours = hours;
        self
    }

    /// Logs speed and loss every so many steps, 1 or more; `None` for never.
    pub fn log_step_count_steps(mut self, steps: Option<u64>) -> Self {
        self.log_step_count_steps = steps;
        self
    }

    /// Tells the session about devices.
    pub fn session_config(mut self, config: ConfigProto) -> Self {
        self.session_config = Some(config);
        self
    }

    /// Reproduces or avoids the original's traps.
    pub fn fidelity(mut self, fidelity: Fidelity) -> Self {
        self.fidelity = fidelity;
        self
    }

    /// Computes in float32 or float64.
    pub fn precision(mut self, precision: Precision) -> Self {
        self.precision = precision;
        self
    }

    /// Computes with this many threads, 1 or more.
    pub fn worker_threads(mut self, threads: usize) -> Self {
        self.worker_threads = Some(threads);
        self
    }

    /// Checks all settings, as building an estimator does.
    ///
    /// # Errors
    /// `EST003` for an empty `model_dir` in a faithful run, `EST004` for a number outside its range.
    pub fn validate(&self) -> Result<()> {
        if self.fidelity == Fidelity::Faithful && self.model_dir.as_deref() == Some("") {
            return Err(EstimatorError::EmptyModelDir.into());
        }
        let out_of_range = |field, found, expected, help| EstimatorError::Config { field, found, expected, help };
        let hours = self.keep_checkpoint_every_n_hours;
        if hours.is_nan() || hours <= 0.0 {
            let help = "leave it out to keep no more than `keep_checkpoint_max`";
            let field = "keep_checkpoint_every_n_hours";
            return Err(out_of_range(field, hours.to_string(), "a number above 0", help).into());
        }
        if self.log_step_count_steps == Some(0) {
            let help = "give `None` to log no speed";
            return Err(out_of_range("log_step_count_steps", "0".to_string(), "1 or more", help).into());
        }
        if self.worker_threads == Some(0) {
            let help = "leave it out to use one thread per CPU";
            return Err(out_of_range("worker_threads", "0".to_string(), "1 or more", help).into());
        }
        Ok(())
    }

    /// Where the model is kept; `None` for a temporary folder, also where `model_dir` is empty.
    pub(crate) fn model_path(&self) -> Option<&str> {
        self.model_dir.as_deref().filter(|path| !path.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(config: RunConfig) -> (String, String) {
        let error = config.validate().unwrap_err();
        (error.to_string(), error.exception().to_string())
    }

    #[test]
    fn defaults_are_tensorflows() -> Result<()> {
        let config = RunConfig::new();
        config.validate()?;
        assert_eq!((config.model_dir.as_deref(), config.tf_random_seed), (None, None));
        assert_eq!((config.save_summary_steps, config.log_step_count_steps), (100, Some(100)));
        assert_eq!(config.save_checkpoints, SaveCheckpoints::Secs(Duration::from_secs(600)));
        assert_eq!((config.keep_checkpoint_max, config.keep_checkpoint_every_n_hours), (5, 10_000.0));
        assert_eq!((config.fidelity, config.precision), (Fidelity::Friendly, Precision::Float32));
        Ok(())
    }

    #[test]
    fn an_empty_model_dir_is_temporary_for_friends_and_refused_faithfully() -> Result<()> {
        let config = RunConfig::new().model_dir("");
        config.validate()?;
        assert_eq!(config.model_path(), None);
        let expected = "EST003: model_dir is \"\"; expected the path of a folder or bucket; \
                        leave `model_dir` out to get a temporary folder";
        let found = refused(config.fidelity(Fidelity::Faithful));
        assert_eq!(found, (expected.to_string(), "ValueError".to_string()));
        assert_eq!(RunConfig::new().model_dir("gs://b/iris").model_path(), Some("gs://b/iris"));
        Ok(())
    }

    #[test]
    fn zero_summary_steps_and_zero_kept_checkpoints_are_allowed() -> Result<()> {
        RunConfig::new().save_summary_steps(0).keep_checkpoint_max(0).log_step_count_steps(None).validate()
    }

    #[test]
    fn logging_every_zero_steps_is_refused() {
        let expected = "EST004: log_step_count_steps is 0; expected 1 or more; give `None` to log no speed";
        let found = refused(RunConfig::new().log_step_count_steps(Some(0)));
        assert_eq!(found, (expected.to_string(), "ValueError".to_string()));
    }

    #[test]
    fn keeping_a_checkpoint_every_zero_hours_is_refused() {
        for hours in [0.0, -1.0, f64::NAN] {
            let expected = format!(
                "EST004: keep_checkpoint_every_n_hours is {hours}; expected a number above 0; \
                 leave it out to keep no more than `keep_checkpoint_max`"
            );
            let found = refused(RunConfig::new().keep_checkpoint_every_n_hours(hours));
            assert_eq!(found, (expected, "ValueError".to_string()));
        }
    }

    #[test]
    fn no_worker_threads_are_refused() {
        let expected = "EST004: worker_threads is 0; expected 1 or more; leave it out to use one thread per CPU";
        assert_eq!(refused(RunConfig::new().worker_threads(0)), (expected.to_string(), "ValueError".to_string()));
    }
}
