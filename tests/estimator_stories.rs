//! What happens around a training: steps, checkpoints, resuming, hooks, and all that can end it.

mod common;

use common::{checkpoints, endless, in_time, logits, model, newest_bytes, plain_model, rows};
use std::sync::{Arc, Mutex};
use tempfile::TempDir;
use tpulab as tf;
use tpulab::estimator::{
    CheckpointSaverHook, EstimatorBuilder, LoggingTensorHook, NanTensorHook, OnNan, RunConfig, RunContext, RunValues,
    SessionState, StopAtStepHook,
};
use tpulab::prelude::*;

#[test]
fn steps_are_more_steps_and_max_steps_is_where_to_stop() -> Result<()> {
    let classifier = estimator(config()).build()?;
    assert_eq!(classifier.train(|| endless(64), Steps(10))?.global_step(), 10);
    let report = classifier.train(|| endless(64), Steps(10))?;
    assert_eq!((report.first_step(), report.steps(), report.global_step()), (10, 10, 20));
    let report = classifier.train(|| endless(64), MaxSteps(25))?;
    assert_eq!((report.first_step(), report.steps(), report.global_step()), (20, 5, 25));
    Ok(())
}

#[test]
fn a_training_that_has_reached_max_steps_calls_nobody() -> Result<()> {
    let classifier = estimator(config()).build()?;
    classifier.train(|| endless(64), MaxSteps(10))?;
    for last in [10, 5] {
        let report = classifier.train(|| panic!("the input is not asked for"), MaxSteps(last))?;
        assert_eq!((report.first_step(), report.steps(), report.global_step(), report.loss()), (10, 0, 10, None));
        assert_eq!(report.to_string(), "no step was made; global step 10");
    }
    Ok(())
}

#[test]
fn a_training_leaves_checkpoints_of_its_start_and_end() -> Result<()> {
    let classifier = estimator(config()).build()?;
    classifier.train(|| endless(64), Steps(1000))?;
    assert_eq!(checkpoints(classifier.model_dir()), [0, 1000]);
    Ok(())
}

#[test]
fn checkpoints_come_every_so_many_steps() -> Result<()> {
    let classifier = estimator(config().save_checkpoints(SaveCheckpoints::Steps(30))).build()?;
    classifier.train(|| endless(64), Steps(100))?;
    assert_eq!(checkpoints(classifier.model_dir()), [0, 30, 60, 90, 100]);
    Ok(())
}

#[test]
fn checkpoints_of_a_tpu_wait_for_the_end_of_a_loop() -> Result<()> {
    let config = tpu_config(40, config().save_checkpoints(SaveCheckpoints::Steps(30)));
    let classifier = tpu(config).build()?;
    classifier.train(|params| endless(params.batch_size()), Steps(100))?;
    assert_eq!(checkpoints(classifier.model_dir()), [0, 40, 80, 100]);
    Ok(())
}

#[test]
fn older_checkpoints_go() -> Result<()> {
    for (kept, expected) in [(2, vec![90, 100]), (0, (0..=100).step_by(10).collect())] {
        let config = config().save_checkpoints(SaveCheckpoints::Steps(10)).keep_checkpoint_max(kept);
        let classifier = estimator(config).build()?;
        classifier.train(|| endless(64), Steps(100))?;
        assert_eq!(checkpoints(classifier.model_dir()), expected);
    }
    Ok(())
}

#[test]
fn training_in_two_parts_ends_in_the_same_bits() -> Result<()> {
    // Without a seed of its own the second part takes the model's.
    for seeded in [true, false] {
        let (once, twice) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let at = |folder: &TempDir| config().model_dir(folder.path().display().to_string());
        let one = estimator(at(&once)).build()?;
        one.train(|| endless(64), Steps(100))?;
        let seed = seed_of(&once, 100);
        for part in 0..2 {
            // A new estimator each time: all that goes on lies in the folder.
            let config = if seeded || part == 0 {
                at(&twice)
            } else {
                RunConfig::new().model_dir(twice.path().display().to_string())
            };
            estimator(config).build()?.train(|| endless(64), Steps(50))?;
        }
        assert_eq!(seed_of(&twice, 100), seed);
        assert!(newest_bytes(one.model_dir()) == newest_bytes(&Location::local(twice.path())), "seeded: {seeded}");
    }
    Ok(())
}

