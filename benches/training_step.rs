//! How long training steps take: ours beside what a Rust programmer writes by hand with ndarray.
//!
//! `cargo bench --bench training_step`. All rows of a table are measured in turns, many times, so that a busy machine
//! slows them alike; a row's time is the median, and its ratio is taken to the table's first row. A word behind `--`
//! picks the rows whose names hold it.

use ndarray::linalg::general_mat_mul;
use ndarray::{Array1, Array2, Axis};
use std::hint::black_box;
use std::time::Instant;
use tpulab::engine::{Executor, ExecutorOptions, PlanId, Request};

use tpulab::prelude::*;
use tpulab::train::{AdagradOptimizer, Optimizer};

fn main() -> Result<()> {
    let batch = Fixed::new(128, 4, 3);
    let mut plain = PlainStep::new(&[4, 10, 10, 3], 128);
    let mut one = EngineStep::new(&[4, 10, 10, 3], 1, Some(1))?;
    let mut eight = EngineStep::new(&[4, 10, 10, 3], 8, Some(1))?;
    let mut eight_on_all = EngineStep::new(&[4, 10, 10, 3], 8, None)?;
    if std::env::args().any(|argument| argument == "--plan") {
        println!("{:?}", one.executor.plan(one.plan));
        println!("{:?}", eight.executor.plan(eight.plan));
    }
    table(
        "iris 4-10-10-3, batch 128, Adagrad",
        (200, 20),
        &mut [
            ("plain ndarray, preallocated", &mut || plain.run(&batch)),
            ("Executor, 1 replica", &mut || one.run(&batch)),
            ("Executor, 8 replicas, 1 thread", &mut || eight.run(&batch)),
            ("Executor, 8 replicas, all threads", &mut || eight_on_all.run(&batch)),
        ],
    );
    through_the_estimators(&batch, &mut plain)?;
    for rows in [128, 1024] {
        let batch = Fixed::new(rows, 784, 10);
        let mut products = Products::new(&[784, 512, 512, 10], rows);
        let mut step = EngineStep::new(&[784, 512, 512, 10], 1, Some(1))?;
        table(
            &format!("784-512-512-10, batch {rows}"),
            (if rows > 500 { 7 } else { 21 }, 1),
            &mut [
                ("bare ndarray products", &mut || products.run(&batch)),
                ("Executor, whole step", &mut || step.run(&batch)),
            ],
        );
    }
    Ok(())
}

/// The same step as a program runs it: input, loop, hooks, logs and checkpoints included, 500 steps a loop on the TPU.
fn through_the_estimators(batch: &Fixed, plain: &mut PlainStep) -> Result<()> {
    tpulab::notebook::logging::set_verbosity(tpulab::notebook::logging::Level::Error);
    let ((train_x, train_y), _) = tpulab::iris::load_data("Species")?;
    let input = |rows| {
        let dataset = Dataset::from_tensor_slices((&train_x, &train_y))?;
        Ok(dataset.shuffle(1000).repeat().batch(rows, Remainder::Drop))
    };
    let mut estimator = |steps| {
        let estimator = Estimator::new(|features, labels, _, _| {
            let (loss, train_op) = iris_model(features, labels, AdagradOptimizer::new(0.1))?;
            Ok(EstimatorSpec::train(loss, train_op))
        });
        estimator.build().and_then(|estimator| estimator.train(|| input(128), Steps(steps))).expect("it trains");
    };
    let mut tpu_estimator = |steps| {
        let config = tpulab::tpu::RunConfig::new().tpu_config(TpuConfig::new().iterations_per_loop(500));
        let estimator = TpuEstimator::new(|features, labels, _, _| {
            let optimizer = CrossShardOptimizer::new(AdagradOptimizer::new(0.1));
            let (loss, train_op) = iris_model(features, labels, optimizer)?;
            Ok(TpuEstimatorSpec::train(loss, train_op))
        });
        let estimator = estimator.train_batch_size(128).config(config).build();
        let train = |estimator: TpuEstimator| estimator.train(|params| input(params.batch_size()), Steps(steps));
        estimator.and_then(train).expect("it trains");
    };
    println!("\nthe same through the public API, by the difference of 22000 and 2000 steps");
    println!("{:<36}{:>14}{:>14}{:>8}", "", "median ns", "best ns", "ratio");
    let mut rows: [(&str, &mut dyn FnMut(u64)); 3] = [
        ("plain ndarray, preallocated", &mut |steps| (0..steps).for_each(|_| plain.run(batch))),
        ("Estimator", &mut estimator),
        ("TpuEstimator, 8 cores", &mut tpu_estimator),
    ];
    let rows = only_picked(&mut rows);
    let mut times = vec![Vec::new(); rows.len()];
    for _ in 0..9 {
        for ((_, train), times) in rows.iter_mut().zip(&mut times) {
            let mut measure = |steps| {
                let start = Instant::now();
                train(steps);
                start.elapsed().as_nanos() as f64
            };
            let short = measure(2_000);
            times.push((measure(22_000) - short) / 20_000.0);
        }
    }
    let mut first = None;
    for ((name, _), times) in rows.iter().zip(&mut times) {
        print_row(name, times, &mut first);
    }
    Ok(())
}

