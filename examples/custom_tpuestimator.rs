//! The tutorial's program on the TPUEstimator API: the same network, its batches shared by the cores of a TPU.
//!
//! `cargo run --release --example custom_tpuestimator -- --tpu=tpu-name --model_dir=gs://bucket-name/iris`

use tpulab as tf;
use tpulab::iris;
use tpulab::prelude::*;

fn train_input_fn(features: &Frame, labels: &Column, batch_size: usize) -> Result<Dataset> {
    let dataset = Dataset::from_tensor_slices((features, labels))?;
    Ok(dataset.shuffle(1000).repeat().batch(batch_size, Remainder::Drop)) // changed: equal batches for the cores
}

fn eval_input_fn(features: &Frame, labels: &Column, batch_size: usize) -> Result<Dataset> {
    let dataset = Dataset::from_tensor_slices((features, labels))?;
    Ok(dataset.shuffle(1000).repeat().batch(batch_size, Remainder::Drop)) // changed: equal batches, without end
}

fn predict_input_fn(features: &Frame, batch_size: usize) -> Result<Dataset> {
    Ok(Dataset::from_tensor_slices(features)?.batch(batch_size, Remainder::Keep))
}

/// Metrics of all cores' outputs, on the host.
fn metric_fn(outputs: &Tensors) -> Result<Metrics> {
    let predicted_classes = tf::argmax(outputs.get("logits")?, 1)?;
    let accuracy = tf::metrics::accuracy(outputs.get("labels")?, &predicted_classes)?;
    Ok(Metrics::from([("accuracy", accuracy)]))
}

/// A network of dense layers with relu, and one unit for each class at its end.
fn my_model(features: &Tensors, labels: Option<&Tensor>, mode: ModeKeys, params: &Params) -> Result<TpuEstimatorSpec> {
    let columns: Vec<FeatureColumn> = params.get("feature_columns")?;
    let mut net = tf::feature_column::input_layer(features, &columns)?;
    for units in params.get::<Vec<usize>>("hidden_units")? {
        net = tf::layers::dense(&net, units, Some(tf::nn::relu))?;
    }
    let logits = tf::layers::dense(&net, params.get("n_classes")?, None)?;
    let predicted_classes = tf::argmax(&logits, 1)?;
    let Some(labels) = labels else {
        return Ok(TpuEstimatorSpec::predict(Tensors::from([
            ("class_ids", tf::expand_dims(&predicted_classes, -1)?),
            ("probabilities", tf::nn::softmax(&logits)?),
            ("logits", logits),
        ])));
    };
    let loss = tf::losses::sparse_softmax_cross_entropy(labels, &logits)?;
    if mode == ModeKeys::Eval {
        // changed: the metrics are a function of the outputs
        let outputs = Tensors::from([("labels", labels), ("logits", &logits)]);
        return Ok(TpuEstimatorSpec::eval(loss, metric_fn, outputs));
    }
    let optimizer = tf::train::AdagradOptimizer::new(0.1);
    let step = features.graph().global_step();
    let train_op = if params.use_tpu() {
        CrossShardOptimizer::new(optimizer).minimize(&loss, Some(&step))? // changed: gradients averaged over the cores
    } else {
        optimizer.minimize(&loss, Some(&step))?
    };
    Ok(TpuEstimatorSpec::train(loss, train_op))
}

fn main() -> Result<()> {
    let mut flags = Flags::new();
    flags.define_string("tpu", None, "The Cloud TPU to use for training: its name, or an address.");
    flags.define_string(
        "model_dir",
        Some(""),
        "Where checkpoints go: a bucket or a folder; empty for a temporary one.",
    );
    flags.define_integer("batch_size", 128, "The global batch size, not that of a shard.");
    flags.define_integer("train_steps", 1000, "Total number of training steps.");
    flags.define_integer("eval_steps", 4, "Total number of evaluation steps; 0 skips the evaluation.");
    flags.define_bool("use_tpu", true, "True to run the model on the TPU.");
    flags.define_integer("iterations", 500, "Number of iterations per TPU training loop.");
    flags.parse(std::env::args().skip(1))?;
    if flags.help_requested() {
        println!("{}", flags.help());
        return Ok(());
    }
    let batch_size: usize = flags.get("batch_size")?;
    let use_tpu: bool = flags.get("use_tpu")?;

    let ((train_x, train_y), (test_x, test_y)) = iris::load_data("Species")?;
    let feature_columns: Vec<FeatureColumn> =
        train_x.names().into_iter().map(tf::feature_column::numeric_column).collect();
    let mut config = tf::tpu::RunConfig::new()
        .model_dir(flags.get::<String>("model_dir")?)
        .session_config(ConfigProto::new().allow_soft_placement(true).log_device_placement(true))
        .tpu_config(TpuConfig::new().iterations_per_loop(flags.get("iterations")?));
    if use_tpu {
        config = config.cluster(TpuClusterResolver::new(flags.get::<Option<String>>("tpu")?.as_deref())?);
    }
    let classifier = TpuEstimator::new(my_model)
        .use_tpu(use_tpu)
        .train_batch_size(batch_size)
        .eval_batch_size(batch_size)
        .predict_batch_size(batch_size)
        .config(config)
        .params(
            Params::new()
                .set_shared("feature_columns", feature_columns)
                .set("hidden_units", [10, 10])
                .set("n_classes", 3)
                .set("use_tpu", use_tpu),
        )
        .build()?;

    let train_steps: u64 = flags.get("train_steps")?;
    classifier.train(|params| train_input_fn(&train_x, &train_y, params.batch_size()), MaxSteps(train_steps))?;

    let eval_steps: u64 = flags.get("eval_steps")?;
    if eval_steps > 0 {
        let eval_result =
            classifier.evaluate(|params| eval_input_fn(&test_x, &test_y, params.batch_size()), Steps(eval_steps))?;
        println!("\nTest set accuracy: {:.3}\n", eval_result.get("accuracy")?);
    }

    let inputs = iris::prediction_input_data();
    let predictions = classifier.predict(|params| predict_input_fn(&inputs, params.batch_size()))?;
    for (prediction, expected) in predictions.zip(iris::PREDICTION_OUTPUT_DATA) {
        let prediction = prediction?;
        let class_id = prediction.get("class_ids")?.as_slice::<i64>()?[0] as usize;
        let probability = prediction.get("probabilities")?.as_slice::<f32>()?[class_id];
        println!(
            "\nPrediction is \"{}\" ({:.1}%), expected \"{expected}\"",
            iris::SPECIES[class_id],
            100.0 * probability
        );
    }
    Ok(())
}