#[test]
fn training_in_two_parts_ends_in_the_same_bits_on_a_tpu() -> Result<()> {
    let (once, twice) = (tpu(tpu_config(20, config())).build()?, tpu(tpu_config(20, config())).build()?);
    once.train(|params| endless(params.batch_size()), Steps(100))?;
    twice.train(|params| endless(params.batch_size()), Steps(50))?;
    twice.train(|params| endless(params.batch_size()), MaxSteps(100))?;
    assert!(newest_bytes(once.model_dir()) == newest_bytes(twice.model_dir()));
    Ok(())
}

#[test]
fn a_faithful_training_starts_its_input_again() -> Result<()> {
    let faithful = || config().fidelity(Fidelity::Faithful);
    let (once, twice) = (estimator(faithful()).build()?, estimator(faithful()).build()?);
    once.train(|| endless(64), Steps(100))?;
    twice.train(|| endless(64), Steps(50))?;
    twice.train(|| endless(64), Steps(50))?;
    assert!(newest_bytes(once.model_dir()) != newest_bytes(twice.model_dir()));
    Ok(())
}

#[test]
fn a_seed_is_drawn_once_and_stays_with_the_model() -> Result<()> {
    let folder = TempDir::new().unwrap();
    let unseeded = || RunConfig::new().model_dir(folder.path().display().to_string());
    estimator(unseeded()).build()?.train(|| endless(64), Steps(1))?;
    let seed = seed_of(&folder, 1);
    estimator(unseeded()).build()?.train(|| endless(64), Steps(1))?;
    assert_eq!(seed_of(&folder, 2), seed);
    Ok(())
}

#[test]
fn a_model_that_was_never_trained_is_evaluated_with_fresh_weights() -> Result<()> {
    let classifier = estimator(config()).build()?;
    let evaluation = classifier.evaluate(|| in_order(512, 64), UntilEnd)?;
    assert_eq!((evaluation.global_step(), evaluation.steps()), (0, 8));
    assert_eq!(evaluation, classifier.evaluate(|| in_order(512, 64), UntilEnd)?, "the same seed, the same weights");
    assert_eq!(classifier.latest_checkpoint()?, None);
    assert_eq!(classifier.variable_names().unwrap_err().code(), "RUN009");
    Ok(())
}

#[test]
fn the_loss_of_an_evaluation_is_the_plain_mean_of_its_batches() -> Result<()> {
    let classifier = estimator(config()).build()?;
    classifier.train(|| endless(64), Steps(5))?;
    let loss = |dataset: Dataset| classifier.evaluate(|| Ok(dataset), UntilEnd)?.get("loss");
    let whole = loss(in_order(100, 64)?)?;
    let parts = [loss(in_order(100, 64)?.take(1))?, loss(in_order(100, 64)?.skip(1))?];
    // The mean of two float32 values, in float64.
    assert!((whole - (parts[0] + parts[1]) / 2.0).abs() < 1e-12, "{whole} against {parts:?}");
    assert!((whole - (parts[0] * 64.0 + parts[1] * 36.0) / 100.0).abs() > 1e-6, "{whole} against {parts:?}");
    Ok(())
}

#[test]
fn an_evaluation_ends_with_its_steps_or_its_input() -> Result<()> {
    let classifier = estimator(config()).build()?;
    assert_eq!(classifier.evaluate(|| in_order(100, 10), Steps(3))?.steps(), 3);
    assert_eq!(classifier.evaluate(|| in_order(100, 10), Steps(30))?.steps(), 10);
    Ok(())
}

