//! What concerns the TPU alone.

use super::{InputPipelineConfig, IterationsPerLoop, TpuError};
use crate::core::Result;
use std::time::Duration;

/// What concerns the TPU alone: the length of its loops and who feeds it. TensorFlow: `tf.contrib.tpu.TPUConfig`.
///
/// Each setting is a field, and a method of the same name sets it. They are checked when a `TpuEstimator` is built.
///
/// # Examples
/// ```
/// use tpulab::prelude::*;
/// use tpulab::tpu::{InputPipelineConfig, IterationsPerLoop, TpuConfig};
/// let config = TpuConfig::new().iterations_per_loop(500);
/// config.validate()?;
/// assert_eq!(config.iterations_per_loop, IterationsPerLoop::Count(500));
/// assert_eq!(config.per_host_input_for_training, InputPipelineConfig::PerHostV1);
/// assert!(TpuConfig::new().iterations_per_loop(0).validate().is_err());
/// # Ok::<(), Error>(())
/// ```
///
/// Loops of −1 or 2.5 steps do not compile:
/// ```compile_fail
/// # use tpulab::tpu::TpuConfig;
/// TpuConfig::new().iterations_per_loop(-1);
/// ```
/// ```compile_fail
/// # use tpulab::tpu::TpuConfig;
/// TpuConfig::new().iterations_per_loop(2.5);
/// ```
#[doc(alias = "TPUConfig")]
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TpuConfig {
    /// How long one training loop runs, 2 steps unless set.
    pub iterations_per_loop: IterationsPerLoop,
    /// How many replicas there are; `None` to take the TPU's own number.
    pub num_shards: Option<usize>,
    /// How many cores one replica spans; `None` for one.
    pub num_cores_per_replica: Option<usize>,
    /// Which part of the system calls the `input_fn`, each host unless set.
    pub per_host_input_for_training: InputPipelineConfig,
    /// The same to evaluate and predict: each host, or one call whose batch is sliced.
    pub eval_training_input_configuration: InputPipelineConfig,
    /// How long the host waits before it feeds the first batch, not at all unless set.
    pub initial_infeed_sleep_secs: Duration,
}

impl Default for TpuConfig {
    fn default() -> Self {
        TpuConfig {
            iterations_per_loop: IterationsPerLoop::Count(2),
            num_shards: None,
            num_cores_per_replica: None,
            per_host_input_for_training: InputPipelineConfig::PerHostV1,
            eval_training_input_configuration: InputPipelineConfig::PerHostV1,
            initial_infeed_sleep_secs: Duration::ZERO,
        }
    }
}

impl TpuConfig {
    /// TensorFlow's defaults.
    pub fn new() -> Self {
        TpuConfig::default()
    }

    /// Runs so many steps, 1 or more, before the host looks in.
    pub fn iterations_per_loop(mut self, steps: u64) -> Self {
        self.iterations_per_loop = IterationsPerLoop::Count(steps);
        self
    }

    /// Runs as many steps as fit into `time` before the host looks in.
    pub fn time_per_loop(mut self, time: Duration) -> Self {
        self.iterations_per_loop = IterationsPerLoop::Time(time);
        self
    }

    /// Insists on so many replicas; 1 runs the model on a single core.
    pub fn num_shards(mut self, replicas: usize) -> Self {
        self.num_shards = Some(replicas);
        self
    }

    /// Gives each replica so many cores: a power of two up to 128.
    pub fn num_cores_per_replica(mut self, cores: usize) -> Self {
        self.num_cores_per_replica = Some(cores);
        self
    }

    /// Chooses which part of the system calls the `input_fn`.
    pub fn per_host_input_for_training(mut self, config: InputPipelineConfig) -> Self {
        self.per_host_input_for_training = config;
        self
    }

    /// Chooses it to evaluate and predict: `PerHostV1` or `Sliced`.
    pub fn eval_training_input_configuration(mut self, config: InputPipelineConfig) -> Self {
        self.eval_training_input_configuration = config;
        self
    }

    /// Waits before the first batch is fed.
    pub fn initial_infeed_sleep_secs(mut self, time: Duration) -> Self {
        self.initial_infeed_sleep_secs = time;
        self
    }

