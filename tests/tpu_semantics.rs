//! How a TPU runs a program: who sees which batch, in which loops, and to which numbers.

mod common;

use InputPipelineConfig::{Broadcast, PerHostV1, PerHostV2, PerShardV1, Sliced};
use common::{bucket_folder, checkpoints, endless, in_time, logits, model, newest_bytes, plain_model, rows};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tpulab as tf;
use tpulab::estimator::{RunContext, RunValues, StopAtStepHook};
use tpulab::losses::Reduction;
use tpulab::prelude::*;
use tpulab::tpu::{RunConfig, TpuContext, TpuEstimatorBuilder};

#[test]
fn one_host_feeds_128_rows_to_cores_that_see_16() {
    let tpu = || Program::on("v3-8");
    tpu().input(PerHostV1).trains().calls(&["input_fn 128", "model_fn 16"]);
    tpu().input(PerHostV1).evaluates().calls(&["input_fn 128", "model_fn 16"]);
    tpu().input(PerHostV1).predicts().calls(&["input_fn 128", "model_fn 16"]);
    tpu().input(PerShardV1).trains().calls(&[&["input_fn 16"; 8][..], &["model_fn 16"]].concat());
    tpu().input(PerShardV1).evaluates().calls(&["input_fn 128", "model_fn 16"]);
    tpu().input(PerShardV1).predicts().calls(&["input_fn 128", "model_fn 16"]);
    tpu().input(PerHostV2).trains().calls(&["input_fn 16", "model_fn 16"]);
    tpu().input(PerHostV2).evaluates().calls(&["input_fn 16", "model_fn 16"]);
    tpu().input(PerHostV2).predicts().calls(&["input_fn 16", "model_fn 16"]);
    tpu().input(Broadcast).trains().calls(&["input_fn 128", "model_fn 128"]);
    tpu().input(Broadcast).evaluates().calls(&["input_fn 128", "model_fn 128"]);
    tpu().input(Broadcast).predicts().calls(&["input_fn 128", "model_fn 128"]);
}

#[test]
fn four_hosts_feed_32_rows_each_to_cores_that_see_4() {
    let pod = || Program::on("v3-32");
    pod().input(PerHostV1).trains().calls(&[&["input_fn 32"; 4][..], &["model_fn 4"]].concat());
    pod().input(PerShardV1).trains().calls(&[&["input_fn 4"; 32][..], &["model_fn 4"]].concat());
    pod().input(PerHostV2).trains().calls(&[&["input_fn 4"; 4][..], &["model_fn 4"]].concat());
    pod().input(PerHostV2).evaluates().calls(&[&["input_fn 4"; 4][..], &["model_fn 4"]].concat());
    pod().input(Broadcast).trains().calls(&["input_fn 128", "model_fn 128"]);
    pod().input(Broadcast).evaluates().calls(&["input_fn 128", "model_fn 128"]);
    pod().input(Broadcast).predicts().calls(&["input_fn 128", "model_fn 128"]);
}

#[test]
fn a_cpu_sees_128_rows_everywhere() {
    let cpu = || Program::on("v3-8").classifier(|classifier| classifier.use_tpu(false));
    cpu().trains().calls(&["input_fn 128", "model_fn 128"]);
    cpu().evaluates().calls(&["input_fn 128", "model_fn 128"]);
    cpu().predicts().calls(&["input_fn 128", "model_fn 128"]);
    let evaluation = Program::on("v3-8").classifier(|classifier| classifier.eval_on_tpu(false)).evaluates();
    evaluation.calls(&["input_fn 128", "model_fn 128"]);
}

#[test]
fn sliced_evaluation_sees_the_whole_batch_once_whatever_training_does() -> Result<()> {
    let mut found = Vec::new();
    for input in [PerHostV1, PerShardV1, PerHostV2, Broadcast] {
        let tpu_config = TpuConfig::new().per_host_input_for_training(input).eval_training_input_configuration(Sliced);
        let config = config().tpu_config(tpu_config).model_dir(bucket_folder());
        let calls = Calls::default();
        let classifier = recorded(&calls).config(config).train_batch_size(128).eval_batch_size(128).build()?;
        found.push(classifier.evaluate(|params| calls.input("input_fn", params), Steps(2))?);
        assert_eq!(calls.lines(), ["input_fn 128", "model_fn 16"], "{input:?}");
    }
    assert!(found.windows(2).all(|pair| pair[0] == pair[1]), "{found:?}");
    Ok(())
}

