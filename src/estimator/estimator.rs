//! `Estimator`: trains, evaluates and predicts with a model function.

use super::evaluation::{evaluate, save_result};
use super::inputs::InputTensors;
use super::model_dir::{ModelDir, restore};
use super::placement::{Placement, local_device};
use super::training::{LogStyle, Loops, Training};
use super::{
    EstimatorSpec, EvalSteps, Evaluation, ModeKeys, Params, PredictOptions, Predictions, RunConfig, RunError,
    SessionRunHook, TrainReport, TrainSteps,
};
use crate::checkpoint::Checkpoint;
use crate::core::{Array, Result};
use crate::data::Dataset;
use crate::engine::{Executor, ExecutorOptions, LocalRunner, Request};
use crate::graph::{Graph, Tensor, Tensors};
use crate::notebook::logging;
use crate::storage::Location;
use std::fmt;
use std::sync::Arc;

/// A model function, boxed.
pub(crate) type ModelFn =
    Arc<dyn Fn(&Tensors, Option<&Tensor>, ModeKeys, &Params) -> Result<EstimatorSpec> + Send + Sync>;

/// Trains, evaluates and predicts with a model function. It holds no weights: the model is what its folder holds.
/// TensorFlow: `tf.estimator.Estimator`.
///
/// # Examples
/// ```
/// use tpulab as tf;
/// use tpulab::prelude::*;
/// # tf::notebook::logging::set_verbosity(tf::notebook::logging::Level::Error);
/// fn my_model(features: &Tensors, labels: Option<&Tensor>, mode: ModeKeys, params: &Params) -> Result<EstimatorSpec> {
///     let net = tf::feature_column::input_layer(features, &[tf::feature_column::numeric_column("x")])?;
///     let logits = tf::layers::dense(&net, params.get("n_classes")?, None)?;
///     match (mode, labels) {
///         (ModeKeys::Train, Some(labels)) => {
///             let loss = tf::losses::sparse_softmax_cross_entropy(labels, &logits)?;
///             let optimizer = tf::train::AdagradOptimizer::new(0.1);
///             let train_op = optimizer.minimize(&loss, Some(&features.graph().global_step()))?;
///             Ok(EstimatorSpec::train(loss, train_op))
///         }
///         _ => Ok(EstimatorSpec::predict(Tensors::from([("logits", logits)]))),
///     }
/// }
/// let classifier = Estimator::new(my_model).params(Params::new().set("n_classes", 2)).build()?;
/// let features = Frame::new([("x", Column::from(vec![-1.0f32, 1.0]))])?;
/// let labels = Column::from(vec![0i32, 1]);
/// let input_fn = || Ok(Dataset::from_tensor_slices((&features, &labels))?.repeat().batch(2, Remainder::Keep));
/// let report = classifier.train(input_fn, Steps(20))?;
/// assert!(report.losses()[19] < report.losses()[0]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone)]
pub struct Estimator {
    pub(crate) model_fn: ModelFn,
    pub(crate) params: Params,
    pub(crate) config: RunConfig,
    pub(crate) model_dir: ModelDir,
}

/// Builds an [`Estimator`].
#[derive(Clone)]
#[must_use = "call `build` to get the estimator"]
pub struct EstimatorBuilder {
    model_fn: ModelFn,
    params: Params,
    config: RunConfig,
    model_dir: Option<String>,
}

impl EstimatorBuilder {
    /// The hyperparameters that the model function is given.
    pub fn params(mut self, params: Params) -> Self {
        self.params = params;
        self
    }

