//! What can go wrong in the laboratory.

use crate::core::{Exception, Explain, Explanation};

/// What can go wrong in the laboratory.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum LabError {
    /// Checks failed, or were never made.
    Checks {
        /// How many passed.
        passed: usize,
        /// How many there should be.
        expected: usize,
        /// How many were made.
        made: usize,
        /// The names of those that failed.
        failed: Vec<String>,
    },
    /// Data that a baseline cannot be fitted to.
    Fit {
        /// What is wrong.
        problem: String,
    },
    /// Other features than a baseline was fitted to.
    OtherFeatures {
        /// Those of the fit.
        expected: Vec<String>,
        /// Those found.
        found: Vec<String>,
    },
}

impl Explain for LabError {
    fn explain(&self) -> Explanation {
        match self {
            LabError::Checks { passed, expected, made, failed } => {
                let names = failed.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
                let names = if failed.is_empty() { names } else { format!("; failed: {names}") };
                let message = format!("{passed} of {expected} checks passed, {made} made{names}");
                Explanation::new("LAB001", Exception::RuntimeError, message).help(if failed.is_empty() {
                    "run every cell above, and expect as many checks as there are"
                } else {
                    "look at the cell that makes the first of them"
                })
            }
            LabError::Fit { problem } => {
                Explanation::new("LAB002", Exception::ValueError, format!("no regression can be fitted: {problem}"))
                    .help("give it rows of at least two classes, all numbers finite")
            }
            LabError::OtherFeatures { expected, found } => {
                let message = format!("the model was fitted to the features {expected:?}, found {found:?}");
                Explanation::new("LAB003", Exception::ValueError, message)
                    .help("select the same columns in the same order")
            }
        }
    }
}