#[test]
fn each_core_may_pull_for_itself_and_trains_on_the_same_rows() -> Result<()> {
    let trained = |input| -> Result<Vec<u8>> {
        let tpu_config = TpuConfig::new().per_host_input_for_training(input);
        let classifier = tpu(config().tpu_config(tpu_config).model_dir(bucket_folder())).build()?;
        classifier.train(|params| in_order(512, params.batch_size()), Steps(10))?;
        Ok(newest_bytes(classifier.model_dir()))
    };
    assert!(trained(PerHostV1)? == trained(PerHostV2)?);
    Ok(())
}

#[test]
fn every_core_of_a_broadcast_has_the_loss_of_the_whole_batch() -> Result<()> {
    let tpu_config = TpuConfig::new().per_host_input_for_training(Broadcast);
    let classifier = tpu(config().tpu_config(tpu_config)).build()?;
    let report = classifier.train(|params| in_order(512, params.batch_size()), Steps(10))?;
    let shards = report.shard_losses(9).expect("ten steps");
    assert!(shards.iter().all(|loss| *loss == shards[0]), "{shards:?}");
    let plain = estimator(config().base).build()?.train(|| in_order(512, 128), Steps(10))?;
    // Float32, summed in another order: a few units in the last place of losses near 0.7.
    close(report.losses(), plain.losses(), 2e-6);
    Ok(())
}

#[test]
fn a_thousand_steps_in_loops_of_500_are_two_loops() -> Result<()> {
    let classifier = tpu(config().tpu_config(TpuConfig::new().iterations_per_loop(500))).build()?;
    let report = classifier.train(|params| endless(params.batch_size()), MaxSteps(1000))?;
    assert_eq!((report.loops(), report.steps(), report.global_step()), (2, 1000, 1000));
    assert_eq!(checkpoints(classifier.model_dir()), [0, 1000]);
    Ok(())
}

#[test]
fn hooks_see_ends_of_loops_and_the_last_loop_is_shorter() -> Result<()> {
    let classifier = tpu(config().tpu_config(TpuConfig::new().iterations_per_loop(4))).build()?;
    let seen = Seen::default();
    classifier.train_with_hooks(|params| endless(params.batch_size()), Steps(10), &mut [Box::new(seen.clone())])?;
    assert_eq!(seen.take(), [(4, 4), (8, 4), (10, 2)]);
    // From where the model stands, not from a multiple of the loop's length.
    classifier.train_with_hooks(|params| endless(params.batch_size()), MaxSteps(15), &mut [Box::new(seen.clone())])?;
    assert_eq!(seen.take(), [(14, 4), (15, 1)]);
    Ok(())
}

#[test]
fn a_stop_at_step_120_comes_at_the_end_of_its_loop() -> Result<()> {
    let classifier = tpu(config().tpu_config(TpuConfig::new().iterations_per_loop(100))).build()?;
    let hooks: &mut [Box<dyn SessionRunHook>] = &mut [Box::new(StopAtStepHook::at(120))];
    let report = classifier.train_with_hooks(|params| endless(params.batch_size()), Steps(1000), hooks)?;
    assert_eq!((report.global_step(), report.loops()), (200, 2));
    Ok(())
}

#[test]
fn loops_that_last_a_time_make_all_steps() -> Result<()> {
    let tpu_config = TpuConfig::new().time_per_loop(Duration::from_millis(1));
    let classifier = tpu(config().tpu_config(tpu_config)).build()?;
    let seen = Seen::default();
    let hooks: &mut [Box<dyn SessionRunHook>] = &mut [Box::new(seen.clone())];
    let report = classifier.train_with_hooks(|params| endless(params.batch_size()), Steps(50), hooks)?;
    assert_eq!((report.steps(), report.global_step()), (50, 50));
    let first = seen.take()[0];
    assert_eq!(first, (1, 1), "the speed is not known before the first loop");
    Ok(())
}

