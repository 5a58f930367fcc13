//! Names, folders, slices and the rest of the configuration.

use crate::row::{Row, batches_of_32, pod};
use tpulab::prelude::*;
use tpulab::tpu::RunConfig;

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
