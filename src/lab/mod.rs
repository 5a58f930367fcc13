//! The laboratory: what a notebook uses to test its own claims.
//!
//! Knows names, numbers and how many claims there are to be; knows nothing of models.

mod checks;
mod error;
mod lesson;

pub use checks::Checks;
pub use error::LabError;
pub use lesson::Lesson;
