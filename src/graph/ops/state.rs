//! Variables and the updates that optimizers make.

use super::{Outputs, Signature};
use crate::core::{DType, Result, Shape};

/// Reads and changes variables. The first inputs are variables' handles, in TensorFlow's order.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum StateOp {
    /// A variable's handle.
    VarHandleOp {
        /// The type of the variable's elements.
        dtype: DType,
        /// The variable's shape.
        shape: Vec<usize>,
    },
    /// A variable's value.
    ReadVariableOp {
        /// The type of the variable's elements.
        dtype: DType,
        /// The variable's shape.
        shape: Vec<usize>,
    },
    /// Inputs: var, value.
    AssignVariableOp,
    /// Inputs: var, value.
    AssignAddVariableOp,
    /// Inputs: var, value.
    AssignSubVariableOp,
    /// Inputs: var, alpha, delta.
    ResourceApplyGradientDescent,
    /// Inputs: var, accum, lr, grad, momentum.
    ResourceApplyMomentum {
        /// Nesterov's variant.
        use_nesterov: bool,
    },
    /// Inputs: var, accum, lr, grad.
    ResourceApplyAdagrad,
    /// Inputs: var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad.
    ResourceApplyAdam,
    /// Inputs: var, ms, mom, lr, rho, momentum, epsilon, grad.
    ResourceApplyRMSProp,
    /// Inputs: var, mg, ms, mom, lr, rho, momentum, epsilon, grad.
    ResourceApplyCenteredRMSProp,
    /// Inputs: var, accum, linear, grad, lr, l1, l2, lr_power.
    ResourceApplyFtrl,
}

impl StateOp {
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            StateOp::VarHandleOp { .. } => "VarHandleOp",
            StateOp::ReadVariableOp { .. } => "ReadVariableOp",
            StateOp::AssignVariableOp => "AssignVariableOp",
            StateOp::AssignAddVariableOp => "AssignAddVariableOp",
            StateOp::AssignSubVariableOp => "AssignSubVariableOp",
            StateOp::ResourceApplyGradientDescent => "ResourceApplyGradientDescent",
            StateOp::ResourceApplyMomentum { .. } => "ResourceApplyMomentum",
            StateOp::ResourceApplyAdagrad => "ResourceApplyAdagrad",
            StateOp::ResourceApplyAdam => "ResourceApplyAdam",
            StateOp::ResourceApplyRMSProp => "ResourceApplyRMSProp",
            StateOp::ResourceApplyCenteredRMSProp => "ResourceApplyCenteredRMSProp",
            StateOp::ResourceApplyFtrl => "ResourceApplyFtrl",
        }
    }

    /// How many of the first inputs are handles of variables that it changes.
    pub(crate) fn changed_variables(&self) -> usize {
        match self {
            StateOp::VarHandleOp { .. } | StateOp::ReadVariableOp { .. } => 0,
            StateOp::AssignVariableOp
            | StateOp::AssignAddVariableOp
            | StateOp::AssignSubVariableOp
            | StateOp::ResourceApplyGradientDescent => 1,
            StateOp::ResourceApplyMomentum { .. } | StateOp::ResourceApplyAdagrad => 2,
            StateOp::ResourceApplyAdam | StateOp::ResourceApplyRMSProp | StateOp::ResourceApplyFtrl => 3,
            StateOp::ResourceApplyCenteredRMSProp => 4,
        }
    }

    // Who builds these ops checks variables against gradients, with the variable's name in the message.
    pub(super) fn infer(&self, _inputs: &[Signature<'_>]) -> Result<Outputs> {
        Ok(match self {
            StateOp::VarHandleOp { .. } => vec![(DType::Resource, Shape::scalar())],
            StateOp::ReadVariableOp { dtype, shape } => vec![(*dtype, Shape::known(shape))],
            _ => vec![],
        })
    }
}
