//! Adagrad.

use super::LearningRate;
use super::number::require;
use super::update::{Target, UpdateRule, impl_optimizer};
use crate::core::{Array, Result};
use crate::graph::ops::StateOp;
use crate::graph::{Graph, Initializer, Operation, Tensor};

/// Adagrad: `a ← a + g²`, `w ← w - learning_rate · g / √a`, with `a` from 0.1. TensorFlow:
/// `tf.train.AdagradOptimizer`.
///
/// Slot: `…/Adagrad`. Duchi, Hazan and Singer, 2011.
///
/// # Examples
/// ```
/// use tpulab::train::{AdagradOptimizer, Optimizer};
/// assert_eq!(AdagradOptimizer::new(0.1).slot_names(), ["accumulator"]);
/// ```
#[derive(Clone, Debug)]
pub struct AdagradOptimizer {
    learning_rate: LearningRate,
    initial_accumulator_value: f64,
}

impl AdagradOptimizer {
    /// Adagrad with steps of `learning_rate`: a number or a tensor.
    pub fn new(learning_rate: impl Into<LearningRate>) -> Self {
        AdagradOptimizer { learning_rate: learning_rate.into(), initial_accumulator_value: 0.1 }
    }

    /// Where the sums of squares start; positive, since nothing else keeps the first divisor from 0. Default: 0.1.
    pub fn initial_accumulator_value(mut self, value: f64) -> Self {
        self.initial_accumulator_value = value;
        self
    }
}

impl UpdateRule for AdagradOptimizer {
    type Numbers = Tensor;

    fn slots(&self) -> Vec<(&'static str, Initializer)> {
        vec![("accumulator", Initializer::Constant(Array::from(self.initial_accumulator_value)))]
    }

    fn check(&self) -> Result<()> {
        let value = self.initial_accumulator_value;
        require("AdagradOptimizer", "initial_accumulator_value", "positive", value, value > 0.0)
    }

    fn prepare(&self, graph: &Graph) -> Result<Tensor> {
        self.learning_rate.build(graph)
    }

    fn update(&self, learning_rate: &Tensor, target: &Target<'_>) -> Result<Operation> {
        let learning_rate = target.number(learning_rate)?;
        target.apply(StateOp::ResourceApplyAdagrad, &[&target.slots[0], &learning_rate, target.gradient])
    }
}

impl_optimizer!(AdagradOptimizer, "Adagrad");
