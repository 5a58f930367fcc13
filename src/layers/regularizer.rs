//! Penalties on large weights.

use crate::core::Result;
use crate::graph::ops::{self, Binary, Op};
use crate::graph::{GraphError, Tensor};

/// What a layer adds to the collection `regularization_losses` for its weights. Made by [`l1_regularizer`] and
/// [`l2_regularizer`].
#[derive(Clone, Debug, PartialEq)]
pub struct Regularizer {
    norm: Norm,
    scale: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Norm {
    L1,
    L2,
}

/// `scale · Σ |w|`. TensorFlow: `tf.contrib.layers.l1_regularizer`.
///
/// # Errors
/// `GRAPH006` unless `scale` is a finite number of 0 or more; 0 adds nothing.
pub fn l1_regularizer(scale: f64) -> Result<Regularizer> {
    Regularizer::new(Norm::L1, scale)
}

/// `scale · Σ w² / 2`. TensorFlow: `tf.contrib.layers.l2_regularizer`.
///
/// # Errors
/// `GRAPH006` unless `scale` is a finite number of 0 or more; 0 adds nothing.
pub fn l2_regularizer(scale: f64) -> Result<Regularizer> {
    Regularizer::new(Norm::L2, scale)
}

/// The collection that holds the penalties of a graph.
pub(crate) const REGULARIZATION_LOSSES: &str = "regularization_losses";

impl Regularizer {
    fn new(norm: Norm, scale: f64) -> Result<Self> {
        let regularizer = Regularizer { norm, scale };
        if scale.is_finite() && scale >= 0.0 {
            return Ok(regularizer);
        }
        let (op, problem) = (regularizer.name().to_string(), format!("the scale is {scale}"));
        Err(GraphError::Argument { op, problem, help: "give a finite scale of 0 or more".to_string() }.into())
    }

    fn name(&self) -> &'static str {
        match self.norm {
            Norm::L1 => "l1_regularizer",
            Norm::L2 => "l2_regularizer",
        }
    }

    /// Adds the penalty for `weights`, the variable `name` of the layer whose scope is open.
    pub(super) fn apply(&self, name: &str, weights: &Tensor) -> Result<()> {
        if self.scale == 0.0 {
            return Ok(());
        }
        let graph = weights.graph();
        let penalty = graph.name_scope(&format!("{name}/Regularizer"), || -> Result<Tensor> {
            let own = self.name();
            let scale = graph.number_like(&format!("{own}/scale"), self.scale, weights)?;
            let norm = graph.in_scope(format!("{}/{own}", graph.scope()), || match self.norm {
                Norm::L1 => ops::reduce_sum(&ops::abs(weights)?, &[]),
                Norm::L2 => ops::l2_loss(weights),
            })?;
            graph.add(Op::Binary(Binary::Mul), own, &[&scale, &norm])
        })?;
        graph.add_to_collection(REGULARIZATION_LOSSES, &penalty);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{DType, Shape};
    use crate::graph::Graph;
    use crate::layers::Dense;

    #[test]
    fn penalties_have_tensorflows_names() {
        let graph = Graph::new();
        let x = graph.placeholder("x", DType::Float32, Shape::new(&[None, Some(4)]));
        let x = Dense::new(3).kernel_regularizer(l2_regularizer(0.5).unwrap()).apply(&x).unwrap();
        let x = Dense::new(3).kernel_regularizer(l1_regularizer(0.5).unwrap()).apply(&x).unwrap();
        Dense::new(3).kernel_regularizer(l2_regularizer(0.0).unwrap()).apply(&x).unwrap();
        let names: Vec<String> = graph.nodes().into_iter().map(|node| node.name).collect();
        let names: Vec<&String> = names.iter().filter(|name| name.contains("Regularizer")).collect();
        assert_eq!(
            names,
            [
                "dense/kernel/Regularizer/l2_regularizer/scale",
                "dense/kernel/Regularizer/l2_regularizer/L2Loss",
                "dense/kernel/Regularizer/l2_regularizer",
                "dense_1/kernel/Regularizer/l1_regularizer/scale",
                "dense_1/kernel/Regularizer/l1_regularizer/Abs",
                "dense_1/kernel/Regularizer/l1_regularizer/Sum",
                "dense_1/kernel/Regularizer/l1_regularizer",
            ]
        );
        assert_eq!(graph.collection(REGULARIZATION_LOSSES).len(), 2);
    }

    #[test]
    fn a_scale_that_is_no_penalty_is_refused() {
        let expected = "GRAPH006: l2_regularizer: the scale is -0.1; give a finite scale of 0 or more";
        assert_eq!(l2_regularizer(-0.1).unwrap_err().to_string(), expected);
        assert_eq!(l1_regularizer(f64::NAN).unwrap_err().code(), "GRAPH006");
    }
}
