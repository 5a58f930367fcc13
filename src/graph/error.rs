//! What can go wrong while a graph is built.

use crate::core::{DType, Exception, Explain, Explanation, Shape};

/// What can go wrong while a graph is built.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum GraphError {
    /// Two shapes do not go together.
    Shapes {
        /// The op.
        op: String,
        /// The left side.
        left: Shape,
        /// The right side.
        right: Shape,
        /// The rule that they break.
        rule: String,
    },
    /// One shape does not suit the op.
    Shape {
        /// The op.
        op: String,
        /// What was found.
        found: Shape,
        /// What the op needs.
        expected: String,
    },
    /// Two dtypes do not go together.
    DTypes {
        /// The op.
        op: String,
        /// The left side.
        left: DType,
        /// The right side.
        right: DType,
    },
    /// One dtype does not suit the op.
    DType {
        /// The op.
        op: String,
        /// What was found.
        found: DType,
        /// What the op accepts.
        expected: String,
    },
    /// Tensors of two graphs meet in one op.
    AnotherGraph {
        /// The op.
        op: String,
        /// The tensor that belongs elsewhere.
        tensor: String,
    },
    /// An argument has no meaning for the op.
    Argument {
        /// The op.
        op: String,
        /// What is wrong with which value.
        problem: String,
        /// The way out.
        help: String,
    },
    /// A variable exists already with another shape or dtype.
    VariableExists {
        /// The variable's name.
        name: String,
    },
    /// Nothing has this name.
    Unknown {
        /// What was looked for: `tensor`, `feature`, …
        kind: &'static str,
        /// The name.
        name: String,
        /// The names that exist.
        known: Vec<String>,
    },
    /// No gradient is defined.
    NoGradient {
        /// The op.
        op: String,
        /// Why.
        reason: String,
    },
}

impl Explain for GraphError {
    fn explain(&self) -> Explanation {
        use Exception::{KeyError, LookupError, TypeError, ValueError};
        match self {
            GraphError::Shapes { op, left, right, rule } => {
                Explanation::new("GRAPH001", ValueError, format!("{op}: left is {left}, right is {right}; {rule}"))
            }
            GraphError::Shape { op, found, expected } => {
                Explanation::new("GRAPH002", ValueError, format!("{op}: expected {expected}, found shape {found}"))
            }
            GraphError::DTypes { op, left, right } => {
                Explanation::new("GRAPH003", TypeError, format!("{op}: left is {left}, right is {right}"))
                    .help(format!("`cast` one side, such as the right one to {left}"))
            }
            GraphError::DType { op, found, expected } => {
                Explanation::new("GRAPH004", TypeError, format!("{op}: expected {expected}, found {found}"))
                    .help("`cast` it first")
            }
            GraphError::AnotherGraph { op, tensor } => {
                Explanation::new("GRAPH005", ValueError, format!("{op}: `{tensor}` belongs to another graph"))
                    .help("build everything from the tensors of one `model_fn` call")
            }
            GraphError::Argument { op, problem, help } => {
                Explanation::new("GRAPH006", ValueError, format!("{op}: {problem}")).help(help.clone())
            }
            GraphError::VariableExists { name } => {
                Explanation::new("GRAPH007", ValueError, format!("variable `{name}` exists already"))
                    .help("give the second one a name of its own")
            }
            GraphError::Unknown { kind, name, known } => {
                Explanation::new("GRAPH008", KeyError, format!("no {kind} `{name}`; there are {}", list(known)))
            }
            GraphError::NoGradient { op, reason } => {
                Explanation::new("GRAPH009", LookupError, format!("no gradient through {op}: {reason}"))
                    .help("put `stop_gradient` before it if none should flow")
            }
        }
    }
}

fn list(names: &[String]) -> String {
    if names.is_empty() {
        return "none".to_string();
    }
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
