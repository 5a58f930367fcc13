//! What one call of a `TpuEstimator` runs: the graph of a shard, and the datasets that feed it.

use super::inputs::shard_spec;
use super::spec::ModelSpec;
use super::tpu_estimator::TpuEstimator;
use super::{BatchError, BatchPlan, ProgramError, TpuContext};
use crate::core::{Result, Shape};
use crate::data::Dataset;
use crate::engine::{Executor, ExecutorOptions, Split};
use crate::estimator::{self, Fidelity, InputTensors, ModeKeys, Params, Placement};
use crate::graph::Graph;
use crate::graph::ops::Op;
use crate::notebook::logging;
use crate::summary;

/// What a call on the TPU needs: the plan of the batch, the inputs, and the graph with its model.
pub(super) struct TpuCall {
    pub plan: BatchPlan,
    pub graph: Graph,
    pub inputs: InputTensors,
    pub spec: ModelSpec,
    pub datasets: Vec<Dataset>,
    pub pulls: usize,
    pub split: Split,
    /// Which device runs which op, if that is asked for.
    pub placement: Option<Placement>,
}

impl TpuEstimator {
    /// Calls the input function as often as the pipeline asks, and the model function for one shard.
    pub(super) fn call(
        &self,
        mode: ModeKeys,
        batch_size: Option<usize>,
        input_fn: &impl Fn(&Params) -> Result<Dataset>,
    ) -> Result<TpuCall> {
        let tpu_config = &self.config.tpu_config;
        let plan = BatchPlan::on_tpu(mode, batch_size, tpu_config, self.config.topology())?;
        let params = self.cpu.params().with_use_tpu(true);
        let mut datasets = (0..plan.input_fn_calls)
            .map(|index| {
                let context = TpuContext::for_input_fn(plan, index);
                input_fn(&params.with_batch_size(plan.input_fn_batch_size).with_context(context))
            })
            .collect::<Result<Vec<_>>>()?;
        datasets.truncate(plan.feeding_inputs());
        let (pulls, broadcast) = (plan.pulls(), plan.is_broadcast());
        let split = if broadcast { Split::Whole } else { Split::Rows };
        let Some(first) = datasets.first() else { return Err(BatchError::NoBatchSize { mode }.into()) };
        let element_spec = first.element_spec()?;
        let precision = self.config.base.precision;
        let shard = shard_spec(&element_spec, mode, &plan, pulls, broadcast, precision)?;
        let graph = Graph::with_replicas(plan.num_replicas);
        graph.global_step();
        let inputs = InputTensors::new(&graph, &shard);
        logging::info("Calling model_fn.");
        let labels = if mode == ModeKeys::Predict { None } else { inputs.labels.as_ref() };
        let context = TpuContext::for_model_fn(plan);
        let params = params.with_batch_size(plan.model_fn_batch_size).with_context(context);
        let spec = (self.model_fn)(&inputs.features, labels, mode, &params)?;
        logging::info("Done calling model_fn.");
        self.refuse_summaries(&graph)?;
        let placement = Placement::logged(&self.config.base, &graph, tpu_device);
        Ok(TpuCall { plan, graph, inputs, spec, datasets, pulls, split, placement })
    }

    /// A program on the cores writes no files. The original drops its summaries with a warning.
    fn refuse_summaries(&self, graph: &Graph) -> Result<()> {
        let names: Vec<String> = summary::scalars(graph).into_iter().map(|(name, _)| name).collect();
        let soft = self.config.base.session_config.as_ref().is_none_or(|config| config.allow_soft_placement);
        match self.config.base.fidelity {
            _ if names.is_empty() => Ok(()),
            Fidelity::Faithful if !soft => Err(ProgramError::NoDevice { op: names[0].clone() }.into()),
            Fidelity::Friendly => Err(ProgramError::Summaries { names }.into()),
            Fidelity::Faithful => {
                logging::warn(format!("Unsupported operations found: ScalarSummary ({})", names.join(", ")));
                Ok(())
            }
        }
    }

    pub(super) fn executor_options(&self, seed: u64, replicas: usize, split: Split) -> ExecutorOptions {
        let estimator::RunConfig { precision, worker_threads, .. } = self.config.base;
        ExecutorOptions { replicas, precision, worker_threads, seed, split }
    }

    pub(super) fn trained_executor(
        &self,
        graph: &Graph,
        verb: &str,
        replicas: usize,
        split: Split,
    ) -> Result<(Executor, u64, u64)> {
        let options = |seed| self.executor_options(seed, replicas, split);
        self.cpu.trained_executor(graph, verb, options)
    }
}

/// Every core runs the same program, so the first one stands for all. Texts are the host's.
fn tpu_device(op: &Op) -> (&'static str, Option<&'static str>) {
    match op {
        Op::ScalarSummary => {
            ("/job:worker/replica:0/task:0/device:CPU:0", Some("soft placement: a TPU has no kernel for it"))
        }
        _ => ("/job:worker/replica:0/task:0/device:TPU:0", None),
    }
}

/// `TPU028` unless a tensor has the rows of a shard first.
pub(super) fn require_rows(name: &str, shape: &Shape, rows: usize) -> Result<()> {
    if shape.size(0) == Some(rows) {
        return Ok(());
    }
    Err(ProgramError::ScalarOutput { name: name.to_string(), found: shape.clone(), rows }.into())
}