    /// How it runs.
    pub fn config(mut self, config: RunConfig) -> Self {
        self.config = config;
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
    /// `EST003` and `EST004` for the configuration, `RUN006` for two folders, `STOR003` to `STOR007` for one that
    /// cannot be.
    pub fn build(self) -> Result<Estimator> {
        let config = with_model_dir(self.config, self.model_dir)?;
        config.validate()?;
        let model_dir = ModelDir::new(&config)?;
        Ok(Estimator { model_fn: self.model_fn, params: self.params, config, model_dir })
    }
}

/// The configuration with the folder that an estimator was given, if it was.
pub(crate) fn with_model_dir(config: RunConfig, argument: Option<String>) -> Result<RunConfig> {
    match (argument, &config.model_dir) {
        (None, _) => Ok(config),
        (Some(argument), Some(own)) if !own.is_empty() && *own != argument => {
            Err(RunError::ModelDirs { argument, config: own.clone() }.into())
        }
        (Some(argument), _) => Ok(config.model_dir(argument)),
    }
}

impl Estimator {
    /// Builds an estimator for `model_fn(features, labels, mode, params)`, which is called once for each `train`,
    /// `evaluate` and `predict`.
    #[allow(clippy::new_ret_no_self, reason = "the builder's last step gives the estimator")]
    pub fn new(
        model_fn: impl Fn(&Tensors, Option<&Tensor>, ModeKeys, &Params) -> Result<EstimatorSpec> + Send + Sync + 'static,
    ) -> EstimatorBuilder {
        EstimatorBuilder {
            model_fn: Arc::new(model_fn),
            params: Params::new(),
            config: RunConfig::default(),
            model_dir: None,
        }
    }

    /// The hyperparameters.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// How it runs.
    pub fn config(&self) -> &RunConfig {
        &self.config
    }

    /// Where the model is kept.
    pub fn model_dir(&self) -> &Location {
        self.model_dir.location()
    }

    /// Trains on the dataset that `input_fn` gives, from where the model stands.
    ///
    /// `steps` is [`Steps`](super::Steps) for so many more, [`MaxSteps`](super::MaxSteps) for a step in all, or
    /// [`UntilEnd`](super::UntilEnd) for the whole input.
    ///
    /// # Errors
    /// `RUN001` for 0 steps, `RUN002` for a NaN loss, `RUN003` and `RUN004` if the folder holds another model,
    /// `RUN005` for no batch, `RUN011` if the training does not count its steps, and what `input_fn` and the model
    /// function fail with.
    pub fn train(
        &self,
        input_fn: impl FnOnce() -> Result<Dataset>,
        steps: impl Into<TrainSteps>,
    ) -> Result<TrainReport> {
        self.train_with_hooks(input_fn, steps, &mut [])
    }

    /// The same with hooks, which are called between steps in their order.
    ///
    /// # Errors
    /// As for [`train`](Estimator::train), and what a hook fails with.
    pub fn train_with_hooks(
        &self,
        input_fn: impl FnOnce() -> Result<Dataset>,
        steps: impl Into<TrainSteps>,
        hooks: &mut [Box<dyn SessionRunHook>],
    ) -> Result<TrainReport> {
        let log = LogStyle { every: self.config.log_step_count_steps, loss: true, examples: None };
        self.train_in(&self.params, input_fn, steps.into(), hooks, log)
    }

    pub(crate) fn train_in(
        &self,
        params: &Params,
        input_fn: impl FnOnce() -> Result<Dataset>,
        steps: TrainSteps,
        hooks: &mut [Box<dyn SessionRunHook>],
        log: LogStyle,
    ) -> Result<TrainReport> {
        steps.check()?;
        let latest = self.model_dir.latest()?;
        let first_step = latest.as_ref().map_or(0, |(_, step)| *step);
        let last_step = steps.last_step(first_step);
        if last_step <= first_step {
            return Ok(skip_training(first_step));
        }
        let dataset = input_fn()?;
        let graph = Graph::new();
        graph.global_step();
        let inputs = InputTensors::new(&graph, &dataset.element_spec()?);
        let spec = self.call_model_fn(&graph, &inputs, ModeKeys::Train, params)?;
        let (seed, position) = self.model_dir.resume(&self.config, latest.as_ref().map(|(prefix, _)| prefix));
        let mut executor = Executor::new(&graph, self.executor_options(seed))?;
        if let Some((prefix, _)) = &latest {
            restore(&mut executor, prefix)?;
        }
        let input = open_input(&dataset, seed, position.as_ref())?;
        let mut runner = LocalRunner::new(executor, input);
        let (loss, train_op) = training_parts(spec);
        Training {
            config: &self.config,
            model_dir: &self.model_dir,
            graph: &graph,
            loss,
            train_op,
            feeds: inputs.feeds,
            runner: &mut runner,
            hooks,
            seed,
            first_step,
            last_step,
            loops: Loops::Single,
            log,
            placement: Placement::logged(&self.config, &graph, local_device),
            reopen: &|position| Ok(Box::new(dataset.iterator_from(position)?)),
        }
        .run()
    }

