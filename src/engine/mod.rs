//! Compiles a graph into a plan and runs it.

mod precision;

pub use precision::Precision;
