//! The two estimators under one set of methods.

use super::{Golden, GoldenError, model};
use std::sync::Arc;
use tpulab::estimator;
use tpulab::losses::Reduction;
use tpulab::prelude::*;

/// What trains: an estimator, or a TPU estimator on the CPU or on eight cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runner {
    Estimator,
    TpuCpu,
    Tpu,
}

impl Runner {
    /// The runner that the command line calls `name`.
    pub fn from_name(name: &str) -> Result<Runner> {
        match name {
            "estimator" => Ok(Runner::Estimator),
            "tpu_cpu" => Ok(Runner::TpuCpu),
            "tpu" => Ok(Runner::Tpu),
            other => Err(GoldenError::Usage { found: format!("runner {other:?}") }.into()),
        }
    }
}

/// An estimator of either kind.
pub enum Trainer {
    Plain(Estimator),
    Tpu(TpuEstimator),
}

impl Trainer {
    pub fn build(golden: Arc<Golden>, runner: Runner, precision: Precision, reduction: Reduction) -> Result<Trainer> {
        let batch_size = golden.batch_size;
        if runner == Runner::Estimator {
            let estimator = Estimator::new(move |features, labels, mode, params| {
                model::model_fn(&golden, reduction, features, labels, mode, params)?.as_estimator_spec()
            });
            return Ok(Trainer::Plain(estimator.config(estimator::RunConfig::new().precision(precision)).build()?));
        }
        // Loops of one step let a hook see the first.
        let config = tpulab::tpu::RunConfig::new()
            .precision(precision)
            .cluster(TpuClusterResolver::new(Some("replay"))?)
            .tpu_config(TpuConfig::new().iterations_per_loop(1));
        let estimator = TpuEstimator::new(move |features, labels, mode, params| {
            model::model_fn(&golden, reduction, features, labels, mode, params)
        });
        let estimator = estimator
            .config(config)
            .use_tpu(runner == Runner::Tpu)
            // The 30 rows to evaluate cannot be shared by 8 cores.
            .eval_on_tpu(false)
            .train_batch_size(batch_size)
            .eval_batch_size(batch_size)
            .predict_batch_size(8);
        Ok(Trainer::Tpu(estimator.build()?))
    }

    pub fn train(&self, dataset: &Dataset, steps: u64, hook: impl SessionRunHook + 'static) -> Result<TrainReport> {
        let hooks: &mut [Box<dyn SessionRunHook>] = &mut [Box::new(hook)];
        match self {
            Trainer::Plain(estimator) => estimator.train_with_hooks(|| Ok(dataset.clone()), Steps(steps), hooks),
            Trainer::Tpu(estimator) => estimator.train_with_hooks(|_| Ok(dataset.clone()), Steps(steps), hooks),
        }
    }

    pub fn evaluate(&self, dataset: &Dataset) -> Result<Evaluation> {
        match self {
            Trainer::Plain(estimator) => estimator.evaluate(|| Ok(dataset.clone()), UntilEnd),
            Trainer::Tpu(estimator) => estimator.evaluate(|_| Ok(dataset.clone()), UntilEnd),
        }
    }

    pub fn predict(&self, dataset: &Dataset) -> Result<Predictions> {
        match self {
            Trainer::Plain(estimator) => estimator.predict(|| Ok(dataset.clone())),
            Trainer::Tpu(estimator) => estimator.predict(|_| Ok(dataset.clone())),
        }
    }

    pub fn variable_names(&self) -> Result<Vec<String>> {
        match self {
            Trainer::Plain(estimator) => estimator.variable_names(),
            Trainer::Tpu(estimator) => estimator.variable_names(),
        }
    }

    pub fn variable_value(&self, name: &str) -> Result<Array> {
        match self {
            Trainer::Plain(estimator) => estimator.variable_value(name),
            Trainer::Tpu(estimator) => estimator.variable_value(name),
        }
    }
}
