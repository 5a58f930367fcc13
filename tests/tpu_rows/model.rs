//! What model functions return.

use crate::common::{logits, metric_fn, minimize, model};
use crate::row::{Row, loss_of};
use tpulab as tf;
use tpulab::prelude::*;
use tpulab::tpu::ModelSpec;

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
