//! What a TPU refuses, each in a friendly and in a faithful run: exception, whole text, and nothing left behind.

mod common;

use common::{bucket_folder, checkpoints, endless, in_time, logits, metric_fn, minimize, model, rows};
use tpulab as tf;
use tpulab::estimator::{EvalSteps, TrainSteps};
use tpulab::losses::Reduction;
use tpulab::prelude::*;
use tpulab::tpu::{ModelSpec, RunConfig, TpuEstimatorBuilder};

#[test]
fn the_program_that_the_rows_spoil_is_right() {
    Row::new().train(Steps(2)).is_accepted();
    Row::new().evaluate(Steps(2)).is_accepted();
    Row::new().predict().is_accepted();
}

#[test]
fn train_batch_of_100_over_8_cores_is_refused() {
    Row::new().classifier(|classifier| classifier.train_batch_size(100)).train(Steps(2)).is_refused(
        "ValueError",
        "TPU012: train_batch_size 100 cannot be split over 8 cores; use a multiple of 8, such as 96 or 104",
    );
}

#[test]
fn eval_batch_of_100_over_8_cores_is_refused() {
    Row::new().classifier(|classifier| classifier.eval_batch_size(100)).evaluate(Steps(2)).is_refused(
        "ValueError",
        "TPU012: eval_batch_size 100 cannot be split over 8 cores; use a multiple of 8, such as 96 or 104",
    );
}

#[test]
fn predict_batch_of_100_over_8_cores_is_refused() {
    Row::new().classifier(|classifier| classifier.predict_batch_size(100)).predict().is_refused(
        "ValueError",
        "TPU012: predict_batch_size 100 cannot be split over 8 cores; use a multiple of 8, such as 96 or 104",
    );
}

#[test]
fn training_without_a_batch_size_is_refused() {
    Row::without_batch_sizes().train(Steps(2)).is_refused(
        "ValueError",
        "TPU006: train_batch_size is not set, and `train` needs it; \
         give `TpuEstimator` the global batch size, such as `.train_batch_size(128)`",
    );
}

#[test]
fn evaluating_without_a_batch_size_is_refused() {
    let row = Row::without_batch_sizes().classifier(|classifier| classifier.train_batch_size(16));
    row.evaluate(Steps(2)).is_refused(
        "ValueError",
        "TPU006: eval_batch_size is not set, and `evaluate` needs it; \
         give `TpuEstimator` the global batch size, such as `.eval_batch_size(128)`",
    );
}

#[test]
fn predicting_without_a_batch_size_is_refused() {
    let row = Row::without_batch_sizes().classifier(|classifier| classifier.train_batch_size(16));
    row.predict().is_refused(
        "ValueError",
        "TPU006: predict_batch_size is not set, and `predict` needs it; \
         give `TpuEstimator` the global batch size, such as `.predict_batch_size(128)`",
    );
}

#[test]
fn a_faithful_estimator_wants_a_train_batch_size_even_to_predict() {
    let row = Row::without_batch_sizes().classifier(|classifier| classifier.predict_batch_size(16));
    row.predict().is_refused_faithfully_alone(
        "ValueError",
        "TPU006: train_batch_size is not set, and `train` needs it; \
         give `TpuEstimator` the global batch size, such as `.train_batch_size(128)`",
    );
}

#[test]
fn a_batch_size_of_0_is_refused() {
    Row::new().classifier(|classifier| classifier.eval_batch_size(0)).train(Steps(2)).is_refused(
        "ValueError",
        "TPU007: eval_batch_size is 0; expected 1 or more; give the global batch size, such as 128",
    );
}

#[test]
fn training_without_a_number_of_steps_is_refused() {
    Row::new().train(UntilEnd).is_refused(
        "ValueError",
        "TPU027: a TPU cannot train to the end of the input: its loops have a fixed length; \
         give `MaxSteps(n)` or `Steps(n)`",
    );
}

#[test]
fn evaluating_without_a_number_of_steps_is_refused() {
    Row::new().evaluate(UntilEnd).is_refused(
        "ValueError",
        "TPU027: a TPU cannot evaluate to the end of the input: its loops have a fixed length; give `Steps(n)`",
    );
    Row::new().input(|params| finite(64, params.batch_size(), Remainder::Drop)).evaluate(UntilEnd).is_refused(
        "ValueError",
        "TPU027: a TPU cannot evaluate to the end of the input: its loops have a fixed length; \
         give `Steps(n)`; the input has 4 batches",
    );
}

