//! How a TPU estimator runs.

use super::{Topology, TpuClusterResolver, TpuConfig, TpuError};
use crate::core::Result;
use crate::engine::Precision;
use crate::estimator::{self, ConfigProto, Fidelity, SaveCheckpoints};

/// How a `TpuEstimator` runs: all that [`estimator::RunConfig`] says, and where the TPU is.
/// TensorFlow: `tf.contrib.tpu.RunConfig`.
///
/// Each setting is a field, of this type or of `base`, and a method of the same name sets it. They are checked when a
/// `TpuEstimator` is built.
///
/// # Examples
/// ```
/// use tpulab::estimator::ConfigProto;
/// use tpulab::prelude::*;
/// use tpulab::tpu::{RunConfig, TpuClusterResolver, TpuConfig};
/// let config = RunConfig::new()
///     .model_dir("gs://bucket-name/iris")
///     .cluster(TpuClusterResolver::new(Some("tpu-name"))?)
///     .session_config(ConfigProto::new().allow_soft_placement(true).log_device_placement(true))
///     .tpu_config(TpuConfig::new().iterations_per_loop(500));
/// config.validate()?;
/// assert_eq!(config.resolved_master(), "grpc://10.240.1.2:8470");
///
/// let error = config.master("grpc://10.0.0.2").validate().unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "TPU014: master `grpc://10.0.0.2` and a cluster are both given; leave `master` out: the cluster knows it",
/// );
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct RunConfig {
    /// What an `Estimator` is told as well.
    pub base: estimator::RunConfig,
    /// What concerns the TPU alone.
    pub tpu_config: TpuConfig,
    /// Which TPU to run on; `None` for a local one.
    pub cluster: Option<TpuClusterResolver>,
    /// The address of the first worker; `None` to take the cluster's.
    pub master: Option<String>,
    /// The address to evaluate at; `None` for the master's.
    pub evaluation_master: Option<String>,
}

macro_rules! forward {
    ($($name:ident($argument:ident: $type:ty)),* $(,)?) => {$(
        #[doc = concat!("Sets `", stringify!($name), "`, as [`estimator::RunConfig::", stringify!($name), "`] does.")]
        pub fn $name(mut self, $argument: $type) -> Self {
            self.base = self.base.$name($argument);
            self
        }
    )*};
}

impl RunConfig {
    /// TensorFlow's defaults.
    pub fn new() -> Self {
        RunConfig::default()
    }

    forward!(
        model_dir(path: impl Into<String>),
        tf_random_seed(seed: u64),
        save_summary_steps(steps: u64),
        save_checkpoints(when: SaveCheckpoints),
        keep_checkpoint_max(checkpoints: usize),
        keep_checkpoint_every_n_hours(hours: f64),
        log_step_count_steps(steps: Option<u64>),
        session_config(config: ConfigProto),
        fidelity(fidelity: Fidelity),
        precision(precision: Precision),
        worker_threads(threads: usize),
    );

    /// Sets what concerns the TPU alone.
    pub fn tpu_config(mut self, config: TpuConfig) -> Self {
        self.tpu_config = config;
        self
    }

    /// Runs on this TPU.
    pub fn cluster(mut self, cluster: TpuClusterResolver) -> Self {
        self.cluster = Some(cluster);
        self
    }

    /// Reaches the TPU at this address; not together with a cluster.
    pub fn master(mut self, address: impl Into<String>) -> Self {
        self.master = Some(address.into());
        self
    }

    /// Evaluates at this address.
    pub fn evaluation_master(mut self, address: impl Into<String>) -> Self {
        self.evaluation_master = Some(address.into());
        self
    }