/// Loss and training operation of the tutorial's network.
fn iris_model(features: &Tensors, labels: Option<&Tensor>, optimizer: impl Optimizer) -> Result<(Tensor, Operation)> {
    let columns: Vec<FeatureColumn> =
        features.names().into_iter().map(tpulab::feature_column::numeric_column).collect();
    let mut net = tpulab::feature_column::input_layer(features, &columns)?;
    for _ in 0..2 {
        net = tpulab::layers::dense(&net, 10, Some(tpulab::nn::relu))?;
    }
    let logits = tpulab::layers::dense(&net, 3, None)?;
    let loss = tpulab::losses::sparse_softmax_cross_entropy(labels.expect("training has labels"), &logits)?;
    let train_op = optimizer.minimize(&loss, Some(&features.graph().global_step()))?;
    Ok((loss, train_op))
}

/// The rows whose names contain the word on the command line; all without one.
fn only_picked<'a, 'n, T>(rows: &'a mut [(&'n str, T)]) -> &'a mut [(&'n str, T)] {
    let picked = std::env::args().skip(1).find(|argument| !argument.starts_with("--")).unwrap_or_default();
    rows.sort_by_key(|(name, _)| !name.contains(&picked));
    let count = rows.iter().filter(|(name, _)| name.contains(&picked)).count();
    &mut rows[..count]
}

/// Prints the median time of each row, measured in turns: `rounds` times `repetitions` runs.
fn table(title: &str, (rounds, repetitions): (usize, usize), rows: &mut [(&str, &mut dyn FnMut())]) {
    let rows = only_picked(rows);
    let mut times = vec![Vec::with_capacity(rounds); rows.len()];
    for round in 0..rounds + 2 {
        for ((_, run), times) in rows.iter_mut().zip(&mut times) {
            let start = Instant::now();
            (0..repetitions).for_each(|_| run());
            let nanoseconds = start.elapsed().as_nanos() as f64 / repetitions as f64;
            // The first rounds find their memory.
            if round >= 2 {
                times.push(nanoseconds);
            }
        }
    }
    println!("\n{title}\n{:<36}{:>14}{:>14}{:>8}", "", "median ns", "best ns", "ratio");
    let mut first = None;
    for ((name, _), times) in rows.iter().zip(&mut times) {
        print_row(name, times, &mut first);
    }
}

/// Prints a row's median and best time, and the ratio of its median to that of the first row.
fn print_row(name: &str, times: &mut [f64], first: &mut Option<f64>) {
    times.sort_by(f64::total_cmp);
    let (median, best) = (times[times.len() / 2], times[0]);
    let ratio = median / *first.get_or_insert(median);
    println!("{name:<36}{median:>14.0}{best:>14.0}{ratio:>8.2}");
}

/// A batch that never changes.
struct Fixed {
    feed: [Array; 2],
    x: Array2<f32>,
    labels: Vec<usize>,
}

