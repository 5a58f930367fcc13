//! What can go wrong with data.

use crate::core::{Exception, Explain, Explanation};

/// What can go wrong with columns, frames, files and datasets.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum DataError {
    /// One number, where rows are needed.
    NoRows,
    /// Two columns have one name.
    DuplicateName {
        /// The name.
        name: String,
    },
    /// Two columns differ in length.
    Lengths {
        /// A column and its rows.
        left: (String, usize),
        /// Another and its rows.
        right: (String, usize),
    },
    /// An argument of a dataset makes no sense.
    Dataset {
        /// The method.
        method: &'static str,
        /// What is wrong.
        problem: String,
        /// The way out.
        help: &'static str,
    },
    /// A saved position does not belong to this dataset.
    Position {
        /// Why.
        problem: String,
    },
}

impl Explain for DataError {
    fn explain(&self) -> Explanation {
        use Exception::ValueError;
        match self {
            DataError::NoRows => Explanation::new("DATA001", ValueError, "expected values with rows, found one number")
                .help("give one entry for each example"),
            DataError::DuplicateName { name } => {
                Explanation::new("DATA002", ValueError, format!("two columns are called `{name}`"))
                    .help("rename one of them")
            }
            DataError::Lengths { left, right } => Explanation::new(
                "DATA003",
                ValueError,
                format!("`{}` has {} rows, `{}` has {}", left.0, left.1, right.0, right.1),
            )
            .help("all columns must have one entry for each example"),
            DataError::Dataset { method, problem, help } => {
                Explanation::new("DATA004", ValueError, format!("{method}: {problem}")).help(*help)
            }
            DataError::Position { problem } => {
                Explanation::new("DATA005", ValueError, format!("a saved position does not fit: {problem}"))
                    .help("start the input from its beginning")
            }
        }
    }
}
