//! What can go wrong with event files.

use crate::core::{Exception, Explain, Explanation};

/// What can go wrong with event files.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SummaryError {
    /// A file is no event file, or it was damaged.
    Damaged {
        /// The file.
        file: String,
        /// What is wrong.
        problem: String,
    },
    /// There is no event file.
    NoEvents {
        /// Where it was looked for.
        folder: String,
    },
}

impl Explain for SummaryError {
    fn explain(&self) -> Explanation {
        match self {
            SummaryError::Damaged { file, problem } => Explanation::new(
                "SUM001",
                Exception::DataLossError,
                format!("`{file}` is no event file, or it was damaged: {problem}"),
            )
            .help("name a file events.out.tfevents.…, or remove this one and train on"),
            SummaryError::NoEvents { folder } => {
                Explanation::new("SUM002", Exception::NotFoundError, format!("`{folder}` holds no event file"))
                    .help("train first, with the same model_dir; an evaluation's are in its folder `eval`")
            }
        }
    }
}