#[test]
fn the_framework_writes_its_keys_into_copies_of_params() -> Result<()> {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&lines);
    let looking = move |features: &Tensors, labels: Option<&Tensor>, mode, params: &Params| {
        let context: TpuContext = params.get("context")?;
        let line = format!("{:?} {} on {}", params.names(), params.use_tpu(), context.num_replicas());
        seen.lock().unwrap().push(line);
        assert_eq!(context.current_host().unwrap_err().code(), "TPU016");
        model(features, labels, mode, params)
    };
    let params = Params::new().set("use_tpu", false).set("own", 1);
    let classifier = TpuEstimator::new(looking).config(config()).params(params).train_batch_size(16).build()?;
    let input_fn = |params: &Params| {
        let context: TpuContext = params.get("context")?;
        let line = format!("{:?} {} at {}", params.names(), params.use_tpu(), context.current_host()?);
        lines.lock().unwrap().push(line);
        endless(params.batch_size())
    };
    classifier.train(input_fn, Steps(1))?;
    let names = r#"["use_tpu", "own", "batch_size", "context"]"#;
    assert_eq!(*lines.lock().unwrap(), [format!("{names} true at 0"), format!("{names} true on 8")]);
    assert_eq!((classifier.params().names(), classifier.params().use_tpu()), (vec!["use_tpu", "own"], false));
    Ok(())
}

#[test]
fn the_loss_is_the_mean_over_the_shards() -> Result<()> {
    let report = tpu(config()).build()?.train(|params| endless(params.batch_size()), Steps(5))?;
    assert_eq!(report.shards(), 8);
    for step in 0..5 {
        let shards = report.shard_losses(step).expect("five steps");
        assert_eq!(report.losses()[step], shards.iter().sum::<f64>() / 8.0);
        assert!(shards.iter().any(|loss| *loss != shards[0]), "{shards:?}");
    }
    Ok(())
}

#[test]
fn a_faithful_evaluation_swaps_the_loss_and_that_of_shard_0() -> Result<()> {
    let folder = bucket_folder();
    let run = |fidelity| tpu(config().fidelity(fidelity).model_dir(&folder)).build();
    let (friendly, faithful) = (run(Fidelity::Friendly)?, run(Fidelity::Faithful)?);
    friendly.train(|params| endless(params.batch_size()), Steps(5))?;
    let friendly = friendly.evaluate(|params| in_order(512, params.batch_size()), Steps(4))?;
    let faithful = faithful.evaluate(|params| in_order(512, params.batch_size()), Steps(4))?;
    assert_eq!(friendly.get("loss")?, faithful.get("loss_all_shards")?);
    assert_eq!(friendly.get("loss_shard_0")?, faithful.get("loss")?);
    assert_ne!(friendly.get("loss")?, faithful.get("loss")?);
    assert_eq!(friendly.get("accuracy")?, faithful.get("accuracy")?);
    Ok(())
}

#[test]
fn metrics_are_exact_over_the_rows_of_all_cores() -> Result<()> {
    let classifier = tpu(config()).build()?;
    classifier.train(|params| endless(params.batch_size()), Steps(20))?;
    let evaluation = classifier.evaluate(|params| in_order(512, params.batch_size()), Steps(4))?;
    let sides = rows(512).1;
    let predicted = classes(&classifier, 512)?;
    let right = sides.values::<i32>()?.iter().zip(&predicted).filter(|(side, class)| i64::from(**side) == **class);
    // A quotient of 512 is exact in float32.
    assert_eq!(evaluation.get("accuracy")?, right.count() as f64 / 512.0);
    assert_eq!((evaluation.steps(), evaluation.global_step()), (4, 20));
    Ok(())
}

#[test]
fn three_rows_are_padded_to_128_and_give_three_predictions() -> Result<()> {
    let folder = bucket_folder();
    let classifier = tpu(config().model_dir(&folder)).build()?;
    classifier.train(|params| endless(params.batch_size()), Steps(5))?;
    let cpu = tpu(config().model_dir(&folder)).use_tpu(false).build()?;
    for count in [1, 3, 128, 129, 300] {
        let predictions = predicted(&classifier, count)?;
        assert_eq!(predictions.len(), count);
        assert_eq!(predictions, predicted(&classifier, count)?, "twice the same");
        for (on_tpu, on_cpu) in predictions.iter().zip(predicted(&cpu, count)?) {
            assert_eq!(on_tpu.get("class")?, on_cpu.get("class")?);
            // Float32: a matrix of 16 rows may be multiplied in another order than one of 128.
            close(&on_tpu.get("logits")?.to_f64_vec()?, &on_cpu.get("logits")?.to_f64_vec()?, 1e-6);
        }
    }
    Ok(())
}