#[test]
fn no_steps_are_refused() {
    let help = "leave the call out where there is nothing to do";
    let steps = format!("RUN001: steps must be positive, found 0; {help}");
    Row::new().train(Steps(0)).is_refused("ValueError", &steps);
    Row::new().evaluate(Steps(0)).is_refused("ValueError", &steps);
    let max_steps = format!("RUN001: max_steps must be positive, found 0; {help}");
    Row::new().train(MaxSteps(0)).is_refused("ValueError", &max_steps);
}

#[test]
fn batches_of_unknown_size_are_refused_to_train_and_to_evaluate() {
    let keep = || Row::new().input(|params| finite(64, params.batch_size(), Remainder::Keep));
    let text = |verb: &str| {
        format!(
            "TPU022: the input_fn to {verb} gives batches of unknown size (`x` [?], `y` [?], `labels` [?]), \
             and a TPU program has fixed shapes; use `.batch(params.batch_size(), Remainder::Drop)`"
        )
    };
    keep().train(Steps(2)).is_refused("ValueError", &text("train"));
    keep().evaluate(Steps(2)).is_refused("ValueError", &text("evaluate"));
    keep().predict().is_accepted();
}

#[test]
fn rows_that_were_never_batched_are_refused() {
    let unbatched = || {
        Row::new().input(|_| {
            let (features, labels) = rows(64);
            Ok(Dataset::from_tensor_slices((&features, &labels))?.repeat())
        })
    };
    unbatched().train(Steps(2)).is_refused(
        "ValueError",
        "TPU022: the input_fn to train gives batches of unknown size (`x` [], `y` [], `labels` []), \
         and a TPU program has fixed shapes; use `.batch(params.batch_size(), Remainder::Drop)`",
    );
}

#[test]
fn an_input_fn_that_ignores_params_is_refused() {
    let ignoring = || Row::new().input(|_| finite(400, 100, Remainder::Drop));
    let text = "TPU024: column `x` has 100 rows, which cannot be sharded 8 ways along dimension 0; \
                batch the dataset with `params.batch_size()`";
    ignoring().train(Steps(2)).is_refused("ValueError", text);
    ignoring().evaluate(Steps(2)).is_refused("ValueError", text);
}

#[test]
fn float64_features_are_refused() {
    let float64 = |params: &Params| {
        let features = Frame::new([("x", Column::from(vec![0.5f64; 64])), ("y", Column::from(vec![0.5f32; 64]))])?;
        let labels = Column::from(vec![0i32; 64]);
        Ok(Dataset::from_tensor_slices((&features, &labels))?.batch(params.batch_size(), Remainder::Drop))
    };
    let text = "TPU025: the infeed carries float32, int32, complex64, int64, bool, bfloat16 and uint32; \
                `x` is float64; load numbers as float32 and labels as int32, or `cast` the columns in the input_fn";
    Row::new().input(float64).train(Steps(2)).is_refused("TypeError", text);
    Row::new().input(float64).evaluate(Steps(2)).is_refused("TypeError", text);
    Row::new().input(float64).predict().is_refused("TypeError", text);
}

#[test]
fn string_features_are_refused() {
    let strings = |params: &Params| {
        let names = vec!["Setosa".to_string(); 64];
        let features = Frame::new([("x", Column::from(names)), ("y", Column::from(vec![0.5f64; 64]))])?;
        let labels = Column::from(vec![0i32; 64]);
        Ok(Dataset::from_tensor_slices((&features, &labels))?.batch(params.batch_size(), Remainder::Drop))
    };
    Row::new().input(strings).train(Steps(2)).is_refused(
        "TypeError",
        "TPU025: the infeed carries float32, int32, complex64, int64, bool, bfloat16 and uint32; \
         `x` is string, `y` is float64; \
         load numbers as float32 and labels as int32, or `cast` the columns in the input_fn",
    );
}

