//! The estimators and inputs of the stories.

use crate::common::{logits, model, plain_model, rows};
use tpulab as tf;
use tpulab::losses::Reduction;
use tpulab::prelude::*;
use tpulab::tpu::{RunConfig, TpuEstimatorBuilder};

pub fn config() -> RunConfig {
    RunConfig::new().tf_random_seed(1).tpu_config(TpuConfig::new().iterations_per_loop(10))
}

pub fn tpu(config: RunConfig) -> TpuEstimatorBuilder {
    TpuEstimator::new(model).config(config).train_batch_size(128).eval_batch_size(128).predict_batch_size(128)
}

pub fn estimator(config: tpulab::estimator::RunConfig) -> tpulab::estimator::EstimatorBuilder {
    Estimator::new(plain_model).config(config)
}

/// The model with plain gradient descent at `rate`.
pub fn descending(
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

pub fn in_order_once(count: usize, batch_size: usize) -> Result<Dataset> {
    let (features, labels) = rows(count);
    Ok(Dataset::from_tensor_slices((&features, &labels))?.batch(batch_size, Remainder::Keep))
}

pub fn in_order(count: usize, batch_size: usize) -> Result<Dataset> {
    let (features, labels) = rows(count);
    Ok(Dataset::from_tensor_slices((&features, &labels))?.repeat().batch(batch_size, Remainder::Drop))
}

pub fn predicted(classifier: &TpuEstimator, count: usize) -> Result<Vec<Prediction>> {
    classifier.predict(|params| in_order_once(count, params.batch_size()))?.collect()
}

pub fn classes(classifier: &TpuEstimator, count: usize) -> Result<Vec<i64>> {
    let class = |prediction: &Prediction| Ok(prediction.get("class")?.as_slice::<i64>()?[0]);
    predicted(classifier, count)?.iter().map(class).collect()
}

pub fn close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= tolerance, "{found} against {expected}");
    }
}
