//! What a model function returns on a TPU.

use super::ProgramError;
use crate::core::Result;
use crate::estimator::{EstimatorSpec, ModeKeys};
use crate::graph::{Operation, Tensor, Tensors};
use crate::metrics::Metrics;
use std::fmt;
use std::sync::Arc;

/// A metric function, boxed.
pub(super) type MetricFn = Arc<dyn Fn(&Tensors) -> Result<Metrics> + Send + Sync>;

/// What a `model_fn` returns, for a TPU and for everything else: its metrics are a function of tensors, since they are
/// computed on the host. TensorFlow: `tf.contrib.tpu.TPUEstimatorSpec`.
///
/// # Examples
/// ```
/// use tpulab as tf;
/// use tpulab::prelude::*;
/// fn metric_fn(outputs: &Tensors) -> Result<Metrics> {
///     let predicted = tf::argmax(outputs.get("logits")?, 1)?;
///     Ok(Metrics::from([("accuracy", tf::metrics::accuracy(outputs.get("labels")?, &predicted)?)]))
/// }
/// let graph = Graph::new();
/// let labels = graph.placeholder("labels", DType::Int32, Shape::known(&[16]));
/// let logits = graph.placeholder("logits", DType::Float32, Shape::known(&[16, 3]));
/// let loss = tf::losses::sparse_softmax_cross_entropy(&labels, &logits)?;
/// let spec = TpuEstimatorSpec::eval(loss, metric_fn, Tensors::from([("labels", labels), ("logits", logits)]));
/// assert_eq!(spec.as_estimator_spec()?.metrics.names(), ["accuracy"]);
/// # Ok::<(), Error>(())
/// ```
#[doc(alias = "TPUEstimatorSpec")]
#[derive(Clone)]
#[non_exhaustive]
pub struct TpuEstimatorSpec {
    /// What the spec is for.
    pub mode: ModeKeys,
    /// The loss, one number: on a TPU that of one shard.
    pub loss: Option<Tensor>,
    /// The operation of one training step.
    pub train_op: Option<Operation>,
    /// The predictions, `[batch, …]` each.
    pub predictions: Option<Tensors>,
    pub(super) eval_metrics: Option<(MetricFn, Tensors)>,
}

impl TpuEstimatorSpec {
    /// What training needs: the loss and the operation that lowers it.
    pub fn train(loss: Tensor, train_op: Operation) -> Self {
        TpuEstimatorSpec { loss: Some(loss), train_op: Some(train_op), ..TpuEstimatorSpec::empty(ModeKeys::Train) }
    }

    /// What evaluation needs: the loss, and a function that makes metrics of `outputs`, `[batch, …]` each. TensorFlow:
    /// `eval_metrics=(metric_fn, tensors)`.
    pub fn eval(
        loss: Tensor,
        metric_fn: impl Fn(&Tensors) -> Result<Metrics> + Send + Sync + 'static,
        outputs: Tensors,
    ) -> Self {
        let eval_metrics = Some((Arc::new(metric_fn) as MetricFn, outputs));
        TpuEstimatorSpec { loss: Some(loss), eval_metrics, ..TpuEstimatorSpec::empty(ModeKeys::Eval) }
    }

    /// What evaluation needs where only the loss counts.
    pub fn eval_loss(loss: Tensor) -> Self {
        TpuEstimatorSpec { loss: Some(loss), ..TpuEstimatorSpec::empty(ModeKeys::Eval) }
    }

    /// What prediction needs: tensors under names, `[batch, …]` each.
    pub fn predict(predictions: Tensors) -> Self {
        TpuEstimatorSpec { predictions: Some(predictions), ..TpuEstimatorSpec::empty(ModeKeys::Predict) }
    }

    fn empty(mode: ModeKeys) -> Self {
        TpuEstimatorSpec { mode, loss: None, train_op: None, predictions: None, eval_metrics: None }
    }

    /// The same for an `Estimator`: the metric function is called in the model's own graph.
    ///
    /// # Errors
    /// What the metric function fails with.
    pub fn as_estimator_spec(&self) -> Result<EstimatorSpec> {
        let loss = || self.loss.clone().ok_or(ProgramError::NoLoss { mode: self.mode });
        Ok(match self.mode {
            ModeKeys::Train => {
                let train_op = self.train_op.clone().ok_or(ProgramError::NoLoss { mode: self.mode })?;
                EstimatorSpec::train(loss()?, train_op)
            }
            ModeKeys::Eval => {
                let metrics = match &self.eval_metrics {
                    Some((metric_fn, outputs)) => metric_fn(outputs)?,
                    None => Metrics::new(),
                };
                EstimatorSpec::eval(loss()?, metrics)
            }
            ModeKeys::Predict => {
                EstimatorSpec::predict(self.predictions.clone().unwrap_or_else(|| Tensors::new(vec![])))
            }
        })
    }
}

impl fmt::Debug for TpuEstimatorSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TpuEstimatorSpec")
            .field("mode", &self.mode)
            .field("loss", &self.loss)
            .field("train_op", &self.train_op)
            .field("predictions", &self.predictions)
            .field("eval_metrics", &self.eval_metrics.as_ref().map(|(_, outputs)| outputs))
            .finish()
    }
}

/// What the model function of a `TpuEstimator` may return: either spec.
#[derive(Clone, Debug)]
pub enum ModelSpec {
    /// The one that runs everywhere.
    Tpu(TpuEstimatorSpec),
    /// The one of an `Estimator`: on a TPU for training alone.
    Plain(EstimatorSpec),
}

impl From<TpuEstimatorSpec> for ModelSpec {
    fn from(spec: TpuEstimatorSpec) -> Self {
        ModelSpec::Tpu(spec)
    }
}

impl From<EstimatorSpec> for ModelSpec {
    fn from(spec: EstimatorSpec) -> Self {
        ModelSpec::Plain(spec)
    }
}

impl ModelSpec {
    /// As an `Estimator` takes it.
    pub(super) fn into_estimator_spec(self) -> Result<EstimatorSpec> {
        match self {
            ModelSpec::Tpu(spec) => spec.as_estimator_spec(),
            ModelSpec::Plain(spec) => Ok(spec),
        }
    }

    /// As the TPU takes it in EVAL and PREDICT.
    ///
    /// # Errors
    /// `TPU023` for the spec of an `Estimator`.
    pub(super) fn into_tpu_spec(self, mode: ModeKeys) -> Result<TpuEstimatorSpec> {
        match self {
            ModelSpec::Tpu(spec) => Ok(spec),
            ModelSpec::Plain(_) => Err(ProgramError::PlainSpec { mode }.into()),
        }
    }
}
