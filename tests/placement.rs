//! Which device runs which op, and what happens where none can.

use tpulab as tf;
use tpulab::prelude::*;

fn input(rows: usize) -> Result<Dataset> {
    let ((x, y), _) = tf::iris::load_data("Species")?;
    tf::iris::train_input_fn(&x, &y, rows)
}

fn train_op(features: &Tensors, labels: Option<&Tensor>, optimizer: impl Optimizer) -> Result<(Tensor, Operation)> {
    let columns: Vec<FeatureColumn> = features.names().into_iter().map(tf::feature_column::numeric_column).collect();
    let logits = tf::layers::dense(&tf::feature_column::input_layer(features, &columns)?, 3, None)?;
    let loss = tf::losses::sparse_softmax_cross_entropy(labels.expect("it only trains"), &logits)?;
    tf::summary::scalar("batch_loss", &loss)?;
    let train_op = optimizer.minimize(&loss, Some(&features.graph().global_step()))?;
    Ok((loss, train_op))
}

fn model(features: &Tensors, labels: Option<&Tensor>, _: ModeKeys, _: &Params) -> Result<EstimatorSpec> {
    let (loss, train_op) = train_op(features, labels, tf::train::AdagradOptimizer::new(0.1))?;
    Ok(EstimatorSpec::train(loss, train_op))
}

fn model_tpu(features: &Tensors, labels: Option<&Tensor>, _: ModeKeys, _: &Params) -> Result<TpuEstimatorSpec> {
    let optimizer = CrossShardOptimizer::new(tf::train::AdagradOptimizer::new(0.1));
    let (loss, train_op) = train_op(features, labels, optimizer)?;
    Ok(TpuEstimatorSpec::train(loss, train_op))
}

/// Trains faithfully on a TPU, whose summaries are then dropped, with this session.
fn train_on_tpu(name: &str, session: ConfigProto) -> Result<TrainReport> {
    tf::notebook::logging::set_verbosity(tf::notebook::logging::Level::Error);
    let config = tf::tpu::RunConfig::new()
        .fidelity(Fidelity::Faithful)
        .model_dir(format!("gs://placement-{}/{name}", std::process::id()))
        .session_config(session);
    let estimator = TpuEstimator::new(model_tpu).train_batch_size(64).config(config).build()?;
    let report = estimator.train(|params| input(params.batch_size()), Steps(2));
    if report.is_ok() {
        estimator.model_dir().remove_all()?;
    }
    report
}

#[test]
fn nothing_is_placed_for_show_unless_asked() -> Result<()> {
    tf::notebook::logging::set_verbosity(tf::notebook::logging::Level::Error);
    let report = Estimator::new(model).build()?.train(|| input(50), Steps(1))?;
    assert_eq!(report.placement(), None);
    Ok(())
}

#[test]
fn an_estimator_runs_all_on_its_cpu() -> Result<()> {
    tf::notebook::logging::set_verbosity(tf::notebook::logging::Level::Error);
    let session = ConfigProto::new().log_device_placement(true);
    let config = tf::estimator::RunConfig::new().session_config(session);
    let report = Estimator::new(model).config(config).build()?.train(|| input(50), Steps(1))?;
    let placement = report.placement().expect("it was asked for");
    let devices = placement.devices();
    assert_eq!(devices, [("/job:localhost/replica:0/task:0/device:CPU:0".to_string(), placement.ops().len())]);
    let lines: Vec<String> = placement.ops().iter().map(|placed| placed.to_string()).collect();
    let expected = "dense/kernel: (VarHandleOp): /job:localhost/replica:0/task:0/device:CPU:0";
    assert!(lines.iter().any(|line| line == expected), "{lines:#?}");
    Ok(())
}

#[test]
fn what_a_tpu_has_no_kernel_for_falls_back_softly() -> Result<()> {
    let session = ConfigProto::new().allow_soft_placement(true).log_device_placement(true);
    let report = train_on_tpu("soft", session)?;
    let placement = report.placement().expect("it was asked for");
    let fallen: Vec<String> =
        placement.ops().iter().filter(|placed| placed.reason.is_some()).map(|placed| placed.to_string()).collect();
    assert_eq!(fallen, ["batch_loss: (ScalarSummary): /job:worker/replica:0/task:0/device:CPU:0"]);
    let on_core = &placement.devices()[0];
    assert_eq!(*on_core, ("/job:worker/replica:0/task:0/device:TPU:0".to_string(), placement.ops().len() - 1));
    Ok(())
}

#[test]
fn or_is_refused_where_it_may_not() {
    let error = train_on_tpu("hard", ConfigProto::new()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "TPU031: no device can run `batch_loss` (ScalarSummary): a TPU has no kernel for it, and it may not go \
         elsewhere; remove it, or set `allow_soft_placement(true)`"
    );
}
