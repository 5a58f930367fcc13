//! The arithmetic of large steps: pure functions on slices.
//!
//! Knows numbers and instruction sets, and nothing of graphs, plans or banks.

mod dispatch;
mod exponential;
mod parameter_gradients;
mod product;
mod real;
mod softmax;

pub(crate) use dispatch::vectorised;
pub(crate) use parameter_gradients::{column_sums, weight_gradients};
pub(crate) use product::{Right, product};
pub(crate) use real::Real;
pub(crate) use softmax::{WrongLabel, log_softmax, softmax, sparse_cross_entropy};
