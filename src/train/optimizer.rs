//! What every optimizer can do.

use super::TrainError;
use crate::core::Result;
use crate::graph::{GraphError, Operation, Tensor, Variable, gradients};
use std::fmt;

/// A gradient, `None` where the loss does not depend on the variable, and its variable.
pub type GradientAndVariable = (Option<Tensor>, Variable);

/// Changes variables so that a loss becomes smaller. TensorFlow: `tf.train.Optimizer`.
///
/// [`minimize`](Optimizer::minimize) does all. To look at the gradients or to clip them, call its two halves.
/// Optimizers wrap each other: one that holds another hands the calls on and does its own work in between.
///
/// # Examples
/// ```
/// use tpulab as tf;
/// use tpulab::prelude::*;
/// use tpulab::train::{AdagradOptimizer, Optimizer};
/// let graph = Graph::new();
/// let x = graph.placeholder("x", DType::Float32, Shape::new(&[None, Some(4)]));
/// let loss = tf::reduce_mean(&tf::layers::dense(&x, 1, None)?, &[])?;
///
/// let optimizer = AdagradOptimizer::new(0.1);
/// let mut clipped = Vec::new();
/// for (gradient, variable) in optimizer.compute_gradients(&loss, None)? {
///     let gradient = gradient.map(|gradient| tf::clip_by_value(&gradient, -1.0, 1.0)).transpose()?;
///     clipped.push((gradient, variable));
/// }
/// let train_op = optimizer.apply_gradients(&clipped, Some(&graph.global_step()))?;
/// assert_eq!(train_op.name(), "Adagrad");
/// # Ok::<(), Error>(())
/// ```
pub trait Optimizer: fmt::Debug {
    /// The name that its ops start with and its slots end with, such as `Adagrad`.
    fn name(&self) -> &str;

    /// What it keeps for each variable, in TensorFlow's words, such as `accumulator`.
    fn slot_names(&self) -> Vec<&'static str>;

    /// The gradient of the scalar `loss` for each of `variables`; without them, for each trainable variable.
    ///
    /// # Errors
    /// `TRAIN001` if there are no variables, `GRAPH002` if `loss` is not one number, `GRAPH004` if it is not floating
    /// point, `GRAPH009` if an op on the way has no gradient.
    fn compute_gradients(&self, loss: &Tensor, variables: Option<&[Variable]>) -> Result<Vec<GradientAndVariable>> {
        let variables = variables.map_or_else(|| loss.graph().trainable_variables(), <[Variable]>::to_vec);
        if variables.is_empty() {
            return Err(TrainError::NoVariables.into());
        }
        if !loss.dtype().is_floating() {
            let (op, expected) = (format!("loss `{}`", loss.name()), "floating point".to_string());
            return Err(GraphError::DType { op, found: loss.dtype(), expected }.into());
        }
        Ok(gradients(loss, &variables)?.into_iter().zip(variables).collect())
    }

    /// One operation that updates each variable that has a gradient, and then adds 1 to `global_step`, if given.
    ///
    /// Makes the variables that it keeps for each variable: its slots.
    ///
    /// # Errors
    /// `TRAIN001` for no pairs, `TRAIN002` if no pair has a gradient, `TRAIN003` if one does not fit its variable,
    /// `TRAIN004` and `TRAIN005` for the optimizer's own numbers.
    fn apply_gradients(
        &self,
        gradients_and_variables: &[GradientAndVariable],
        global_step: Option<&Variable>,
    ) -> Result<Operation>;

    /// One operation that makes one training step: gradients of `loss` for all trainable variables, updates, and 1
    /// more on `global_step`, if given.
    ///
    /// # Errors
    /// Those of [`compute_gradients`](Optimizer::compute_gradients) and [`apply_gradients`](Optimizer::apply_gradients).
    fn minimize(&self, loss: &Tensor, global_step: Option<&Variable>) -> Result<Operation> {
        self.apply_gradients(&self.compute_gradients(loss, None)?, global_step)
    }
}

/// A pointer to an optimizer is one too, so wrappers take either.
macro_rules! forward {
    ($pointer:ty) => {
        impl<T: Optimizer + ?Sized> Optimizer for $pointer {
            fn name(&self) -> &str {
                (**self).name()
            }

            fn slot_names(&self) -> Vec<&'static str> {
                (**self).slot_names()
            }

            fn compute_gradients(
                &self,
                loss: &Tensor,
                variables: Option<&[Variable]>,
            ) -> Result<Vec<GradientAndVariable>> {
                (**self).compute_gradients(loss, variables)
            }

            fn apply_gradients(
                &self,
                gradients_and_variables: &[GradientAndVariable],
                global_step: Option<&Variable>,
            ) -> Result<Operation> {
                (**self).apply_gradients(gradients_and_variables, global_step)
            }

            fn minimize(&self, loss: &Tensor, global_step: Option<&Variable>) -> Result<Operation> {
                (**self).minimize(loss, global_step)
            }
        }
    };
}

forward!(&T);
forward!(Box<T>);
