//! A program with one thing changed, and what came of it.

use crate::common::{bucket_folder, checkpoints, endless, in_time, logits, model, rows};
use tpulab as tf;
use tpulab::estimator::{EvalSteps, TrainSteps};
use tpulab::prelude::*;
use tpulab::tpu::{ModelSpec, RunConfig, TpuEstimatorBuilder};

#[test]
fn the_program_that_the_rows_spoil_is_right() {
    Row::new().train(Steps(2)).is_accepted();
    Row::new().evaluate(Steps(2)).is_accepted();
    Row::new().predict().is_accepted();
}

/// A right program, in which a test changes one thing.
pub struct Row {
    model: Model,
    input: fn(&Params) -> Result<Dataset>,
    config: fn(RunConfig) -> RunConfig,
    batch_sizes: bool,
    classifier: fn(TpuEstimatorBuilder) -> TpuEstimatorBuilder,
}

pub type Model = fn(&Tensors, Option<&Tensor>, ModeKeys, &Params) -> Result<ModelSpec>;

impl Row {
    pub fn new() -> Self {
        Row {
            model: |features, labels, mode, params| Ok(model(features, labels, mode, params)?.into()),
            input: |params| endless(params.batch_size()),
            config: |config| config,
            batch_sizes: true,
            classifier: |classifier| classifier,
        }
    }

    pub fn without_batch_sizes() -> Self {
        Row { batch_sizes: false, ..Row::new() }
    }

    pub fn model(self, model: Model) -> Self {
        Row { model, ..self }
    }

    pub fn input(self, input: fn(&Params) -> Result<Dataset>) -> Self {
        Row { input, ..self }
    }

    pub fn config(self, config: fn(RunConfig) -> RunConfig) -> Self {
        Row { config, ..self }
    }

    pub fn classifier(self, classifier: fn(TpuEstimatorBuilder) -> TpuEstimatorBuilder) -> Self {
        Row { classifier, ..self }
    }

    pub fn train(self, steps: impl Into<TrainSteps>) -> Answers {
        let (input, steps) = (self.input, steps.into());
        self.run(move |classifier| classifier.train(input, steps).map(|_| ()))
    }

    pub fn evaluate(self, steps: impl Into<EvalSteps>) -> Answers {
        let (input, steps) = (self.input, steps.into());
        self.run(move |classifier| classifier.evaluate(input, steps).map(|_| ()))
    }

    /// The input without end is cut off after two examples.
    pub fn predict(self) -> Answers {
        let input = self.input;
        self.run(move |classifier| classifier.predict(input)?.take(2).try_for_each(|prediction| prediction.map(|_| ())))
    }

    pub fn run(self, call: impl Fn(&TpuEstimator) -> Result<()> + Send + 'static) -> Answers {
        in_time(move || Answers([Fidelity::Friendly, Fidelity::Faithful].map(|fidelity| self.answer(fidelity, &call))))
    }

    fn answer(&self, fidelity: Fidelity, call: impl Fn(&TpuEstimator) -> Result<()>) -> Answer {
        let cluster = TpuClusterResolver::new(Some("tpu-name")).expect("a name");
        let config = RunConfig::new().fidelity(fidelity).tf_random_seed(1).cluster(cluster);
        let config = config.tpu_config(TpuConfig::new().iterations_per_loop(4));
        let config = (self.config)(config);
        let config = if config.base.model_dir.is_none() { config.model_dir(bucket_folder()) } else { config };
        let mut classifier = TpuEstimator::new(self.model).config(config);
        if self.batch_sizes {
            classifier = classifier.train_batch_size(16).eval_batch_size(16).predict_batch_size(16);
        }
        match (self.classifier)(classifier).build() {
            Ok(classifier) => {
                let error = call(&classifier).err();
                Answer { fidelity, error, checkpoints: checkpoints(classifier.model_dir()) }
            }
            Err(error) => Answer { fidelity, error: Some(error), checkpoints: Vec::new() },
        }
    }
}

/// What came of a program, in a friendly and in a faithful run.
pub struct Answers([Answer; 2]);

struct Answer {
    fidelity: Fidelity,
    error: Option<Error>,
    checkpoints: Vec<u64>,
}

impl Answers {
    /// Neither run has begun.
    pub fn is_refused(&self, exception: &str, text: &str) {
        for answer in &self.0 {
            answer.failed_with(exception, text);
            assert!(answer.checkpoints.is_empty(), "{:?} left {:?}", answer.fidelity, answer.checkpoints);
        }
    }

    /// The faithful run has not begun; the friendly one went well.
    pub fn is_refused_faithfully_alone(&self, exception: &str, text: &str) {
        let [friendly, faithful] = &self.0;
        assert_eq!(friendly.error.as_ref().map(Error::to_string), None);
        faithful.failed_with(exception, text);
    }

    /// Both runs failed on their way.
    pub fn fails(&self, exception: &str, text: &str) {
        self.0.iter().for_each(|answer| answer.failed_with(exception, text));
    }

    pub fn is_accepted(&self) {
        for answer in &self.0 {
            assert_eq!(answer.error.as_ref().map(Error::to_string), None, "{:?}", answer.fidelity);
        }
    }
}

impl Answer {
    fn failed_with(&self, exception: &str, text: &str) {
        let Some(error) = &self.error else { panic!("{:?} accepted it", self.fidelity) };
        let found = (error.exception().to_string(), error.to_string());
        assert_eq!(found, (exception.to_string(), text.to_string()), "{:?}", self.fidelity);
    }
}

pub fn loss_of(features: &Tensors, labels: Option<&Tensor>) -> Result<Tensor> {
    tf::losses::sparse_softmax_cross_entropy(labels.expect("labels"), &logits(features)?)
}

pub fn grouped(groups: &[&[usize]], features: &Tensors, labels: Option<&Tensor>) -> Result<ModelSpec> {
    let loss = loss_of(features, labels)?;
    let optimizer = CrossShardOptimizer::new(tf::train::AdagradOptimizer::new(0.1));
    let optimizer = optimizer.group_assignment(groups.iter().map(|group| group.to_vec()).collect());
    let train_op = optimizer.minimize(&loss, Some(&loss.graph().global_step()))?;
    Ok(TpuEstimatorSpec::train(loss, train_op).into())
}

pub fn finite(count: usize, batch_size: usize, remainder: Remainder) -> Result<Dataset> {
    let (features, labels) = rows(count);
    Ok(Dataset::from_tensor_slices((&features, &labels))?.batch(batch_size, remainder))
}

pub fn pod(config: RunConfig) -> RunConfig {
    let cluster = TpuClusterResolver::new(Some("tpu-name")).and_then(|cluster| cluster.accelerator_type("v3-32"));
    config.cluster(cluster.expect("a slice"))
}

pub fn batches_of_32(classifier: TpuEstimatorBuilder) -> TpuEstimatorBuilder {
    classifier.train_batch_size(32).eval_batch_size(32).predict_batch_size(32)
}
