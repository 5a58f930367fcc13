//! Configurations of a TPU as JSON, and back.

use super::{InputPipelineConfig, IterationsPerLoop, RunConfig, TpuClusterResolver, TpuConfig};
use crate::core::Result;
use crate::core::json::{Entries, kind, word_of};
use crate::estimator;
use serde_json::{Value, json};
use std::time::Duration;

/// TensorFlow's names.
const PIPELINES: [(&str, InputPipelineConfig); 5] = [
    ("PER_SHARD_V1", InputPipelineConfig::PerShardV1),
    ("PER_HOST_V1", InputPipelineConfig::PerHostV1),
    ("PER_HOST_V2", InputPipelineConfig::PerHostV2),
    ("BROADCAST", InputPipelineConfig::Broadcast),
    ("SLICED", InputPipelineConfig::Sliced),
];

impl RunConfig {
    /// The configuration as JSON: the settings of [`estimator::RunConfig::to_json`], and beside them `tpu_config`,
    /// `cluster` as the TPU's name or address and its accelerator type, and the masters.
    ///
    /// # Examples
    /// ```
    /// use tpulab::prelude::*;
    /// use tpulab::tpu::RunConfig;
    /// let config = RunConfig::new()
    ///     .cluster(TpuClusterResolver::new(Some("tpu-name"))?.accelerator_type("v3-32")?)
    ///     .tpu_config(TpuConfig::new().iterations_per_loop(500));
    /// let json = config.to_json();
    /// assert_eq!(json["cluster"]["accelerator_type"], "v3-32");
    /// assert_eq!(RunConfig::from_json(&json)?, config);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn to_json(&self) -> Value {
        let mut json = self.base.to_json();
        let cluster = self.cluster.as_ref().map(
            |cluster| json!({"tpu": cluster.address(), "accelerator_type": cluster.topology().accelerator_type()}),
        );
        json["tpu_config"] = self.tpu_config.to_json();
        json["cluster"] = cluster.unwrap_or(Value::Null);
        json["master"] = json!(self.master);
        json["evaluation_master"] = json!(self.evaluation_master);
        json
    }

    /// The configuration that [`to_json`](RunConfig::to_json) wrote, or one written by hand.
    ///
    /// # Errors
    /// `JSON001` for an unknown setting, `JSON002` for a value of another kind, and what
    /// [`TpuClusterResolver::new`] and [`TpuClusterResolver::accelerator_type`] refuse.
    pub fn from_json(value: &Value) -> Result<Self> {
        let mut entries = Entries::of(value, "")?;
        let base = estimator::RunConfig::take_from(&mut entries)?;
        let tpu_config = match entries.take::<Value>("tpu_config")? {
            None => TpuConfig::default(),
            Some(value) => TpuConfig::read(&value, "tpu_config")?,
        };
        let cluster = match entries.take::<Value>("cluster")? {
            None => None,
            Some(value) => Some(cluster(&value)?),
        };
        let (master, evaluation_master) = (entries.take("master")?, entries.take("evaluation_master")?);
        entries.finish()?;
        Ok(RunConfig { base, tpu_config, cluster, master, evaluation_master })
    }
}

fn cluster(value: &Value) -> Result<TpuClusterResolver> {
    let mut entries = Entries::of(value, "cluster")?;
    let (tpu, accelerator_type) = (entries.take::<String>("tpu")?, entries.take::<String>("accelerator_type")?);
    entries.finish()?;
    // What was written down does not depend on where it is read.
    let resolver = TpuClusterResolver::within(tpu.as_deref(), |_| None)?;
    accelerator_type.map_or(Ok(resolver.clone()), |slice| resolver.accelerator_type(&slice))
}

