//! The tutorial's program on the Estimator API: trains a small network on the iris data, evaluates it, predicts.
//!
//! `cargo run --release --example custom_estimator -- --batch_size=50 --train_steps=1000`

use tpulab as tf;
use tpulab::iris;
use tpulab::prelude::*;

fn train_input_fn(features: &Frame, labels: &Column, batch_size: usize) -> Result<Dataset> {
    let dataset = Dataset::from_tensor_slices((features, labels))?;
    Ok(dataset.shuffle(1000).repeat().batch(batch_size, Remainder::Keep))
}

fn eval_input_fn(features: &Frame, labels: Option<&Column>, batch_size: usize) -> Result<Dataset> {
    let dataset = match labels {
        Some(labels) => Dataset::from_tensor_slices((features, labels))?,
        None => Dataset::from_tensor_slices(features)?,
    };
    Ok(dataset.batch(batch_size, Remainder::Keep))
}

/// A network of dense layers with relu, and one unit for each class at its end.
fn my_model(features: &Tensors, labels: Option<&Tensor>, mode: ModeKeys, params: &Params) -> Result<EstimatorSpec> {
    let columns: Vec<FeatureColumn> = params.get("feature_columns")?;
    let mut net = tf::feature_column::input_layer(features, &columns)?;
    for units in params.get::<Vec<usize>>("hidden_units")? {
        net = tf::layers::dense(&net, units, Some(tf::nn::relu))?;
    }
    let logits = tf::layers::dense(&net, params.get("n_classes")?, None)?;
    let predicted_classes = tf::argmax(&logits, 1)?;
    let Some(labels) = labels else {
        return Ok(EstimatorSpec::predict(Tensors::from([
            ("class_ids", tf::expand_dims(&predicted_classes, -1)?),
            ("probabilities", tf::nn::softmax(&logits)?),
            ("logits", logits),
        ])));
    };
    let loss = tf::losses::sparse_softmax_cross_entropy(labels, &logits)?;
    if mode == ModeKeys::Eval {
        let accuracy = tf::metrics::accuracy(labels, &predicted_classes)?;
        return Ok(EstimatorSpec::eval(loss, Metrics::from([("accuracy", accuracy)])));
    }
    let optimizer = tf::train::AdagradOptimizer::new(0.1);
    let train_op = optimizer.minimize(&loss, Some(&features.graph().global_step()))?;
    Ok(EstimatorSpec::train(loss, train_op))
}

fn main() -> Result<()> {
    let mut flags = Flags::new();
    flags.define_string("model_dir", Some(""), "Where the model is kept; empty for a temporary folder.");
    flags.define_integer("batch_size", 50, "Batch size.");
    flags.define_integer("train_steps", 1000, "Total number of training steps.");
    flags.parse(std::env::args().skip(1))?;
    if flags.help_requested() {
        println!("{}", flags.help());
        return Ok(());
    }
    let batch_size: usize = flags.get("batch_size")?;

    let ((train_x, train_y), (test_x, test_y)) = iris::load_data("Species")?;
    let feature_columns: Vec<FeatureColumn> =
        train_x.names().into_iter().map(tf::feature_column::numeric_column).collect();
    let classifier = Estimator::new(my_model)
        .model_dir(flags.get::<String>("model_dir")?)
        .params(
            Params::new()
                .set_shared("feature_columns", feature_columns)
                .set("hidden_units", [10, 10])
                .set("n_classes", 3),
        )
        .build()?;

    classifier.train(|| train_input_fn(&train_x, &train_y, batch_size), Steps(flags.get("train_steps")?))?;

    let eval_result = classifier.evaluate(|| eval_input_fn(&test_x, Some(&test_y), batch_size), UntilEnd)?;
    println!("\nTest set accuracy: {:.3}\n", eval_result.get("accuracy")?);

    let predictions = classifier.predict(|| eval_input_fn(&iris::prediction_input_data(), None, batch_size))?;
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
