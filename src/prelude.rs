//! All that a notebook cell or a program needs, by name.

pub use crate::core::{Array, DType, Error, Exception, Result, Shape};
