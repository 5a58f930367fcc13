//! What can be wrong with a golden file and with the command line.

use tpulab::core::{Exception, Explain, Explanation};

/// What can be wrong with a golden file and with the command line.
#[derive(Clone, Debug, PartialEq)]
pub enum GoldenError {
    /// The command line makes no sense.
    Usage { found: String },
    /// The file cannot be read, or is no JSON.
    Unreadable { path: String, problem: String },
    /// A field that must be there is not.
    Missing { field: String, expected: String },
    /// A field's value cannot be used.
    Value { field: String, found: String, expected: String },
    /// A field that nobody asks for: to skip it could change what the numbers mean.
    Unknown { field: String, known: Vec<String> },
}

impl Explain for GoldenError {
    fn explain(&self) -> Explanation {
        use Exception::{KeyError, NotFoundError, ValueError};
        match self {
            GoldenError::Usage { found } => {
                Explanation::new("GOLD001", ValueError, format!("the command line has {found}"))
                    .help("usage: replay_golden FILE --runner estimator|tpu_cpu|tpu")
            }
            GoldenError::Unreadable { path, problem } => {
                Explanation::new("GOLD002", NotFoundError, format!("{path}: {problem}"))
                    .help("name a JSON file such as those in tests/golden")
            }
            GoldenError::Missing { field, expected } => {
                Explanation::new("GOLD003", KeyError, format!("no field `{field}`; expected {expected}"))
            }
            GoldenError::Value { field, found, expected } => {
                Explanation::new("GOLD004", ValueError, format!("field `{field}` is {found}; expected {expected}"))
            }
            GoldenError::Unknown { field, known } => {
                Explanation::new("GOLD005", KeyError, format!("unknown field `{field}`"))
                    .help(format!("known here are {}", known.join(", ")))
            }
        }
    }
}