#[test]
fn precision_recall_and_auc_agree_with_the_rows() -> Result<()> {
    let measured = |features: &Tensors, labels: Option<&Tensor>, mode: ModeKeys, params: &Params| {
        let logits = logits(features)?;
        let Some(labels) = labels.filter(|_| mode == ModeKeys::Eval) else {
            return plain_model(features, labels, mode, params);
        };
        let loss = tf::losses::sparse_softmax_cross_entropy(labels, &logits)?;
        let class = tf::argmax(&logits, 1)?;
        let score = tf::slice(&tf::nn::softmax(&logits)?, &[0, 1], &[-1, 1])?;
        let score = tf::squeeze(&score, &[1])?;
        let metrics = Metrics::from([
            ("precision", tf::metrics::precision(labels, &class)?),
            ("recall", tf::metrics::recall(labels, &class)?),
            ("auc", tf::metrics::auc(labels, &score)?),
        ]);
        Ok(EstimatorSpec::eval(loss, metrics))
    };
    let folder = TempDir::new().unwrap();
    let at = || config().model_dir(folder.path().display().to_string());
    estimator(at()).build()?.train(|| endless(64), Steps(200))?;
    let evaluation = Estimator::new(measured).config(at()).build()?.evaluate(|| in_order(512, 100), UntilEnd)?;
    let sides = rows(512).1;
    let predictions = estimator(at()).build()?.predict(|| in_order(512, 100))?;
    let (mut both, mut found, mut there) = (0.0, 0.0, 0.0);
    for (prediction, side) in predictions.zip(sides.values::<i32>()?) {
        let class = prediction?.get("class")?.as_slice::<i64>()?[0];
        found += class as f64;
        there += f64::from(*side);
        both += class as f64 * f64::from(*side);
    }
    // Quotients are float32.
    assert!((evaluation.get("precision")? - both / found).abs() < 1e-7);
    assert!((evaluation.get("recall")? - both / there).abs() < 1e-7);
    assert!(evaluation.get("auc")? > 0.9 && evaluation.get("auc")? <= 1.0, "{evaluation}");
    Ok(())
}

#[test]
fn hooks_are_called_in_their_order_around_each_step() -> Result<()> {
    let notes = Notes::default();
    let hooks: &mut [Box<dyn SessionRunHook>] = &mut [Box::new(notes.spy("a")), Box::new(notes.spy("b"))];
    estimator(config()).build()?.train_with_hooks(|| endless(64), Steps(2), hooks)?;
    notes.are(
        "a begin, b begin, a session 0, b session 0, \
         a before 0, b before 0, a after 1, b after 1, \
         a before 1, b before 1, a after 2, b after 2, a end 2, b end 2",
    );
    Ok(())
}

#[test]
fn hooks_are_called_around_each_loop_of_a_tpu() -> Result<()> {
    let notes = Notes::default();
    let hooks: &mut [Box<dyn SessionRunHook>] = &mut [Box::new(notes.spy("a"))];
    let classifier = tpu(tpu_config(4, config())).build()?;
    classifier.train_with_hooks(|params| endless(params.batch_size()), Steps(6), hooks)?;
    notes.are("a begin, a session 0, a before 0, a after 4, a before 4, a after 6, a end 6");
    Ok(())
}

#[test]
fn a_hook_that_fails_ends_the_training_without_its_end() -> Result<()> {
    let notes = Notes::default();
    let failing = Spy { fails_after: Some(2), ..notes.spy("a") };
    let classifier = estimator(config()).build()?;
    let error = classifier.train_with_hooks(|| endless(64), Steps(5), &mut [Box::new(failing)]).unwrap_err();
    assert_eq!(error.code(), "RUN007");
    notes.are("a begin, a session 0, a before 0, a after 1, a before 1, a after 2");
    assert_eq!(checkpoints(classifier.model_dir()), [0]);
    Ok(())
}

#[test]
fn a_hook_changes_no_number() -> Result<()> {
    let (alone, watched) = (estimator(config()).build()?, estimator(config()).build()?);
    let expected = alone.train(|| endless(64), Steps(20))?;
    let hook = LoggingTensorHook::new(["dense/BiasAdd:0", "dense_1/BiasAdd:0"], 3)?;
    let found = watched.train_with_hooks(|| endless(64), Steps(20), &mut [Box::new(hook)])?;
    // A fetched tensor undoes a fusion: float32 sums may round in another order.
    for (found, expected) in found.losses().iter().zip(expected.losses()) {
        assert!((found - expected).abs() < 1e-6, "{found} against {expected}");
    }
    Ok(())
}

