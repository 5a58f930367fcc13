//! `TpuEstimator`: an estimator whose model runs on many cores.

use super::inputs::shard_spec;
use super::sources::Sources;
use super::spec::ModelSpec;
use super::tpu_evaluation::evaluate_on_tpu;
use super::tpu_runner::{PaddingRunner, TpuRunner};
use super::{BatchPlan, IterationsPerLoop, RunConfig, TpuContext, TpuError};
use crate::core::{Array, Result, Shape};
use crate::data::{Cardinality, Dataset, Position};
use crate::engine::{Executor, ExecutorOptions, Request, Split};
use crate::estimator::{
    self, Estimator, EvalSteps, Evaluation, Fidelity, InputTensors, LogStyle, Loops, ModeKeys, ModelDir, Params,
    Predictions, SessionRunHook, TrainReport, TrainSteps, Training, log_result, open_input, restore, skip_training,
    training_parts, with_model_dir,
};
use crate::graph::ops::Op;
use crate::graph::{Graph, Tensor, Tensors};
use crate::notebook::logging;
use crate::storage::Location;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

type ModelFn = Arc<dyn Fn(&Tensors, Option<&Tensor>, ModeKeys, &Params) -> Result<ModelSpec> + Send + Sync>;

/// Trains, evaluates and predicts on the simulated cores of a TPU, or on the CPU where `use_tpu` is false. TensorFlow:
/// `tf.contrib.tpu.TPUEstimator`.
///
/// Batch sizes are global: on 8 cores a `train_batch_size` of 128 gives the input function 128 rows and the model
/// function 16. A CPU sees 128 in both.
#[doc(alias = "TPUEstimator")]
#[derive(Clone)]
pub struct TpuEstimator {
    model_fn: ModelFn,
    /// The same model for the CPU; it holds parameters, configuration and folder for both.
    cpu: Estimator,
    config: RunConfig,
    use_tpu: bool,
    eval_on_tpu: bool,
    train_batch_size: Option<usize>,
    eval_batch_size: Option<usize>,
    predict_batch_size: Option<usize>,
}