    /// Evaluates the newest checkpoint on the dataset that `input_fn` gives.
    ///
    /// `steps` is [`Steps`](super::Steps) for so many batches or [`UntilEnd`](super::UntilEnd); the input's end ends
    /// it in any case. Without a checkpoint the initial values are evaluated, with a warning.
    ///
    /// # Errors
    /// `RUN001` for 0 steps, `RUN003` and `RUN004` if the folder holds another model, `RUN005` for no batch, and what
    /// `input_fn` and the model function fail with.
    pub fn evaluate(
        &self,
        input_fn: impl FnOnce() -> Result<Dataset>,
        steps: impl Into<EvalSteps>,
    ) -> Result<Evaluation> {
        self.evaluate_in(&self.params, input_fn, steps.into())
    }

    pub(crate) fn evaluate_in(
        &self,
        params: &Params,
        input_fn: impl FnOnce() -> Result<Dataset>,
        steps: EvalSteps,
    ) -> Result<Evaluation> {
        steps.check()?;
        let dataset = input_fn()?;
        let graph = Graph::new();
        graph.global_step();
        let inputs = InputTensors::new(&graph, &dataset.element_spec()?);
        let spec = self.call_model_fn(&graph, &inputs, ModeKeys::Eval, params)?;
        Placement::logged(&self.config, &graph, local_device);
        let (executor, global_step, seed) =
            self.trained_executor(&graph, "evaluate", |seed| self.executor_options(seed))?;
        let mut runner = LocalRunner::new(executor, dataset.iterator(seed)?);
        let evaluation = evaluate(&mut runner, &spec, inputs.feeds, steps.limit(), global_step)?;
        save_result(&evaluation, &self.model_dir)?;
        Ok(evaluation)
    }

    /// Predicts for the dataset that `input_fn` gives, with the newest checkpoint, one example at a time as they are
    /// taken.
    ///
    /// # Errors
    /// `RUN003` and `RUN004` if the folder holds another model, and what `input_fn` and the model function fail with.
    pub fn predict(&self, input_fn: impl FnOnce() -> Result<Dataset>) -> Result<Predictions> {
        self.predict_with(input_fn, &PredictOptions::new())
    }

    /// The same for some of the predictions, or batch by batch. TensorFlow: `predict_keys`, `yield_single_examples`.
    ///
    /// # Errors
    /// As for [`predict`](Estimator::predict), and `RUN012` if the model predicts none of the keys.
    pub fn predict_with(
        &self,
        input_fn: impl FnOnce() -> Result<Dataset>,
        options: &PredictOptions,
    ) -> Result<Predictions> {
        self.predict_in(&self.params, input_fn, options)
    }

    pub(crate) fn predict_in(
        &self,
        params: &Params,
        input_fn: impl FnOnce() -> Result<Dataset>,
        options: &PredictOptions,
    ) -> Result<Predictions> {
        let dataset = input_fn()?;
        let graph = Graph::new();
        graph.global_step();
        let inputs = InputTensors::new(&graph, &dataset.element_spec()?);
        let spec = self.call_model_fn(&graph, &inputs, ModeKeys::Predict, params)?;
        let (mut executor, global_step, seed) =
            self.trained_executor(&graph, "predict", |seed| self.executor_options(seed))?;
        Placement::logged(&self.config, &graph, local_device);
        let predictions = spec.predictions.unwrap_or_else(|| Tensors::empty(&graph));
        let (names, fetches) = options.choose(&predictions)?;
        let plan = executor.prepare(&Request { feeds: inputs.feeds, fetches, ..Request::default() })?;
        executor.set_step(global_step);
        let runner = LocalRunner::new(executor, dataset.iterator(seed)?);
        Ok(Predictions::new(Box::new(runner), plan, names, options.single_examples, Box::new(|| None)))
    }

