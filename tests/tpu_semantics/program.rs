//! A program whose calls are written down.

use crate::common::{endless, model};
use crate::estimators::config;
use InputPipelineConfig::PerHostV1;
use std::sync::{Arc, Mutex};
use tpulab::estimator::{RunContext, RunValues};
use tpulab::prelude::*;
use tpulab::tpu::TpuEstimatorBuilder;

/// A program whose calls are written down, as `input_fn 128`.
pub struct Program {
    accelerator_type: &'static str,
    input: InputPipelineConfig,
    classifier: fn(TpuEstimatorBuilder) -> TpuEstimatorBuilder,
}

impl Program {
    pub fn on(accelerator_type: &'static str) -> Self {
        Program { accelerator_type, input: PerHostV1, classifier: |classifier| classifier }
    }

    pub fn input(self, input: InputPipelineConfig) -> Self {
        Program { input, ..self }
    }

    pub fn classifier(self, classifier: fn(TpuEstimatorBuilder) -> TpuEstimatorBuilder) -> Self {
        Program { classifier, ..self }
    }

    pub fn trains(self) -> Calls {
        self.run(|classifier, calls| classifier.train(|params| calls.input("input_fn", params), Steps(2)).map(|_| ()))
    }

    pub fn evaluates(self) -> Calls {
        self.run(|classifier, calls| {
            classifier.evaluate(|params| calls.input("input_fn", params), Steps(2)).map(|_| ())
        })
    }

    pub fn predicts(self) -> Calls {
        self.run(|classifier, calls| {
            let mut predictions = classifier.predict(|params| calls.input("input_fn", params))?;
            predictions.next().expect("rows without end").map(|_| ())
        })
    }

    pub fn run(self, call: impl Fn(&TpuEstimator, &Calls) -> Result<()>) -> Calls {
        let calls = Calls::default();
        let run = || {
            let cluster = TpuClusterResolver::new(Some("tpu-name"))?.accelerator_type(self.accelerator_type)?;
            let tpu_config = TpuConfig::new().per_host_input_for_training(self.input);
            let classifier = recorded(&calls).config(config().cluster(cluster).tpu_config(tpu_config));
            let classifier = classifier.train_batch_size(128).eval_batch_size(128).predict_batch_size(128);
            call(&(self.classifier)(classifier).build()?, &calls)
        };
        run().unwrap();
        calls
    }
}

#[derive(Clone, Default)]
pub struct Calls(Arc<Mutex<Vec<String>>>);

impl Calls {
    fn note(&self, function: &str, params: &Params) {
        self.0.lock().unwrap().push(format!("{function} {}", params.batch_size()));
    }

    pub fn input(&self, function: &str, params: &Params) -> Result<Dataset> {
        self.note(function, params);
        endless(params.batch_size())
    }

    pub fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    pub fn calls(&self, expected: &[&str]) {
        assert_eq!(self.lines(), expected);
    }
}

/// The model, with its calls written down; it also knows how many rows it is given.
pub fn recorded(calls: &Calls) -> TpuEstimatorBuilder {
    let calls = calls.clone();
    TpuEstimator::new(move |features, labels, mode, params| {
        calls.note("model_fn", params);
        if params.use_tpu() {
            assert_eq!(features.get("x")?.shape().size(0), Some(params.batch_size()));
        }
        model(features, labels, mode, params)
    })
}

/// A hook that writes down the global step after each loop, and the loop's steps.
#[derive(Clone, Default)]
pub struct Seen(Arc<Mutex<Vec<(u64, u64)>>>);

impl Seen {
    pub fn take(&self) -> Vec<(u64, u64)> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl SessionRunHook for Seen {
    fn after_run(&mut self, context: &mut RunContext, _values: &RunValues<'_>) -> Result<()> {
        self.0.lock().unwrap().push((context.global_step, context.steps));
        Ok(())
    }
}
