//! What can go wrong while a plan is compiled or run.

use crate::core::{DType, Exception, Explain, Explanation, Shape};

/// What can go wrong while a plan is compiled or run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum EngineError {
    /// A label names no class.
    Label {
        /// The op.
        op: String,
        /// The row of the batch.
        row: usize,
        /// The label.
        label: i64,
        /// The number of classes.
        classes: usize,
    },
    /// An index names no slice.
    Index {
        /// The op.
        op: String,
        /// The index.
        index: i64,
        /// How many slices there are.
        size: usize,
    },
    /// A checked value holds NaN or infinity.
    NotFinite {
        /// The op.
        op: String,
        /// What the check was told to say.
        message: String,
    },
    /// The batch does not fit the graph's inputs.
    Input {
        /// The input's name.
        name: String,
        /// What the graph expects.
        expected: (DType, Shape),
        /// What the batch holds.
        found: (DType, Vec<usize>),
    },
    /// The batch has no such column.
    NoInput {
        /// The input's name.
        name: String,
    },
    /// Rows that the replicas cannot share.
    Rows {
        /// How many rows there are.
        rows: usize,
        /// How many replicas.
        replicas: usize,
    },
    /// An op that the engine cannot run as asked.
    Unsupported {
        /// The op.
        op: String,
        /// Why.
        reason: String,
    },
    /// A worker thread panicked.
    Worker {
        /// The panic's message.
        message: String,
    },
}

impl Explain for EngineError {
    fn explain(&self) -> Explanation {
        use Exception::{InternalError, InvalidArgumentError, ValueError};
        match self {
            EngineError::Label { op, row, label, classes } => Explanation::new(
                "ENGINE001",
                InvalidArgumentError,
                format!(
                    "{op}: row {row} of the batch has label {label}, but there are classes 0 to {}",
                    *classes as i64 - 1
                ),
            )
            .help("check the labels, and that the last layer has one unit for each class"),
            EngineError::Index { op, index, size } => Explanation::new(
                "ENGINE002",
                InvalidArgumentError,
                format!("{op}: index {index} is outside 0 to {}", *size as i64 - 1),
            ),
            EngineError::NotFinite { op, message } => {
                Explanation::new("ENGINE003", InvalidArgumentError, format!("{op}: {message}: found NaN or infinity"))
            }
            EngineError::Input { name, expected, found } => Explanation::new(
                "ENGINE004",
                ValueError,
                format!("input `{name}`: expected {} {}, found {} {:?}", expected.0, expected.1, found.0, found.1),
            ),
            EngineError::NoInput { name } => {
                Explanation::new("ENGINE005", ValueError, format!("input `{name}` was given no value"))
                    .help("run it with a batch that has this column")
            }
            EngineError::Rows { rows, replicas } => Explanation::new(
                "ENGINE006",
                ValueError,
                format!("{rows} rows cannot be shared by {replicas} replicas"),
            )
            .help(format!("use a multiple of {replicas}")),
            EngineError::Unsupported { op, reason } => {
                Explanation::new("ENGINE007", ValueError, format!("{op}: {reason}"))
            }
            EngineError::Worker { message } => {
                Explanation::new("ENGINE008", InternalError, format!("a worker thread panicked: {message}"))
                    .help("this is a fault of tpulab itself; please report it")
            }
        }
    }
}