#[test]
fn training_without_a_cross_shard_optimizer_is_refused() {
    let alone = |features: &Tensors, labels: Option<&Tensor>, _: ModeKeys, params: &Params| {
        let loss = loss_of(features, labels)?;
        let train_op = minimize(&loss, &params.clone().set("use_tpu", false))?;
        Ok(TpuEstimatorSpec::train(loss, train_op).into())
    };
    Row::new().model(alone).train(Steps(2)).is_refused(
        "ValueError",
        "TPU026: nothing is summed over the 8 cores, so their models would drift apart; \
         wrap the optimizer: `CrossShardOptimizer::new(optimizer)`",
    );
    Row::new()
        .model(alone)
        .config(|config| config.tpu_config(TpuConfig::new().num_shards(1)))
        .train(Steps(2))
        .is_accepted();
}

#[test]
fn a_cross_shard_optimizer_on_the_cpu_is_refused() {
    let always = |features: &Tensors, labels: Option<&Tensor>, _: ModeKeys, params: &Params| {
        let loss = loss_of(features, labels)?;
        let train_op = minimize(&loss, &params.clone().set("use_tpu", true))?;
        Ok(TpuEstimatorSpec::train(loss, train_op).into())
    };
    Row::new().model(always).classifier(|classifier| classifier.use_tpu(false)).train(Steps(2)).is_refused(
        "InvalidArgumentError",
        "TPU018: `CrossShardOptimizer` was used where no TPU is involved: CPUs have no kernel for CrossReplicaSum; \
         wrap the optimizer only where `params.use_tpu()` is true",
    );
}

#[test]
fn a_reduction_other_than_mean_and_sum_is_refused() {
    let reduced = |features: &Tensors, labels: Option<&Tensor>, _: ModeKeys, _: &Params| {
        let loss = loss_of(features, labels)?;
        let optimizer = CrossShardOptimizer::new(tf::train::AdagradOptimizer::new(0.1));
        let train_op =
            optimizer.reduction(Reduction::SumByNonzeroWeights).minimize(&loss, Some(&loss.graph().global_step()))?;
        Ok(TpuEstimatorSpec::train(loss, train_op).into())
    };
    Row::new().model(reduced).train(Steps(2)).is_refused(
        "ValueError",
        "TPU019: `CrossShardOptimizer` cannot reduce by SumByNonzeroWeights; use `Reduction::Mean` or `Reduction::Sum`",
    );
}

#[test]
fn the_spec_of_an_estimator_trains_and_does_nothing_else() {
    let plain = |features: &Tensors, labels: Option<&Tensor>, mode: ModeKeys, params: &Params| {
        Ok(model(features, labels, mode, params)?.as_estimator_spec()?.into())
    };
    Row::new().model(plain).train(Steps(2)).is_accepted();
    Row::new().model(plain).evaluate(Steps(2)).is_refused(
        "RuntimeError",
        "TPU023: model_fn returned an `EstimatorSpec` to evaluate; the TPU takes a `TpuEstimatorSpec`; \
         return `TpuEstimatorSpec::eval(loss, metric_fn, outputs)`",
    );
    Row::new().model(plain).predict().is_refused(
        "RuntimeError",
        "TPU023: model_fn returned an `EstimatorSpec` to predict; the TPU takes a `TpuEstimatorSpec`; \
         return `TpuEstimatorSpec::predict(predictions)`",
    );
}

#[test]
fn a_metric_output_without_a_batch_is_refused() {
    let scalar = |features: &Tensors, labels: Option<&Tensor>, _: ModeKeys, _: &Params| {
        let loss = loss_of(features, labels)?;
        let outputs = Tensors::from([("loss", loss.clone())]);
        Ok(TpuEstimatorSpec::eval(loss, |_| Ok(Metrics::new()), outputs).into())
    };
    Row::new().model(scalar).evaluate(Steps(2)).is_refused(
        "RuntimeError",
        "TPU028: output `loss` has shape []; expected 2 rows first: one for each example of a shard; \
         give the metric function tensors of the batch, and let it reduce them",
    );
}

#[test]
fn a_prediction_without_a_batch_is_refused() {
    let scalar = |features: &Tensors, _: Option<&Tensor>, _: ModeKeys, _: &Params| {
        let mean = tf::reduce_mean(&logits(features)?, &[])?;
        Ok(TpuEstimatorSpec::predict(Tensors::from([("mean", mean)])).into())
    };
    Row::new().model(scalar).predict().is_refused(
        "RuntimeError",
        "TPU028: output `mean` has shape []; expected 2 rows first: one for each example of a shard; \
         give the metric function tensors of the batch, and let it reduce them",
    );
}

