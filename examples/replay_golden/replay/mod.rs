//! A training with known results, made again through the public estimators.
//!
//! Knows the form of the files in `tests/golden`. Knows no tolerances: who compares chooses them.

mod applied_gradients;
mod data;
mod error;
mod fields;
mod golden;
mod model;
mod optimizer;
mod run;
mod trainer;

pub use error::GoldenError;
pub use golden::Golden;
pub use run::Replay;
pub use trainer::Runner;
