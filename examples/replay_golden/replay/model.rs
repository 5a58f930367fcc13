//! The model function: the file's network with its initial values.

use super::Golden;
use super::applied_gradients::KnownGradients;
use super::optimizer::optimizer;
use tpulab as tf;
use tpulab::losses::Reduction;
use tpulab::nn::Activation;
use tpulab::prelude::*;

/// The activation called `name`.
pub fn activation(name: &str) -> Option<Activation> {
    Some(match name {
        "relu" => tf::nn::relu,
        "tanh" => tf::nn::tanh,
        "sigmoid" => tf::nn::sigmoid,
        "elu" => tf::nn::elu,
        "softplus" => tf::nn::softplus,
        _ => return None,
    })
}

/// The model of a TPU program; `reduction` tells how the cores' gradients become one.
pub fn model_fn(
    golden: &Golden,
    reduction: Reduction,
    features: &Tensors,
    labels: Option<&Tensor>,
    mode: ModeKeys,
    params: &Params,
) -> Result<TpuEstimatorSpec> {
    let logits = network(golden, features)?;
    let Some(labels) = labels else {
        let class_ids = tf::argmax(&logits, 1)?;
        let probabilities = tf::nn::softmax(&logits)?;
        let predictions = [("class_ids", class_ids), ("probabilities", probabilities), ("logits", logits)];
        return Ok(TpuEstimatorSpec::predict(Tensors::from(predictions)));
    };
    let loss = tf::losses::sparse_softmax_cross_entropy(labels, &logits)?;
    if mode == ModeKeys::Eval {
        return Ok(TpuEstimatorSpec::eval(loss, metric_fn, Tensors::from([("labels", labels), ("logits", &logits)])));
    }
    let optimizer = KnownGradients(optimizer(&golden.optimizer)?);
    let step = features.graph().global_step();
    let train_op = if params.use_tpu() {
        CrossShardOptimizer::new(optimizer).reduction(reduction).minimize(&loss, Some(&step))?
    } else {
        optimizer.minimize(&loss, Some(&step))?
    };
    Ok(TpuEstimatorSpec::train(loss, train_op))
}

fn metric_fn(outputs: &Tensors) -> Result<Metrics> {
    let predicted_classes = tf::argmax(outputs.get("logits")?, 1)?;
    let accuracy = tf::metrics::accuracy(outputs.get("labels")?, &predicted_classes)?;
    Ok(Metrics::from([("accuracy", accuracy)]))
}

fn network(golden: &Golden, features: &Tensors) -> Result<Tensor> {
    // `input_layer` sorts the columns that it is given, so each stands alone.
    let column = |name: &String| tf::feature_column::input_layer(features, &[tf::feature_column::numeric_column(name)]);
    let mut net = tf::concat(&golden.feature_order.iter().map(column).collect::<Result<Vec<_>>>()?, 1)?;
    for (layer, (kernel, bias)) in golden.layers.iter().enumerate() {
        let mut dense = tf::layers::Dense::new(bias.len())
            .kernel_initializer(Initializer::Constant(kernel.clone()))
            .bias_initializer(Initializer::Constant(bias.clone()));
        if layer + 1 < golden.layers.len() {
            dense = dense.activation(golden.activation);
        }
        net = dense.apply(&net)?;
    }
    Ok(net)
}