#[test]
fn a_stop_at_step_stops_an_estimator_at_that_step() -> Result<()> {
    let classifier = estimator(config()).build()?;
    let report = classifier.train_with_hooks(|| endless(64), UntilEnd, &mut [Box::new(StopAtStepHook::at(7))])?;
    assert_eq!(report.global_step(), 7);
    let report = classifier.train_with_hooks(|| endless(64), Steps(50), &mut [Box::new(StopAtStepHook::after(5))])?;
    assert_eq!(report.global_step(), 12);
    assert_eq!(checkpoints(classifier.model_dir()), [0, 7, 12]);
    Ok(())
}

#[test]
fn a_tensor_that_is_not_there_cannot_be_logged() -> Result<()> {
    let hook = LoggingTensorHook::new(["dense_7/BiasAdd:0"], 1)?;
    let classifier = estimator(config()).build()?;
    let error = classifier.train_with_hooks(|| endless(64), Steps(1), &mut [Box::new(hook)]).unwrap_err();
    assert!(error.to_string().contains("dense_7/BiasAdd:0"), "{error}");
    assert!(checkpoints(classifier.model_dir()).is_empty());
    assert_eq!(LoggingTensorHook::new(["loss"], 0).unwrap_err().code(), "RUN008");
    Ok(())
}

#[test]
fn a_saver_hook_saves_into_a_folder_of_its_own() -> Result<()> {
    let folder = TempDir::new().unwrap();
    let path = folder.path().display().to_string();
    let hook = CheckpointSaverHook::new(&path, SaveCheckpoints::Steps(4))?;
    let classifier = estimator(config()).build()?;
    classifier.train_with_hooks(|| endless(64), Steps(10), &mut [Box::new(hook)])?;
    assert_eq!(checkpoints(&Location::local(folder.path())), [0, 4, 8, 10]);
    assert_eq!(checkpoints(classifier.model_dir()), [0, 10]);
    assert!(newest_bytes(&Location::local(folder.path())) == newest_bytes(classifier.model_dir()));
    Ok(())
}

#[test]
fn a_nan_loss_names_its_step() -> Result<()> {
    let error = Estimator::new(exploding).config(config()).build()?.train(|| endless(64), Steps(20)).unwrap_err();
    let step = step_of_nan(&error);
    let on_tpu = tpu_of(exploding_on_tpu, tpu_config(20, config())).build()?;
    let error = on_tpu.train(|params| endless(params.batch_size()), Steps(20)).unwrap_err();
    assert_eq!(step_of_nan(&error), step);
    assert_eq!(checkpoints(on_tpu.model_dir()), [0], "nothing is saved after a NaN");
    Ok(())
}

#[test]
fn a_nan_hook_fails_or_stops() -> Result<()> {
    let train = |on_nan| -> Result<TrainReport> {
        let hooks: &mut [Box<dyn SessionRunHook>] = &mut [Box::new(NanTensorHook::new(LOSS, on_nan))];
        Estimator::new(exploding).config(config()).build()?.train_with_hooks(|| endless(64), Steps(20), hooks)
    };
    let step = step_of_nan(&train(OnNan::Fail).unwrap_err());
    let report = train(OnNan::Stop)?;
    assert_eq!(report.global_step(), step);
    assert!(report.loss().is_some_and(f64::is_nan));
    Ok(())
}

#[test]
fn a_nan_hook_stops_a_tpu_within_a_loop() -> Result<()> {
    in_time(|| {
        let hooks: &mut [Box<dyn SessionRunHook>] = &mut [Box::new(NanTensorHook::new(LOSS, OnNan::Stop))];
        // So long that the infeed has work left when the loop ends.
        let classifier = tpu_of(exploding_on_tpu, tpu_config(5000, config())).build()?;
        let report = classifier.train_with_hooks(|params| endless(params.batch_size()), Steps(5000), hooks)?;
        assert!(report.steps() < 20, "{report}");
        Ok(())
    })
}

