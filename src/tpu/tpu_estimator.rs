//! `TpuEstimator`: an estimator whose model runs on many cores.

use super::sources::Sources;
use super::spec::ModelSpec;
use super::tpu_estimator_builder::TpuEstimatorBuilder;
use super::tpu_evaluation::evaluate_on_tpu;
use super::tpu_runner::TpuRunner;
use super::{BatchPlan, ProgramError, RunConfig};
use crate::core::{Array, Result};
use crate::data::{Cardinality, Dataset};
use crate::estimator::{
    Estimator, EvalSteps, Evaluation, Fidelity, LogStyle, ModeKeys, Params, PredictOptions, Predictions,
    SessionRunHook, TrainReport, TrainSteps, save_result,
};
use crate::graph::{Tensor, Tensors};
use crate::storage::Location;
use std::fmt;
use std::sync::Arc;

pub(super) type ModelFn = Arc<dyn Fn(&Tensors, Option<&Tensor>, ModeKeys, &Params) -> Result<ModelSpec> + Send + Sync>;

/// Trains, evaluates and predicts on the simulated cores of a TPU, or on the CPU where `use_tpu` is false. TensorFlow:
/// `tf.contrib.tpu.TPUEstimator`.
///
/// Batch sizes are global: on 8 cores a `train_batch_size` of 128 gives the input function 128 rows and the model
/// function 16. A CPU sees 128 in both.
#[doc(alias = "TPUEstimator")]
#[derive(Clone)]
pub struct TpuEstimator {
    pub(super) model_fn: ModelFn,
    /// The same model for the CPU; it holds parameters, configuration and folder for both.
    pub(super) cpu: Estimator,
    pub(super) config: RunConfig,
    pub(super) use_tpu: bool,
    pub(super) eval_on_tpu: bool,
    pub(super) train_batch_size: Option<usize>,
    pub(super) eval_batch_size: Option<usize>,
    pub(super) predict_batch_size: Option<usize>,
}

impl TpuEstimator {
    /// Builds an estimator for `model_fn(features, labels, mode, params)`, which is called once for each `train`,
    /// `evaluate` and `predict` and returns a [`TpuEstimatorSpec`](super::TpuEstimatorSpec), or an
    /// [`EstimatorSpec`](crate::estimator::EstimatorSpec) where that will do.
    #[allow(clippy::new_ret_no_self, reason = "the builder's last step gives the estimator")]
    pub fn new<S: Into<ModelSpec>>(
        model_fn: impl Fn(&Tensors, Option<&Tensor>, ModeKeys, &Params) -> Result<S> + Send + Sync + 'static,
    ) -> TpuEstimatorBuilder {
        TpuEstimatorBuilder {
            model_fn: Arc::new(move |features, labels, mode, params| {
                model_fn(features, labels, mode, params).map(Into::into)
            }),
            params: Params::new(),
            config: RunConfig::default(),
            model_dir: None,
            use_tpu: true,
            eval_on_tpu: true,
            train_batch_size: None,
            eval_batch_size: None,
            predict_batch_size: None,
        }
    }

    /// How it runs.
    pub fn config(&self) -> &RunConfig {
        &self.config
    }

    /// The hyperparameters, without those that it adds itself.
    pub fn params(&self) -> &Params {
        self.cpu.params()
    }

    /// Where the model is kept.
    pub fn model_dir(&self) -> &Location {
        self.cpu.model_dir()
    }

    /// Trains on the dataset that `input_fn` gives, from where the model stands, in loops of `iterations_per_loop`.
    ///
    /// # Errors
    /// Before anything runs: `RUN001` for 0 steps, `TPU027` for none, `TPU006` to `TPU012` for the batch size,
    /// `TPU022`, `TPU024` and `TPU025` for the dataset, `TPU026` where no `CrossShardOptimizer` is used, `TPU029` in a
    /// faithful run with a local model_dir. While it runs: `RUN002` for a NaN loss, `TPU020` where the input ends.
    pub fn train(
        &self,
        input_fn: impl Fn(&Params) -> Result<Dataset>,
        steps: impl Into<TrainSteps>,
    ) -> Result<TrainReport> {
        self.train_with_hooks(input_fn, steps, &mut [])
    }

    /// The same with hooks, which are called between loops in their order.
    ///
    /// # Errors
    /// As for [`train`](TpuEstimator::train), and what a hook fails with.
    pub fn train_with_hooks(
        &self,
        input_fn: impl Fn(&Params) -> Result<Dataset>,
        steps: impl Into<TrainSteps>,
        hooks: &mut [Box<dyn SessionRunHook>],
    ) -> Result<TrainReport> {
        let steps = steps.into();
        steps.check()?;
        if !self.use_tpu {
            let params = self.cpu_params(ModeKeys::Train, self.train_batch_size)?;
            // The original logs the speed of each step here and no loss at all.
            let faithful = self.config.base.fidelity == Fidelity::Faithful;
            let every = if faithful { Some(1) } else { self.config.base.log_step_count_steps };
            let log = LogStyle { every, loss: !faithful, examples: self.train_batch_size };
            return self.cpu.train_in(&params, || input_fn(&params), steps, hooks, log);
        }
        if steps == TrainSteps::UntilEnd {
            return Err(ProgramError::NoSteps { mode: ModeKeys::Train, batches: None }.into());
        }
        self.train_on_tpu(&input_fn, steps, hooks)
    }