impl Fixed {
    fn new(rows: usize, features: usize, classes: usize) -> Self {
        let x = Array2::from_shape_fn((rows, features), |(row, column)| number(row * features + column));
        let labels: Vec<usize> = (0..rows).map(|row| row * 7 % classes).collect();
        let feed_x = Array::from_vec(&[rows, features], x.iter().copied().collect()).expect("all elements");
        let feed_labels = Array::from(labels.iter().map(|&label| label as i32).collect::<Vec<_>>());
        Fixed { feed: [feed_x, feed_labels], x, labels }
    }
}

/// Some number between -0.5 and 0.5.
fn number(index: usize) -> f32 {
    (index * 7919 % 1000) as f32 / 1000.0 - 0.5
}

/// A training step of the engine.
struct EngineStep {
    executor: Executor,
    plan: PlanId,
}

impl EngineStep {
    fn new(sizes: &[usize], replicas: usize, threads: Option<usize>) -> Result<Self> {
        let graph = Graph::with_replicas(replicas);
        let x = graph.placeholder("x", DType::Float32, Shape::new(&[None, Some(sizes[0])]));
        let labels = graph.placeholder("labels", DType::Int32, Shape::new(&[None]));
        let global_step = graph.global_step();
        let mut layer = x.clone();
        let (last, hidden) = sizes[1..].split_last().expect("a layer");
        for &units in hidden {
            layer = tpulab::layers::dense(&layer, units, Some(tpulab::nn::relu))?;
        }
        let logits = tpulab::layers::dense(&layer, *last, None)?;
        let mut loss = tpulab::losses::sparse_softmax_cross_entropy(&labels, &logits)?;
        let optimizer = AdagradOptimizer::new(0.05);
        if replicas > 1 {
            loss = (&loss * (1.0 / replicas as f64))?;
        }
        let mut pairs = optimizer.compute_gradients(&loss, None)?;
        if replicas > 1 {
            for (gradient, _) in &mut pairs {
                *gradient = gradient.take().map(|sum| tpulab::graph::ops::cross_replica_sum(&sum, None)).transpose()?;
            }
        }
        let train_op = optimizer.apply_gradients(&pairs, Some(&global_step))?;
        let options = ExecutorOptions { replicas, worker_threads: threads, ..ExecutorOptions::default() };
        let mut executor = Executor::new(&graph, options)?;
        let plan = executor.prepare(&Request {
            feeds: vec![x, labels],
            fetches: vec![loss],
            targets: vec![train_op],
            ..Request::default()
        })?;
        Ok(EngineStep { executor, plan })
    }

    fn run(&mut self, batch: &Fixed) {
        self.executor.run(self.plan, &batch.feed).expect("the batch suits the graph");
        black_box(self.executor.scalar(self.plan, 0, 0));
    }
}

/// A multilayer perceptron as one writes it by hand: all memory made beforehand, ndarray's products.
struct PlainStep {
    layers: Vec<PlainLayer>,
    loss: f32,
}

struct PlainLayer {
    kernel: Array2<f32>,
    bias: Array1<f32>,
    kernel_gradient: Array2<f32>,
    bias_gradient: Array1<f32>,
    kernel_accumulator: Array2<f32>,
    bias_accumulator: Array1<f32>,
    output: Array2<f32>,
    /// The gradient with respect to `output`.
    output_gradient: Array2<f32>,
}

impl PlainStep {
    fn new(sizes: &[usize], rows: usize) -> Self {
        let layer = |pair: &[usize]| {
            let (inputs, units) = (pair[0], pair[1]);
            PlainLayer {
                kernel: Array2::from_shape_fn((inputs, units), |(row, column)| number(row * units + column)),
                bias: Array1::zeros(units),
                kernel_gradient: Array2::zeros((inputs, units)),
                bias_gradient: Array1::zeros(units),
                kernel_accumulator: Array2::from_elem((inputs, units), 0.1),
                bias_accumulator: Array1::from_elem(units, 0.1),
                output: Array2::zeros((rows, units)),
                output_gradient: Array2::zeros((rows, units)),
            }
        };
        PlainStep { layers: sizes.windows(2).map(layer).collect(), loss: 0.0 }
    }

    fn run(&mut self, batch: &Fixed) {
        self.forward(batch);
        self.cross_entropy(batch);
        self.backward(batch);
        self.update();
        black_box(self.loss);
    }

