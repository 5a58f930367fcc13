//! Predicts on the cores.

use super::BatchError;
use super::padded_input::PaddedInput;
use super::tpu_call::require_rows;
use super::tpu_estimator::TpuEstimator;
use crate::core::Result;
use crate::data::Dataset;
use crate::engine::{LocalRunner, Request};
use crate::estimator::{ModeKeys, Params, PredictOptions, Predictions};
use crate::graph::Tensors;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

impl TpuEstimator {
    pub(super) fn predict_on_tpu(
        &self,
        input_fn: &impl Fn(&Params) -> Result<Dataset>,
        options: &PredictOptions,
    ) -> Result<Predictions> {
        let call = self.call(ModeKeys::Predict, self.predict_batch_size, input_fn)?;
        let spec = call.spec.into_tpu_spec(ModeKeys::Predict)?;
        // Checks mode and graphs as an `Estimator` does.
        spec.as_estimator_spec()?.checked(ModeKeys::Predict, &call.graph)?;
        let predictions = spec.predictions.unwrap_or_else(|| Tensors::empty(&call.graph));
        for (name, tensor) in predictions.entries() {
            require_rows(name, &tensor.shape(), call.plan.model_fn_batch_size)?;
        }
        let replicas = call.plan.num_replicas;
        let (mut executor, global_step, seed) = self.trained_executor(&call.graph, "predict", replicas, call.split)?;
        let (names, fetches) = options.choose(&predictions)?;
        let plan = executor.prepare(&Request { feeds: call.inputs.feeds, fetches, ..Request::default() })?;
        executor.set_step(global_step);
        let Some(dataset) = call.datasets.first() else {
            return Err(BatchError::NoBatchSize { mode: ModeKeys::Predict }.into());
        };
        let real_rows = Arc::new(AtomicUsize::new(0));
        let size = call.plan.global_batch_size;
        let input = PaddedInput::new(dataset.iterator(seed)?, size, Arc::clone(&real_rows));
        let runner = LocalRunner::new(executor, input);
        let real_rows = Box::new(move || Some(real_rows.load(Ordering::Relaxed)));
        Ok(Predictions::new(Box::new(runner), plan, names, options.single_examples, real_rows))
    }
}
