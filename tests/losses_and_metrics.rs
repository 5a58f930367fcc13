//! Losses, their gradients and streaming metrics have TensorFlow's values.
//!
//! Expected values come from `tf.compat.v1` 2.15 in float32.

use tpulab as tf;
use tpulab::engine::{Executor, ExecutorOptions, Request};
use tpulab::graph::gradients;
use tpulab::losses::{LossOptions, Reduction};
use tpulab::metrics::{Auc, Curve, Metric, MetricOptions, SummationMethod};
use tpulab::prelude::*;

/// Rounding of float32 sums in another order.
const TOLERANCE: f32 = 2e-6;

#[test]
fn without_weights_the_reductions_are_sum_or_mean() -> Result<()> {
    for (reduction, expected) in [
        (Reduction::SumByNonzeroWeights, 1.5246612),
        (Reduction::Mean, 1.5246612),
        (Reduction::SumOverBatchSize, 1.5246612),
        (Reduction::Sum, 4.5739837),
    ] {
        let (loss, gradient) = loss_of(|graph, logits| {
            LossOptions::new().reduction(reduction).sparse_softmax_cross_entropy(&labels(graph), logits)
        })?;
        assert_close(&loss, &[expected]);
        let first_row = if reduction == Reduction::Sum { 0.33333334 } else { 0.11111112 };
        assert_close(&gradient[..3], &[first_row, first_row, -2.0 * first_row]);
    }
    Ok(())
}

#[test]
fn with_weights_each_reduction_divides_by_something_else() -> Result<()> {
    for (reduction, expected) in [
        (Reduction::SumByNonzeroWeights, 4.2627745),
        (Reduction::Sum, 8.525549),
        (Reduction::Mean, 2.4358711),
        (Reduction::SumOverBatchSize, 2.8418496),
    ] {
        let (loss, _) = loss_of(|graph, logits| {
            let weights = graph.constant(vec![1.0f32, 0.0, 2.5]);
            let options = LossOptions::new().weights(&weights).reduction(reduction);
            options.sparse_softmax_cross_entropy(&labels(graph), logits)
        })?;
        assert_close(&loss, &[expected]);
    }
    Ok(())
}

#[test]
fn columns_of_labels_and_weights_count_as_rows() -> Result<()> {
    let (loss, gradient) = loss_of(|graph, logits| {
        let labels = graph.constant(Array::from_vec(&[3, 1], vec![2i64, 0, 1])?);
        let weights = graph.constant(Array::from_vec(&[3, 1], vec![1.0f32, 0.0, 2.5])?);
        LossOptions::new().weights(&weights).sparse_softmax_cross_entropy(&labels, logits)
    })?;
    assert_close(&loss, &[4.2627745]);
    let expected = [0.16666667, 0.16666667, -0.3333333, 0.0, 0.0, 0.0, 1.1645902, -1.1859205, 0.021330215];
    assert_close(&gradient, &expected);
    Ok(())
}

#[test]
fn weights_of_zero_leave_no_loss() -> Result<()> {
    let (loss, gradient) = loss_of(|graph, logits| {
        let weights = graph.constant(0.0f32);
        LossOptions::new().weights(&weights).sparse_softmax_cross_entropy(&labels(graph), logits)
    })?;
    assert_eq!((loss, gradient), (vec![0.0], vec![0.0; 9]));
    Ok(())
}

#[test]
fn softmax_cross_entropy_smooths_labels() -> Result<()> {
    let (loss, _) = loss_of(|graph, logits| tf::losses::softmax_cross_entropy(&onehot(graph)?, logits))?;
    assert_close(&loss, &[1.5246612]);
    let (loss, gradient) = loss_of(|graph, logits| {
        LossOptions::new().label_smoothing(0.1).softmax_cross_entropy(&onehot(graph)?, logits)
    })?;
    assert_close(&loss, &[1.5435501]);
    assert_close(&gradient[3..6], &[-0.10986148, -0.0010914821, 0.110952966]);
    Ok(())
}

#[test]
fn sigmoid_cross_entropy_has_the_right_gradient_at_zero() -> Result<()> {
    let (loss, gradient) = loss_of(|graph, logits| tf::losses::sigmoid_cross_entropy(&onehot(graph)?, logits))?;
    assert_close(&loss, &[0.8333282]);
    let expected = [
        0.05555556,
        0.05555556,
        -0.055555552,
        -0.029882379,
        0.013244768,
        0.069162145,
        0.10584157,
        -0.05278009,
        0.02988238,
    ];
    assert_close(&gradient, &expected);
    let (loss, _) = loss_of(|graph, logits| {
        LossOptions::new().label_smoothing(0.1).sigmoid_cross_entropy(&onehot(graph)?, logits)
    })?;
    assert_close(&loss, &[0.8366615]);
    let (loss, _) = loss_of(|graph, logits| {
        let weights = graph.constant(Array::from_vec(&[3, 1], vec![1.0f32, 0.0, 2.5])?);
        LossOptions::new().weights(&weights).sigmoid_cross_entropy(&onehot(graph)?, logits)
    })?;
    assert_close(&loss, &[2.0158427]);
    Ok(())
}