#[test]
fn a_metric_called_loss_or_global_step_is_refused() {
    fn named(name: &'static str, features: &Tensors, labels: Option<&Tensor>) -> Result<ModelSpec> {
        let logits = logits(features)?;
        let outputs = Tensors::from([("labels", labels.expect("labels").clone()), ("logits", logits)]);
        let metric_fn = move |outputs: &Tensors| {
            let accuracy = metric_fn(outputs)?.get("accuracy")?.clone();
            Ok(Metrics::from([(name, accuracy)]))
        };
        Ok(TpuEstimatorSpec::eval(loss_of(features, labels)?, metric_fn, outputs).into())
    }
    Row::new().model(|features, labels, _, _| named("loss", features, labels)).evaluate(Steps(2)).is_refused(
        "ValueError",
        "EST009: metric `loss` has a name that evaluation uses itself; give it another one, such as `my_loss`",
    );
    Row::new().model(|features, labels, _, _| named("global_step", features, labels)).evaluate(Steps(2)).is_refused(
        "ValueError",
        "EST009: metric `global_step` has a name that evaluation uses itself; \
         give it another one, such as `my_global_step`",
    );
}

#[test]
fn a_metric_function_that_asks_for_another_output_is_refused() {
    let misnamed = |features: &Tensors, labels: Option<&Tensor>, _: ModeKeys, _: &Params| {
        let outputs = Tensors::from([("labels", labels.expect("labels").clone()), ("logit", logits(features)?)]);
        Ok(TpuEstimatorSpec::eval(loss_of(features, labels)?, metric_fn, outputs).into())
    };
    Row::new()
        .model(misnamed)
        .evaluate(Steps(2))
        .is_refused("KeyError", "GRAPH008: no tensor `logits`; there are `labels`, `logit`");
}

#[test]
fn params_that_the_framework_sets_are_refused() {
    Row::new()
        .classifier(|classifier| classifier.params(Params::new().set("batch_size", 16)))
        .train(Steps(2))
        .is_refused(
            "ValueError",
            "TPU015: parameter `batch_size` is set by `TpuEstimator` itself; \
         leave it out, and give the global size as `train_batch_size`",
        );
    Row::new().classifier(|classifier| classifier.params(Params::new().set("context", 1))).train(Steps(2)).is_refused(
        "ValueError",
        "TPU015: parameter `context` is set by `TpuEstimator` itself; rename it, such as to `my_context`",
    );
}

#[test]
fn an_empty_model_dir_is_a_temporary_folder_or_refused() {
    Row::new().config(|config| config.model_dir("")).train(Steps(2)).is_refused_faithfully_alone(
        "ValueError",
        "EST003: model_dir is \"\"; expected the path of a folder or bucket; \
         leave `model_dir` out to get a temporary folder",
    );
}

#[test]
fn two_model_dirs_are_refused() {
    let row = Row::new().config(|config| config.model_dir("gs://bucket-name/one"));
    row.classifier(|classifier| classifier.model_dir("gs://bucket-name/two")).train(Steps(2)).is_refused(
        "ValueError",
        "RUN006: model_dir is \"gs://bucket-name/two\" and the config's model_dir is \"gs://bucket-name/one\"; \
         give one of them",
    );
}

#[test]
fn a_model_dir_of_this_machine_is_refused_faithfully() {
    const FOLDER: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/local-model");
    let _ = std::fs::remove_dir_all(FOLDER);
    let text = format!(
        "TPU029: model_dir {FOLDER:?} is a folder of this machine, and the TPU's workers write checkpoints themselves; \
         give a bucket, such as `gs://bucket-name/iris`"
    );
    let row = Row::new().config(|config| config.model_dir(FOLDER));
    row.train(Steps(2)).is_refused_faithfully_alone("InvalidArgumentError", &text);
}

#[test]
fn a_tpu_without_a_name_is_a_local_one_or_refused() {
    let unnamed = |config: RunConfig| config.cluster(TpuClusterResolver::new(None).expect("a local TPU"));
    Row::new().config(unnamed).train(Steps(2)).is_refused_faithfully_alone(
        "ValueError",
        "TPU013: no TPU is named, here or in the environment; \
         give the flag `tpu` a name, or leave the cluster out where `use_tpu` is false",
    );
}