    fn forward(&mut self, batch: &Fixed) {
        let last = self.layers.len() - 1;
        for index in 0..=last {
            let (below, rest) = self.layers.split_at_mut(index);
            let input = below.last().map_or(&batch.x, |layer| &layer.output);
            let PlainLayer { kernel, bias, output, .. } = &mut rest[0];
            general_mat_mul(1.0, input, kernel, 0.0, output);
            *output += &*bias;
            if index < last {
                output.mapv_inplace(|x| x.max(0.0));
            }
        }
    }

    /// Mean loss, and its gradient with respect to the logits.
    fn cross_entropy(&mut self, batch: &Fixed) {
        let PlainLayer { output, output_gradient, .. } = self.layers.last_mut().expect("a layer");
        let scale = 1.0 / batch.labels.len() as f32;
        let mut sum = 0.0;
        let rows = output.outer_iter().zip(output_gradient.outer_iter_mut()).zip(&batch.labels);
        for ((logits, mut gradient), &label) in rows {
            let largest = logits.fold(f32::NEG_INFINITY, |a, &b| a.max(b));
            let mut total = 0.0;
            for (gradient, &logit) in gradient.iter_mut().zip(logits) {
                *gradient = (logit - largest).exp();
                total += *gradient;
            }
            sum += total.ln() - (logits[label] - largest);
            gradient *= scale / total;
            gradient[label] -= scale;
        }
        self.loss = sum * scale;
    }

    fn backward(&mut self, batch: &Fixed) {
        for index in (0..self.layers.len()).rev() {
            let (below, rest) = self.layers.split_at_mut(index);
            let PlainLayer { kernel, kernel_gradient, bias_gradient, output_gradient, .. } = &mut rest[0];
            let input = below.last().map_or(&batch.x, |layer| &layer.output);
            general_mat_mul(1.0, &input.t(), output_gradient, 0.0, kernel_gradient);
            bias_gradient.assign(&output_gradient.sum_axis(Axis(0)));
            if let Some(below) = below.last_mut() {
                general_mat_mul(1.0, output_gradient, &kernel.t(), 0.0, &mut below.output_gradient);
                below.output_gradient.zip_mut_with(&below.output, |dy, &y| {
                    if y <= 0.0 {
                        *dy = 0.0;
                    }
                });
            }
        }
    }

    fn update(&mut self) {
        let rate = 0.05;
        for layer in &mut self.layers {
            let adagrad = |weight: &mut f32, accumulator: &mut f32, &gradient: &f32| {
                *accumulator += gradient * gradient;
                *weight -= rate * gradient / accumulator.sqrt();
            };
            ndarray::Zip::from(&mut layer.kernel)
                .and(&mut layer.kernel_accumulator)
                .and(&layer.kernel_gradient)
                .for_each(adagrad);
            ndarray::Zip::from(&mut layer.bias)
                .and(&mut layer.bias_accumulator)
                .and(&layer.bias_gradient)
                .for_each(adagrad);
        }
    }
}

/// The products of a training step and nothing else.
struct Products(PlainStep);

impl Products {
    fn new(sizes: &[usize], rows: usize) -> Self {
        Products(PlainStep::new(sizes, rows))
    }

    fn run(&mut self, batch: &Fixed) {
        let layers = &mut self.0.layers;
        for index in 0..layers.len() {
            let (below, rest) = layers.split_at_mut(index);
            let input = below.last().map_or(&batch.x, |layer| &layer.output);
            general_mat_mul(1.0, input, &rest[0].kernel, 0.0, &mut rest[0].output);
        }
        for index in (0..layers.len()).rev() {
            let (below, rest) = layers.split_at_mut(index);
            let PlainLayer { kernel, kernel_gradient, output_gradient, .. } = &mut rest[0];
            let input = below.last().map_or(&batch.x, |layer| &layer.output);
            general_mat_mul(1.0, &input.t(), output_gradient, 0.0, kernel_gradient);
            if let Some(below) = below.last_mut() {
                general_mat_mul(1.0, output_gradient, &kernel.t(), 0.0, &mut below.output_gradient);
            }
        }
        black_box(&layers[0].kernel_gradient);
    }
}