#[test]
fn mean_squared_error_is_over_all_elements() -> Result<()> {
    let (loss, gradient) = loss_of(|graph, logits| tf::losses::mean_squared_error(&onehot(graph)?, logits))?;
    assert_close(&loss, &[1.7844443]);
    assert_close(&gradient[3..], &[0.0, -0.44444445, 0.11111111, 0.6666667, -0.2, -0.22222222]);
    Ok(())
}

#[test]
fn penalties_on_weights_are_summed_and_pull_at_the_weights() -> Result<()> {
    let graph = Graph::new();
    assert_eq!(tf::losses::get_regularization_loss(&graph)?.name(), "Const:0");
    let x = graph.constant(Array::zeros(DType::Float32, &[1, 2])?);
    let kernel = Initializer::Constant(Array::from_vec(&[2, 2], vec![1.0f32, 2.0, 3.0, -4.0])?);
    let layer = tf::layers::Dense::new(2).kernel_initializer(kernel);
    let y = layer.clone().kernel_regularizer(tf::layers::l2_regularizer(0.5)?).apply(&x)?;
    layer.kernel_regularizer(tf::layers::l1_regularizer(0.1)?).apply(&y)?;
    let penalty = tf::losses::get_regularization_loss(&graph)?;
    assert_eq!(penalty.name(), "total_regularization_loss:0");
    let kernels = [graph.variable("dense/kernel")?, graph.variable("dense_1/kernel")?];
    let fetches =
        std::iter::once(penalty.clone()).chain(gradients(&penalty, &kernels)?.into_iter().flatten()).collect();
    let mut executor = Executor::new(&graph, ExecutorOptions::default())?;
    let plan = executor.prepare(&Request { fetches, ..Request::default() })?;
    executor.run(plan, &[])?;
    let found = |fetch| executor.output(plan, fetch, 0);
    // 0.5 · (1 + 4 + 9 + 16) / 2 + 0.1 · (1 + 2 + 3 + 4)
    assert_close(found(0).as_slice()?, &[8.5]);
    assert_close(found(1).as_slice()?, &[0.5, 1.0, 1.5, -2.0]);
    assert_close(found(2).as_slice()?, &[0.1, 0.1, 0.1, -0.1]);
    Ok(())
}

#[test]
fn means_run_over_batches() -> Result<()> {
    let weighted = |weights: &Tensor| MetricOptions::new().weights(weights);
    assert_metric(|_, predictions, _| tf::metrics::mean(predictions), [0.4125, 0.53125])?;
    assert_metric(|_, predictions, weights| weighted(weights).mean(predictions), [0.41666666, 0.6078947])?;
    let half = |predictions: &Tensor| weighted(&predictions.graph().constant(0.5f32)).mean(predictions);
    assert_metric(|_, predictions, _| half(predictions), [0.4125, 0.53125])?;
    assert_metric(|labels, predictions, _| tf::metrics::accuracy(labels, &rounded(predictions)?), [0.5, 0.5])?;
    assert_metric(
        |labels, predictions, weights| weighted(weights).accuracy(labels, &rounded(predictions)?),
        [0.6666667, 0.42105263],
    )?;
    let float = |labels: &Tensor| tf::cast(labels, DType::Float32);
    assert_metric(
        |labels, predictions, _| tf::metrics::mean_squared_error(&float(labels)?, predictions),
        [0.398125, 0.4165625],
    )?;
    assert_metric(
        |labels, predictions, _| tf::metrics::root_mean_squared_error(&float(labels)?, predictions),
        [0.6309715, 0.64541656],
    )
}

#[test]
fn precision_and_recall_count_over_batches() -> Result<()> {
    let weighted = |weights: &Tensor| MetricOptions::new().weights(weights);
    assert_metric(|labels, predictions, _| tf::metrics::precision(labels, &rounded(predictions)?), [1.0, 0.5])?;
    assert_metric(
        |labels, predictions, weights| weighted(weights).precision(labels, &rounded(predictions)?),
        [1.0, 0.2],
    )?;
    assert_metric(|labels, predictions, _| tf::metrics::recall(labels, &rounded(predictions)?), [0.33333334, 0.5])?;
    assert_metric(|labels, predictions, weights| weighted(weights).recall(labels, &rounded(predictions)?), [0.4, 0.4])
}

