//! The area under a curve, from counts at many thresholds.

use super::options::aligned;
use super::running_sum::RunningSum;
use super::{Metric, MetricOptions};
use crate::core::{Array, DType, Result};
use crate::graph::ops::{self, Op, Reduction};
use crate::graph::{GraphError, Tensor};

/// The area under the ROC curve, from 200 thresholds and the trapezoidal rule. TensorFlow: `tf.metrics.auc`.
///
/// `predictions` lie in `[0, 1]`; `labels` are truth values, or numbers that are true unless 0. [`Auc`] takes further
/// options. Keeps `auc/true_positives`, `auc/false_negatives`, `auc/true_negatives` and `auc/false_positives`, each
/// with one number for each threshold.
///
/// # Errors
/// `GRAPH001` if the shapes differ, `GRAPH004` for the dtypes. Predictions outside `[0, 1]` fail when it is run.
pub fn auc(labels: &Tensor, predictions: &Tensor) -> Result<Metric> {
    Auc::new().apply(labels, predictions)
}

/// Which curve the area lies under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Curve {
    /// Recall over the rate of false positives.
    Roc,
    /// Precision over recall.
    PrecisionRecall,
}

/// How the area between two thresholds is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SummationMethod {
    /// By the trapezoidal rule; for precision and recall TensorFlow warns that this is wrong.
    Trapezoidal,
    /// By letting the counts and not their ratio change evenly; for the ROC curve the same as the trapezoidal rule.
    /// Davis and Goadrich, 2006.
    CarefulInterpolation,
}

/// The area under a curve with options. Default: the ROC curve, 200 thresholds, the trapezoidal rule.
///
/// # Examples
/// ```
/// use tpulab::prelude::*;
/// use tpulab::metrics::{Auc, Curve, SummationMethod};
/// let graph = Graph::new();
/// let labels = graph.placeholder("labels", DType::Bool, Shape::new(&[None]));
/// let probabilities = graph.placeholder("probabilities", DType::Float32, Shape::new(&[None]));
/// let area = Auc::new().curve(Curve::PrecisionRecall).summation_method(SummationMethod::CarefulInterpolation);
/// assert_eq!(area.apply(&labels, &probabilities)?.value.shape(), Shape::scalar());
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Auc {
    options: MetricOptions,
    num_thresholds: usize,
    curve: Curve,
    summation_method: SummationMethod,
}

impl Default for Auc {
    fn default() -> Self {
        Auc {
            options: MetricOptions::new(),
            num_thresholds: 200,
            curve: Curve::Roc,
            summation_method: SummationMethod::Trapezoidal,
        }
    }
}

impl Auc {
    /// The area under the ROC curve.
    pub fn new() -> Self {
        Auc::default()
    }

    /// Weights and name.
    pub fn options(mut self, options: MetricOptions) -> Self {
        self.options = options;
        self
    }

    /// Which curve.
    pub fn curve(mut self, curve: Curve) -> Self {
        self.curve = curve;
        self
    }

    /// How the area between two thresholds is taken.
    pub fn summation_method(mut self, summation_method: SummationMethod) -> Self {
        self.summation_method = summation_method;
        self
    }

    /// How many thresholds: 0, 1 and evenly spaced ones between. At least 2.
    pub fn num_thresholds(mut self, num_thresholds: usize) -> Self {
        self.num_thresholds = num_thresholds;
        self
    }

    /// The metric.
    ///
    /// # Errors
    /// As for [`auc`], `GRAPH001` for the weights and `GRAPH006` for fewer than 2 thresholds.
    pub fn apply(&self, labels: &Tensor, predictions: &Tensor) -> Result<Metric> {
        if self.num_thresholds < 2 {
            let problem = format!("num_thresholds must be at least 2, found {}", self.num_thresholds);
            let help = "a curve needs two points".to_string();
            return Err(GraphError::Argument { op: "auc".to_string(), problem, help }.into());
        }
        let graph = predictions.graph();
        graph.name_scope(self.options.name_or("auc"), || {
            let [true_positives, false_negatives, true_negatives, false_positives] =
                self.counts(labels, predictions)?;
            Ok(Metric {
                value: self.area(
                    "value",
                    &Counts {
                        true_positives: true_positives.value,
                        false_negatives: false_negatives.value,
                        true_negatives: true_negatives.value,
                        false_positives: false_positives.value,
                    },
                )?,
                update: self.area(
                    "update_op",
                    &Counts {
                        true_positives: true_positives.updated,
                        false_negatives: false_negatives.updated,
                        true_negatives: true_negatives.updated,
                        false_positives: false_positives.updated,
                    },
                )?,
            })
        })
    }