#[test]
fn a_training_that_does_not_count_its_steps_is_refused() -> Result<()> {
    let uncounted = |features: &Tensors, labels: Option<&Tensor>, _: ModeKeys, _: &Params| {
        let loss = loss_of(features, labels)?;
        let train_op = tf::train::AdagradOptimizer::new(0.1).minimize(&loss, None)?;
        Ok(EstimatorSpec::train(loss, train_op))
    };
    let classifier = Estimator::new(uncounted).config(config()).build()?;
    let error = in_time(move || classifier.train(|| endless(64), Steps(5)).unwrap_err());
    let expected = "RUN011: train_op ran, and the global step stayed the same, so the training would never end; \
                    give `minimize` the global step: `minimize(&loss, Some(&features.graph().global_step()))`";
    assert_eq!((error.to_string().as_str(), error.exception().to_string().as_str()), (expected, "ValueError"));
    Ok(())
}

#[test]
fn a_dataset_without_a_batch_trains_and_evaluates_nothing() -> Result<()> {
    let classifier = estimator(config()).build()?;
    let none = || Ok(endless(64)?.take(0));
    let text = |verb: &str| {
        format!(
            "RUN005: the dataset had no batch to {verb}; \
             check that it holds at least one whole batch: `Remainder::Drop` drops a smaller one"
        )
    };
    for error in [classifier.train(none, Steps(5)).unwrap_err(), classifier.train(none, UntilEnd).unwrap_err()] {
        assert_eq!((error.to_string(), error.exception().to_string()), (text("train"), "OutOfRangeError".to_string()));
    }
    assert_eq!(classifier.evaluate(none, UntilEnd).unwrap_err().to_string(), text("evaluate"));
    assert_eq!(classifier.predict(none)?.count(), 0);
    Ok(())
}

#[test]
fn the_end_of_the_input_ends_a_training() -> Result<()> {
    let classifier = estimator(config()).build()?;
    let report = classifier.train(|| in_order(100, 10), UntilEnd)?;
    assert_eq!((report.steps(), report.global_step()), (10, 10));
    assert_eq!(classifier.train(|| in_order(105, 10), Steps(100))?.global_step(), 21);
    assert_eq!(checkpoints(classifier.model_dir()), [0, 10, 21]);
    Ok(())
}

#[test]
fn an_error_of_the_model_function_ends_the_call() -> Result<()> {
    let failing = |_: &Tensors, _: Option<&Tensor>, _: ModeKeys, params: &Params| -> Result<EstimatorSpec> {
        Err(params.get::<usize>("hidden_units").unwrap_err())
    };
    let classifier = Estimator::new(failing).config(config()).build()?;
    let expected = "EST001: no parameter `hidden_units`; there are none";
    assert_eq!(classifier.train(|| endless(64), Steps(1)).unwrap_err().to_string(), expected);
    assert_eq!(classifier.evaluate(|| endless(64), Steps(1)).unwrap_err().to_string(), expected);
    assert_eq!(classifier.predict(|| endless(64)).unwrap_err().to_string(), expected);
    assert!(checkpoints(classifier.model_dir()).is_empty());
    Ok(())
}

#[test]
fn a_panic_of_the_model_function_reaches_the_caller() -> Result<()> {
    let panicking = |_: &Tensors, _: Option<&Tensor>, _: ModeKeys, _: &Params| -> Result<EstimatorSpec> {
        panic!("the model fell over")
    };
    let classifier = Estimator::new(panicking).config(config()).build()?;
    assert_eq!(panic_of(move || classifier.train(|| endless(64), Steps(1))), "the model fell over");
    Ok(())
}

#[test]
fn an_error_in_the_input_ends_the_call() -> Result<()> {
    let failing = |batch_size: usize| {
        let batches = std::sync::atomic::AtomicU64::new(0);
        endless(batch_size).map(|dataset| {
            dataset.map(move |batch| match batches.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
                0..10 => Ok(batch),
                _ => Err(Params::new().get::<usize>("tenth batch").unwrap_err()),
            })
        })
    };
    in_time(move || {
        let expected = "EST001: no parameter `tenth batch`; there are none";
        let classifier = estimator(config()).build()?;
        assert_eq!(classifier.train(|| failing(64), Steps(50)).unwrap_err().to_string(), expected);
        let on_tpu = tpu(tpu_config(50, config())).build()?;
        let error = on_tpu.train(|params| failing(params.batch_size()), Steps(50)).unwrap_err();
        assert_eq!(error.to_string(), expected);
        let error = on_tpu.evaluate(|params| failing(params.batch_size()), Steps(50)).unwrap_err();
        assert_eq!(error.to_string(), expected);
        Ok(())
    })
}