#[test]
fn areas_are_those_of_the_same_thresholds_and_rules() -> Result<()> {
    let careful = || Auc::new().curve(Curve::PrecisionRecall).summation_method(SummationMethod::CarefulInterpolation);
    let weighted = |area: Auc, weights: &Tensor| area.options(MetricOptions::new().weights(weights));
    assert_metric(|labels, predictions, _| tf::metrics::auc(labels, predictions), [0.33333322, 0.37500006])?;
    assert_metric(
        |labels, predictions, weights| weighted(Auc::new(), weights).apply(labels, predictions),
        [0.40000004, 0.2571431],
    )?;
    assert_metric(
        |labels, predictions, _| Auc::new().num_thresholds(5).apply(labels, predictions),
        [0.49999964, 0.43750003],
    )?;
    assert_metric(
        |labels, predictions, _| Auc::new().curve(Curve::PrecisionRecall).apply(labels, predictions),
        [0.7638887, 0.39523822],
    )?;
    assert_metric(|labels, predictions, _| careful().apply(labels, predictions), [0.768951, 0.4125995])?;
    assert_metric(
        |labels, predictions, weights| weighted(careful(), weights).apply(labels, predictions),
        [0.67562795, 0.17776689],
    )
}

#[test]
fn areas_refuse_logits() -> Result<()> {
    let graph = Graph::new();
    let labels = graph.constant(vec![0i32, 1]);
    let logits = graph.constant(vec![-1.5f32, 0.5]);
    let metric = tf::metrics::auc(&labels, &logits)?;
    let mut executor = Executor::new(&graph, ExecutorOptions::default())?;
    let plan = executor.prepare(&Request { fetches: vec![metric.update], ..Request::default() })?;
    let error = executor.run(plan, &[]).unwrap_err();
    assert!(error.to_string().contains("auc: predictions must be in [0, 1]"), "{error}");
    Ok(())
}

fn labels(graph: &Graph) -> Tensor {
    graph.constant(vec![2i32, 0, 1])
}

fn onehot(graph: &Graph) -> Result<Tensor> {
    tf::one_hot(&labels(graph), 3, DType::Float32)
}

fn rounded(predictions: &Tensor) -> Result<Tensor> {
    let half = predictions.graph().constant(0.5f32);
    tf::cast(&tf::greater(predictions, &half)?, DType::Int64)
}

/// A loss of three rows of logits, the first of them zeros, and its gradient.
fn loss_of(loss: impl FnOnce(&Graph, &Tensor) -> Result<Tensor>) -> Result<(Vec<f32>, Vec<f32>)> {
    let graph = Graph::new();
    let rows = Array::from_vec(&[3, 3], vec![0.0f32, 0.0, 0.0, 1.0, -2.0, 0.5, 3.0, 0.1, -1.0])?;
    let options = VariableOptions { initializer: Initializer::Constant(rows), ..VariableOptions::default() };
    let logits = graph.get_variable("logits", &[3, 3], options)?;
    let loss = loss(&graph, &logits.value())?;
    let gradient = gradients(&loss, &[logits])?.remove(0).expect("the loss depends on the logits");
    let mut executor = Executor::new(&graph, ExecutorOptions::default())?;
    let plan = executor.prepare(&Request { fetches: vec![loss, gradient], ..Request::default() })?;
    executor.run(plan, &[])?;
    let fetch = |index| Ok::<_, Error>(executor.output(plan, index, 0).as_slice::<f32>()?.to_vec());
    Ok((fetch(0)?, fetch(1)?))
}

fn assert_close(found: &[f32], expected: &[f32]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= TOLERANCE * expected.abs().max(1.0), "{found} is not {expected}");
    }
}

/// Runs a metric of labels, predictions and weights over two batches: its value is 0 before, and after each batch what
/// the update gives.
fn assert_metric(metric: impl FnOnce(&Tensor, &Tensor, &Tensor) -> Result<Metric>, expected: [f32; 2]) -> Result<()> {
    let graph = Graph::new();
    let placeholder = |name: &str, dtype| graph.placeholder(name, dtype, Shape::new(&[None]));
    let labels = placeholder("labels", DType::Int32);
    let predictions = placeholder("predictions", DType::Float32);
    let weights = placeholder("weights", DType::Float32);
    let metric = metric(&labels, &predictions, &weights)?;
    let batches = [
        [
            Array::from(vec![1i32, 0, 1, 1]),
            Array::from(vec![0.9f32, 0.4, 0.35, 0.0]),
            Array::from(vec![1.0f32, 2.0, 0.5, 1.0]),
        ],
        [
            Array::from(vec![0i32, 0, 1, 0]),
            Array::from(vec![0.1f32, 0.8, 0.7, 1.0]),
            Array::from(vec![1.0f32, 1.0, 0.0, 3.0]),
        ],
    ];
    let mut executor = Executor::new(&graph, ExecutorOptions::default())?;
    let read = executor.prepare(&Request { fetches: vec![metric.value], ..Request::default() })?;
    let feeds = vec![labels, predictions, weights];
    let update = executor.prepare(&Request { feeds, fetches: vec![metric.update], ..Request::default() })?;
    executor.run(read, &[])?;
    assert_eq!(executor.scalar(read, 0, 0), 0.0);
    for (batch, expected) in batches.iter().zip(expected) {
        executor.run(update, batch)?;
        assert_close(&[executor.scalar(update, 0, 0) as f32], &[expected]);
        executor.run(read, &[])?;
        assert_close(&[executor.scalar(read, 0, 0) as f32], &[expected]);
    }
    Ok(())
}
