//! Builds a `TpuEstimator`.

use super::tpu_estimator::{ModelFn, TpuEstimator};
use super::{BatchError, RunConfig, TpuError};
use crate::core::Result;
use crate::estimator::{Estimator, Fidelity, ModeKeys, ModelDir, Params, with_model_dir};
use std::fmt;
use std::sync::Arc;

/// Builds a [`TpuEstimator`].
#[derive(Clone)]
#[must_use = "call `build` to get the estimator"]
pub struct TpuEstimatorBuilder {
    pub(super) model_fn: ModelFn,
    pub(super) params: Params,
    pub(super) config: RunConfig,
    pub(super) model_dir: Option<String>,
    pub(super) use_tpu: bool,
    pub(super) eval_on_tpu: bool,
    pub(super) train_batch_size: Option<usize>,
    pub(super) eval_batch_size: Option<usize>,
    pub(super) predict_batch_size: Option<usize>,
}

impl TpuEstimatorBuilder {
    /// Whether to run on the TPU, true unless set; else everything runs on the CPU, as one replica.
    pub fn use_tpu(mut self, use_tpu: bool) -> Self {
        self.use_tpu = use_tpu;
        self
    }

    /// Whether to evaluate on the TPU too, true unless set.
    pub fn eval_on_tpu(mut self, eval_on_tpu: bool) -> Self {
        self.eval_on_tpu = eval_on_tpu;
        self
    }

    /// Rows of a training step, over all cores.
    pub fn train_batch_size(mut self, rows: usize) -> Self {
        self.train_batch_size = Some(rows);
        self
    }

    /// Rows of an evaluation step, over all cores.
    pub fn eval_batch_size(mut self, rows: usize) -> Self {
        self.eval_batch_size = Some(rows);
        self
    }

    /// Rows of a prediction step, over all cores; smaller batches are padded.
    pub fn predict_batch_size(mut self, rows: usize) -> Self {
        self.predict_batch_size = Some(rows);
        self
    }

    /// How it runs.
    pub fn config(mut self, config: RunConfig) -> Self {
        self.config = config;
        self
    }

    /// The hyperparameters that the model function is given.
    pub fn params(mut self, params: Params) -> Self {
        self.params = params;
        self
    }

    /// Where the model is kept; default: what the configuration says, else a temporary folder.
    pub fn model_dir(mut self, path: impl Into<String>) -> Self {
        self.model_dir = Some(path.into());
        self
    }

    /// The estimator.
    ///
    /// # Errors
    /// `TPU015` for a parameter that it sets itself, `TPU006` in a faithful run on the TPU without
    /// `train_batch_size`, `TPU007` and `TPU012` for batch sizes that make no sense, `RUN006` for two folders, and
    /// the errors of [`RunConfig::validate`].
    pub fn build(self) -> Result<TpuEstimator> {
        if let Some(name) = self.params.reserved_name() {
            return Err(TpuError::ReservedParam { name }.into());
        }
        let mut config = self.config;
        config.base = with_model_dir(config.base, self.model_dir)?;
        config.base.validate()?;
        if self.use_tpu {
            config.validate()?;
        } else {
            config.tpu_config.validate()?;
        }
        let faithful = config.base.fidelity == Fidelity::Faithful;
        let sizes = [
            (ModeKeys::Train, self.train_batch_size),
            (ModeKeys::Eval, self.eval_batch_size),
            (ModeKeys::Predict, self.predict_batch_size),
        ];
        for (mode, size) in sizes {
            if size == Some(0) {
                return Err(BatchError::EmptyBatch { mode }.into());
            }
        }
        if self.use_tpu && faithful && self.train_batch_size.is_none() {
            return Err(BatchError::NoBatchSize { mode: ModeKeys::Train }.into());
        }
        let model_fn = Arc::clone(&self.model_fn);
        let cpu = Estimator {
            model_fn: Arc::new(move |features, labels, mode, params| {
                model_fn(features, labels, mode, &params.with_use_tpu(false))?.into_estimator_spec()
            }),
            params: self.params,
            model_dir: ModelDir::new(&config.base)?,
            config: config.base.clone(),
        };
        Ok(TpuEstimator {
            model_fn: self.model_fn,
            cpu,
            config,
            use_tpu: self.use_tpu,
            eval_on_tpu: self.eval_on_tpu,
            train_batch_size: self.train_batch_size,
            eval_batch_size: self.eval_batch_size,
            predict_batch_size: self.predict_batch_size,
        })
    }
}

impl fmt::Debug for TpuEstimatorBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TpuEstimatorBuilder")
            .field("use_tpu", &self.use_tpu)
            .field("train_batch_size", &self.train_batch_size)
            .field("params", &self.params)
            .finish_non_exhaustive()
    }
}
