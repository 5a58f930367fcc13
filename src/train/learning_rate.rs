//! How far a step goes.

use super::TrainError;
use super::number::number;
use crate::core::Result;
use crate::graph::{Graph, Tensor};

/// How far a step goes: a number, or a tensor that each step computes, such as
/// [`exponential_decay`](super::exponential_decay).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum LearningRate {
    /// The same at each step.
    Number(f64),
    /// Computed at each step.
    Tensor(Tensor),
}

impl From<f64> for LearningRate {
    fn from(number: f64) -> Self {
        LearningRate::Number(number)
    }
}

impl From<Tensor> for LearningRate {
    fn from(tensor: Tensor) -> Self {
        LearningRate::Tensor(tensor)
    }
}

impl From<&Tensor> for LearningRate {
    fn from(tensor: &Tensor) -> Self {
        LearningRate::Tensor(tensor.clone())
    }
}

impl LearningRate {
    /// The scalar that updates read.
    pub(super) fn build(&self, graph: &Graph) -> Result<Tensor> {
        match self {
            LearningRate::Number(value) => number(graph, "learning_rate", *value),
            LearningRate::Tensor(tensor) if tensor.shape().rank() == 0 => Ok(tensor.clone()),
            LearningRate::Tensor(tensor) => {
                Err(TrainError::LearningRate { tensor: tensor.name(), found: tensor.shape() }.into())
            }
        }
    }
}
