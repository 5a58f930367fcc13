//! Values and errors: what every other floor stands on.
//!
//! Knows plain values only: no files, no graph, no notebook.

mod array;
mod clock;
mod dtype;
mod error;
pub(crate) mod json;
mod nearest;
mod philox;
mod shape;

pub(crate) use array::for_each_type;
pub use array::{Array, Data, Element};
pub use clock::Clock;
pub use dtype::DType;
pub use error::{Error, Exception, Explain, Explanation, Result, ValueError};
pub use json::JsonError;
pub(crate) use nearest::nearest;
pub(crate) use philox::Philox;
pub use shape::Shape;
