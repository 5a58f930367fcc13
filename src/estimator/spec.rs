//! What a model function returns.

use super::{EstimatorError, ModeKeys};
use crate::core::{Result, Shape};
use crate::graph::ops::reshape;
use crate::graph::{Graph, Operation, Tensor, Tensors};
use crate::metrics::Metrics;

/// What a `model_fn` returns: the parts of the graph that its mode needs. TensorFlow: `tf.estimator.EstimatorSpec`.
///
/// # Examples
/// ```
/// use tpulab::estimator::{EstimatorSpec, ModeKeys};
/// use tpulab::prelude::*;
/// let graph = Graph::new();
/// let class_ids = graph.constant(vec![2i64, 0, 1]);
/// let spec = EstimatorSpec::predict(Tensors::from([("class_ids", class_ids)]));
/// assert_eq!(spec.mode, ModeKeys::Predict);
/// assert_eq!(spec.predictions.unwrap().names(), ["class_ids"]);
/// ```
///
/// A spec without the parts that its mode needs does not compile:
/// ```compile_fail
/// # use tpulab::estimator::EstimatorSpec;
/// # let loss = tpulab::graph::Graph::new().constant(0.5f32);
/// EstimatorSpec::train(loss);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EstimatorSpec {
    /// What the spec is for.
    pub mode: ModeKeys,
    /// The loss, one number; present to train and to evaluate.
    pub loss: Option<Tensor>,
    /// The operation of one training step; present to train.
    pub train_op: Option<Operation>,
    /// The predictions, `[batch, …]` each; present to predict.
    pub predictions: Option<Tensors>,
    /// The metrics of an evaluation. TensorFlow: `eval_metric_ops`.
    pub metrics: Metrics,
}

impl EstimatorSpec {
    /// What training needs: the loss, `[]` or `[1]`, and the operation that lowers it.
    pub fn train(loss: Tensor, train_op: Operation) -> Self {
        EstimatorSpec { loss: Some(loss), train_op: Some(train_op), ..EstimatorSpec::empty(ModeKeys::Train) }
    }

    /// What evaluation needs: the loss, `[]` or `[1]`, and the metrics, which may be none.
    pub fn eval(loss: Tensor, metrics: Metrics) -> Self {
        EstimatorSpec { loss: Some(loss), metrics, ..EstimatorSpec::empty(ModeKeys::Eval) }
    }

    /// What prediction needs: tensors under names, `[batch, …]` each.
    pub fn predict(predictions: Tensors) -> Self {
        EstimatorSpec { predictions: Some(predictions), ..EstimatorSpec::empty(ModeKeys::Predict) }
    }

    fn empty(mode: ModeKeys) -> Self {
        EstimatorSpec { mode, loss: None, train_op: None, predictions: None, metrics: Metrics::default() }
    }

    /// The spec that a `model_fn` called for `mode` on `graph` may return, with its loss as a scalar.
    ///
    /// # Errors
    /// `EST005` for a spec of another mode, `EST006` and `EST007` for a loss that is not one floating-point number,
    /// `EST008` for parts of another graph, `EST009` for a metric called `loss` or `global_step`.
    pub(crate) fn checked(mut self, mode: ModeKeys, graph: &Graph) -> Result<Self> {
        if self.mode != mode {
            return Err(EstimatorError::SpecMode { called: mode, found: self.mode }.into());
        }
        if let Some(loss) = self.loss.take() {
            self.loss = Some(scalar_loss(&loss, graph)?);
        }
        if let Some(train_op) = &self.train_op {
            same_graph("train_op", &train_op.name(), &train_op.graph(), graph)?;
        }
        for (name, tensor) in self.predictions.iter().flat_map(Tensors::entries) {
            same_graph("prediction", name, &tensor.graph(), graph)?;
        }
        for (name, metric) in self.metrics.entries() {
            if matches!(name.as_str(), "loss" | "global_step") {
                return Err(EstimatorError::ReservedMetric { name: name.clone() }.into());
            }
            same_graph("metric", name, &metric.update.graph(), graph)?;
        }
        Ok(self)
    }
}

/// The loss as a scalar, if it is one floating-point number of `graph`.
pub(crate) fn scalar_loss(loss: &Tensor, graph: &Graph) -> Result<Tensor> {
    same_graph("loss", &loss.name(), &loss.graph(), graph)?;
    if !loss.dtype().is_floating() {
        return Err(EstimatorError::LossDType { loss: loss.name(), found: loss.dtype() }.into());
    }
    let shape = loss.shape();
    if shape == Shape::scalar() {
        return Ok(loss.clone());
    }
    if shape.elements() != Some(1) {
        return Err(EstimatorError::LossShape { loss: loss.name(), found: shape }.into());
    }
    reshape(loss, &[])
}

