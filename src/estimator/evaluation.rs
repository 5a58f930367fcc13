//! Evaluates a model on a dataset, batch by batch.

use super::model_dir::ModelDir;
use super::{EstimatorSpec, Evaluation, RunError};
use crate::core::Result;
use crate::engine::{Flow, Request, Runner};
use crate::graph::Tensor;
use crate::notebook::{Progress, StopFlag, logging};
use crate::summary::EventWriter;

/// Runs up to `limit` batches through the updates of the metrics, then reads their values.
///
/// The loss is the plain mean of the batches' losses, however many rows each has, as in TensorFlow.
pub(crate) fn evaluate(
    runner: &mut dyn Runner,
    spec: &EstimatorSpec,
    feeds: Vec<Tensor>,
    limit: u64,
    global_step: u64,
) -> Result<Evaluation> {
    let metrics = spec.metrics.entries();
    let updates = metrics.iter().map(|(_, metric)| metric.update.clone());
    let request = Request { feeds, fetches: spec.loss.iter().cloned().chain(updates).collect(), ..Request::default() };
    let plan = runner.executor().prepare(&request)?;
    runner.executor().set_step(global_step);
    let (mut total, mut steps) = (0.0, 0u64);
    let mut progress = Progress::new("evaluate", Some(limit));
    runner.run_loop(plan, limit, &mut |executor| {
        total += executor.scalar(plan, 0, 0);
        steps += 1;
        tell_progress(&mut progress, steps, limit)
    })?;
    drop(progress);
    if steps == 0 {
        return Err(RunError::NoInput { mode: "evaluate" }.into());
    }
    let executor = runner.executor();
    let values = metrics.iter().map(|(_, metric)| metric.value.clone()).collect();
    let reading = executor.prepare(&Request { fetches: values, ..Request::default() })?;
    executor.run(reading, &[])?;
    let mut entries = vec![("loss".to_string(), total / steps as f64)];
    for (index, (name, _)) in metrics.iter().enumerate() {
        entries.push((name.clone(), executor.scalar(reading, index, 0)));
    }
    Ok(Evaluation::new(entries, global_step, steps))
}

/// One line for each batch of fewer than 20, else ten in all; an error if the user interrupted.
pub(crate) fn tell_progress(progress: &mut Progress, step: u64, limit: u64) -> Result<Flow> {
    let every = if limit < 20 { 1 } else { limit / 10 };
    if limit != u64::MAX && step.is_multiple_of(every) {
        logging::info(format!("Evaluation [{step}/{limit}]"));
    }
    progress.update(step, None);
    match StopFlag::process().stop_requested() {
        true if step < limit => Err(RunError::Interrupted { mode: "evaluate", step, saved: None }.into()),
        _ => Ok(Flow::Continue),
    }
}

/// Logs the results, and writes them to an event file in the model's folder `eval`.
pub(crate) fn save_result(evaluation: &Evaluation, model_dir: &ModelDir) -> Result<()> {
    let step = evaluation.global_step();
    logging::info(format!("Saving dict for global step {step}: {evaluation}"));
    let mut events = EventWriter::create(&model_dir.location().join("eval")?)?;
    let values: Vec<(&str, f32)> =
        evaluation.entries().iter().map(|(name, value)| (name.as_str(), *value as f32)).collect();
    events.scalars(&values, step)?;
    if let Some((prefix, _)) = model_dir.latest()? {
        logging::info(format!("Saving 'checkpoint_path' summary for global step {step}: {prefix}"));
        events.text("checkpoint_path", &prefix.to_string(), step)?;
    }
    Ok(())
}