    /// Checks all settings, as building a `TpuEstimator` does.
    ///
    /// # Errors
    /// `TPU002` for a loop without steps, `TPU003` for a setting outside its range.
    pub fn validate(&self) -> Result<()> {
        self.iterations_per_loop.validate()?;
        let refused =
            |field, found: String, expected, help| Err(TpuError::Config { field, found, expected, help }.into());
        if self.num_shards == Some(0) {
            let help = "leave it out to take the TPU's own number";
            return refused("num_shards", "0".to_string(), "1 or more", help);
        }
        if let Some(cores) = self.num_cores_per_replica
            && !(cores.is_power_of_two() && cores <= 128)
        {
            let expected = "1, 2, 4, 8, 16, 32, 64 or 128";
            return refused("num_cores_per_replica", cores.to_string(), expected, "leave it out for one core");
        }
        if self.per_host_input_for_training == InputPipelineConfig::Sliced {
            let expected = "`PerShardV1`, `PerHostV1`, `PerHostV2` or `Broadcast`";
            let help = "`Sliced` belongs into `eval_training_input_configuration`";
            return refused("per_host_input_for_training", "`Sliced`".to_string(), expected, help);
        }
        let eval = self.eval_training_input_configuration;
        if !matches!(eval, InputPipelineConfig::PerHostV1 | InputPipelineConfig::Sliced) {
            let help = "what training uses belongs into `per_host_input_for_training`";
            let field = "eval_training_input_configuration";
            return refused(field, format!("`{eval:?}`"), "`PerHostV1` or `Sliced`", help);
        }
        Ok(())
    }

    /// Whether the model runs on a single core, whatever the TPU has.
    pub(crate) fn is_one_core(&self) -> bool {
        self.num_shards == Some(1) && self.num_cores_per_replica.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(config: TpuConfig) -> (String, String) {
        let error = config.validate().unwrap_err();
        (error.to_string(), error.exception().to_string())
    }

    fn value_error(text: &str) -> (String, String) {
        (text.to_string(), "ValueError".to_string())
    }

    #[test]
    fn defaults_are_tensorflows() -> Result<()> {
        let config = TpuConfig::new();
        config.validate()?;
        assert_eq!(config.iterations_per_loop, IterationsPerLoop::Count(2));
        assert_eq!(config.per_host_input_for_training, InputPipelineConfig::PerHostV1);
        assert_eq!(config.eval_training_input_configuration, InputPipelineConfig::PerHostV1);
        assert_eq!((config.num_shards, config.num_cores_per_replica), (None, None));
        Ok(())
    }

    #[test]
    fn a_loop_without_steps_or_time_is_refused() {
        let rest = "expected a number of steps, 1 or more, or a time; write it as `500`, `300s`, `5m` or `1h`";
        let steps = refused(TpuConfig::new().iterations_per_loop(0));
        assert_eq!(steps, value_error(&format!("TPU002: iterations_per_loop is 0; {rest}")));
        let time = refused(TpuConfig::new().time_per_loop(Duration::ZERO));
        assert_eq!(time, value_error(&format!("TPU002: iterations_per_loop is 0s; {rest}")));
    }

    #[test]
    fn no_shards_are_refused() {
        let expected = "TPU003: num_shards is 0; expected 1 or more; leave it out to take the TPU's own number";
        assert_eq!(refused(TpuConfig::new().num_shards(0)), value_error(expected));
    }

    #[test]
    fn cores_per_replica_are_a_power_of_two_up_to_128() -> Result<()> {
        for cores in [1, 2, 4, 8, 16, 32, 64, 128] {
            TpuConfig::new().num_cores_per_replica(cores).validate()?;
        }
        for cores in [0, 3, 256] {
            let expected = format!(
                "TPU003: num_cores_per_replica is {cores}; expected 1, 2, 4, 8, 16, 32, 64 or 128; \
                 leave it out for one core"
            );
            assert_eq!(refused(TpuConfig::new().num_cores_per_replica(cores)), value_error(&expected));
        }
        Ok(())
    }

    #[test]
    fn training_input_is_not_sliced() {
        let config = TpuConfig::new().per_host_input_for_training(InputPipelineConfig::Sliced);
        let expected = "TPU003: per_host_input_for_training is `Sliced`; expected `PerShardV1`, `PerHostV1`, \
                        `PerHostV2` or `Broadcast`; `Sliced` belongs into `eval_training_input_configuration`";
        assert_eq!(refused(config), value_error(expected));
    }

    #[test]
    fn evaluation_input_is_per_host_or_sliced() -> Result<()> {
        use InputPipelineConfig::{Broadcast, PerHostV1, PerHostV2, PerShardV1, Sliced};
        for config in [PerHostV1, Sliced] {
            TpuConfig::new().eval_training_input_configuration(config).validate()?;
        }
        for config in [PerShardV1, PerHostV2, Broadcast] {
            let expected = format!(
                "TPU003: eval_training_input_configuration is `{config:?}`; expected `PerHostV1` or `Sliced`; \
                 what training uses belongs into `per_host_input_for_training`"
            );
            let found = refused(TpuConfig::new().eval_training_input_configuration(config));
            assert_eq!(found, value_error(&expected));
        }
        Ok(())
    }

    #[test]
    fn numbers_are_tensorflows() {
        assert_eq!(InputPipelineConfig::PerShardV1 as i32, 1);
        assert_eq!(InputPipelineConfig::Sliced as i32, 5);
    }
}
