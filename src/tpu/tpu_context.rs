//! What a function of the user may ask about the devices.

use super::{BatchPlan, ProgramError};
use crate::core::Result;

/// What an `input_fn` or `model_fn` may ask about the devices: `params.get::<TpuContext>("context")`.
/// TensorFlow: `tf.contrib.tpu.TPUContext`.
///
/// Only an `input_fn` is called for a certain host; with it, each host can read its own part of the files.
#[doc(alias = "TPUContext")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TpuContext {
    plan: BatchPlan,
    /// Which call of `input_fn` this is; `None` in `model_fn`.
    invocation_index: Option<usize>,
}

/// Which call of `input_fn` this is. TensorFlow: what `current_input_fn_deployment` returns.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InputFnDeployment {
    /// The device that the input stands on.
    pub input_device: String,
    /// The number of this call, from 0.
    pub invocation_index: usize,
    /// How many calls there are.
    pub total_invocations: usize,
    /// How many replicas this call feeds.
    pub replicas_consumed: usize,
}

impl TpuContext {
    /// What `model_fn` may ask.
    pub(crate) fn for_model_fn(plan: BatchPlan) -> Self {
        TpuContext { plan, invocation_index: None }
    }

    /// What call `invocation_index` of `input_fn` may ask.
    pub(crate) fn for_input_fn(plan: BatchPlan, invocation_index: usize) -> Self {
        TpuContext { plan, invocation_index: Some(invocation_index) }
    }

    /// The replicas of the model.
    pub fn num_replicas(&self) -> usize {
        self.plan.num_replicas
    }

    /// The hosts that feed them.
    pub fn num_hosts(&self) -> usize {
        self.plan.num_hosts
    }

    /// The replicas that one host feeds.
    pub fn num_of_replicas_per_host(&self) -> usize {
        self.plan.num_replicas / self.plan.num_hosts
    }

    /// The host that this `input_fn` is called for, from 0.
    ///
    /// # Errors
    /// `TPU016` in `model_fn`, which is built once for all hosts.
    pub fn current_host(&self) -> Result<usize> {
        let question = "current_host";
        let invocation_index = self.invocation_index.ok_or(ProgramError::NotInInputFn { question })?;
        // Calls are spread evenly: one per host, or as many as a host has replicas, or one in all.
        Ok(invocation_index * self.plan.num_hosts / self.plan.input_fn_calls)
    }

    /// Which call of `input_fn` this is.
    ///
    /// # Errors
    /// `TPU016` in `model_fn`.
    pub fn current_input_fn_deployment(&self) -> Result<InputFnDeployment> {
        let question = "current_input_fn_deployment";
        let invocation_index = self.invocation_index.ok_or(ProgramError::NotInInputFn { question })?;
        Ok(InputFnDeployment {
            input_device: format!("/job:worker/task:{}/device:CPU:0", self.current_host()?),
            invocation_index,
            total_invocations: self.plan.input_fn_calls,
            replicas_consumed: self.plan.num_replicas / self.plan.input_fn_calls,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimator::ModeKeys;
    use crate::tpu::{InputPipelineConfig, Topology, TpuConfig};

    fn plan(input: InputPipelineConfig) -> Result<BatchPlan> {
        let config = TpuConfig::new().per_host_input_for_training(input);
        BatchPlan::on_tpu(ModeKeys::Train, Some(128), &config, Topology::new("v3-32")?)
    }

    #[test]
    fn each_host_knows_itself_and_its_replicas() -> Result<()> {
        let context = TpuContext::for_input_fn(plan(InputPipelineConfig::PerHostV1)?, 3);
        assert_eq!((context.num_replicas(), context.num_hosts(), context.num_of_replicas_per_host()), (32, 4, 8));
        let deployment = context.current_input_fn_deployment()?;
        assert_eq!(context.current_host()?, 3);
        assert_eq!(deployment.input_device, "/job:worker/task:3/device:CPU:0");
        assert_eq!((deployment.invocation_index, deployment.total_invocations), (3, 4));
        assert_eq!(deployment.replicas_consumed, 8);
        Ok(())
    }

    #[test]
    fn calls_per_core_belong_to_their_host() -> Result<()> {
        let context = TpuContext::for_input_fn(plan(InputPipelineConfig::PerShardV1)?, 9);
        assert_eq!((context.current_host()?, context.current_input_fn_deployment()?.replicas_consumed), (1, 1));
        Ok(())
    }

    #[test]
    fn one_broadcast_call_feeds_all_replicas() -> Result<()> {
        let context = TpuContext::for_input_fn(plan(InputPipelineConfig::Broadcast)?, 0);
        assert_eq!((context.current_host()?, context.current_input_fn_deployment()?.replicas_consumed), (0, 32));
        Ok(())
    }

    #[test]
    fn model_fn_belongs_to_no_host() -> Result<()> {
        let context = TpuContext::for_model_fn(plan(InputPipelineConfig::PerHostV1)?);
        let error = context.current_host().unwrap_err();
        let expected = "TPU016: `current_host` has no answer inside model_fn; \
                        ask it in `input_fn`, which each host calls for itself";
        assert_eq!((error.to_string().as_str(), error.exception().to_string().as_str()), (expected, "RuntimeError"));
        assert_eq!(context.current_input_fn_deployment().unwrap_err().code(), "TPU016");
        Ok(())
    }
}
