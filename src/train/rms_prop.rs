//! RMSProp.

use super::LearningRate;
use super::number::number;
use super::update::{Target, UpdateRule, impl_optimizer};
use crate::core::Result;
use crate::graph::ops::StateOp;
use crate::graph::{Graph, Initializer, Operation, Tensor};

/// RMSProp: `s ← ρ·s + (1 - ρ)·g²`, `b ← momentum·b + learning_rate·g / √(s + ε)`, `w ← w - b`, with `s` from 1 and
/// `b` from 0. TensorFlow: `tf.train.RMSPropOptimizer`.
///
/// Slots: `…/RMSProp` (s) and `…/RMSProp_1` (b); when [`centered`](Self::centered), the mean gradient is `…/RMSProp_1`
/// and b is `…/RMSProp_2`. Tieleman and Hinton, 2012.
///
/// # Examples
/// ```
/// use tpulab::train::{Optimizer, RmsPropOptimizer};
/// assert_eq!(RmsPropOptimizer::new(0.01).centered(true).slot_names(), ["rms", "mg", "momentum"]);
/// ```
#[derive(Clone, Debug)]
#[doc(alias = "RMSPropOptimizer")]
pub struct RmsPropOptimizer {
    learning_rate: LearningRate,
    decay: f64,
    momentum: f64,
    epsilon: f64,
    centered: bool,
}

impl RmsPropOptimizer {
    /// RMSProp with steps of `learning_rate`: a number or a tensor.
    pub fn new(learning_rate: impl Into<LearningRate>) -> Self {
        RmsPropOptimizer {
            learning_rate: learning_rate.into(),
            decay: 0.9,
            momentum: 0.0,
            epsilon: 1e-10,
            centered: false,
        }
    }

    /// How much of the mean square remains at the next step, ρ. Default: 0.9.
    pub fn decay(mut self, decay: f64) -> Self {
        self.decay = decay;
        self
    }

    /// How much of the last change is made again. Default: 0.
    pub fn momentum(mut self, momentum: f64) -> Self {
        self.momentum = momentum;
        self
    }

    /// What keeps the divisor from 0, under the root. Default: 1e-10.
    pub fn epsilon(mut self, epsilon: f64) -> Self {
        self.epsilon = epsilon;
        self
    }

    /// Whether the square of the mean gradient is taken off the mean square, which leaves the variance. Default:
    /// false.
    pub fn centered(mut self, centered: bool) -> Self {
        self.centered = centered;
        self
    }
}

impl UpdateRule for RmsPropOptimizer {
    /// Learning rate, decay, momentum, epsilon.
    type Numbers = [Tensor; 4];

    fn slots(&self) -> Vec<(&'static str, Initializer)> {
        let mut slots = vec![("rms", Initializer::Ones)];
        if self.centered {
            slots.push(("mg", Initializer::Zeros));
        }
        slots.push(("momentum", Initializer::Zeros));
        slots
    }

    fn prepare(&self, graph: &Graph) -> Result<[Tensor; 4]> {
        Ok([
            self.learning_rate.build(graph)?,
            number(graph, "decay", self.decay)?,
            number(graph, "momentum", self.momentum)?,
            number(graph, "epsilon", self.epsilon)?,
        ])
    }

    fn update(
        &self,
        [learning_rate, decay, momentum, epsilon]: &[Tensor; 4],
        target: &Target<'_>,
    ) -> Result<Operation> {
        let (op, mut inputs) = match target.slots.as_slice() {
            [mean_square, mean_gradient, change] => {
                (StateOp::ResourceApplyCenteredRMSProp, vec![mean_gradient, mean_square, change])
            }
            slots => (StateOp::ResourceApplyRMSProp, slots.iter().collect()),
        };
        let (learning_rate, decay) = (target.number(learning_rate)?, target.number(decay)?);
        let (momentum, epsilon) = (target.number(momentum)?, target.number(epsilon)?);
        inputs.extend([&learning_rate, &decay, &momentum, &epsilon, target.gradient]);
        target.apply(op, &inputs)
    }
}

impl_optimizer!(RmsPropOptimizer, "RMSProp");