#[test]
fn a_master_beside_a_cluster_is_refused() {
    Row::new().config(|config| config.master("grpc://10.0.0.2:8470")).train(Steps(2)).is_refused(
        "ValueError",
        "TPU014: master `grpc://10.0.0.2:8470` and a cluster are both given; \
         leave `master` out: the cluster knows it",
    );
}

#[test]
fn a_batch_larger_than_predict_batch_size_is_refused() {
    Row::new().input(|_| finite(64, 32, Remainder::Keep)).predict().is_refused(
        "InvalidArgumentError",
        "TPU021: a batch of 32 rows is larger than predict_batch_size 16; \
         batch the dataset with `params.batch_size()`",
    );
}

#[test]
fn an_input_that_ends_within_a_loop_is_an_error() {
    let short = || Row::new().input(|params| finite(48, params.batch_size(), Remainder::Drop));
    short().train(Steps(4)).fails(
        "OutOfRangeError",
        "TPU020: the dataset ended after 3 batches of a loop that needed 4; \
         add `.repeat()` to the dataset, or ask for fewer steps",
    );
    short().evaluate(Steps(4)).fails(
        "OutOfRangeError",
        "TPU020: the dataset ended after 3 batches of a loop that needed 4; \
         add `.repeat()` to the dataset, or ask for fewer steps",
    );
    short().train(Steps(3)).is_accepted();
    short().evaluate(Steps(3)).is_accepted();
}

#[test]
fn a_dataset_without_a_whole_batch_is_an_error() {
    let empty = || Row::new().input(|params| finite(15, params.batch_size(), Remainder::Drop));
    let text = "TPU020: the dataset ended after 0 batches of a loop that needed 2; \
                add `.repeat()` to the dataset, or ask for fewer steps";
    empty().train(Steps(2)).fails("OutOfRangeError", text);
    empty().evaluate(Steps(2)).fails("OutOfRangeError", text);
    empty().predict().is_accepted();
}

#[test]
fn a_spec_for_another_mode_is_refused() {
    let predicting = |features: &Tensors, _: Option<&Tensor>, _: ModeKeys, params: &Params| {
        Ok(model(features, None, ModeKeys::Predict, params)?.into())
    };
    Row::new().model(predicting).train(Steps(2)).is_refused(
        "ValueError",
        "EST005: model_fn was called to train and returned a Predict spec; \
         return the Train spec when `mode` is `ModeKeys::Train`",
    );
    Row::new().model(predicting).evaluate(Steps(2)).is_refused(
        "ValueError",
        "EST005: model_fn was called to evaluate and returned a Predict spec; \
         return the Eval spec when `mode` is `ModeKeys::Eval`",
    );
}

#[test]
fn a_loss_that_is_no_single_number_is_refused() {
    let losses = |features: &Tensors, labels: Option<&Tensor>, mode: ModeKeys, params: &Params| {
        let loss = loss_of(features, labels)?;
        let many = tf::reduce_mean(&logits(features)?, &[1])?;
        Ok(match mode {
            ModeKeys::Train => TpuEstimatorSpec::train(many, minimize(&loss, params)?).into(),
            _ => TpuEstimatorSpec::eval_loss(many).into(),
        })
    };
    let text = "EST006: loss `Mean:0` has shape [2]; expected one number, shape [] or [1]; \
                average it over the batch with `reduce_mean`";
    Row::new().model(losses).train(Steps(2)).is_refused("ValueError", text);
    Row::new().model(losses).evaluate(Steps(2)).is_refused("ValueError", text);
}

#[test]
fn a_loss_of_integers_is_refused() {
    let integer = |features: &Tensors, _: Option<&Tensor>, _: ModeKeys, _: &Params| {
        Ok(TpuEstimatorSpec::eval_loss(features.graph().constant(1i32)).into())
    };
    Row::new().model(integer).evaluate(Steps(2)).is_refused(
        "TypeError",
        "EST007: loss `Const:0` is int32; expected a floating-point number; \
         `cast` what it is computed from to float32",
    );
}