    /// The names of all variables in the newest checkpoint. TensorFlow: `get_variable_names`.
    ///
    /// # Errors
    /// `RUN009` if there is no checkpoint, and CKPT codes if it is damaged.
    pub fn variable_names(&self) -> Result<Vec<String>> {
        Ok(self.checkpoint()?.names().into_iter().map(|name| name.to_string()).collect())
    }

    /// The value of a variable in the newest checkpoint. TensorFlow: `get_variable_value`.
    ///
    /// # Errors
    /// `RUN009` if there is no checkpoint, `CKPT008` if it has no such variable.
    pub fn variable_value(&self, name: &str) -> Result<Array> {
        Ok(self.checkpoint()?.get(name)?.clone())
    }

    /// The newest checkpoint's location, without its endings; none if there is none.
    ///
    /// # Errors
    /// CKPT and STOR codes if the folder cannot be read.
    pub fn latest_checkpoint(&self) -> Result<Option<Location>> {
        Ok(self.model_dir.latest()?.map(|(prefix, _)| prefix))
    }

    fn checkpoint(&self) -> Result<Checkpoint> {
        match self.model_dir.latest()? {
            Some((prefix, _)) => Checkpoint::read(&prefix),
            None => Err(RunError::NoCheckpoint { model_dir: self.model_dir.location().to_string() }.into()),
        }
    }

    fn call_model_fn(
        &self,
        graph: &Graph,
        inputs: &InputTensors,
        mode: ModeKeys,
        params: &Params,
    ) -> Result<EstimatorSpec> {
        logging::info("Calling model_fn.");
        let labels = if mode == ModeKeys::Predict { None } else { inputs.labels.as_ref() };
        let spec = (self.model_fn)(&inputs.features, labels, mode, params)?.checked(mode, graph)?;
        logging::info("Done calling model_fn.");
        Ok(spec)
    }

    fn executor_options(&self, seed: u64) -> ExecutorOptions {
        ExecutorOptions {
            precision: self.config.precision,
            worker_threads: self.config.worker_threads,
            seed,
            ..ExecutorOptions::default()
        }
    }

    /// An executor with the newest checkpoint's values, that checkpoint's step, and the seed of the model.
    pub(crate) fn trained_executor(
        &self,
        graph: &Graph,
        verb: &str,
        options: impl FnOnce(u64) -> ExecutorOptions,
    ) -> Result<(Executor, u64, u64)> {
        let latest = self.model_dir.latest()?;
        let (seed, _) = self.model_dir.resume(&self.config, latest.as_ref().map(|(prefix, _)| prefix));
        let mut executor = Executor::new(graph, options(seed))?;
        let Some((prefix, step)) = latest else {
            logging::warn(format!(
                "Could not find trained model in model_dir: {}, running initialization to {verb}. \
                 Its weights are random: call `train` first.",
                self.model_dir.location()
            ));
            return Ok((executor, 0, seed));
        };
        restore(&mut executor, &prefix)?;
        Ok((executor, step, seed))
    }
}

/// What `max_steps` gives where it was reached before.
pub(crate) fn skip_training(global_step: u64) -> TrainReport {
    logging::info("Skipping training since max_steps has already saved.");
    TrainReport { first_step: global_step, global_step, shards: 1, ..TrainReport::default() }
}

/// The parts that [`EstimatorSpec::train`] always has.
pub(crate) fn training_parts(spec: EstimatorSpec) -> (Tensor, crate::graph::Operation) {
    (spec.loss.expect("a train spec has a loss"), spec.train_op.expect("a train spec has a train_op"))
}

/// Reads a dataset from a saved position on, or from its beginning where the position belongs to another one.
pub(crate) fn open_input(
    dataset: &Dataset,
    seed: u64,
    position: Option<&crate::data::Position>,
) -> Result<crate::data::DatasetIterator> {
    if let Some(position) = position {
        match dataset.iterator_from(position) {
            Ok(input) => return Ok(input),
            Err(error) => logging::info(format!("The input starts from its beginning: {}", error.message())),
        }
    }
    dataset.iterator(seed)
}

impl fmt::Debug for Estimator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Estimator(model_dir={:?}, params={:?})", self.model_dir.location().to_string(), self.params)
    }
}

impl fmt::Debug for EstimatorBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EstimatorBuilder(model_dir={:?}, params={:?})", self.model_dir, self.params)
    }
}
