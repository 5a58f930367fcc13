//! Training the iris classifier follows TensorFlow's trajectories: gradients, losses, variables, slots, evaluation.
//!
//! Each file of `golden` holds one run: initial variables, batches in file order, what TensorFlow computed. Tolerances
//! come from replays of the same runs in NumPy, in float32 and float64 and in several orders of summation.

use serde_json::Value;
use tpulab as tf;
use tpulab::engine::{Executor, ExecutorOptions, PlanId, Precision, Request};
use tpulab::feature_column::{FeatureColumn, input_layer, numeric_column};
use tpulab::prelude::*;
use tpulab::train::{
    AdagradOptimizer, AdamOptimizer, FtrlOptimizer, GradientDescentOptimizer, MomentumOptimizer, Optimizer,
    RmsPropOptimizer,
};

#[test]
fn adagrad_with_batches_of_128() -> Result<()> {
    follow("adagrad_128")
}

#[test]
fn adagrad_with_batches_that_span_epochs() -> Result<()> {
    follow("adagrad_50_tail")
}

#[test]
fn adagrad_with_a_short_last_batch() -> Result<()> {
    follow("adagrad_50_short_batches")
}

#[test]
fn adam_with_tanh() -> Result<()> {
    follow("adam_128_tanh")
}

#[test]
fn follow_the_regularized_leader() -> Result<()> {
    follow("ftrl_128")
}

#[test]
fn momentum_with_batches_of_64() -> Result<()> {
    follow("momentum_64")
}

#[test]
fn rms_prop_with_batches_of_32() -> Result<()> {
    follow("rmsprop_32")
}

#[test]
fn gradient_descent_with_batches_of_128() -> Result<()> {
    follow("sgd_128")
}

#[test]
fn float64_follows_for_a_thousand_steps() -> Result<()> {
    let golden = read("iris_f64_full_vs_8x16");
    let model = Model::build(&["relu"; 2], Box::new(AdagradOptimizer::new(0.1)))?;
    let mut run = Run::new(&model, Precision::Float64)?;
    for (layer, (inputs, outputs)) in [(4, 10), (10, 10), (10, 3)].into_iter().enumerate() {
        let limit = (6.0 / (inputs + outputs) as f64).sqrt();
        let element = |row: usize, column: usize| limit * ((1 + 7 * row + 3 * column + 11 * layer) as f64).sin();
        let kernel = (0..inputs * outputs).map(|index| element(index / outputs, index % outputs)).collect();
        run.executor.store_mut().set(&layer_name(layer, "kernel"), &Array::from_vec(&[inputs, outputs], kernel)?)?;
    }
    let rows = rows("iris_training.csv");
    for step in 1..=1000 {
        let batch = (0..128).map(|row| rows[(128 * (step - 1) + row) % rows.len()]).collect::<Vec<_>>();
        let loss = run.train(&batch)?;
        if let Some(expected) = golden["full_float64"]["loss"][step.to_string()].as_f64() {
            assert!((loss - expected).abs() < 1e-12, "step {step}: {loss} is not {expected}");
        }
    }
    Ok(())
}

/// One iris: features in the order of their names, and the class.
type Row = ([f64; 4], i32);

const FEATURES: [&str; 4] = ["PetalLength", "PetalWidth", "SepalLength", "SepalWidth"];

struct Model {
    graph: Graph,
    feeds: Vec<Tensor>,
    loss: Tensor,
    accuracy: tf::metrics::Metric,
    gradients: Vec<(String, Tensor)>,
    train_op: Operation,
}

