//! Learning rates that change with the step.

use super::LearningRate;
use super::TrainError;
use super::number::number;
use crate::core::{Array, DType, Result};
use crate::graph::{Tensor, Variable, ops};

/// How a learning rate decays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decay {
    /// A little at each step.
    Continuous,
    /// All at once, each time that `decay_steps` have passed.
    Staircase,
}

/// `learning_rate · decay_rate ^ (global_step / decay_steps)`, float32 of shape `[]`. TensorFlow:
/// `tf.train.exponential_decay`.
///
/// # Errors
/// `TRAIN004` if `decay_steps` is 0, `TRAIN005` if the learning rate is not one number.
///
/// # Examples
/// ```
/// use tpulab::prelude::*;
/// use tpulab::train::{AdagradOptimizer, Decay, exponential_decay};
/// let graph = Graph::new();
/// let learning_rate = exponential_decay(0.1, &graph.global_step(), 100, 0.96, Decay::Staircase)?;
/// let optimizer = AdagradOptimizer::new(learning_rate);
/// # Ok::<(), Error>(())
/// ```
pub fn exponential_decay(
    learning_rate: impl Into<LearningRate>,
    global_step: &Variable,
    decay_steps: u64,
    decay_rate: f64,
    decay: Decay,
) -> Result<Tensor> {
    let (place, argument) = ("exponential_decay", "decay_steps");
    if decay_steps == 0 {
        return Err(TrainError::Number { place, argument, expected: "positive", found: "0".to_string() }.into());
    }
    let learning_rate = learning_rate.into();
    let graph = global_step.graph();
    graph.name_scope("ExponentialDecay", || {
        let learning_rate = learning_rate.build(&graph)?;
        let step = ops::cast(&global_step.value(), learning_rate.dtype())?;
        let mut exponent = (&step / decay_steps as f64)?;
        if decay == Decay::Staircase {
            exponent = ops::floor(&exponent)?;
        }
        let rate = graph.number_like("decay_rate", decay_rate, &learning_rate)?;
        ops::multiply(&learning_rate, &ops::pow(&rate, &exponent)?)
    })
}

/// `values[i]` up to and including step `boundaries[i]`, then the next one, float32 of shape `[]`. TensorFlow:
/// `tf.train.piecewise_constant`.
///
/// # Errors
/// `TRAIN004` unless there is one value more than boundaries, and these ascend.
///
/// # Examples
/// ```
/// use tpulab::prelude::*;
/// use tpulab::train::{MomentumOptimizer, piecewise_constant};
/// let graph = Graph::new();
/// let learning_rate = piecewise_constant(&graph.global_step(), &[100, 200], &[0.1, 0.01, 0.001])?;
/// let optimizer = MomentumOptimizer::new(learning_rate, 0.9);
/// # Ok::<(), Error>(())
/// ```
pub fn piecewise_constant(global_step: &Variable, boundaries: &[i64], values: &[f64]) -> Result<Tensor> {
    let refuse = |argument, expected, found: String| {
        crate::core::Error::from(TrainError::Number { place: "piecewise_constant", argument, expected, found })
    };
    let Some((last, earlier)) = values.split_last().filter(|(_, earlier)| earlier.len() == boundaries.len()) else {
        let found = format!("{} for {} boundaries", values.len(), boundaries.len());
        return Err(refuse("values", "one more than boundaries", found));
    };
    if !boundaries.is_sorted() {
        return Err(refuse("boundaries", "in ascending order", format!("{boundaries:?}")));
    }
    let graph = global_step.graph();
    graph.name_scope("PiecewiseConstant", || {
        let step = ops::cast(&global_step.value(), DType::Int64)?;
        let mut learning_rate = number(&graph, "Const", *last)?;
        for (&boundary, &value) in boundaries.iter().zip(earlier).rev() {
            let not_beyond = ops::less_equal(&step, &graph.constant(Array::from(boundary)))?;
            learning_rate = ops::where_(&not_beyond, &number(&graph, "Const", value)?, &learning_rate)?;
        }
        Ok(learning_rate)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::Shape;
    use crate::graph::Graph;

    #[test]
    fn schedules_are_one_float32() {
        let graph = Graph::new();
        let step = graph.global_step();
        let decayed = exponential_decay(0.1, &step, 100, 0.9, Decay::Staircase).unwrap();
        assert_eq!((decayed.dtype(), decayed.shape()), (DType::Float32, Shape::scalar()));
        assert!(graph.tensor("ExponentialDecay/Floor").is_ok());
        let constant = piecewise_constant(&step, &[], &[0.5]).unwrap();
        assert_eq!((constant.dtype(), constant.op().type_name()), (DType::Float32, "Const"));
    }

    #[test]
    fn arguments_without_meaning_are_refused() {
        let step = Graph::new().global_step();
        let refusal = |result: Result<Tensor>| result.unwrap_err().to_string();
        assert_eq!(
            refusal(exponential_decay(0.1, &step, 0, 0.9, Decay::Continuous)),
            "TRAIN004: exponential_decay: decay_steps must be positive, found 0"
        );
        assert_eq!(
            refusal(piecewise_constant(&step, &[10, 20], &[0.1, 0.2])),
            "TRAIN004: piecewise_constant: values must be one more than boundaries, found 2 for 2 boundaries"
        );
        assert_eq!(
            refusal(piecewise_constant(&step, &[20, 10], &[0.1, 0.2, 0.3])),
            "TRAIN004: piecewise_constant: boundaries must be in ascending order, found [20, 10]"
        );
    }
}
