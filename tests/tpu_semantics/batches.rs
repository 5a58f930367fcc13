//! Who sees which batch.

use crate::common::{bucket_folder, endless, in_time, model, newest_bytes};
use crate::estimators::{close, config, estimator, in_order, tpu};
use crate::program::{Calls, Program, recorded};
use InputPipelineConfig::{Broadcast, PerHostV1, PerHostV2, PerShardV1, Sliced};
use std::sync::{Arc, Mutex};
use tpulab::prelude::*;
use tpulab::tpu::{RunConfig, TpuContext};

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
