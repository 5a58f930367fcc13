//! The laboratory: what a notebook uses to test its own claims.
//!
//! Knows names, numbers, how many claims there are to be, and with the feature `linfa` a baseline; knows nothing of
//! networks.

mod checks;
mod error;
mod lesson;
#[cfg(feature = "linfa")]
mod logistic_regression;

pub use checks::Checks;
pub use error::LabError;
pub use lesson::Lesson;
#[cfg(feature = "linfa")]
pub use logistic_regression::LogisticRegression;
