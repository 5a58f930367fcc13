//! Configurations and results as JSON, and back.

use super::{ConfigProto, Evaluation, Fidelity, Param, Params, RunConfig, SaveCheckpoints, TrainReport};
use crate::core::Result;
use crate::core::json::{Entries, JsonError, kind, number, word_of};
use crate::engine::Precision;
use serde_json::{Map, Value, json};
use std::time::Duration;

const FIDELITY: [(&str, Fidelity); 2] = [("friendly", Fidelity::Friendly), ("faithful", Fidelity::Faithful)];
const PRECISION: [(&str, Precision); 2] = [("float32", Precision::Float32), ("float64", Precision::Float64)];

impl Params {
    /// The parameters as a JSON object.
    ///
    /// # Errors
    /// `JSON003` for a shared Rust value, which only the program has.
    ///
    /// # Examples
    /// ```
    /// use tpulab::prelude::*;
    /// let params = Params::new().set("hidden_units", [10, 10]).set("n_classes", 3);
    /// assert_eq!(params.to_json()?.to_string(), r#"{"hidden_units":[10,10],"n_classes":3}"#);
    /// assert_eq!(Params::from_json(&params.to_json()?)?.get::<usize>("n_classes")?, 3);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn to_json(&self) -> Result<Value> {
        let entries = self.entries().iter().map(|(name, value)| match value {
            Param::Json(value) => Ok((name.clone(), value.clone())),
            shared => Err(JsonError::Unwritable { path: name.clone(), found: format!("{shared:?}") }.into()),
        });
        Ok(Value::Object(entries.collect::<Result<Map<_, _>>>()?))
    }

    /// The parameters of a JSON object, in alphabetical order.
    ///
    /// # Errors
    /// `JSON002` for anything else.
    pub fn from_json(value: &Value) -> Result<Self> {
        let map = value.as_object().ok_or_else(|| kind("", "an object", value))?;
        Ok(map.iter().fold(Params::new(), |params, (name, value)| params.set(name.as_str(), value.clone())))
    }
}

impl Evaluation {
    /// The results as JSON: `global_step`, `steps`, and `metrics` by their names. NaN and infinities are texts.
    ///
    /// # Examples
    /// ```
    /// use tpulab::prelude::*;
    /// let text = r#"{"global_step": 1000, "steps": 4, "metrics": {"accuracy": 0.96875, "loss": 0.0625}}"#;
    /// let evaluation = Evaluation::from_json(&serde_json::from_str(text).expect("it is JSON"))?;
    /// assert_eq!(evaluation.get("accuracy")?, 0.96875);
    /// assert_eq!(Evaluation::from_json(&evaluation.to_json())?, evaluation);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn to_json(&self) -> Value {
        let metrics = self.entries().iter().filter(|(name, _)| name != "global_step");
        let metrics: Map<String, Value> = metrics.map(|(name, value)| (name.clone(), number(*value))).collect();
        json!({"global_step": self.global_step(), "steps": self.steps(), "metrics": metrics})
    }

    /// The results that [`to_json`](Evaluation::to_json) wrote.
    ///
    /// # Errors
    /// `JSON001` and `JSON002` for anything else.
    pub fn from_json(value: &Value) -> Result<Self> {
        let mut entries = Entries::of(value, "")?;
        let (global_step, steps) = (entries.need("global_step")?, entries.need("steps")?);
        let metrics: Value = entries.need("metrics")?;
        entries.finish()?;
        let map = metrics.as_object().ok_or_else(|| kind("metrics", "an object", &metrics))?;
        let read = |(name, value): (&String, &Value)| {
            let number = <f64 as crate::core::json::FromJson>::from_json(value);
            Ok((name.clone(), number.ok_or_else(|| kind(&format!("metrics.{name}"), "a number", value))?))
        };
        Ok(Evaluation::new(map.iter().map(read).collect::<Result<_>>()?, global_step, steps))
    }
}

