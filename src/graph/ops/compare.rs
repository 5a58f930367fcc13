//! Comparisons, truth values, and choosing by them.

use super::broadcast::{broadcast, unbroadcast};
use super::math::{Unary, unary};
use super::{Backward, Gradients, Op, Outputs, Signature, require_number, require_same_dtype, zeros_like};
use crate::core::{DType, Result};
use crate::graph::{GraphError, Tensor};

/// Two values in, a truth value out, with broadcasting; and `SelectV2`, which chooses by truth values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the variants carry the names of TensorFlow's ops")]
pub enum Compare {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    LogicalAnd,
    LogicalOr,
    /// Inputs: condition, value where true, value where false.
    SelectV2,
}

impl Compare {
    pub(crate) fn type_name(self) -> &'static str {
        match self {
            Compare::Equal => "Equal",
            Compare::NotEqual => "NotEqual",
            Compare::Less => "Less",
            Compare::LessEqual => "LessEqual",
            Compare::Greater => "Greater",
            Compare::GreaterEqual => "GreaterEqual",
            Compare::LogicalAnd => "LogicalAnd",
            Compare::LogicalOr => "LogicalOr",
            Compare::SelectV2 => "SelectV2",
        }
    }

    pub(super) fn infer(self, inputs: &[Signature<'_>]) -> Result<Outputs> {
        let op = self.type_name();
        let require_bool = |input: Signature<'_>| {
            if input.dtype == DType::Bool {
                return Ok(());
            }
            let (op, expected) = (op.to_string(), "bool".to_string());
            Err(crate::core::Error::from(GraphError::DType { op, found: input.dtype, expected }))
        };
        match self {
            Compare::SelectV2 => {
                require_bool(inputs[0])?;
                require_same_dtype(op, inputs[1], inputs[2])?;
                let values = broadcast(op, inputs[1].shape, inputs[2].shape)?;
                return Ok(vec![(inputs[1].dtype, broadcast(op, inputs[0].shape, &values)?)]);
            }
            Compare::LogicalAnd | Compare::LogicalOr => {
                require_bool(inputs[0])?;
                require_bool(inputs[1])?;
            }
            Compare::Equal | Compare::NotEqual if inputs[0].dtype == DType::Bool => {
                require_same_dtype(op, inputs[0], inputs[1])?;
            }
            _ => {
                require_same_dtype(op, inputs[0], inputs[1])?;
                require_number(op, inputs[0])?;
            }
        }
        Ok(vec![(DType::Bool, broadcast(op, inputs[0].shape, inputs[1].shape)?)])
    }

    pub(super) fn gradient(self, node: &Backward<'_>) -> Result<Gradients> {
        if self != Compare::SelectV2 {
            return Ok(vec![None, None]);
        }
        let (condition, dy) = (node.input(0), node.gradient(0)?);
        let zeros = zeros_like(dy)?;
        let left = where_(&condition, dy, &zeros)?;
        let right = where_(&condition, &zeros, dy)?;
        Ok(vec![None, Some(unbroadcast(&left, node, 1)?), Some(unbroadcast(&right, node, 2)?)])
    }
}

fn compare(op: Compare, a: &Tensor, b: &Tensor) -> Result<Tensor> {
    a.graph.add(Op::Compare(op), op.type_name(), &[a, b])
}

macro_rules! comparisons {
    ($($(#[$doc:meta])* $name:ident => $op:ident;)*) => {$(
        $(#[$doc])*
        ///
        /// Element by element, with broadcasting; the result is bool.
        ///
        /// # Errors
        /// `GRAPH001` if the shapes do not broadcast, `GRAPH003` and `GRAPH004` for the dtypes.
        pub fn $name(a: &Tensor, b: &Tensor) -> Result<Tensor> {
            compare(Compare::$op, a, b)
        }
    )*};
}

comparisons! {
    /// `a = b`. TensorFlow: `tf.equal`.
    equal => Equal;
    /// `a ≠ b`. TensorFlow: `tf.not_equal`.
    not_equal => NotEqual;
    /// `a < b`. TensorFlow: `tf.less`.
    less => Less;
    /// `a ≤ b`. TensorFlow: `tf.less_equal`.
    less_equal => LessEqual;
    /// `a > b`. TensorFlow: `tf.greater`.
    greater => Greater;
    /// `a ≥ b`. TensorFlow: `tf.greater_equal`.
    greater_equal => GreaterEqual;
    /// Both. TensorFlow: `tf.logical_and`.
    logical_and => LogicalAnd;
    /// Either. TensorFlow: `tf.logical_or`.
    logical_or => LogicalOr;
}

/// The opposite of each truth value. TensorFlow: `tf.logical_not`.
///
/// # Errors
/// `GRAPH004` if `x` is not bool.
pub fn logical_not(x: &Tensor) -> Result<Tensor> {
    unary(Unary::LogicalNot, x)
}

/// Elements of `x` where `condition` is true, of `y` elsewhere, with broadcasting. TensorFlow: `tf.where` (v2).
///
/// # Errors
/// `GRAPH001` if the shapes do not broadcast, `GRAPH003` if `x` and `y` differ in dtype, `GRAPH004` if `condition` is
/// not bool.
pub fn where_(condition: &Tensor, x: &Tensor, y: &Tensor) -> Result<Tensor> {
    x.graph.add(Op::Compare(Compare::SelectV2), "SelectV2", &[condition, x, y])
}