    /// True positives, false negatives, true negatives and false positives at each threshold.
    fn counts(&self, labels: &Tensor, predictions: &Tensor) -> Result<[RunningSum; 4]> {
        let graph = predictions.graph();
        let (labels, predictions) = aligned("auc", labels, predictions)?;
        let predictions = ops::cast(&require_probabilities(&predictions)?, DType::Float32)?;
        let thresholds = Array::from_vec(&[self.num_thresholds, 1], self.thresholds())?;
        let thresholds = graph.typed_constant("Const", thresholds, DType::Float32)?;
        let above = ops::greater(&ops::reshape(&predictions, &[1, -1])?, &thresholds)?;
        let positive = ops::reshape(&ops::cast(&labels, DType::Bool)?, &[1, -1])?;
        let weights = match self.options.weights_for("auc", &predictions)? {
            Some(weights) => Some(ops::reshape(&weights, &[1, -1])?),
            None => None,
        };
        let count = |name: &str, positive: &Tensor, above: &Tensor| {
            let mut counted = ops::cast(&ops::logical_and(positive, above)?, DType::Float32)?;
            if let Some(weights) = &weights {
                counted = ops::multiply(&counted, weights)?;
            }
            RunningSum::new(name, &[self.num_thresholds], &ops::reduce_sum(&counted, &[1])?)
        };
        let (negative, below) = (ops::logical_not(&positive)?, ops::logical_not(&above)?);
        Ok([
            count("true_positives", &positive, &above)?,
            count("false_negatives", &positive, &below)?,
            count("true_negatives", &negative, &below)?,
            count("false_positives", &negative, &above)?,
        ])
    }

    /// Ascending; the ends lie a little outside `[0, 1]`, so that 0 and 1 themselves fall between.
    fn thresholds(&self) -> Vec<f64> {
        const MARGIN: f64 = 1e-7;
        let last = self.num_thresholds - 1;
        let inner = (1..last).map(|index| index as f64 / last as f64);
        std::iter::once(-MARGIN).chain(inner).chain(std::iter::once(1.0 + MARGIN)).collect()
    }

    fn area(&self, name: &str, counts: &Counts) -> Result<Tensor> {
        let parts = match (self.curve, self.summation_method) {
            (Curve::PrecisionRecall, SummationMethod::CarefulInterpolation) => counts.interpolated_areas()?,
            (Curve::PrecisionRecall, SummationMethod::Trapezoidal) => {
                trapezoids(&counts.recall()?, &counts.precision()?)?
            }
            (Curve::Roc, _) => trapezoids(&counts.false_positive_rate()?, &counts.recall()?)?,
        };
        let sum = Op::Reduce { reduction: Reduction::Sum, axes: vec![0], keep_dims: false };
        parts.graph().add(sum, name, &[&parts])
    }
}

/// `predictions`, which a run refuses outside `[0, 1]`.
fn require_probabilities(predictions: &Tensor) -> Result<Tensor> {
    let graph = predictions.graph();
    let low = ops::greater_equal(predictions, &graph.number_like("low", 0.0, predictions)?)?;
    let high = ops::less_equal(predictions, &graph.number_like("high", 1.0, predictions)?)?;
    let invalid = graph.number_like("invalid", f64::NAN, predictions)?;
    let checked = ops::where_(&ops::logical_and(&low, &high)?, predictions, &invalid)?;
    ops::check_numerics(&checked, "auc: predictions must be in [0, 1]")
}

/// Counts at each threshold.
struct Counts {
    true_positives: Tensor,
    false_negatives: Tensor,
    true_negatives: Tensor,
    false_positives: Tensor,
}

/// Added where a divisor might be 0.
const EPSILON: f64 = 1e-6;

impl Counts {
    fn recall(&self) -> Result<Tensor> {
        let all = ops::add(&self.true_positives, &self.false_negatives)?;
        ops::divide(&(&self.true_positives + EPSILON)?, &(&all + EPSILON)?)
    }