#[test]
fn no_rows_give_no_predictions() -> Result<()> {
    let classifier = tpu(config()).build()?;
    let none = classifier.predict(|params| Ok(in_order(512, params.batch_size())?.take(0)))?;
    assert_eq!(none.count(), 0);
    Ok(())
}

#[test]
fn nothing_is_read_before_the_first_prediction_is_taken() -> Result<()> {
    let classifier = tpu(config()).build()?;
    let batches = Arc::new(AtomicUsize::new(0));
    let counting = || {
        let batches = Arc::clone(&batches);
        move |params: &Params| {
            let batches = Arc::clone(&batches);
            Ok(in_order(512, params.batch_size())?.map(move |batch| {
                batches.fetch_add(1, Ordering::Relaxed);
                Ok(batch)
            }))
        }
    };
    let mut predictions = classifier.predict(counting())?;
    let before = batches.load(Ordering::Relaxed);
    predictions.next().expect("512 rows")?;
    predictions.next().expect("512 rows")?;
    assert_eq!(batches.load(Ordering::Relaxed), before + 1, "two examples of one batch");
    Ok(())
}

#[test]
fn half_read_predictions_can_be_dropped() -> Result<()> {
    let classifier = tpu(config()).build()?;
    in_time(move || {
        for _ in 0..3 {
            let mut predictions = classifier.predict(|params| endless(params.batch_size()))?;
            predictions.next().expect("endless rows")?;
        }
        classifier.train(|params| endless(params.batch_size()), Steps(2)).map(|_| ())
    })
}

#[test]
fn eight_cores_walk_the_path_of_one() -> Result<()> {
    // Float64: what is left is the order of sums. Float32: the same with 24 bits, over 50 steps.
    for (precision, tolerance) in [(Precision::Float64, 1e-12), (Precision::Float32, 2e-6)] {
        let on_tpu = tpu(config().precision(precision)).build()?;
        let on_cpu = estimator(config().precision(precision).base).build()?;
        let report = on_tpu.train(|params| in_order(512, params.batch_size()), Steps(50))?;
        let plain = on_cpu.train(|| in_order(512, 128), Steps(50))?;
        close(report.losses(), plain.losses(), tolerance);
        assert_eq!(on_tpu.variable_names()?, on_cpu.variable_names()?);
        if precision == Precision::Float32 {
            for name in on_tpu.variable_names()? {
                let (found, expected) = (on_tpu.variable_value(&name)?, on_cpu.variable_value(&name)?);
                close(&found.to_f64_vec()?, &expected.to_f64_vec()?, 1e-5);
            }
        }
    }
    Ok(())
}

#[test]
fn a_sum_over_8_cores_is_a_mean_with_an_eightfold_rate() -> Result<()> {
    let trained = |reduction, rate| -> Result<TrainReport> {
        let classifier = TpuEstimator::new(descending(reduction, None, rate)).config(config()).train_batch_size(128);
        classifier.build()?.train(|params| in_order(512, params.batch_size()), Steps(10))
    };
    let sum = trained(Reduction::Sum, 0.1)?;
    // Float32 losses near 0.7, over ten steps.
    close(sum.losses(), trained(Reduction::Mean, 0.8)?.losses(), 2e-6);
    let mean = trained(Reduction::Mean, 0.1)?;
    assert_eq!(sum.losses()[0], mean.losses()[0]);
    assert!((sum.losses()[9] - mean.losses()[9]).abs() > 1e-3);
    Ok(())
}