#[test]
fn evaluating_and_predicting_on_several_hosts_are_refused() {
    Row::new().config(pod).classifier(batches_of_32).evaluate(Steps(2)).is_refused(
        "ValueError",
        "TPU011: cannot evaluate on 4 hosts that each call input_fn; use a slice of one host such as v3-8, \
         `InputPipelineConfig::Broadcast` or `InputPipelineConfig::PerHostV2`",
    );
    Row::new().config(pod).classifier(batches_of_32).predict().is_refused(
        "ValueError",
        "TPU011: cannot predict on 4 hosts that each call input_fn; use a slice of one host such as v3-8 \
         or `InputPipelineConfig::Broadcast`",
    );
    Row::new().config(pod).classifier(batches_of_32).train(Steps(2)).is_accepted();
}

#[test]
fn shards_that_the_slice_does_not_have_are_refused() {
    Row::new().config(|config| config.tpu_config(TpuConfig::new().num_shards(4))).train(Steps(2)).is_refused(
        "ValueError",
        "TPU009: num_shards is 4, and v3-8 has 8 replicas; leave `num_shards` out, or set it to 8",
    );
}

#[test]
fn a_loop_of_no_iterations_is_refused() {
    Row::new().config(|config| config.tpu_config(TpuConfig::new().iterations_per_loop(0))).train(Steps(2)).is_refused(
        "ValueError",
        "TPU002: iterations_per_loop is 0; expected a number of steps, 1 or more, or a time; \
         write it as `500`, `300s`, `5m` or `1h`",
    );
}

#[test]
fn sliced_input_off_the_tpu_is_refused() {
    let sliced = TpuConfig::new().eval_training_input_configuration(InputPipelineConfig::Sliced);
    assert!(sliced.validate().is_ok());
    let row = Row::new().config(|config| {
        config.tpu_config(TpuConfig::new().eval_training_input_configuration(InputPipelineConfig::Sliced))
    });
    row.classifier(|classifier| classifier.use_tpu(false)).evaluate(Steps(2)).is_refused(
        "ValueError",
        "TPU008: sliced input works on a TPU only; \
         leave `eval_training_input_configuration` out where `use_tpu` is false",
    );
}

#[test]
fn groups_of_cores_that_make_no_sense_are_refused() {
    let text = |groups: &str| {
        format!(
            "GRAPH006: CrossReplicaSum: group_assignment {groups} must hold each of the 8 replicas once, in equal \
             groups; list 0 to 7 in groups of one size"
        )
    };
    let missing: Model = |features, labels, _, _| grouped(&[&[0, 1, 2, 3]], features, labels);
    Row::new().model(missing).train(Steps(2)).is_refused("ValueError", &text("[[0, 1, 2, 3]]"));
    let twice: Model = |features, labels, _, _| grouped(&[&[0, 1, 2, 3], &[3, 4, 5, 6, 7]], features, labels);
    Row::new().model(twice).train(Steps(2)).is_refused("ValueError", &text("[[0, 1, 2, 3], [3, 4, 5, 6, 7]]"));
    let unequal: Model = |features, labels, _, _| grouped(&[&[0, 1, 2], &[3, 4, 5, 6, 7]], features, labels);
    Row::new().model(unequal).train(Steps(2)).is_refused("ValueError", &text("[[0, 1, 2], [3, 4, 5, 6, 7]]"));
    let unknown: Model = |features, labels, _, _| grouped(&[&[1, 2, 3, 4, 5, 6, 7, 8]], features, labels);
    Row::new().model(unknown).train(Steps(2)).is_refused("ValueError", &text("[[1, 2, 3, 4, 5, 6, 7, 8]]"));
    let none: Model = |features, labels, _, _| grouped(&[], features, labels);
    Row::new().model(none).train(Steps(2)).is_refused("ValueError", &text("[]"));
    let halves: Model = |features, labels, _, _| grouped(&[&[0, 2, 4, 6], &[1, 3, 5, 7]], features, labels);
    Row::new().model(halves).train(Steps(2)).is_accepted();
}

/// A right program, in which a test changes one thing.
struct Row {
    model: Model,
    input: fn(&Params) -> Result<Dataset>,
    config: fn(RunConfig) -> RunConfig,
    batch_sizes: bool,
    classifier: fn(TpuEstimatorBuilder) -> TpuEstimatorBuilder,
}

