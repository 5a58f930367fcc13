//! The estimators of the stories.

use crate::common::{in_time, logits, model, plain_model, rows};
use tempfile::TempDir;
use tpulab as tf;
use tpulab::estimator::{EstimatorBuilder, RunConfig};
use tpulab::prelude::*;

pub const LOSS: &str = "sparse_softmax_cross_entropy_loss/value:0";

pub fn config() -> RunConfig {
    RunConfig::new().tf_random_seed(1)
}

pub fn estimator(config: RunConfig) -> EstimatorBuilder {
    Estimator::new(plain_model).config(config)
}

pub fn tpu_config(iterations_per_loop: u64, base: RunConfig) -> tf::tpu::RunConfig {
    let mut config = tf::tpu::RunConfig::new().tpu_config(TpuConfig::new().iterations_per_loop(iterations_per_loop));
    config.base = base;
    config
}

pub type TpuModel = fn(&Tensors, Option<&Tensor>, ModeKeys, &Params) -> Result<TpuEstimatorSpec>;

pub fn tpu(config: tf::tpu::RunConfig) -> tf::tpu::TpuEstimatorBuilder {
    tpu_of(model, config)
}

pub fn tpu_of(model: TpuModel, config: tf::tpu::RunConfig) -> tf::tpu::TpuEstimatorBuilder {
    TpuEstimator::new(model).config(config).train_batch_size(64).eval_batch_size(64).predict_batch_size(64)
}

pub fn loss_of(features: &Tensors, labels: Option<&Tensor>) -> Result<Tensor> {
    tf::losses::sparse_softmax_cross_entropy(labels.expect("labels"), &logits(features)?)
}

/// A model whose weights leave the numbers that float32 has.
pub fn exploding(
    features: &Tensors,
    labels: Option<&Tensor>,
    mode: ModeKeys,
    params: &Params,
) -> Result<EstimatorSpec> {
    exploding_on_tpu(features, labels, mode, params)?.as_estimator_spec()
}

pub fn exploding_on_tpu(
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

pub fn step_of_nan(error: &Error) -> u64 {
    match error.downcast_ref::<tf::estimator::RunError>() {
        Some(tf::estimator::RunError::NanLoss { step, .. }) => *step,
        other => panic!("expected a NaN loss, found {other:?}: {error}"),
    }
}

pub fn in_order(count: usize, batch_size: usize) -> Result<Dataset> {
    let (features, labels) = rows(count);
    Ok(Dataset::from_tensor_slices((&features, &labels))?.batch(batch_size, Remainder::Keep))
}

/// The seed that lies beside the checkpoint of `step`.
pub fn seed_of(folder: &TempDir, step: u64) -> u64 {
    let text = std::fs::read_to_string(folder.path().join(format!("model.ckpt-{step}.input"))).unwrap();
    serde_json::from_str::<serde_json::Value>(&text).unwrap()["seed"].as_u64().unwrap()
}

/// The text of the panic that `call` ends with.
pub fn panic_of<T: Send + 'static>(call: impl FnOnce() -> T + Send + 'static) -> String {
    in_time(move || {
        let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(call)).err().expect("a panic");
        let text = panic.downcast_ref::<&str>().map(ToString::to_string);
        text.or_else(|| panic.downcast_ref::<String>().cloned()).expect("a text")
    })
}
