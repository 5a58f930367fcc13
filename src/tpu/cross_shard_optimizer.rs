//! Averages gradients over the cores.

use super::ProgramError;
use crate::core::Result;
use crate::graph::ops::cross_replica_sum;
use crate::graph::{Operation, Tensor, Variable};
use crate::losses::Reduction;
use crate::train::{GradientAndVariable, Optimizer};

/// Lets every core apply the same gradient: the mean (or sum) over the shards' gradients, all-reduced. TensorFlow:
/// `tf.contrib.tpu.CrossShardOptimizer`.
///
/// For the mean, the loss is divided by the number of cores before it is differentiated, and the cores' gradients are
/// then summed; whatever stands between the two, such as clipping, sees a core's own gradient, already divided. With
/// shards of equal size and a mean loss the result is the gradient of the whole batch.
///
/// # Examples
/// ```
/// use tpulab::prelude::*;
/// use tpulab::train::AdagradOptimizer;
/// let optimizer = CrossShardOptimizer::new(AdagradOptimizer::new(0.1));
/// assert_eq!(optimizer.name(), "Adagrad");
/// ```
#[derive(Debug)]
pub struct CrossShardOptimizer {
    optimizer: Box<dyn Optimizer>,
    reduction: Reduction,
    group_assignment: Option<Vec<Vec<usize>>>,
}

impl CrossShardOptimizer {
    /// Averages the gradients for `optimizer`.
    pub fn new(optimizer: impl Optimizer + 'static) -> Self {
        CrossShardOptimizer { optimizer: Box::new(optimizer), reduction: Reduction::Mean, group_assignment: None }
    }

    /// How the shards' gradients become one: `Reduction::Mean`, the default, or `Reduction::Sum`.
    pub fn reduction(mut self, reduction: Reduction) -> Self {
        self.reduction = reduction;
        self
    }

    /// Groups of cores that average among themselves alone: each core in one group, all of one size. Groups drift
    /// apart; a checkpoint holds core 0's variables.
    pub fn group_assignment(mut self, groups: Vec<Vec<usize>>) -> Self {
        self.group_assignment = Some(groups);
        self
    }
}

impl Optimizer for CrossShardOptimizer {
    fn name(&self) -> &str {
        self.optimizer.name()
    }

    fn slot_names(&self) -> Vec<&'static str> {
        self.optimizer.slot_names()
    }

    fn compute_gradients(&self, loss: &Tensor, variables: Option<&[Variable]>) -> Result<Vec<GradientAndVariable>> {
        let graph = loss.graph();
        let replicas = graph.replicas().ok_or(ProgramError::CrossShardOffTpu)?;
        let shards = match &self.group_assignment {
            Some(groups) => groups.first().map_or(replicas, Vec::len),
            None => replicas,
        };
        match self.reduction {
            Reduction::Sum => self.optimizer.compute_gradients(loss, variables),
            Reduction::Mean if shards == 1 => self.optimizer.compute_gradients(loss, variables),
            Reduction::Mean => {
                let scale = graph.number_like("scale", 1.0 / shards as f64, loss)?;
                self.optimizer.compute_gradients(&crate::graph::ops::multiply(loss, &scale)?, variables)
            }
            other => Err(ProgramError::Reduction { found: format!("{other:?}") }.into()),
        }
    }

    fn apply_gradients(
        &self,
        gradients_and_variables: &[GradientAndVariable],
        global_step: Option<&Variable>,
    ) -> Result<Operation> {
        let mut summed = Vec::with_capacity(gradients_and_variables.len());
        for (gradient, variable) in gradients_and_variables {
            let gradient = match gradient {
                Some(gradient) => {
                    gradient.graph().replicas().ok_or(ProgramError::CrossShardOffTpu)?;
                    Some(cross_replica_sum(gradient, self.group_assignment.clone())?)
                }
                None => None,
            };
            summed.push((gradient, variable.clone()));
        }
        self.optimizer.apply_gradients(&summed, global_step)
    }
}
