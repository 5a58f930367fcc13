//! What an evaluation says.

use crate::common::{endless, logits, plain_model, rows};
use crate::estimators::{config, estimator, in_order};
use tempfile::TempDir;
use tpulab as tf;
use tpulab::prelude::*;

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
