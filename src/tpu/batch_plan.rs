//! How a global batch is shared out.

use super::{BatchError, InputPipelineConfig, Topology, TpuConfig};
use crate::core::Result;
use crate::estimator::ModeKeys;

/// How a global batch is shared out: who calls `input_fn`, and what `params.batch_size()` says there and in `model_fn`.
///
/// # Examples
/// The tutorial's batch on its TPU: one call for 128 rows, 16 for each core.
/// ```
/// use tpulab::estimator::ModeKeys;
/// use tpulab::prelude::*;
/// use tpulab::tpu::{BatchPlan, Topology, TpuConfig};
/// let plan = BatchPlan::on_tpu(ModeKeys::Train, Some(128), &TpuConfig::new(), Topology::new("v3-8")?)?;
/// assert_eq!((plan.input_fn_calls, plan.input_fn_batch_size, plan.model_fn_batch_size), (1, 128, 16));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BatchPlan {
    /// The rows of a step over all replicas.
    pub global_batch_size: usize,
    /// The replicas of the model.
    pub num_replicas: usize,
    /// The hosts that feed them.
    pub num_hosts: usize,
    /// How often `input_fn` is called.
    pub input_fn_calls: usize,
    /// The batch size that `input_fn` sees.
    pub input_fn_batch_size: usize,
    /// The batch size that `model_fn` sees.
    pub model_fn_batch_size: usize,
}

impl BatchPlan {
    /// The plan without a TPU: one replica sees the whole batch.
    ///
    /// # Errors
    /// `TPU006` without a batch size, `TPU007` for no rows, `TPU008` for sliced input.
    pub fn on_cpu(mode: ModeKeys, batch_size: Option<usize>, config: &TpuConfig) -> Result<Self> {
        let rows = checked_rows(mode, batch_size)?;
        if mode != ModeKeys::Train && config.eval_training_input_configuration == InputPipelineConfig::Sliced {
            return Err(BatchError::SlicedOnCpu.into());
        }
        Ok(BatchPlan {
            global_batch_size: rows,
            num_replicas: 1,
            num_hosts: 1,
            input_fn_calls: 1,
            input_fn_batch_size: rows,
            model_fn_batch_size: rows,
        })
    }

    /// The plan on a TPU.
    ///
    /// # Errors
    /// `TPU006` without a batch size, `TPU007` for no rows, `TPU009` if `num_shards` is not the number of replicas,
    /// `TPU010` if replicas of several cores do not fit the slice, `TPU011` to evaluate or predict on several hosts
    /// that each call `input_fn`, `TPU012` for rows that the replicas cannot share.
    pub fn on_tpu(mode: ModeKeys, batch_size: Option<usize>, config: &TpuConfig, slice: Topology) -> Result<Self> {
        let input = Input::new(mode, config);
        let (num_replicas, num_hosts) = replicas_and_hosts(config, slice)?;
        let rows = checked_rows(mode, batch_size)?;
        if input != Input::Broadcast && !rows.is_multiple_of(num_replicas) {
            return Err(BatchError::UnevenBatch {
                mode,
                batch_size: rows,
                num_replicas,
                cores_per_replica: config.num_cores_per_replica.unwrap_or(1),
            }
            .into());
        }
        let several_hosts_allowed = match mode {
            ModeKeys::Train => true,
            ModeKeys::Eval => input != Input::PerHost,
            ModeKeys::Predict => {
                matches!(input, Input::Broadcast | Input::Sliced) || num_replicas == 1 && input == Input::PerReplica
            }
        };
        if num_hosts > 1 && !several_hosts_allowed {
            return Err(BatchError::SeveralHosts { mode, num_hosts }.into());
        }
        let shard = rows / num_replicas;
        let (input_fn_calls, input_fn_batch_size) = match input {
            Input::PerShard => (num_replicas, shard),
            Input::PerHost => (num_hosts, rows / num_hosts),
            Input::PerReplica => (num_hosts, shard),
            Input::Broadcast | Input::Sliced => (1, rows),
        };
        Ok(BatchPlan {
            global_batch_size: rows,
            num_replicas,
            num_hosts,
            input_fn_calls,
            input_fn_batch_size,
            model_fn_batch_size: if input == Input::Broadcast { rows } else { shard },
        })
    }

