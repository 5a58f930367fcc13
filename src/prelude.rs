//! All that a notebook cell or a program needs, by name.

pub use crate::core::{Array, DType, Error, Exception, Result, Shape};
pub use crate::data::{Batch, Column, Dataset, Frame, Remainder};
pub use crate::graph::{Graph, Initializer, Operation, Tensor, Tensors, Variable, VariableOptions};