impl Model {
    fn build(activations: &[&str], optimizer: Box<dyn Optimizer>) -> Result<Model> {
        let graph = Graph::new();
        let mut features = Tensors::empty(&graph);
        let mut feeds = Vec::new();
        for name in FEATURES {
            feeds.push(graph.placeholder(name, DType::Float32, Shape::new(&[None])));
            features.insert(name, feeds[feeds.len() - 1].clone());
        }
        let labels = graph.placeholder("labels", DType::Int32, Shape::new(&[None]));
        let columns: Vec<FeatureColumn> = FEATURES.into_iter().rev().map(numeric_column).collect();
        let mut net = input_layer(&features, &columns)?;
        for activation in activations {
            let activation = if *activation == "tanh" { tf::nn::tanh } else { tf::nn::relu };
            net = tf::layers::dense(&net, 10, Some(activation))?;
        }
        let logits = tf::layers::dense(&net, 3, None)?;
        let loss = tf::losses::sparse_softmax_cross_entropy(&labels, &logits)?;
        let accuracy = tf::metrics::accuracy(&labels, &tf::argmax(&logits, 1)?)?;
        let pairs = optimizer.compute_gradients(&loss, None)?;
        let train_op = optimizer.apply_gradients(&pairs, Some(&graph.global_step()))?;
        let named = |(gradient, variable): (Option<Tensor>, Variable)| Some((variable.name(), gradient?));
        let gradients = pairs.into_iter().filter_map(named).collect();
        feeds.push(labels);
        Ok(Model { graph, feeds, loss, accuracy, gradients, train_op })
    }
}

struct Run {
    executor: Executor,
    train: PlanId,
    gradients: PlanId,
    evaluate: PlanId,
    /// The type of the features that the executor takes.
    dtype: DType,
}

impl Run {
    fn new(model: &Model, precision: Precision) -> Result<Run> {
        let mut executor = Executor::new(&model.graph, ExecutorOptions { precision, ..ExecutorOptions::default() })?;
        let mut prepare = |fetches: Vec<Tensor>, targets: Vec<Operation>| {
            executor.prepare(&Request { feeds: model.feeds.clone(), fetches, targets, ..Request::default() })
        };
        let train = prepare(vec![model.loss.clone()], vec![model.train_op.clone()])?;
        let gradients = prepare(model.gradients.iter().map(|(_, gradient)| gradient.clone()).collect(), vec![])?;
        let evaluate = prepare(vec![model.loss.clone(), model.accuracy.update.clone()], vec![])?;
        let dtype = if precision == Precision::Float64 { DType::Float64 } else { DType::Float32 };
        Ok(Run { executor, train, gradients, evaluate, dtype })
    }

    fn run(&mut self, plan: PlanId, batch: &[Row]) -> Result<()> {
        let mut feed = Vec::new();
        for feature in 0..FEATURES.len() {
            let column: Vec<f64> = batch.iter().map(|(features, _)| features[feature]).collect();
            feed.push(Array::from(column).cast(self.dtype)?);
        }
        feed.push(Array::from(batch.iter().map(|(_, label)| *label).collect::<Vec<i32>>()));
        self.executor.run(plan, feed.as_slice())
    }

    /// One training step; gives the loss before it.
    fn train(&mut self, batch: &[Row]) -> Result<f64> {
        self.run(self.train, batch)?;
        Ok(self.executor.scalar(self.train, 0, 0))
    }
}

/// Trains as the file says and compares all that it holds.
fn follow(name: &str) -> Result<()> {
    let golden = read(name);
    let activation = golden["activation"].as_str().expect("a name");
    let model = Model::build(&[activation; 2], optimizer(&golden["optimizer"]))?;
    let mut run = Run::new(&model, Precision::Float32)?;
    for (variable, value) in golden["initial"].as_object().expect("variables by name") {
        run.executor.store_mut().set(variable, &array(value))?;
    }
    let rows = rows("iris_training.csv");
    let batch_size = golden["batch_size"].as_u64().expect("a number") as usize;
    let repeats_before = golden["batch_before_repeat"] != true;
    let batch = |step: usize| -> Vec<Row> {
        if repeats_before {
            return (0..batch_size).map(|row| rows[(step * batch_size + row) % rows.len()]).collect();
        }
        let batches: Vec<&[Row]> = rows.chunks(batch_size).collect();
        batches[step % batches.len()].to_vec()
    };

    run.run(run.gradients, &batch(0))?;
    for (index, (variable, _)) in model.gradients.iter().enumerate() {
        let found = run.executor.output(run.gradients, index, 0);
        assert_close(variable, &found, &golden["gradients_step0"][variable], 3e-6, 0.0);
    }
    for (step, expected) in golden["losses"].as_array().expect("a list").iter().enumerate() {
        let (loss, expected) = (run.train(&batch(step))?, expected.as_f64().expect("a number"));
        let tolerance = if step < 50 { 2e-6 } else { 2e-4 };
        assert!((loss - expected).abs() <= tolerance * expected, "{name}, step {step}: {loss} is not {expected}");
    }
    for (variable, value) in golden["final_variables"].as_object().expect("variables by name") {
        // Adam's default epsilon amplifies the rounding of gradients near 0.
        let tolerance = if name == "adam_128_tanh" && !variable.contains("Adam") { 4e-3 } else { 1e-5 };
        assert_close(variable, &run.executor.store().get(variable)?, value, tolerance, 1.0);
    }
    evaluate(&mut run, &golden["evaluate"])
}