    /// Whether every replica sees the whole batch of one call.
    pub(super) fn is_broadcast(&self) -> bool {
        self.num_replicas > 1 && self.model_fn_batch_size == self.global_batch_size
    }

    /// How many of the inputs feed a replica: where replicas span hosts, one host feeds each.
    pub(super) fn feeding_inputs(&self) -> usize {
        self.input_fn_calls.min(self.num_replicas)
    }

    /// How many elements of an input make up a step of the replicas that it feeds: one, or one for each of them.
    pub(super) fn pulls(&self) -> usize {
        let each_pulls = self.input_fn_calls == self.num_hosts && self.input_fn_batch_size == self.model_fn_batch_size;
        if each_pulls && !self.is_broadcast() { self.num_replicas / self.feeding_inputs() } else { 1 }
    }
}

/// Who calls `input_fn` in one mode.
#[derive(Clone, Copy, PartialEq)]
enum Input {
    PerShard,
    PerHost,
    PerReplica,
    Broadcast,
    Sliced,
}

impl Input {
    fn new(mode: ModeKeys, config: &TpuConfig) -> Self {
        let training = mode == ModeKeys::Train;
        if !training && config.eval_training_input_configuration == InputPipelineConfig::Sliced {
            return Input::Sliced;
        }
        match config.per_host_input_for_training {
            InputPipelineConfig::PerShardV1 if training => Input::PerShard,
            InputPipelineConfig::PerHostV2 => Input::PerReplica,
            InputPipelineConfig::Broadcast => Input::Broadcast,
            // Evaluation and prediction never call once per core; slicing is theirs alone.
            InputPipelineConfig::PerShardV1 | InputPipelineConfig::PerHostV1 | InputPipelineConfig::Sliced => {
                Input::PerHost
            }
        }
    }
}

fn checked_rows(mode: ModeKeys, batch_size: Option<usize>) -> Result<usize> {
    match batch_size {
        None => Err(BatchError::NoBatchSize { mode }.into()),
        Some(0) => Err(BatchError::EmptyBatch { mode }.into()),
        Some(rows) => Ok(rows),
    }
}

