//! Gradient descent with momentum.

use super::LearningRate;
use super::number::number;
use super::update::{Target, UpdateRule, impl_optimizer};
use crate::core::Result;
use crate::graph::ops::StateOp;
use crate::graph::{Graph, Initializer, Operation, Tensor};

/// Momentum: `a ← momentum · a + g`, `w ← w - learning_rate · a`, with `a` from 0. TensorFlow:
/// `tf.train.MomentumOptimizer`.
///
/// Slot: `…/Momentum`.
///
/// # Examples
/// ```
/// use tpulab::train::{MomentumOptimizer, Optimizer};
/// assert_eq!(MomentumOptimizer::new(0.1, 0.9).use_nesterov(true).slot_names(), ["momentum"]);
/// ```
#[derive(Clone, Debug)]
pub struct MomentumOptimizer {
    learning_rate: LearningRate,
    momentum: f64,
    use_nesterov: bool,
}

impl MomentumOptimizer {
    /// Momentum with steps of `learning_rate` (a number or a tensor), of which `momentum` remains at the next.
    pub fn new(learning_rate: impl Into<LearningRate>, momentum: f64) -> Self {
        MomentumOptimizer { learning_rate: learning_rate.into(), momentum, use_nesterov: false }
    }

    /// Whether a step goes by `g + momentum · a` instead of `a` (Nesterov). Default: false.
    pub fn use_nesterov(mut self, use_nesterov: bool) -> Self {
        self.use_nesterov = use_nesterov;
        self
    }
}

impl UpdateRule for MomentumOptimizer {
    /// Learning rate, momentum.
    type Numbers = (Tensor, Tensor);

    fn slots(&self) -> Vec<(&'static str, Initializer)> {
        vec![("momentum", Initializer::Zeros)]
    }

    fn prepare(&self, graph: &Graph) -> Result<Self::Numbers> {
        Ok((self.learning_rate.build(graph)?, number(graph, "momentum", self.momentum)?))
    }

    fn update(&self, (learning_rate, momentum): &Self::Numbers, target: &Target<'_>) -> Result<Operation> {
        let op = StateOp::ResourceApplyMomentum { use_nesterov: self.use_nesterov };
        let (learning_rate, momentum) = (target.number(learning_rate)?, target.number(momentum)?);
        target.apply(op, &[&target.slots[0], &learning_rate, target.gradient, &momentum])
    }
}

impl_optimizer!(MomentumOptimizer, "Momentum");