type Model = fn(&Tensors, Option<&Tensor>, ModeKeys, &Params) -> Result<ModelSpec>;

impl Row {
    fn new() -> Self {
        Row {
            model: |features, labels, mode, params| Ok(model(features, labels, mode, params)?.into()),
            input: |params| endless(params.batch_size()),
            config: |config| config,
            batch_sizes: true,
            classifier: |classifier| classifier,
        }
    }

    fn without_batch_sizes() -> Self {
        Row { batch_sizes: false, ..Row::new() }
    }

    fn model(self, model: Model) -> Self {
        Row { model, ..self }
    }

    fn input(self, input: fn(&Params) -> Result<Dataset>) -> Self {
        Row { input, ..self }
    }

    fn config(self, config: fn(RunConfig) -> RunConfig) -> Self {
        Row { config, ..self }
    }

    fn classifier(self, classifier: fn(TpuEstimatorBuilder) -> TpuEstimatorBuilder) -> Self {
        Row { classifier, ..self }
    }

    fn train(self, steps: impl Into<TrainSteps>) -> Answers {
        let (input, steps) = (self.input, steps.into());
        self.run(move |classifier| classifier.train(input, steps).map(|_| ()))
    }

    fn evaluate(self, steps: impl Into<EvalSteps>) -> Answers {
        let (input, steps) = (self.input, steps.into());
        self.run(move |classifier| classifier.evaluate(input, steps).map(|_| ()))
    }

    /// The input without end is cut off after two examples.
    fn predict(self) -> Answers {
        let input = self.input;
        self.run(move |classifier| classifier.predict(input)?.take(2).try_for_each(|prediction| prediction.map(|_| ())))
    }

    fn run(self, call: impl Fn(&TpuEstimator) -> Result<()> + Send + 'static) -> Answers {
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
struct Answers([Answer; 2]);

struct Answer {
    fidelity: Fidelity,
    error: Option<Error>,
    checkpoints: Vec<u64>,
}

impl Answers {
    /// Neither run has begun.
    fn is_refused(self, exception: &str, text: &str) {
        for answer in &self.0 {
            answer.failed_with(exception, text);
            assert!(answer.checkpoints.is_empty(), "{:?} left {:?}", answer.fidelity, answer.checkpoints);
        }
    }

    /// The faithful run has not begun; the friendly one went well.
    fn is_refused_faithfully_alone(self, exception: &str, text: &str) {
        let [friendly, faithful] = self.0;
        assert_eq!(friendly.error.map(|error| error.to_string()), None);
        faithful.failed_with(exception, text);
    }

    /// Both runs failed on their way.
    fn fails(self, exception: &str, text: &str) {
        self.0.iter().for_each(|answer| answer.failed_with(exception, text));
    }

    fn is_accepted(self) {
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

fn loss_of(features: &Tensors, labels: Option<&Tensor>) -> Result<Tensor> {
    tf::losses::sparse_softmax_cross_entropy(labels.expect("labels"), &logits(features)?)
}

fn grouped(groups: &[&[usize]], features: &Tensors, labels: Option<&Tensor>) -> Result<ModelSpec> {
    let loss = loss_of(features, labels)?;
    let optimizer = CrossShardOptimizer::new(tf::train::AdagradOptimizer::new(0.1));
    let optimizer = optimizer.group_assignment(groups.iter().map(|group| group.to_vec()).collect());
    let train_op = optimizer.minimize(&loss, Some(&loss.graph().global_step()))?;
    Ok(TpuEstimatorSpec::train(loss, train_op).into())
}

fn finite(count: usize, batch_size: usize, remainder: Remainder) -> Result<Dataset> {
    let (features, labels) = rows(count);
    Ok(Dataset::from_tensor_slices((&features, &labels))?.batch(batch_size, remainder))
}

fn pod(config: RunConfig) -> RunConfig {
    let cluster = TpuClusterResolver::new(Some("tpu-name")).and_then(|cluster| cluster.accelerator_type("v3-32"));
    config.cluster(cluster.expect("a slice"))
}

fn batches_of_32(classifier: TpuEstimatorBuilder) -> TpuEstimatorBuilder {
    classifier.train_batch_size(32).eval_batch_size(32).predict_batch_size(32)
}
