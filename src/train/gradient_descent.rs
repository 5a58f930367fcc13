//! Plain gradient descent.

use super::LearningRate;
use super::update::{Target, UpdateRule, impl_optimizer};
use crate::core::Result;
use crate::graph::ops::StateOp;
use crate::graph::{Graph, Initializer, Operation, Tensor};

/// Gradient descent: `w ← w - learning_rate · g`. TensorFlow: `tf.train.GradientDescentOptimizer`.
///
/// # Examples
/// ```
/// use tpulab::train::{GradientDescentOptimizer, Optimizer};
/// assert_eq!(GradientDescentOptimizer::new(0.1).name(), "GradientDescent");
/// ```
#[derive(Clone, Debug)]
#[doc(alias = "SGD")]
pub struct GradientDescentOptimizer {
    learning_rate: LearningRate,
}

impl GradientDescentOptimizer {
    /// Gradient descent with steps of `learning_rate`: a number or a tensor.
    pub fn new(learning_rate: impl Into<LearningRate>) -> Self {
        GradientDescentOptimizer { learning_rate: learning_rate.into() }
    }
}

impl UpdateRule for GradientDescentOptimizer {
    type Numbers = Tensor;

    fn slots(&self) -> Vec<(&'static str, Initializer)> {
        Vec::new()
    }

    fn prepare(&self, graph: &Graph) -> Result<Tensor> {
        self.learning_rate.build(graph)
    }

    fn update(&self, learning_rate: &Tensor, target: &Target<'_>) -> Result<Operation> {
        target.apply(StateOp::ResourceApplyGradientDescent, &[&target.number(learning_rate)?, target.gradient])
    }
}

impl_optimizer!(GradientDescentOptimizer, "GradientDescent");