impl TrainReport {
    /// The report as JSON: `first_step`, `global_step`, `loops`, `shards`, `losses` of all steps, and `shard_losses`,
    /// those of a step one after the other. The placement of ops is left out.
    ///
    /// # Examples
    /// ```
    /// use tpulab::prelude::*;
    /// let report = TrainReport::default();
    /// assert_eq!(TrainReport::from_json(&report.to_json())?, report);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn to_json(&self) -> Value {
        let numbers = |values: &[f64]| values.iter().map(|&value| number(value)).collect::<Vec<_>>();
        json!({
            "first_step": self.first_step,
            "global_step": self.global_step,
            "loops": self.loops,
            "shards": self.shards,
            "losses": numbers(&self.losses),
            "shard_losses": numbers(&self.shard_losses),
        })
    }

    /// The report that [`to_json`](TrainReport::to_json) wrote.
    ///
    /// # Errors
    /// `JSON001` and `JSON002` for anything else, also for shard losses that are not as many as steps and shards.
    pub fn from_json(value: &Value) -> Result<Self> {
        let mut entries = Entries::of(value, "")?;
        let report = TrainReport {
            first_step: entries.need("first_step")?,
            global_step: entries.need("global_step")?,
            loops: entries.need("loops")?,
            shards: entries.need("shards")?,
            losses: entries.need("losses")?,
            shard_losses: entries.need("shard_losses")?,
            placement: None,
        };
        entries.finish()?;
        if report.losses.len().checked_mul(report.shards) != Some(report.shard_losses.len()) {
            let expected = format!("{} numbers, one for each step and shard", report.losses.len() * report.shards);
            return Err(kind("shard_losses", &expected, &json!(report.shard_losses.len())));
        }
        Ok(report)
    }
}

impl RunConfig {
    /// The configuration as JSON, all settings by their names. Times are seconds.
    ///
    /// # Examples
    /// ```
    /// use tpulab::estimator::RunConfig;
    /// use tpulab::prelude::*;
    /// let config = RunConfig::new().tf_random_seed(7).log_step_count_steps(None);
    /// assert_eq!(config.to_json()["tf_random_seed"], 7);
    /// assert_eq!(RunConfig::from_json(&config.to_json())?, config);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn to_json(&self) -> Value {
        let save_checkpoints = match self.save_checkpoints {
            SaveCheckpoints::Steps(steps) => json!({"steps": steps}),
            SaveCheckpoints::Secs(time) => json!({"secs": time.as_secs_f64()}),
            SaveCheckpoints::Never => json!("never"),
        };
        let session_config = self.session_config.as_ref().map(|config| {
            json!({
                "allow_soft_placement": config.allow_soft_placement,
                "log_device_placement": config.log_device_placement,
            })
        });
        json!({
            "model_dir": self.model_dir,
            "tf_random_seed": self.tf_random_seed,
            "save_summary_steps": self.save_summary_steps,
            "save_checkpoints": save_checkpoints,
            "keep_checkpoint_max": self.keep_checkpoint_max,
            "keep_checkpoint_every_n_hours": number(self.keep_checkpoint_every_n_hours),
            "log_step_count_steps": self.log_step_count_steps.unwrap_or(0),
            "session_config": session_config,
            "fidelity": word_of(self.fidelity, &FIDELITY),
            "precision": word_of(self.precision, &PRECISION),
            "worker_threads": self.worker_threads,
        })
    }

    /// The configuration that [`to_json`](RunConfig::to_json) wrote, or one written by hand: what is left out is as
    /// TensorFlow has it, and 0 for `log_step_count_steps` logs nothing.
    ///
    /// # Errors
    /// `JSON001` for an unknown setting, `JSON002` for a value of another kind.
    pub fn from_json(value: &Value) -> Result<Self> {
        let mut entries = Entries::of(value, "")?;
        let config = RunConfig::take_from(&mut entries)?;
        entries.finish()?;
        Ok(config)
    }

    /// The settings among `entries`.
    pub(crate) fn take_from(entries: &mut Entries<'_>) -> Result<Self> {
        let default = RunConfig::default();
        Ok(RunConfig {
            model_dir: entries.take("model_dir")?,
            tf_random_seed: entries.take("tf_random_seed")?,
            save_summary_steps: entries.take("save_summary_steps")?.unwrap_or(default.save_summary_steps),
            save_checkpoints: match entries.take::<Value>("save_checkpoints")? {
                None => default.save_checkpoints,
                Some(value) => save_checkpoints(&value, &entries.path_of("save_checkpoints"))?,
            },
            keep_checkpoint_max: entries.take("keep_checkpoint_max")?.unwrap_or(default.keep_checkpoint_max),
            keep_checkpoint_every_n_hours: entries
                .take("keep_checkpoint_every_n_hours")?
                .unwrap_or(default.keep_checkpoint_every_n_hours),
            log_step_count_steps: match entries.take::<u64>("log_step_count_steps")? {
                None => default.log_step_count_steps,
                Some(steps) => Some(steps).filter(|&steps| steps > 0),
            },
            session_config: match entries.take::<Value>("session_config")? {
                None => None,
                Some(value) => Some(session_config(&value, &entries.path_of("session_config"))?),
            },
            fidelity: entries.word("fidelity", &FIDELITY)?.unwrap_or_default(),
            precision: entries.word("precision", &PRECISION)?.unwrap_or_default(),
            worker_threads: entries.take("worker_threads")?,
        })
    }
}

