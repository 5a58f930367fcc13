//! Follow the regularized leader.

use super::LearningRate;
use super::number::{number, require};
use super::update::{Target, UpdateRule, impl_optimizer};
use crate::core::{Array, Result};
use crate::graph::ops::StateOp;
use crate::graph::{Graph, Initializer, Operation, Tensor};

/// Follows the regularized leader, which keeps weights at exactly 0 under L1. TensorFlow: `tf.train.FtrlOptimizer`.
///
/// With `p = -learning_rate_power`: `z ← z + g - (aₙ^p - a^p)·w / learning_rate` where `aₙ = a + g²`, then
/// `w ← (±l1 - z) / (aₙ^p / learning_rate + 2·l2)` where `|z| > l1`, else 0. Slots: `…/Ftrl` (a) and `…/Ftrl_1` (z).
/// McMahan and others, 2013.
///
/// # Examples
/// ```
/// use tpulab::train::{FtrlOptimizer, Optimizer};
/// assert_eq!(FtrlOptimizer::new(0.1).l1_regularization_strength(0.01).slot_names(), ["accum", "linear"]);
/// ```
#[derive(Clone, Debug)]
pub struct FtrlOptimizer {
    learning_rate: LearningRate,
    learning_rate_power: f64,
    initial_accumulator_value: f64,
    l1_regularization_strength: f64,
    l2_regularization_strength: f64,
}

impl FtrlOptimizer {
    /// Follows the regularized leader with steps of `learning_rate`: a number or a tensor.
    pub fn new(learning_rate: impl Into<LearningRate>) -> Self {
        FtrlOptimizer {
            learning_rate: learning_rate.into(),
            learning_rate_power: -0.5,
            initial_accumulator_value: 0.1,
            l1_regularization_strength: 0.0,
            l2_regularization_strength: 0.0,
        }
    }

    /// How steps shrink as squares add up; 0 or less, where 0 keeps the learning rate. Default: -0.5.
    pub fn learning_rate_power(mut self, power: f64) -> Self {
        self.learning_rate_power = power;
        self
    }

    /// Where the sums of squares start; 0 or more. Default: 0.1.
    pub fn initial_accumulator_value(mut self, value: f64) -> Self {
        self.initial_accumulator_value = value;
        self
    }

    /// How strongly weights are drawn to exactly 0; 0 or more. Default: 0.
    pub fn l1_regularization_strength(mut self, strength: f64) -> Self {
        self.l1_regularization_strength = strength;
        self
    }

    /// How strongly weights are kept small; 0 or more. Default: 0.
    pub fn l2_regularization_strength(mut self, strength: f64) -> Self {
        self.l2_regularization_strength = strength;
        self
    }
}

impl UpdateRule for FtrlOptimizer {
    /// Learning rate, L1, L2, learning rate power.
    type Numbers = [Tensor; 4];

    fn slots(&self) -> Vec<(&'static str, Initializer)> {
        let accumulator = Initializer::Constant(Array::from(self.initial_accumulator_value));
        vec![("accum", accumulator), ("linear", Initializer::Zeros)]
    }

    fn check(&self) -> Result<()> {
        for (argument, value) in [
            ("initial_accumulator_value", self.initial_accumulator_value),
            ("l1_regularization_strength", self.l1_regularization_strength),
            ("l2_regularization_strength", self.l2_regularization_strength),
        ] {
            require("FtrlOptimizer", argument, "0 or more", value, value >= 0.0)?;
        }
        let power = self.learning_rate_power;
        require("FtrlOptimizer", "learning_rate_power", "0 or less", power, power <= 0.0)
    }

    fn prepare(&self, graph: &Graph) -> Result<[Tensor; 4]> {
        Ok([
            self.learning_rate.build(graph)?,
            number(graph, "l1_regularization_strength", self.l1_regularization_strength)?,
            number(graph, "l2_regularization_strength", self.l2_regularization_strength)?,
            number(graph, "learning_rate_power", self.learning_rate_power)?,
        ])
    }

    fn update(&self, [learning_rate, l1, l2, power]: &[Tensor; 4], target: &Target<'_>) -> Result<Operation> {
        target.apply(
            StateOp::ResourceApplyFtrl,
            &[
                &target.slots[0],
                &target.slots[1],
                target.gradient,
                &target.number(learning_rate)?,
                &target.number(l1)?,
                &target.number(l2)?,
                &target.number(power)?,
            ],
        )
    }
}

impl_optimizer!(FtrlOptimizer, "Ftrl");
