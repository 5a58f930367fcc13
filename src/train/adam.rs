//! Adam.

use super::LearningRate;
use super::number::number;
use super::slot::extra_variable;
use super::update::{Target, UpdateRule, impl_optimizer};
use crate::core::{Array, DType, Result};
use crate::graph::ops::{self, StateOp};
use crate::graph::{Graph, Initializer, Operation, Tensor, Variable};

/// Adam: `m ← β₁·m + (1 - β₁)·g`, `v ← β₂·v + (1 - β₂)·g²`, `w ← w - α·m / (√v + ε)` with
/// `α = learning_rate · √(1 - β₂ᵗ) / (1 - β₁ᵗ)`. TensorFlow: `tf.train.AdamOptimizer`.
///
/// Slots: `…/Adam` (m) and `…/Adam_1` (v); the powers of β are the variables `beta1_power` and `beta2_power`. Kingma
/// and Ba, 2015, where this ε is called ε̂.
///
/// # Examples
/// ```
/// use tpulab::train::{AdamOptimizer, Optimizer};
/// assert_eq!(AdamOptimizer::new(0.001).epsilon(1e-7).slot_names(), ["m", "v"]);
/// ```
#[derive(Clone, Debug)]
pub struct AdamOptimizer {
    learning_rate: LearningRate,
    beta1: f64,
    beta2: f64,
    epsilon: f64,
}

impl AdamOptimizer {
    /// Adam with steps of `learning_rate`, a number or a tensor; TensorFlow's default is 0.001.
    pub fn new(learning_rate: impl Into<LearningRate>) -> Self {
        AdamOptimizer { learning_rate: learning_rate.into(), beta1: 0.9, beta2: 0.999, epsilon: 1e-8 }
    }

    /// How much of the mean gradient remains at the next step. Default: 0.9.
    pub fn beta1(mut self, beta1: f64) -> Self {
        self.beta1 = beta1;
        self
    }

    /// How much of the mean square remains at the next step. Default: 0.999.
    pub fn beta2(mut self, beta2: f64) -> Self {
        self.beta2 = beta2;
        self
    }

    /// What keeps the divisor from 0. Default: 1e-8.
    pub fn epsilon(mut self, epsilon: f64) -> Self {
        self.epsilon = epsilon;
        self
    }
}

/// What all of Adam's updates read.
pub(super) struct AdamNumbers {
    beta1_power: Variable,
    beta2_power: Variable,
    learning_rate: Tensor,
    beta1: Tensor,
    beta2: Tensor,
    epsilon: Tensor,
}

impl UpdateRule for AdamOptimizer {
    type Numbers = AdamNumbers;

    fn slots(&self) -> Vec<(&'static str, Initializer)> {
        vec![("m", Initializer::Zeros), ("v", Initializer::Zeros)]
    }

    fn prepare(&self, graph: &Graph) -> Result<AdamNumbers> {
        let power = |name: &str, first: f64| {
            let name = graph.unique_variable_scope(name);
            extra_variable(graph, &name, &[], DType::Float32, Initializer::Constant(Array::from(first)))
        };
        Ok(AdamNumbers {
            beta1_power: power("beta1_power", self.beta1)?,
            beta2_power: power("beta2_power", self.beta2)?,
            learning_rate: self.learning_rate.build(graph)?,
            beta1: number(graph, "beta1", self.beta1)?,
            beta2: number(graph, "beta2", self.beta2)?,
            epsilon: number(graph, "epsilon", self.epsilon)?,
        })
    }

    fn update(&self, numbers: &AdamNumbers, target: &Target<'_>) -> Result<Operation> {
        let AdamNumbers { beta1_power, beta2_power, learning_rate, beta1, beta2, epsilon } = numbers;
        target.apply(
            StateOp::ResourceApplyAdam,
            &[
                &target.slots[0],
                &target.slots[1],
                &target.number(&beta1_power.value())?,
                &target.number(&beta2_power.value())?,
                &target.number(learning_rate)?,
                &target.number(beta1)?,
                &target.number(beta2)?,
                &target.number(epsilon)?,
                target.gradient,
            ],
        )
    }

    fn finish(&self, numbers: &AdamNumbers, updates: &[Operation]) -> Result<Vec<Operation>> {
        let AdamNumbers { beta1_power, beta2_power, beta1, beta2, .. } = numbers;
        // Every update reads the powers before they move on.
        beta1.graph().control_dependencies(updates, || {
            let next = |power: &Variable, beta: &Tensor| power.assign(&ops::multiply(&power.value(), beta)?);
            Ok(vec![next(beta1_power, beta1)?, next(beta2_power, beta2)?])
        })
    }
}

impl_optimizer!(AdamOptimizer, "Adam");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::Shape;
    use crate::layers;
    use crate::train::Optimizer;

    #[test]
    fn powers_move_on_after_every_update() {
        let graph = Graph::new();
        let x = graph.placeholder("x", DType::Float32, Shape::new(&[None, Some(4)]));
        let loss = ops::reduce_mean(&layers::dense(&x, 1, None).unwrap(), &[]).unwrap();
        AdamOptimizer::new(0.1).minimize(&loss, None).unwrap();
        let nodes = graph.nodes();
        let assign = graph.tensor("Adam/mul").unwrap().op();
        let waits: Vec<&str> = nodes
            .iter()
            .find(|node| node.name == assign.name())
            .map_or_else(Vec::new, |node| node.control_inputs.iter().map(|&id| nodes[id].name.as_str()).collect());
        assert_eq!(waits, ["Adam/update_dense/kernel/ResourceApplyAdam", "Adam/update_dense/bias/ResourceApplyAdam"]);
        let names: Vec<String> = graph.variables().iter().skip(2).map(Variable::name).collect();
        assert_eq!(
            names,
            [
                "dense/kernel/Adam",
                "dense/kernel/Adam_1",
                "dense/bias/Adam",
                "dense/bias/Adam_1",
                "beta1_power",
                "beta2_power"
            ]
        );
    }
}