/// The mean of the batches' losses, and the accuracy of all rows.
fn evaluate(run: &mut Run, golden: &Value) -> Result<()> {
    let rows = rows("iris_test.csv");
    let batch_size = golden["batch_size"].as_u64().map_or(rows.len(), |size| size as usize);
    let (mut losses, mut accuracy) = (Vec::new(), 0.0);
    for batch in rows.chunks(batch_size) {
        run.run(run.evaluate, batch)?;
        losses.push(run.executor.scalar(run.evaluate, 0, 0));
        accuracy = run.executor.scalar(run.evaluate, 1, 0);
    }
    let loss = losses.iter().sum::<f64>() / losses.len() as f64;
    let expected = golden["loss"].as_f64().expect("a number");
    // As far as the trained variables may be off.
    assert!((loss - expected).abs() <= 1e-3 * expected, "{loss} is not {expected}");
    assert!((accuracy - golden["accuracy"].as_f64().expect("a number")).abs() < 1e-6);
    Ok(())
}

fn optimizer(golden: &Value) -> Box<dyn Optimizer> {
    let learning_rate = golden["learning_rate"].as_f64().expect("a number");
    match golden["name"].as_str().expect("a name") {
        "Adagrad" => Box::new(AdagradOptimizer::new(learning_rate)),
        "Adam" => Box::new(AdamOptimizer::new(learning_rate)),
        "Ftrl" => Box::new(FtrlOptimizer::new(learning_rate)),
        "Momentum" => Box::new(MomentumOptimizer::new(learning_rate, golden["momentum"].as_f64().expect("a number"))),
        "RMSProp" => Box::new(RmsPropOptimizer::new(learning_rate)),
        "GradientDescent" => Box::new(GradientDescentOptimizer::new(learning_rate)),
        other => panic!("no optimizer {other}"),
    }
}

fn layer_name(layer: usize, variable: &str) -> String {
    if layer == 0 { format!("dense/{variable}") } else { format!("dense_{layer}/{variable}") }
}

fn assert_close(name: &str, found: &Array, expected: &Value, tolerance: f64, at_least: f64) {
    let expected = array(expected);
    assert_eq!(found.shape(), expected.shape(), "{name}");
    let (found, expected) = (found.to_f64_vec().expect("numbers"), expected.to_f64_vec().expect("numbers"));
    let largest = expected.iter().fold(at_least, |largest, value| largest.max(value.abs()));
    for (found, expected) in found.iter().zip(&expected) {
        assert!((found - expected).abs() <= tolerance * largest, "{name}: {found} is not {expected}");
    }
}

fn read(name: &str) -> Value {
    let path = format!("{}/tests/golden/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).expect("a golden file")).expect("JSON")
}

/// Nested lists of numbers as an array.
fn array(value: &Value) -> Array {
    fn collect(value: &Value, shape: &mut Vec<usize>, depth: usize, elements: &mut Vec<f64>) {
        match value.as_array() {
            None => elements.push(value.as_f64().expect("a number")),
            Some(list) => {
                if shape.len() == depth {
                    shape.push(list.len());
                }
                list.iter().for_each(|item| collect(item, shape, depth + 1, elements));
            }
        }
    }
    let (mut shape, mut elements) = (Vec::new(), Vec::new());
    collect(value, &mut shape, 0, &mut elements);
    Array::from_vec(&shape, elements).expect("a full array")
}

/// The rows of a file whose columns are SepalLength, SepalWidth, PetalLength, PetalWidth, Species.
fn rows(file: &str) -> Vec<Row> {
    let path = format!("{}/tests/golden/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("a data file");
    let row = |line: &str| {
        let numbers: Vec<f64> = line.split(',').map(|field| field.parse().expect("a number")).collect();
        ([numbers[2], numbers[3], numbers[0], numbers[1]], numbers[4] as i32)
    };
    text.lines().skip(1).map(row).collect()
}