#[test]
fn groups_drift_apart_and_the_first_core_is_saved() -> Result<()> {
    let halves = vec![vec![0, 1, 2, 3], vec![4, 5, 6, 7]];
    let drifting = descending(Reduction::Mean, Some(halves), 0.1);
    let classifier = TpuEstimator::new(drifting).config(config()).train_batch_size(128).build()?;
    classifier.train(|params| in_order(128, params.batch_size()), Steps(10))?;
    // The first group sees the first 64 of the 128 rows, in each step.
    let alone =
        TpuEstimator::new(descending(Reduction::Mean, None, 0.1)).config(config()).train_batch_size(64).build()?;
    alone.train(|params| in_order(64, params.batch_size()), Steps(10))?;
    let together =
        TpuEstimator::new(descending(Reduction::Mean, None, 0.1)).config(config()).train_batch_size(128).build()?;
    together.train(|params| in_order(128, params.batch_size()), Steps(10))?;
    let kernel = |classifier: &TpuEstimator| classifier.variable_value("dense/kernel")?.to_f64_vec();
    // Float32 weights below 1, summed in groups of another size.
    close(&kernel(&classifier)?, &kernel(&alone)?, 1e-6);
    assert!(kernel(&classifier)?.iter().zip(kernel(&together)?).any(|(own, all)| (own - all).abs() > 1e-4));
    Ok(())
}

#[test]
fn any_number_of_threads_gives_the_same_bits() -> Result<()> {
    let trained = |threads| -> Result<Vec<u8>> {
        let classifier = tpu(config().worker_threads(threads)).build()?;
        classifier.train(|params| endless(params.batch_size()), Steps(30))?;
        Ok(newest_bytes(classifier.model_dir()))
    };
    let alone = trained(1)?;
    for threads in [2, 4, 8] {
        assert!(trained(threads)? == alone, "{threads} threads");
    }
    Ok(())
}

#[test]
fn without_a_tpu_it_is_an_estimator_to_the_bit() -> Result<()> {
    let folders = (bucket_folder(), bucket_folder());
    let cpu = tpu(config().model_dir(&folders.0)).use_tpu(false).build()?;
    let plain = estimator(config().model_dir(&folders.1).base).build()?;
    let found = cpu.train(|params| endless(params.batch_size()), Steps(30))?;
    let expected = plain.train(|| endless(128), Steps(30))?;
    assert_eq!(found, expected);
    assert!(newest_bytes(cpu.model_dir()) == newest_bytes(plain.model_dir()));
    let found = cpu.evaluate(|params| in_order_once(512, params.batch_size()), UntilEnd)?;
    assert_eq!(found, plain.evaluate(|| in_order_once(512, 128), UntilEnd)?);
    assert_eq!(predicted(&cpu, 3)?, plain.predict(|| in_order_once(3, 128))?.collect::<Result<Vec<_>>>()?);
    Ok(())
}

#[test]
fn a_resumed_training_on_four_hosts_ends_in_the_same_bits() -> Result<()> {
    let pod = || -> Result<TpuEstimator> {
        let cluster = TpuClusterResolver::new(Some("tpu-name"))?.accelerator_type("v3-32")?;
        tpu(config().cluster(cluster).model_dir(bucket_folder())).build()
    };
    let (once, twice) = (pod()?, pod()?);
    once.train(|params| endless(params.batch_size()), Steps(10))?;
    twice.train(|params| endless(params.batch_size()), Steps(5))?;
    twice.train(|params| endless(params.batch_size()), Steps(5))?;
    assert!(newest_bytes(once.model_dir()) == newest_bytes(twice.model_dir()));
    Ok(())
}

/// A program whose calls are written down, as `input_fn 128`.
struct Program {
    accelerator_type: &'static str,
    input: InputPipelineConfig,
    classifier: fn(TpuEstimatorBuilder) -> TpuEstimatorBuilder,
}

impl Program {
    fn on(accelerator_type: &'static str) -> Self {
        Program { accelerator_type, input: PerHostV1, classifier: |classifier| classifier }
    }

    fn input(self, input: InputPipelineConfig) -> Self {
        Program { input, ..self }
    }

    fn classifier(self, classifier: fn(TpuEstimatorBuilder) -> TpuEstimatorBuilder) -> Self {
        Program { classifier, ..self }
    }

    fn trains(self) -> Calls {
        self.run(|classifier, calls| classifier.train(|params| calls.input("input_fn", params), Steps(2)).map(|_| ()))
    }

    fn evaluates(self) -> Calls {
        self.run(|classifier, calls| {
            classifier.evaluate(|params| calls.input("input_fn", params), Steps(2)).map(|_| ())
        })
    }

    fn predicts(self) -> Calls {
        self.run(|classifier, calls| {
            let mut predictions = classifier.predict(|params| calls.input("input_fn", params))?;
            predictions.next().expect("rows without end").map(|_| ())
        })
    }