/// Builds a [`TpuEstimator`].
#[derive(Clone)]
#[must_use = "call `build` to get the estimator"]
pub struct TpuEstimatorBuilder {
    model_fn: ModelFn,
    params: Params,
    config: RunConfig,
    model_dir: Option<String>,
    use_tpu: bool,
    eval_on_tpu: bool,
    train_batch_size: Option<usize>,
    eval_batch_size: Option<usize>,
    predict_batch_size: Option<usize>,
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
                return Err(TpuError::EmptyBatch { mode }.into());
            }
        }
        if self.use_tpu && faithful && self.train_batch_size.is_none() {
            return Err(TpuError::NoBatchSize { mode: ModeKeys::Train }.into());
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

/// What a call on the TPU needs: the plan of the batch, the inputs, and the graph with its model.
struct TpuCall {
    plan: BatchPlan,
    graph: Graph,
    inputs: InputTensors,
    spec: ModelSpec,
    datasets: Vec<Dataset>,
    pulls: usize,
    split: Split,
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
            return Err(TpuError::NoSteps { mode: ModeKeys::Train, batches: None }.into());
        }
        self.check_model_dir()?;
        let model_dir = &self.cpu.model_dir;
        let latest = model_dir.latest()?;
        let first_step = latest.as_ref().map_or(0, |(_, step)| *step);
        let last_step = steps.last_step(first_step);
        if last_step <= first_step {
            return Ok(skip_training(first_step));
        }
        let call = self.call(ModeKeys::Train, self.train_batch_size, &input_fn)?;
        let spec = call.spec.into_estimator_spec()?.checked(ModeKeys::Train, &call.graph)?;
        let replicas = call.plan.num_replicas;
        let sums = |op: &Op| matches!(op, Op::CrossReplicaSum { .. });
        if replicas > 1 && !call.graph.nodes().iter().any(|node| sums(&node.op)) {
            return Err(TpuError::NoCrossShard { replicas }.into());
        }
        let (loss, train_op) = training_parts(spec);
        let (seed, position) = model_dir.resume(&self.config.base, latest.as_ref().map(|(prefix, _)| prefix));
        let mut executor = Executor::new(&call.graph, self.executor_options(seed, replicas, call.split))?;
        if let Some((prefix, _)) = &latest {
            restore(&mut executor, prefix)?;
        }
        let open = |position: Option<&Position>| -> Result<Sources> {
            // Hosts that read alike would all shuffle alike, so each has a seed of its own.
            let inputs = call.datasets.iter().zip(0..).map(|(dataset, host)| {
                let position = position.map(|position| position.with_seed(seed.wrapping_add(host)));
                open_input(dataset, seed.wrapping_add(host), position.as_ref())
            });
            Ok(Sources::new(inputs.collect::<Result<Vec<_>>>()?, call.pulls))
        };
        let mut runner = TpuRunner::new(executor, open(position.as_ref())?)?;
        let loops = match self.config.tpu_config.iterations_per_loop {
            IterationsPerLoop::Count(steps) => Loops::Of(steps),
            IterationsPerLoop::Time(time) => Loops::Lasting(time),
        };
        let report = Training {
            config: &self.config.base,
            model_dir,
            graph: &call.graph,
            loss,
            train_op,
            feeds: call.inputs.feeds,
            runner: &mut runner,
            hooks,
            seed,
            first_step,
            last_step,
            loops,
            log: LogStyle {
                every: self.config.base.log_step_count_steps,
                loss: true,
                examples: Some(call.plan.global_batch_size),
            },
            reopen: &|position| Ok(Box::new(open(Some(position))?)),
        }
        .run();
        logging::info("Stop infeed thread controller");
        logging::info("Shutdown TPU system.");
        report
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
            return Err(TpuError::NoSteps { mode: ModeKeys::Eval, batches }.into());
        };
        let spec = call.spec.into_tpu_spec(ModeKeys::Eval)?;
        let replicas = call.plan.num_replicas;
        let (executor, global_step, seed) = self.trained_executor(&call.graph, "evaluate", replicas, call.split)?;
        let inputs = call.datasets.iter().map(|dataset| dataset.iterator(seed)).collect::<Result<Vec<_>>>()?;
        let mut runner = TpuRunner::new(executor, Sources::new(inputs, call.pulls))?;
        let faithful = self.config.base.fidelity == Fidelity::Faithful;
        let evaluation =
            evaluate_on_tpu(&mut runner, &call.graph, &spec, call.inputs.feeds, steps, global_step, faithful)?;
        log_result(&evaluation);
        Ok(evaluation)
    }

    /// Predicts for the dataset that `input_fn` gives, with the newest checkpoint, one example at a time as they are
    /// taken. A batch smaller than `predict_batch_size` is padded with zeros, whose results nobody sees.
    ///
    /// # Errors
    /// `TPU006` to `TPU012` for the batch size, `TPU025` for dtypes, `TPU023` for the spec of an `Estimator`, `TPU028`
    /// for a prediction that is no batch; while predictions are taken `TPU021` for a batch that is too large.
    pub fn predict(&self, input_fn: impl Fn(&Params) -> Result<Dataset>) -> Result<Predictions> {
        if !self.use_tpu {
            let params = self.cpu_params(ModeKeys::Predict, self.predict_batch_size)?;
            return self.cpu.predict_in(&params, || input_fn(&params));
        }
        let call = self.call(ModeKeys::Predict, self.predict_batch_size, &input_fn)?;
        let spec = call.spec.into_tpu_spec(ModeKeys::Predict)?;
        // Checks mode and graphs as an `Estimator` does.
        spec.as_estimator_spec()?.checked(ModeKeys::Predict, &call.graph)?;
        let predictions = spec.predictions.unwrap_or_else(|| Tensors::empty(&call.graph));
        for (name, tensor) in predictions.entries() {
            require_rows(name, &tensor.shape(), call.plan.model_fn_batch_size)?;
        }
        let replicas = call.plan.num_replicas;
        let (mut executor, global_step, seed) = self.trained_executor(&call.graph, "predict", replicas, call.split)?;
        let (names, fetches) = predictions.entries().iter().cloned().unzip();
        let plan = executor.prepare(&Request { feeds: call.inputs.feeds, fetches, ..Request::default() })?;
        executor.set_step(global_step);
        let Some(dataset) = call.datasets.first() else {
            return Err(TpuError::NoBatchSize { mode: ModeKeys::Predict }.into());
        };
        let real_rows = Arc::new(AtomicUsize::new(0));
        let size = call.plan.global_batch_size;
        let runner = PaddingRunner::new(executor, dataset.iterator(seed)?, size, Arc::clone(&real_rows));
        Ok(Predictions::new(Box::new(runner), plan, names, Box::new(move || Some(real_rows.load(Ordering::Relaxed)))))
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

    /// Calls the input function as often as the pipeline asks, and the model function for one shard.
    fn call(
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
        let Some(first) = datasets.first() else { return Err(TpuError::NoBatchSize { mode }.into()) };
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
        Ok(TpuCall { plan, graph, inputs, spec, datasets, pulls, split })
    }

    fn check_model_dir(&self) -> Result<()> {
        let location = self.cpu.model_dir();
        if self.config.base.fidelity == Fidelity::Faithful && !location.is_bucket() {
            return Err(TpuError::LocalModelDir { model_dir: location.to_string() }.into());
        }
        Ok(())
    }

    fn executor_options(&self, seed: u64, replicas: usize, split: Split) -> ExecutorOptions {
        let estimator::RunConfig { precision, worker_threads, .. } = self.config.base;
        ExecutorOptions { replicas, precision, worker_threads, seed, split }
    }

    fn trained_executor(
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

/// `TPU028` unless a tensor has the rows of a shard first.
pub(super) fn require_rows(name: &str, shape: &Shape, rows: usize) -> Result<()> {
    if shape.size(0) == Some(rows) {
        return Ok(());
    }
    Err(TpuError::ScalarOutput { name: name.to_string(), found: shape.clone(), rows }.into())
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

impl fmt::Debug for TpuEstimatorBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TpuEstimatorBuilder")
            .field("use_tpu", &self.use_tpu)
            .field("train_batch_size", &self.train_batch_size)
            .field("params", &self.params)
            .finish_non_exhaustive()
    }
}