#[test]
fn a_panic_in_the_input_ends_the_call() -> Result<()> {
    let panicking = |batch_size: usize| {
        let batches = std::sync::atomic::AtomicU64::new(0);
        endless(batch_size).map(|dataset| {
            dataset.map(move |batch| {
                let number = batches.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                assert!(number < 10, "the input fell over");
                Ok(batch)
            })
        })
    };
    let classifier = estimator(config()).build()?;
    assert_eq!(panic_of(move || classifier.train(|| panicking(64), Steps(50))), "the input fell over");
    in_time(move || {
        let on_tpu = tpu(tpu_config(50, config())).build()?;
        let error = on_tpu.train(|params| panicking(params.batch_size()), Steps(50)).unwrap_err();
        assert!(error.to_string().contains("the input fell over"), "{error}");
        let error = on_tpu.evaluate(|params| panicking(params.batch_size()), Steps(50)).unwrap_err();
        assert!(error.to_string().contains("the input fell over"), "{error}");
        Ok(())
    })
}

#[test]
fn a_temporary_folder_goes_with_its_last_handle() -> Result<()> {
    let classifier = estimator(config()).build()?;
    classifier.train(|| endless(64), Steps(1))?;
    let folder = classifier.model_dir().clone();
    let copy = classifier.clone();
    drop(classifier);
    assert_eq!(checkpoints(&folder), [0, 1]);
    drop(copy);
    assert!(folder.list().is_err(), "{folder} is still there");
    Ok(())
}

#[test]
fn another_model_in_the_folder_is_named() -> Result<()> {
    let folder = TempDir::new().unwrap();
    let at = || config().model_dir(folder.path().display().to_string());
    estimator(at()).build()?.train(|| endless(64), Steps(1))?;
    let wider = |features: &Tensors, labels: Option<&Tensor>, _: ModeKeys, params: &Params| {
        let net = tf::feature_column::input_layer(features, &["x", "y"].map(tf::feature_column::numeric_column))?;
        let logits = tf::layers::dense(&tf::layers::dense(&net, 5, None)?, 2, None)?;
        let loss = tf::losses::sparse_softmax_cross_entropy(labels.expect("labels"), &logits)?;
        let train_op = common::minimize(&loss, params)?;
        Ok(EstimatorSpec::train(loss, train_op))
    };
    let error = Estimator::new(wider).config(at()).build()?.train(|| endless(64), Steps(1)).unwrap_err();
    assert_eq!(error.code(), "RUN004");
    assert!(error.message().contains("is [2, 5] in this model and [2, 4] in checkpoint"), "{error}");
    Ok(())
}

const LOSS: &str = "sparse_softmax_cross_entropy_loss/value:0";

/// What hooks were called for, in order.
#[derive(Clone, Default)]
struct Notes(Arc<Mutex<Vec<String>>>);

impl Notes {
    fn spy(&self, name: &'static str) -> Spy {
        Spy { notes: self.clone(), name, fails_after: None }
    }

    fn are(&self, expected: &str) {
        assert_eq!(self.0.lock().unwrap().join(", "), expected);
    }
}

/// A hook that notes what it is called for.
struct Spy {
    notes: Notes,
    name: &'static str,
    fails_after: Option<u64>,
}

impl Spy {
    fn note(&self, what: String) -> Result<()> {
        self.notes.0.lock().unwrap().push(format!("{} {what}", self.name));
        Ok(())
    }
}

impl SessionRunHook for Spy {
    fn begin(&mut self, _graph: &Graph) -> Result<()> {
        self.note("begin".to_string())
    }

    fn after_create_session(&mut self, session: &SessionState<'_>) -> Result<()> {
        self.note(format!("session {}", session.global_step))
    }