fn replicas_and_hosts(config: &TpuConfig, slice: Topology) -> Result<(usize, usize)> {
    if config.is_one_core() {
        return Ok((1, 1));
    }
    let cores_per_replica = config.num_cores_per_replica.unwrap_or(1);
    let per_host_v2 = config.per_host_input_for_training == InputPipelineConfig::PerHostV2;
    let limit = if per_host_v2 { slice.num_cores() } else { slice.cores_per_host() };
    if cores_per_replica > limit {
        return Err(BatchError::CoresPerReplica { found: cores_per_replica, limit, slice, per_host_v2 }.into());
    }
    let num_replicas = slice.num_cores() / cores_per_replica;
    match config.num_shards {
        Some(num_shards) if num_shards != num_replicas => {
            Err(BatchError::NumShards { found: num_shards, num_replicas, slice }.into())
        }
        _ => Ok((num_replicas, slice.num_hosts())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use InputPipelineConfig::{Broadcast, PerHostV1, PerHostV2, PerShardV1, Sliced};
    use ModeKeys::{Eval, Predict, Train};

    fn input(config: InputPipelineConfig) -> TpuConfig {
        match config {
            Sliced => TpuConfig::new().eval_training_input_configuration(Sliced),
            other => TpuConfig::new().per_host_input_for_training(other),
        }
    }

    fn plan(mode: ModeKeys, rows: usize, config: &TpuConfig, slice: &str) -> Result<(usize, usize, usize)> {
        let plan = BatchPlan::on_tpu(mode, Some(rows), config, Topology::new(slice)?)?;
        Ok((plan.input_fn_calls, plan.input_fn_batch_size, plan.model_fn_batch_size))
    }

    fn refused(mode: ModeKeys, rows: usize, config: &TpuConfig, slice: &str) -> (String, String) {
        let error = plan(mode, rows, config, slice).unwrap_err();
        (error.to_string(), error.exception().to_string())
    }

    fn value_error(text: &str) -> (String, String) {
        (text.to_string(), "ValueError".to_string())
    }

    #[test]
    fn a_cpu_sees_the_whole_batch() -> Result<()> {
        for mode in [Train, Eval, Predict] {
            let plan = BatchPlan::on_cpu(mode, Some(128), &TpuConfig::new())?;
            assert_eq!((plan.input_fn_calls, plan.input_fn_batch_size, plan.model_fn_batch_size), (1, 128, 128));
        }
        Ok(())
    }

    #[test]
    fn one_host_shares_128_rows_as_tensorflow_does() -> Result<()> {
        // Calls of input_fn, its batch size, that of model_fn: observed with TensorFlow's TPU context.
        for slice in ["v2-8", "v3-8"] {
            for (config, mode, expected) in [
                (PerHostV1, Train, (1, 128, 16)),
                (PerHostV1, Eval, (1, 128, 16)),
                (PerHostV1, Predict, (1, 128, 16)),
                (PerShardV1, Train, (8, 16, 16)),
                (PerShardV1, Eval, (1, 128, 16)),
                (PerShardV1, Predict, (1, 128, 16)),
                (PerHostV2, Train, (1, 16, 16)),
                (PerHostV2, Eval, (1, 16, 16)),
                (PerHostV2, Predict, (1, 16, 16)),
                (Broadcast, Train, (1, 128, 128)),
                (Broadcast, Eval, (1, 128, 128)),
                (Broadcast, Predict, (1, 128, 128)),
                (Sliced, Train, (1, 128, 16)),
                (Sliced, Eval, (1, 128, 16)),
                (Sliced, Predict, (1, 128, 16)),
            ] {
                assert_eq!(plan(mode, 128, &input(config), slice)?, expected, "{config:?} {mode:?}");
            }
        }
        Ok(())
    }

    #[test]
    fn four_hosts_share_128_rows_as_tensorflow_does() -> Result<()> {
        for slice in ["v2-32", "v3-32"] {
            for (config, mode, expected) in [
                (PerHostV1, Train, (4, 32, 4)),
                (PerShardV1, Train, (32, 4, 4)),
                (PerHostV2, Train, (4, 4, 4)),
                (PerHostV2, Eval, (4, 4, 4)),
                (Broadcast, Train, (1, 128, 128)),
                (Broadcast, Eval, (1, 128, 128)),
                (Broadcast, Predict, (1, 128, 128)),
                (Sliced, Eval, (1, 128, 4)),
            ] {
                assert_eq!(plan(mode, 128, &input(config), slice)?, expected, "{config:?} {mode:?}");
            }
        }
        Ok(())
    }

    #[test]
    fn several_hosts_that_each_call_input_fn_do_not_evaluate() {
        for config in [PerHostV1, PerShardV1] {
            let expected = "TPU011: cannot evaluate on 4 hosts that each call input_fn; use a slice of one host such \
                            as v3-8, `InputPipelineConfig::Broadcast` or `InputPipelineConfig::PerHostV2`";
            assert_eq!(refused(Eval, 128, &input(config), "v3-32"), value_error(expected));
        }
    }

    #[test]
    fn several_hosts_that_each_call_input_fn_do_not_predict() {
        for config in [PerHostV1, PerShardV1, PerHostV2] {
            let expected = "TPU011: cannot predict on 4 hosts that each call input_fn; use a slice of one host such \
                            as v3-8 or `InputPipelineConfig::Broadcast`";
            assert_eq!(refused(Predict, 128, &input(config), "v3-32"), value_error(expected));
        }
    }

    #[test]
    fn one_replica_over_several_hosts_predicts_per_host() -> Result<()> {
        let config = input(PerHostV2).num_cores_per_replica(32);
        assert_eq!(plan(Predict, 128, &config, "v3-32")?, (4, 128, 128));
        Ok(())
    }

    #[test]
    fn batch_of_100_over_8_cores_is_refused() {
        for (mode, name) in [(Train, "train"), (Eval, "eval"), (Predict, "predict")] {
            let expected = format!(
                "TPU012: {name}_batch_size 100 cannot be split over 8 cores; use a multiple of 8, such as 96 or 104"
            );
            assert_eq!(refused(mode, 100, &TpuConfig::new(), "v3-8"), value_error(&expected));
        }
        let expected = "TPU012: train_batch_size 3 cannot be split over 8 cores; use a multiple of 8, such as 8";
        assert_eq!(refused(Train, 3, &TpuConfig::new(), "v3-8"), value_error(expected));
        let error = BatchPlan::on_tpu(Train, Some(usize::MAX), &TpuConfig::new(), Topology::default()).unwrap_err();
        assert!(error.to_string().ends_with("such as 18446744073709551608"), "{error}");
    }

    #[test]
    fn a_sliced_batch_must_be_shared_evenly_too() {
        assert!(refused(Eval, 100, &input(Sliced), "v3-8").0.starts_with("TPU012"));
    }

    #[test]
    fn a_broadcast_batch_of_100_is_not_split() -> Result<()> {
        assert_eq!(plan(Train, 100, &input(Broadcast), "v3-8")?, (1, 100, 100));
        Ok(())
    }

    #[test]
    fn a_missing_batch_size_is_refused() {
        for (mode, name, verb) in
            [(Train, "train", "train"), (Eval, "eval", "evaluate"), (Predict, "predict", "predict")]
        {
            let expected = format!(
                "TPU006: {name}_batch_size is not set, and `{verb}` needs it; \
                                    give `TpuEstimator` the global batch size, such as `.{name}_batch_size(128)`"
            );
            let on_tpu = BatchPlan::on_tpu(mode, None, &TpuConfig::new(), Topology::default()).unwrap_err();
            assert_eq!((on_tpu.to_string(), on_tpu.exception().to_string()), value_error(&expected));
            assert_eq!(BatchPlan::on_cpu(mode, None, &TpuConfig::new()).unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn a_batch_of_no_rows_is_refused() {
        let expected = "TPU007: train_batch_size is 0; expected 1 or more; give the global batch size, such as 128";
        assert_eq!(refused(Train, 0, &TpuConfig::new(), "v3-8"), value_error(expected));
        assert_eq!(BatchPlan::on_cpu(Train, Some(0), &TpuConfig::new()).unwrap_err().to_string(), expected);
    }

    #[test]
    fn num_shards_is_the_number_of_replicas() -> Result<()> {
        assert_eq!(plan(Train, 128, &TpuConfig::new().num_shards(8), "v3-8")?, (1, 128, 16));
        let expected = "TPU009: num_shards is 4, and v3-8 has 8 replicas; leave `num_shards` out, or set it to 8";
        assert_eq!(refused(Train, 128, &TpuConfig::new().num_shards(4), "v3-8"), value_error(expected));
        Ok(())
    }

    #[test]
    fn one_shard_runs_on_one_core() -> Result<()> {
        assert_eq!(plan(Train, 100, &TpuConfig::new().num_shards(1), "v3-32")?, (1, 100, 100));
        Ok(())
    }

    #[test]
    fn replicas_of_several_cores_are_fewer() -> Result<()> {
        let config = TpuConfig::new().num_cores_per_replica(2);
        assert_eq!(plan(Train, 128, &config, "v3-8")?, (1, 128, 32));
        assert_eq!(plan(Train, 128, &config.num_shards(4), "v3-8")?, (1, 128, 32));
        Ok(())
    }

    #[test]
    fn a_replica_fits_its_host_or_its_slice() {
        let expected = "TPU010: num_cores_per_replica is 16, and a host of v3-32 has 8 cores; \
                        use 8 or fewer, or `InputPipelineConfig::PerHostV2`";
        let config = TpuConfig::new().num_cores_per_replica(16);
        assert_eq!(refused(Train, 128, &config, "v3-32"), value_error(expected));
        let expected = "TPU010: num_cores_per_replica is 64, and v3-32 has 32 cores; use 32 or fewer";
        let config = input(PerHostV2).num_cores_per_replica(64);
        assert_eq!(refused(Train, 128, &config, "v3-32"), value_error(expected));
    }

    #[test]
    fn sliced_input_needs_a_tpu() {
        let error = BatchPlan::on_cpu(Eval, Some(128), &input(Sliced)).unwrap_err();
        let expected = "TPU008: sliced input works on a TPU only; \
                        leave `eval_training_input_configuration` out where `use_tpu` is false";
        assert_eq!((error.to_string(), error.exception().to_string()), value_error(expected));
        assert!(BatchPlan::on_cpu(Train, Some(128), &input(Sliced)).is_ok());
    }
}