    fn precision(&self) -> Result<Tensor> {
        let all = ops::add(&self.true_positives, &self.false_positives)?;
        ops::divide(&(&self.true_positives + EPSILON)?, &(&all + EPSILON)?)
    }

    fn false_positive_rate(&self) -> Result<Tensor> {
        let all = ops::add(&self.false_positives, &self.true_negatives)?;
        ops::divide(&self.false_positives, &(&all + EPSILON)?)
    }

    /// The areas under precision over recall where, between two thresholds, true and false positives change evenly:
    /// `slope · (ΔTP + intercept · ln(P₁ / P₂)) / (TP₂ + FN₂)` with `P = TP + FP` and `slope = ΔTP / ΔP`.
    fn interpolated_areas(&self) -> Result<Tensor> {
        let positives = ops::add(&self.true_positives, &self.false_positives)?;
        let (first, second) = neighbours(&positives)?;
        let (first_true, second_true) = neighbours(&self.true_positives)?;
        let zeros = ops::zeros_like(&first)?;
        let change = ops::subtract(&first_true, &second_true)?;
        let slope = ops::div_no_nan(&change, &ops::maximum(&ops::subtract(&first, &second)?, &zeros)?)?;
        let intercept = ops::subtract(&second_true, &ops::multiply(&slope, &second)?)?;
        let both = ops::logical_and(&ops::greater(&first, &zeros)?, &ops::greater(&second, &zeros)?)?;
        let ratio = ops::div_no_nan(&first, &ops::maximum(&second, &zeros)?)?;
        let logarithm = ops::log(&ops::where_(&both, &ratio, &ops::fill_like(&second, 1.0)?)?)?;
        let area = ops::multiply(&slope, &ops::add(&change, &ops::multiply(&intercept, &logarithm)?)?)?;
        let (_, second_missed) = neighbours(&self.false_negatives)?;
        let all = ops::maximum(&ops::add(&second_true, &second_missed)?, &zeros)?;
        ops::div_no_nan(&area, &all)
    }
}

/// All elements but the last, and all but the first.
fn neighbours(x: &Tensor) -> Result<(Tensor, Tensor)> {
    let last = x.shape().size(0).unwrap_or(1) as isize - 1;
    Ok((ops::slice(x, &[0], &[last])?, ops::slice(x, &[1], &[-1])?))
}

/// The areas under `y` over `x` between neighbouring thresholds; `x` falls as thresholds rise.
fn trapezoids(x: &Tensor, y: &Tensor) -> Result<Tensor> {
    let ((left, right), (low, high)) = (neighbours(x)?, neighbours(y)?);
    let heights = (&ops::add(&low, &high)? / 2.0)?;
    ops::multiply(&ops::subtract(&left, &right)?, &heights)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::Shape;
    use crate::graph::Graph;

    #[test]
    fn the_outer_thresholds_let_0_and_1_fall_between() {
        let thresholds = Auc::new().num_thresholds(5).thresholds();
        assert_eq!(thresholds, [-1e-7, 0.25, 0.5, 0.75, 1.0 + 1e-7]);
        assert!(thresholds[4] as f32 > 1.0);
        assert_eq!(Auc::new().thresholds().len(), 200);
    }

    #[test]
    fn counts_are_named_as_tensorflow_names_them() {
        let graph = Graph::new();
        let labels = graph.placeholder("labels", DType::Int32, Shape::new(&[None]));
        let predictions = graph.placeholder("predictions", DType::Float32, Shape::new(&[None]));
        let metric = auc(&labels, &predictions).unwrap();
        assert_eq!((metric.value.name(), metric.update.name()), ("auc/value:0".into(), "auc/update_op:0".into()));
        let variables = graph.variables();
        let names: Vec<String> = variables.iter().map(|variable| variable.name()).collect();
        assert_eq!(names, ["auc/true_positives", "auc/false_negatives", "auc/true_negatives", "auc/false_positives"]);
        assert!(variables.iter().all(|variable| variable.shape() == [200]));
        assert_eq!(
            Auc::new().num_thresholds(1).apply(&labels, &predictions).unwrap_err().to_string(),
            "GRAPH006: auc: num_thresholds must be at least 2, found 1; a curve needs two points"
        );
    }
}