    fn before_run(&mut self, context: &RunContext) -> Result<Vec<Tensor>> {
        self.note(format!("before {}", context.global_step))?;
        Ok(Vec::new())
    }

    fn after_run(&mut self, context: &mut RunContext, _values: &RunValues<'_>) -> Result<()> {
        self.note(format!("after {}", context.global_step))?;
        match self.fails_after {
            Some(step) if context.global_step >= step => Evaluation::default().get("a value").map(|_| ()),
            _ => Ok(()),
        }
    }

    fn end(&mut self, session: &SessionState<'_>) -> Result<()> {
        self.note(format!("end {}", session.global_step))
    }
}

fn config() -> RunConfig {
    RunConfig::new().tf_random_seed(1)
}

fn estimator(config: RunConfig) -> EstimatorBuilder {
    Estimator::new(plain_model).config(config)
}

fn tpu_config(iterations_per_loop: u64, base: RunConfig) -> tf::tpu::RunConfig {
    let mut config = tf::tpu::RunConfig::new().tpu_config(TpuConfig::new().iterations_per_loop(iterations_per_loop));
    config.base = base;
    config
}

type TpuModel = fn(&Tensors, Option<&Tensor>, ModeKeys, &Params) -> Result<TpuEstimatorSpec>;

fn tpu(config: tf::tpu::RunConfig) -> tf::tpu::TpuEstimatorBuilder {
    tpu_of(model, config)
}

fn tpu_of(model: TpuModel, config: tf::tpu::RunConfig) -> tf::tpu::TpuEstimatorBuilder {
    TpuEstimator::new(model).config(config).train_batch_size(64).eval_batch_size(64).predict_batch_size(64)
}

fn loss_of(features: &Tensors, labels: Option<&Tensor>) -> Result<Tensor> {
    tf::losses::sparse_softmax_cross_entropy(labels.expect("labels"), &logits(features)?)
}

/// A model whose weights leave the numbers that float32 has.
fn exploding(features: &Tensors, labels: Option<&Tensor>, mode: ModeKeys, params: &Params) -> Result<EstimatorSpec> {
    exploding_on_tpu(features, labels, mode, params)?.as_estimator_spec()
}

fn exploding_on_tpu(
    features: &Tensors,
    labels: Option<&Tensor>,
    _: ModeKeys,
    params: &Params,
) -> Result<TpuEstimatorSpec> {
    let loss = loss_of(features, labels)?;
    let optimizer = tf::train::GradientDescentOptimizer::new(1e30);
    let step = features.graph().global_step();
    let train_op = if params.use_tpu() {
        CrossShardOptimizer::new(optimizer).minimize(&loss, Some(&step))?
    } else {
        optimizer.minimize(&loss, Some(&step))?
    };
    Ok(TpuEstimatorSpec::train(loss, train_op))
}

fn step_of_nan(error: &Error) -> u64 {
    match error.downcast_ref::<tf::estimator::RunError>() {
        Some(tf::estimator::RunError::NanLoss { step, .. }) => *step,
        other => panic!("expected a NaN loss, found {other:?}: {error}"),
    }
}

fn in_order(count: usize, batch_size: usize) -> Result<Dataset> {
    let (features, labels) = rows(count);
    Ok(Dataset::from_tensor_slices((&features, &labels))?.batch(batch_size, Remainder::Keep))
}

/// The seed that lies beside the checkpoint of `step`.
fn seed_of(folder: &TempDir, step: u64) -> u64 {
    let text = std::fs::read_to_string(folder.path().join(format!("model.ckpt-{step}.input"))).unwrap();
    serde_json::from_str::<serde_json::Value>(&text).unwrap()["seed"].as_u64().unwrap()
}

/// The text of the panic that `call` ends with.
fn panic_of<T: Send + 'static>(call: impl FnOnce() -> T + Send + 'static) -> String {
    in_time(move || {
        let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(call)).err().expect("a panic");
        let text = panic.downcast_ref::<&str>().map(ToString::to_string);
        text.or_else(|| panic.downcast_ref::<String>().cloned()).expect("a text")
    })
}
