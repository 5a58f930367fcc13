//! The symbolic graph: tensors, ops, shapes and gradients.
//!
//! Knows no files and no training, and computes nothing: it records what a run will compute, checks
//! shapes and dtypes while it is built, and derives gradients as further nodes.

mod description;
mod error;
mod gradients;
#[allow(clippy::module_inception, reason = "the folder is named after the type that it is about")]
mod graph;
pub mod ops;
mod tensor;
mod tensors;
mod variable;

pub use description::{ModelDescription, VariableDescription};
pub use error::GraphError;
pub use gradients::gradients;
pub use graph::{Graph, Node, NodeId};
pub use tensor::{Operation, Tensor};
pub use tensors::Tensors;
pub(crate) use variable::LOCAL_VARIABLES;
pub use variable::{Initializer, Variable, VariableOptions};
