//! Our metrics against linfa's, on the same numbers.

use linfa::prelude::*;
use ndarray::Array1;
use tpulab as tf;
use tpulab::engine::{Executor, ExecutorOptions, Request};
use tpulab::prelude::*;

/// Scores between 0 and 1 that lean towards their labels, and mistake some.
fn examples(count: usize) -> (Vec<bool>, Vec<f32>) {
    let labels: Vec<bool> = (0..count).map(|index| index * 7 % 10 < 4).collect();
    let noise = |index: usize| (index * 7919 % 1009) as f32 / 1009.0;
    let scores = labels.iter().enumerate().map(|(index, &label)| 0.7 * noise(index) + if label { 0.3 } else { 0.0 });
    let scores = scores.collect();
    (labels, scores)
}

/// The value of a metric after its update with one batch.
fn value(metric: impl FnOnce(&Graph) -> Result<tf::metrics::Metric>) -> Result<f64> {
    let graph = Graph::new();
    let metric = metric(&graph)?;
    let mut executor = Executor::new(&graph, ExecutorOptions::default())?;
    let update = executor.prepare(&Request { fetches: vec![metric.update], ..Request::default() })?;
    executor.run(update, &[])?;
    Ok(executor.scalar(update, 0, 0))
}

#[test]
fn accuracy_precision_and_recall_are_those_of_linfas_confusion_matrix() -> Result<()> {
    let (labels, scores) = examples(500);
    let predicted: Vec<bool> = scores.iter().map(|&score| score >= 0.5).collect();
    let truth = Array1::from(labels.clone());
    // Called on the predictions, linfa 0.8.1 takes its rows for columns: precision and recall change places.
    let matrix = truth.confusion_matrix(&Array1::from(predicted.clone())).expect("as many predictions as labels");
    let pair = |graph: &Graph| (graph.constant(labels.clone()), graph.constant(predicted.clone()));
    let ours = [
        value(|graph| {
            let (labels, predicted) = pair(graph);
            tf::metrics::accuracy(&tf::cast(&labels, DType::Int32)?, &tf::cast(&predicted, DType::Int32)?)
        })?,
        value(|graph| pair(graph).pipe(|(labels, predicted)| tf::metrics::precision(&labels, &predicted)))?,
        value(|graph| pair(graph).pipe(|(labels, predicted)| tf::metrics::recall(&labels, &predicted)))?,
    ];
    for (ours, theirs) in ours.into_iter().zip([matrix.accuracy(), matrix.precision(), matrix.recall()]) {
        // Both are float32.
        assert!((ours - f64::from(theirs)).abs() < 1e-6, "{ours} {theirs}");
    }
    Ok(())
}

#[test]
fn auc_is_linfas_but_for_the_200_thresholds() -> Result<()> {
    let (labels, scores) = examples(500);
    let truth = Array1::from(labels.clone());
    let probabilities = Array1::from(scores.iter().map(|&score| Pr::new(score)).collect::<Vec<_>>());
    let theirs = f64::from(
        probabilities.roc(truth.as_slice().expect("it is contiguous")).expect("two classes").area_under_curve(),
    );
    let ours = value(|graph| tf::metrics::auc(&graph.constant(labels.clone()), &graph.constant(scores.clone())))?;
    // TensorFlow sums trapezoids between 200 thresholds; a pair of examples between two of them counts half.
    assert!((ours - theirs).abs() < 1.0 / 199.0, "{ours} {theirs}");
    assert!((0.6..0.95).contains(&ours), "{ours}: the scores neither guess nor know");
    Ok(())
}

/// Calls a function on a value.
trait Pipe: Sized {
    fn pipe<T>(self, call: impl FnOnce(Self) -> T) -> T {
        call(self)
    }
}
impl<T> Pipe for T {}