    /// Evaluates the newest checkpoint on `steps` batches of the dataset that `input_fn` gives.
    ///
    /// The metric function sees the outputs of all cores, one after the other. `loss` is the mean over the shards, with
    /// `loss_shard_0` beside it; a faithful run gives shard 0's as `loss`, as the original does, and the mean as
    /// `loss_all_shards`.
    ///
    /// # Errors
    /// Before anything runs: `RUN001` for 0 steps, `TPU027` for none, `TPU006` to `TPU012` for the batch size,
    /// `TPU022`, `TPU024` and `TPU025` for the dataset, `TPU023` for the spec of an `Estimator`, `TPU028` for an output
    /// that is no batch. While it runs: `TPU020` where the input ends.
    pub fn evaluate(
        &self,
        input_fn: impl Fn(&Params) -> Result<Dataset>,
        steps: impl Into<EvalSteps>,
    ) -> Result<Evaluation> {
        let steps = steps.into();
        steps.check()?;
        if !self.use_tpu || !self.eval_on_tpu {
            let params = self.cpu_params(ModeKeys::Eval, self.eval_batch_size)?;
            return self.cpu.evaluate_in(&params, || input_fn(&params), steps);
        }
        let call = self.call(ModeKeys::Eval, self.eval_batch_size, &input_fn)?;
        let EvalSteps::Steps(steps) = steps else {
            let batches = call.datasets.first().and_then(|dataset| match dataset.cardinality() {
                Cardinality::Finite(batches) => Some(batches),
                _ => None,
            });
            return Err(ProgramError::NoSteps { mode: ModeKeys::Eval, batches }.into());
        };
        let spec = call.spec.into_tpu_spec(ModeKeys::Eval)?;
        let replicas = call.plan.num_replicas;
        let (executor, global_step, seed) = self.trained_executor(&call.graph, "evaluate", replicas, call.split)?;
        let inputs = call.datasets.iter().map(|dataset| dataset.iterator(seed)).collect::<Result<Vec<_>>>()?;
        let mut runner = TpuRunner::new(executor, Sources::new(inputs, call.pulls))?;
        let faithful = self.config.base.fidelity == Fidelity::Faithful;
        let evaluation =
            evaluate_on_tpu(&mut runner, &call.graph, &spec, call.inputs.feeds, steps, global_step, faithful)?;
        save_result(&evaluation, &self.cpu.model_dir)?;
        Ok(evaluation)
    }

    /// Predicts for the dataset that `input_fn` gives, with the newest checkpoint, one example at a time as they are
    /// taken. A batch smaller than `predict_batch_size` is padded with zeros, whose results nobody sees.
    ///
    /// # Errors
    /// `TPU006` to `TPU012` for the batch size, `TPU025` for dtypes, `TPU023` for the spec of an `Estimator`, `TPU028`
    /// for a prediction that is no batch; while predictions are taken `TPU021` for a batch that is too large.
    pub fn predict(&self, input_fn: impl Fn(&Params) -> Result<Dataset>) -> Result<Predictions> {
        self.predict_with(input_fn, &PredictOptions::new())
    }

    /// The same for some of the predictions, or batch by batch. TensorFlow: `predict_keys`, `yield_single_examples`.
    ///
    /// # Errors
    /// As for [`predict`](TpuEstimator::predict), and `RUN012` if the model predicts none of the keys.
    pub fn predict_with(
        &self,
        input_fn: impl Fn(&Params) -> Result<Dataset>,
        options: &PredictOptions,
    ) -> Result<Predictions> {
        if !self.use_tpu {
            let params = self.cpu_params(ModeKeys::Predict, self.predict_batch_size)?;
            return self.cpu.predict_in(&params, || input_fn(&params), options);
        }
        self.predict_on_tpu(&input_fn, options)
    }

    /// The names of all variables in the newest checkpoint.
    ///
    /// # Errors
    /// As for [`Estimator::variable_names`].
    pub fn variable_names(&self) -> Result<Vec<String>> {
        self.cpu.variable_names()
    }

    /// The value of a variable in the newest checkpoint.
    ///
    /// # Errors
    /// As for [`Estimator::variable_value`].
    pub fn variable_value(&self, name: &str) -> Result<Array> {
        self.cpu.variable_value(name)
    }

    /// The newest checkpoint's location, without its endings; none if there is none.
    ///
    /// # Errors
    /// As for [`Estimator::latest_checkpoint`].
    pub fn latest_checkpoint(&self) -> Result<Option<Location>> {
        self.cpu.latest_checkpoint()
    }

    fn cpu_params(&self, mode: ModeKeys, batch_size: Option<usize>) -> Result<Params> {
        let plan = BatchPlan::on_cpu(mode, batch_size, &self.config.tpu_config)?;
        Ok(self.cpu.params().with_batch_size(plan.input_fn_batch_size).with_use_tpu(false))
    }
}

impl fmt::Debug for TpuEstimator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TpuEstimator")
            .field("model_dir", &self.model_dir().to_string())
            .field("use_tpu", &self.use_tpu)
            .field("train_batch_size", &self.train_batch_size)
            .field("params", self.params())
            .finish_non_exhaustive()
    }
}
