//! Evaluates on the cores, with metrics on the host.

use super::spec::TpuEstimatorSpec;
use super::tpu_call::require_rows;
use crate::core::{Array, Result, Shape};
use crate::engine::{Executor, ExecutorOptions, Precision, Request, Runner};
use crate::estimator::{Evaluation, ModeKeys, scalar_loss};
use crate::graph::{Graph, Tensor, Tensors};
use crate::metrics::Metrics;
use crate::notebook::Progress;

/// Runs `steps` batches: each core computes loss and outputs of its shard, the host takes in the outputs of all cores,
/// one after the other, with the metrics of its own graph.
pub(super) fn evaluate_on_tpu(
    runner: &mut dyn Runner,
    graph: &Graph,
    spec: &TpuEstimatorSpec,
    feeds: Vec<Tensor>,
    steps: u64,
    global_step: u64,
    faithful: bool,
) -> Result<Evaluation> {
    let outputs = spec.eval_metrics.as_ref().map_or_else(|| Tensors::new(vec![]), |(_, outputs)| outputs.clone());
    // Checks mode and graph as an `Estimator` does, metrics aside.
    let plain = TpuEstimatorSpec { eval_metrics: None, ..spec.clone() };
    plain.as_estimator_spec()?.checked(ModeKeys::Eval, graph)?;
    let Some(loss) = &spec.loss else { return Ok(Evaluation::default()) };
    let loss = scalar_loss(loss, graph)?;
    let rows = feeds.first().and_then(|feed| feed.shape().size(0)).unwrap_or(0);
    for (name, tensor) in outputs.entries() {
        require_rows(name, &tensor.shape(), rows)?;
    }
    let replicas = runner.executor().replicas();
    let mut host = HostMetrics::new(spec, &outputs, replicas, &loss, runner.executor().precision())?;
    let fetches = std::iter::once(loss).chain(outputs.entries().iter().map(|(_, tensor)| tensor.clone())).collect();
    let plan = runner.executor().prepare(&Request { feeds, fetches, ..Request::default() })?;
    runner.executor().set_step(global_step);
    let (mut all_shards, mut shard_0) = (0.0, 0.0);
    let count = outputs.len();
    let mut step = 0;
    let mut progress = Progress::new("evaluate", Some(steps));
    runner.run_loop(plan, steps, &mut |executor| {
        let losses = (0..replicas).map(|replica| executor.scalar(plan, 0, replica));
        all_shards += losses.sum::<f64>() / replicas as f64;
        shard_0 += executor.scalar(plan, 0, 0);
        let arrays: Vec<Array> = (1..=count).map(|fetch| executor.concatenated(plan, fetch)).collect();
        host.update(&arrays)?;
        step += 1;
        crate::estimator::tell_progress(&mut progress, step, steps)
    })?;
    drop(progress);
    let mut entries = host.values()?;
    let (all_shards, shard_0) = (all_shards / steps as f64, shard_0 / steps as f64);
    if faithful {
        entries.push(("loss".to_string(), shard_0));
        entries.push(("loss_all_shards".to_string(), all_shards));
    } else {
        entries.push(("loss".to_string(), all_shards));
        entries.push(("loss_shard_0".to_string(), shard_0));
    }
    Ok(Evaluation::new(entries, global_step, steps))
}

/// The metrics' own graph on the host.
struct HostMetrics {
    executor: Executor,
    metrics: Metrics,
    update: Request,
}

impl HostMetrics {
    fn new(
        spec: &TpuEstimatorSpec,
        outputs: &Tensors,
        replicas: usize,
        loss: &Tensor,
        precision: Precision,
    ) -> Result<Self> {
        let graph = Graph::new();
        let mut placeholders = Tensors::empty(&graph);
        for (name, tensor) in outputs.entries() {
            let mut sizes = tensor.shape().sizes().to_vec();
            if let Some(Some(rows)) = sizes.first_mut() {
                *rows *= replicas;
            }
            placeholders.insert(name.clone(), graph.placeholder(name, tensor.dtype(), Shape::new(&sizes)));
        }
        let metrics = match &spec.eval_metrics {
            Some((metric_fn, _)) => metric_fn(&placeholders)?,
            None => Metrics::new(),
        };
        // The names that evaluation uses itself are refused as for an `Estimator`.
        let own_loss = graph.number_like("loss", 0.0, loss)?;
        crate::estimator::EstimatorSpec::eval(own_loss, metrics.clone()).checked(ModeKeys::Eval, &graph)?;
        let feeds = placeholders.entries().iter().map(|(_, tensor)| tensor.clone()).collect();
        let fetches = metrics.entries().iter().map(|(_, metric)| metric.update.clone()).collect();
        let executor = Executor::new(&graph, ExecutorOptions { precision, ..ExecutorOptions::default() })?;
        Ok(HostMetrics { executor, metrics, update: Request { feeds, fetches, ..Request::default() } })
    }

    fn update(&mut self, outputs: &[Array]) -> Result<()> {
        let plan = self.executor.prepare(&self.update)?;
        self.executor.run(plan, outputs)
    }

    fn values(&mut self) -> Result<Vec<(String, f64)>> {
        let fetches = self.metrics.entries().iter().map(|(_, metric)| metric.value.clone()).collect();
        let plan = self.executor.prepare(&Request { fetches, ..Request::default() })?;
        self.executor.run(plan, &[])?;
        let names = self.metrics.entries().iter().enumerate();
        Ok(names.map(|(index, (name, _))| (name.clone(), self.executor.scalar(plan, index, 0))).collect())
    }
}
