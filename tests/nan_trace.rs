//! A NaN is traced to its step, replica and tensor.

use tpulab as tf;
use tpulab::estimator::{NanOrigin, RunError};
use tpulab::prelude::*;

fn model(learning_rate: f64, features: &Tensors, labels: Option<&Tensor>) -> Result<(Tensor, Operation)> {
    let net = tf::feature_column::input_layer(features, &[tf::feature_column::numeric_column("x")])?;
    let logits = tf::layers::dense(&net, 2, None)?;
    let labels = labels.expect("training has labels");
    let loss = tf::losses::sparse_softmax_cross_entropy(labels, &logits)?;
    let optimizer = tf::train::GradientDescentOptimizer::new(learning_rate);
    let step = features.graph().global_step();
    let train_op = match features.graph().replicas() {
        Some(_) => CrossShardOptimizer::new(optimizer).minimize(&loss, Some(&step))?,
        None => optimizer.minimize(&loss, Some(&step))?,
    };
    Ok((loss, train_op))
}

/// 64 rows, with `bad` in row 43.
fn data(bad: f32) -> Result<(Frame, Column)> {
    let mut x: Vec<f32> = (0..64).map(|row| row as f32 / 64.0).collect();
    x[43] = bad;
    Ok((Frame::new([("x", Column::from(x))])?, Column::from((0..64).map(|row| row % 2).collect::<Vec<i32>>())))
}

fn origin(error: &Error) -> NanOrigin {
    match error.downcast_ref::<RunError>() {
        Some(RunError::NanLoss { origin: Some(origin), .. }) => origin.clone(),
        other => panic!("expected a traced NaN, found {other:?}: {error}"),
    }
}

#[test]
fn a_feature_that_is_infinite_is_named_with_its_step() -> Result<()> {
    let (x, y) = data(f32::INFINITY)?;
    let estimator = Estimator::new(|features, labels, _, _| {
        let (loss, train_op) = model(0.1, features, labels)?;
        Ok(EstimatorSpec::train(loss, train_op))
    })
    .build()?;
    let input = || Ok(Dataset::from_tensor_slices((&x, &y))?.repeat().batch(16, Remainder::Drop));
    let error = estimator.train(input, Steps(20)).unwrap_err();
    assert_eq!(error.code(), "RUN002");
    let expected = NanOrigin { step: 3, replica: 0, tensor: "IteratorGetNext/x:0".to_string(), found: "infinity" };
    assert_eq!(origin(&error), expected, "{error}");
    Ok(())
}

#[test]
fn on_the_tpu_the_core_is_named_too() -> Result<()> {
    let (x, y) = data(f32::NAN)?;
    let estimator = TpuEstimator::new(|features, labels, _, _| {
        let (loss, train_op) = model(0.1, features, labels)?;
        Ok(TpuEstimatorSpec::train(loss, train_op))
    })
    .train_batch_size(16)
    .build()?;
    let input = |params: &Params| {
        Ok(Dataset::from_tensor_slices((&x, &y))?.repeat().batch(params.batch_size(), Remainder::Drop))
    };
    let error = estimator.train(input, Steps(20)).unwrap_err();
    // Row 43 is row 11 of the third batch, and so with core 5 of 8 that have two rows each.
    let expected = NanOrigin { step: 3, replica: 5, tensor: "IteratorGetNext/x:0".to_string(), found: "NaN" };
    assert_eq!(origin(&error), expected, "{error}");
    Ok(())
}

#[test]
fn an_update_that_spoils_a_variable_is_found_in_the_step_before_the_loss_shows_it() -> Result<()> {
    let (x, y) = data(1e30)?;
    let estimator = Estimator::new(|features, labels, _, _| {
        let (loss, train_op) = model(1e30, features, labels)?;
        Ok(EstimatorSpec::train(loss, train_op))
    })
    .build()?;
    let input = || Ok(Dataset::from_tensor_slices((&x, &y))?.repeat().batch(16, Remainder::Drop));
    let error = estimator.train(input, Steps(20)).unwrap_err();
    let origin = origin(&error);
    let Some(RunError::NanLoss { step, .. }) = error.downcast_ref() else { panic!("{error}") };
    assert!(origin.step <= *step, "{error}");
    assert_eq!(origin.step, 3, "{error}");
    Ok(())
}