    fn run(self, call: impl Fn(&TpuEstimator, &Calls) -> Result<()>) -> Calls {
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
struct Calls(Arc<Mutex<Vec<String>>>);

impl Calls {
    fn note(&self, function: &str, params: &Params) {
        self.0.lock().unwrap().push(format!("{function} {}", params.batch_size()));
    }

    fn input(&self, function: &str, params: &Params) -> Result<Dataset> {
        self.note(function, params);
        endless(params.batch_size())
    }

    fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    fn calls(&self, expected: &[&str]) {
        assert_eq!(self.lines(), expected);
    }
}

/// The model, with its calls written down; it also knows how many rows it is given.
fn recorded(calls: &Calls) -> TpuEstimatorBuilder {
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
struct Seen(Arc<Mutex<Vec<(u64, u64)>>>);

impl Seen {
    fn take(&self) -> Vec<(u64, u64)> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl SessionRunHook for Seen {
    fn after_run(&mut self, context: &mut RunContext, _values: &RunValues<'_>) -> Result<()> {
        self.0.lock().unwrap().push((context.global_step, context.steps));
        Ok(())
    }
}

fn config() -> RunConfig {
    RunConfig::new().tf_random_seed(1).tpu_config(TpuConfig::new().iterations_per_loop(10))
}

fn tpu(config: RunConfig) -> TpuEstimatorBuilder {
    TpuEstimator::new(model).config(config).train_batch_size(128).eval_batch_size(128).predict_batch_size(128)
}

fn estimator(config: tpulab::estimator::RunConfig) -> tpulab::estimator::EstimatorBuilder {
    Estimator::new(plain_model).config(config)
}

/// The model with plain gradient descent at `rate`.
fn descending(
    reduction: Reduction,
    groups: Option<Vec<Vec<usize>>>,
    rate: f64,
) -> impl Fn(&Tensors, Option<&Tensor>, ModeKeys, &Params) -> Result<TpuEstimatorSpec> + Send + Sync + 'static {
    move |features, labels, _, _| {
        let loss = tf::losses::sparse_softmax_cross_entropy(labels.expect("labels"), &logits(features)?)?;
        let optimizer = CrossShardOptimizer::new(tf::train::GradientDescentOptimizer::new(rate)).reduction(reduction);
        let optimizer = match &groups {
            Some(groups) => optimizer.group_assignment(groups.clone()),
            None => optimizer,
        };
        let train_op = optimizer.minimize(&loss, Some(&loss.graph().global_step()))?;
        Ok(TpuEstimatorSpec::train(loss, train_op))
    }
}

fn in_order_once(count: usize, batch_size: usize) -> Result<Dataset> {
    let (features, labels) = rows(count);
    Ok(Dataset::from_tensor_slices((&features, &labels))?.batch(batch_size, Remainder::Keep))
}

fn in_order(count: usize, batch_size: usize) -> Result<Dataset> {
    let (features, labels) = rows(count);
    Ok(Dataset::from_tensor_slices((&features, &labels))?.repeat().batch(batch_size, Remainder::Drop))
}

fn predicted(classifier: &TpuEstimator, count: usize) -> Result<Vec<Prediction>> {
    classifier.predict(|params| in_order_once(count, params.batch_size()))?.collect()
}

fn classes(classifier: &TpuEstimator, count: usize) -> Result<Vec<i64>> {
    let class = |prediction: &Prediction| Ok(prediction.get("class")?.as_slice::<i64>()?[0]);
    predicted(classifier, count)?.iter().map(class).collect()
}

fn close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= tolerance, "{found} against {expected}");
    }
}

#[test]
fn a_replica_that_spans_hosts_is_fed_by_one_of_them() -> Result<()> {
    in_time(|| {
        let cluster = TpuClusterResolver::new(Some("local"))?.accelerator_type("v3-32")?;
        let tpu_config =
            TpuConfig::new().num_cores_per_replica(16).per_host_input_for_training(PerHostV2).iterations_per_loop(2);
        let config = RunConfig::new().cluster(cluster).tpu_config(tpu_config);
        let classifier = TpuEstimator::new(model).train_batch_size(8).config(config).build()?;
        let report = classifier.train(|params| endless(params.batch_size()), Steps(2))?;
        assert_eq!((report.shards(), report.steps()), (2, 2));
        Ok(())
    })
}
