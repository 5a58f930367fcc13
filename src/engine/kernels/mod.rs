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
pub(crate) use product::{Finish, Right, product};
pub(crate) use real::Real;
pub(crate) use softmax::{Examples, WrongLabel, log_softmax, softmax, sparse_cross_entropy};

/// Numbers between -1 and 1 for tests, other ones for each `seed`.
#[cfg(test)]
fn numbers(count: usize, seed: u32) -> Vec<f32> {
    let mut state = seed.wrapping_mul(2_654_435_761) | 1;
    let next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state as f32 / (1u32 << 31) as f32 - 1.0
    };
    std::iter::repeat_with(next).take(count).collect()
}