fn same_graph(part: &'static str, name: &str, own: &Graph, graph: &Graph) -> Result<()> {
    if own.is_same(graph) {
        return Ok(());
    }
    Err(EstimatorError::AnotherGraph { part, name: name.to_string() }.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Metric;

    fn step(graph: &Graph) -> Operation {
        graph.group(&[], "train_op").unwrap()
    }

    fn error_of(spec: EstimatorSpec, mode: ModeKeys, graph: &Graph) -> (String, String) {
        let error = spec.checked(mode, graph).unwrap_err();
        (error.to_string(), error.exception().to_string())
    }

    #[test]
    fn a_scalar_loss_stays_as_it_is() -> Result<()> {
        let graph = Graph::new();
        let loss = graph.constant(0.5f32);
        let spec = EstimatorSpec::train(loss.clone(), step(&graph)).checked(ModeKeys::Train, &graph)?;
        assert!(spec.loss.unwrap().is_same(&loss));
        assert!(spec.train_op.is_some() && spec.predictions.is_none());
        Ok(())
    }

    #[test]
    fn a_loss_of_one_element_becomes_a_scalar() -> Result<()> {
        let graph = Graph::new();
        let loss = graph.constant(vec![0.5f32]);
        let spec = EstimatorSpec::eval(loss, Metrics::default()).checked(ModeKeys::Eval, &graph)?;
        assert_eq!(spec.loss.unwrap().shape(), Shape::scalar());
        Ok(())
    }

    #[test]
    fn a_loss_per_example_is_refused() {
        let graph = Graph::new();
        let spec = EstimatorSpec::train(graph.constant(vec![0.5f32, 0.25]), step(&graph));
        let expected = "EST006: loss `Const:0` has shape [2]; expected one number, shape [] or [1]; \
                        average it over the batch with `reduce_mean`";
        assert_eq!(error_of(spec, ModeKeys::Train, &graph), (expected.to_string(), "ValueError".to_string()));
    }

    #[test]
    fn a_loss_of_integers_is_refused() {
        let graph = Graph::new();
        let spec = EstimatorSpec::eval(graph.constant(1i32), Metrics::default());
        let expected = "EST007: loss `Const:0` is int32; expected a floating-point number; \
                        `cast` what it is computed from to float32";
        assert_eq!(error_of(spec, ModeKeys::Eval, &graph), (expected.to_string(), "TypeError".to_string()));
    }

    #[test]
    fn a_spec_of_another_mode_is_refused() {
        let graph = Graph::new();
        let spec = EstimatorSpec::predict(Tensors::empty(&graph));
        let expected = "EST005: model_fn was called to train and returned a Predict spec; \
                        return the Train spec when `mode` is `ModeKeys::Train`";
        assert_eq!(error_of(spec, ModeKeys::Train, &graph), (expected.to_string(), "ValueError".to_string()));
    }

    #[test]
    fn parts_of_another_graph_are_refused() {
        let (graph, other) = (Graph::new(), Graph::new());
        let foreign = other.constant(0.5f32);
        let loss = EstimatorSpec::train(foreign.clone(), step(&graph));
        let expected = "EST008: loss `Const:0` belongs to another graph than the features; \
                        build everything from the tensors of one `model_fn` call";
        assert_eq!(error_of(loss, ModeKeys::Train, &graph), (expected.to_string(), "ValueError".to_string()));
        let train_op = EstimatorSpec::train(graph.constant(0.5f32), step(&other));
        assert!(error_of(train_op, ModeKeys::Train, &graph).0.starts_with("EST008: train_op `train_op`"));
        let predictions = EstimatorSpec::predict(Tensors::from([("logits", foreign.clone())]));
        assert!(error_of(predictions, ModeKeys::Predict, &graph).0.starts_with("EST008: prediction `logits`"));
        let metric = Metric { value: foreign.clone(), update: foreign };
        let metrics = EstimatorSpec::eval(graph.constant(0.5f32), Metrics::from([("accuracy", metric)]));
        assert!(error_of(metrics, ModeKeys::Eval, &graph).0.starts_with("EST008: metric `accuracy`"));
    }

    #[test]
    fn a_metric_called_loss_or_global_step_is_refused() {
        let graph = Graph::new();
        let value = graph.constant(0.5f32);
        for name in ["loss", "global_step"] {
            let metric = Metric { value: value.clone(), update: value.clone() };
            let spec = EstimatorSpec::eval(value.clone(), Metrics::from([(name, metric)]));
            let expected = format!(
                "EST009: metric `{name}` has a name that evaluation uses itself; give it another one, such as `my_{name}`"
            );
            assert_eq!(error_of(spec, ModeKeys::Eval, &graph), (expected, "ValueError".to_string()));
        }
    }
}