impl TpuConfig {
    /// The configuration as JSON. `iterations_per_loop` is a number of steps, or a text such as `300s`.
    ///
    /// # Examples
    /// ```
    /// use tpulab::prelude::*;
    /// let config = TpuConfig::new().iterations_per_loop(500);
    /// assert_eq!(config.to_json()["per_host_input_for_training"], "PER_HOST_V1");
    /// assert_eq!(TpuConfig::from_json(&config.to_json())?, config);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn to_json(&self) -> Value {
        json!({
            "iterations_per_loop": match self.iterations_per_loop {
                IterationsPerLoop::Count(steps) => json!(steps),
                IterationsPerLoop::Time(_) => json!(self.iterations_per_loop.to_string()),
            },
            "num_shards": self.num_shards,
            "num_cores_per_replica": self.num_cores_per_replica,
            "per_host_input_for_training": word_of(self.per_host_input_for_training, &PIPELINES),
            "eval_training_input_configuration": word_of(self.eval_training_input_configuration, &PIPELINES),
            "initial_infeed_sleep_secs": self.initial_infeed_sleep_secs.as_secs_f64(),
        })
    }

    /// The configuration that [`to_json`](TpuConfig::to_json) wrote, or one written by hand: what is left out is as
    /// TensorFlow has it.
    ///
    /// # Errors
    /// `JSON001` for an unknown setting, `JSON002` for a value of another kind, `TPU002` for a time without unit.
    pub fn from_json(value: &Value) -> Result<Self> {
        TpuConfig::read(value, "")
    }

    fn read(value: &Value, path: &str) -> Result<Self> {
        let default = TpuConfig::default();
        let mut entries = Entries::of(value, path)?;
        let sleep: f64 = entries.take("initial_infeed_sleep_secs")?.unwrap_or(0.0);
        let config = TpuConfig {
            iterations_per_loop: match entries.take::<Value>("iterations_per_loop")? {
                None => default.iterations_per_loop,
                Some(Value::String(text)) => text.parse()?,
                Some(value) => {
                    let path = entries.path_of("iterations_per_loop");
                    let expected = "a number of steps or a text such as \"300s\"";
                    IterationsPerLoop::Count(value.as_u64().ok_or_else(|| kind(&path, expected, &value))?)
                }
            },
            num_shards: entries.take("num_shards")?,
            num_cores_per_replica: entries.take("num_cores_per_replica")?,
            per_host_input_for_training: entries
                .word("per_host_input_for_training", &PIPELINES)?
                .unwrap_or(default.per_host_input_for_training),
            eval_training_input_configuration: entries
                .word("eval_training_input_configuration", &PIPELINES)?
                .unwrap_or(default.eval_training_input_configuration),
            initial_infeed_sleep_secs: Duration::try_from_secs_f64(sleep).map_err(|_| {
                kind(&entries.path_of("initial_infeed_sleep_secs"), "seconds, 0 or more", &json!(sleep))
            })?,
        };
        entries.finish()?;
        Ok(config)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_comes_back() -> Result<()> {
        for tpu in [None, Some("local"), Some("tpu-name"), Some("grpc://10.0.0.2:8470")] {
            let cluster = TpuClusterResolver::within(tpu, |_| None)?.accelerator_type("v2-8")?;
            let tpu_config = TpuConfig::new()
                .time_per_loop(Duration::from_secs(90))
                .num_shards(8)
                .num_cores_per_replica(1)
                .per_host_input_for_training(InputPipelineConfig::Broadcast)
                .eval_training_input_configuration(InputPipelineConfig::Sliced)
                .initial_infeed_sleep_secs(Duration::from_millis(250));
            let config =
                RunConfig::new().tf_random_seed(3).cluster(cluster).tpu_config(tpu_config).evaluation_master("e");
            let text = config.to_json().to_string();
            assert_eq!(RunConfig::from_json(&serde_json::from_str(&text).expect("it is JSON"))?, config, "{tpu:?}");
        }
        assert_eq!(RunConfig::from_json(&json!({}))?, RunConfig::new());
        Ok(())
    }

    #[test]
    fn wrong_settings_are_named_with_their_path() {
        let refused = |value| RunConfig::from_json(&value).unwrap_err().to_string();
        assert_eq!(
            refused(json!({"tpu_config": {"iterations_per_loop": 2.5}})),
            "JSON002: tpu_config.iterations_per_loop: expected a number of steps or a text such as \"300s\", found 2.5"
        );
        assert!(
            refused(json!({"tpu_config": {"iteration_per_loop": 2}})).contains("did you mean `iterations_per_loop`?")
        );
        assert!(refused(json!({"cluster": {"accelerator_type": "v9-8"}})).starts_with("TPU001"));
        assert!(refused(json!({"tpu_config": {"initial_infeed_sleep_secs": -1}})).contains("found -1"));
    }
}