fn save_checkpoints(value: &Value, path: &str) -> Result<SaveCheckpoints> {
    if value == "never" {
        return Ok(SaveCheckpoints::Never);
    }
    let mut entries = Entries::of(value, path)?;
    let (steps, secs) = (entries.take::<u64>("steps")?, entries.take::<f64>("secs")?);
    entries.finish()?;
    match (steps, secs.map(Duration::try_from_secs_f64)) {
        (Some(steps), None) => Ok(SaveCheckpoints::Steps(steps)),
        (None, Some(Ok(time))) => Ok(SaveCheckpoints::Secs(time)),
        _ => Err(kind(path, "either `steps` or `secs`, 0 or more, or \"never\"", value)),
    }
}

fn session_config(value: &Value, path: &str) -> Result<ConfigProto> {
    let mut entries = Entries::of(value, path)?;
    let config = ConfigProto {
        allow_soft_placement: entries.take("allow_soft_placement")?.unwrap_or(false),
        log_device_placement: entries.take("log_device_placement")?.unwrap_or(false),
    };
    entries.finish()?;
    Ok(config)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_comes_back() -> Result<()> {
        let config = RunConfig::new()
            .model_dir("gs://bucket/iris")
            .tf_random_seed(u64::MAX)
            .save_summary_steps(0)
            .save_checkpoints(SaveCheckpoints::Secs(Duration::from_millis(1500)))
            .keep_checkpoint_max(0)
            .keep_checkpoint_every_n_hours(0.5)
            .log_step_count_steps(None)
            .session_config(ConfigProto::new().log_device_placement(true))
            .fidelity(Fidelity::Faithful)
            .precision(Precision::Float64)
            .worker_threads(3);
        let text = config.to_json().to_string();
        assert_eq!(RunConfig::from_json(&serde_json::from_str(&text).expect("it is JSON"))?, config);
        for when in [SaveCheckpoints::Never, SaveCheckpoints::Steps(0)] {
            let config = RunConfig::new().save_checkpoints(when);
            assert_eq!(RunConfig::from_json(&config.to_json())?, config);
        }
        assert_eq!(RunConfig::from_json(&json!({}))?, RunConfig::new());
        Ok(())
    }

    #[test]
    fn wrong_settings_are_named() {
        let refused = |value| RunConfig::from_json(&value).unwrap_err().to_string();
        assert_eq!(
            refused(json!({"save_checkpoints": {"steps": 1, "secs": 1}})),
            "JSON002: save_checkpoints: expected either `steps` or `secs`, 0 or more, or \"never\", \
             found {\"secs\":1,\"steps\":1}"
        );
        assert_eq!(
            refused(json!({"fidelity": "true"})),
            "JSON002: fidelity: expected \"friendly\" or \"faithful\", found \"true\""
        );
        assert!(refused(json!({"session_config": {"soft": true}})).starts_with("JSON001: `session_config.soft`"));
        assert!(refused(json!({"tf_random_sede": 1})).ends_with("did you mean `tf_random_seed`?"));
    }

    #[test]
    fn shared_parameters_are_refused_by_name() {
        let params = Params::new().set_shared("feature_columns", vec![1u8]);
        let error = params.to_json().unwrap_err().to_string();
        assert!(error.starts_with("JSON003: `feature_columns` cannot be written as JSON: a shared "), "{error}");
    }

    #[test]
    fn a_report_with_nan_comes_back_and_one_of_other_lengths_is_refused() -> Result<()> {
        let report = TrainReport {
            losses: vec![0.1, f64::NAN],
            shard_losses: vec![0.1, f64::NEG_INFINITY],
            shards: 1,
            ..TrainReport::default()
        };
        let back = TrainReport::from_json(&report.to_json())?;
        assert!(back.losses[1].is_nan() && back.shard_losses == report.shard_losses);
        let mut json = report.to_json();
        json["shards"] = json!(2);
        assert_eq!(
            TrainReport::from_json(&json).unwrap_err().to_string(),
            "JSON002: shard_losses: expected 4 numbers, one for each step and shard, found 2"
        );
        Ok(())
    }
}