    /// Checks all settings, as building a `TpuEstimator` does.
    ///
    /// # Errors
    /// `TPU014` for a master beside a cluster, `TPU013` for a cluster without a name in a faithful run, and the errors
    /// of [`estimator::RunConfig::validate`] and [`TpuConfig::validate`].
    pub fn validate(&self) -> Result<()> {
        self.base.validate()?;
        self.tpu_config.validate()?;
        match (&self.master, &self.cluster) {
            (Some(master), Some(_)) => Err(TpuError::MasterAndCluster { master: master.clone() }.into()),
            (None, Some(cluster)) if self.base.fidelity == Fidelity::Faithful && !cluster.is_named() => {
                Err(TpuError::Unnamed.into())
            }
            _ => Ok(()),
        }
    }

    /// The address of the first worker: the master's, else the cluster's, else none.
    pub fn resolved_master(&self) -> String {
        let of_cluster = || self.cluster.as_ref().map(TpuClusterResolver::master);
        self.master.clone().or_else(of_cluster).unwrap_or_default()
    }

    /// The address to evaluate at: the evaluation master's, else that of the first worker.
    pub fn resolved_evaluation_master(&self) -> String {
        self.evaluation_master.clone().unwrap_or_else(|| self.resolved_master())
    }

    /// The slice to run on: the cluster's, else `v3-8`.
    pub fn topology(&self) -> Topology {
        self.cluster.as_ref().map(TpuClusterResolver::topology).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named() -> TpuClusterResolver {
        TpuClusterResolver::new(Some("tpu-name")).unwrap()
    }

    fn refused(config: RunConfig) -> (String, String) {
        let error = config.validate().unwrap_err();
        (error.to_string(), error.exception().to_string())
    }

    #[test]
    fn the_cluster_gives_both_masters_and_the_slice() -> Result<()> {
        let config = RunConfig::new().cluster(named().accelerator_type("v2-32")?);
        config.validate()?;
        assert_eq!(config.resolved_master(), "grpc://10.240.1.2:8470");
        assert_eq!(config.resolved_evaluation_master(), "grpc://10.240.1.2:8470");
        assert_eq!(config.topology().accelerator_type(), "v2-32");
        Ok(())
    }

    #[test]
    fn the_evaluation_master_is_the_master_unless_given() {
        let config = RunConfig::new().master("grpc://a:1");
        assert_eq!(
            (config.resolved_master(), config.resolved_evaluation_master()),
            ("grpc://a:1".into(), "grpc://a:1".into())
        );
        let config = config.evaluation_master("");
        assert_eq!((config.resolved_master(), config.resolved_evaluation_master()), ("grpc://a:1".into(), "".into()));
    }

    #[test]
    fn without_master_and_cluster_the_tpu_is_local() -> Result<()> {
        let config = RunConfig::new();
        config.validate()?;
        assert_eq!((config.resolved_master().as_str(), config.topology()), ("", Topology::default()));
        Ok(())
    }

    #[test]
    fn a_master_beside_a_cluster_is_refused() {
        let expected = "TPU014: master `` and a cluster are both given; leave `master` out: the cluster knows it";
        let found = refused(RunConfig::new().cluster(named()).master(""));
        assert_eq!(found, (expected.to_string(), "ValueError".to_string()));
    }

    #[test]
    fn a_cluster_without_a_name_is_local_for_friends_and_refused_faithfully() -> Result<()> {
        let config = RunConfig::new().cluster(TpuClusterResolver::within(None, |_| None)?);
        config.validate()?;
        let expected = "TPU013: no TPU is named, here or in the environment; \
                        give the flag `tpu` a name, or leave the cluster out where `use_tpu` is false";
        let found = refused(config.fidelity(Fidelity::Faithful));
        assert_eq!(found, (expected.to_string(), "ValueError".to_string()));
        RunConfig::new().cluster(named()).fidelity(Fidelity::Faithful).validate()
    }

    #[test]
    fn settings_of_the_base_and_of_the_tpu_are_checked() {
        assert!(refused(RunConfig::new().worker_threads(0)).0.starts_with("EST004"));
        assert!(refused(RunConfig::new().model_dir("").fidelity(Fidelity::Faithful)).0.starts_with("EST003"));
        let config = TpuConfig::new().iterations_per_loop(0);
        assert!(refused(RunConfig::new().tpu_config(config)).0.starts_with("TPU002"));
    }
}
