//! What can go wrong while an optimizer builds its updates.

use crate::core::{DType, Exception, Explain, Explanation, Shape};

/// What can go wrong while an optimizer builds its updates.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum TrainError {
    /// There is no variable to change.
    NoVariables,
    /// No variable has a gradient.
    NoGradients {
        /// The variables' names.
        variables: Vec<String>,
    },
    /// A gradient does not fit its variable.
    Gradient {
        /// The variable's name.
        variable: String,
        /// The variable's shape and dtype.
        expected: (Shape, DType),
        /// The gradient's shape and dtype.
        found: (Shape, DType),
    },
    /// An optimizer's or a schedule's number has no meaning.
    Number {
        /// The optimizer or schedule.
        place: &'static str,
        /// The argument.
        argument: &'static str,
        /// What it must be.
        expected: &'static str,
        /// What was found.
        found: String,
    },
    /// A learning rate is not one number.
    LearningRate {
        /// The tensor's name.
        tensor: String,
        /// Its shape.
        found: Shape,
    },
}

impl Explain for TrainError {
    fn explain(&self) -> Explanation {
        use Exception::{InvalidArgumentError, ValueError};
        match self {
            TrainError::NoVariables => {
                Explanation::new("TRAIN001", ValueError, "there are no trainable variables to optimize")
                    .help("make them, as `layers::dense` does, in the graph of the loss and before the optimizer")
            }
            TrainError::NoGradients { variables } => {
                let names: Vec<String> = variables.iter().map(|name| format!("`{name}`")).collect();
                Explanation::new("TRAIN002", ValueError, format!("no gradient reaches any of {}", names.join(", ")))
                    .help("compute the loss from them, through ops that have gradients: `argmax` and `equal` have none")
            }
            TrainError::Gradient { variable, expected, found } => {
                let message = format!(
                    "variable `{variable}`: expected a gradient of shape {} and {}, found {} and {}",
                    expected.0, expected.1, found.0, found.1
                );
                Explanation::new("TRAIN003", ValueError, message)
                    .help("keep each gradient beside the variable that `compute_gradients` gave with it")
            }
            TrainError::Number { place, argument, expected, found } => Explanation::new(
                "TRAIN004",
                ValueError,
                format!("{place}: {argument} must be {expected}, found {found}"),
            ),
            TrainError::LearningRate { tensor, found } => {
                let message = format!("expected a learning rate of shape [], found `{tensor}` of shape {found}");
                Explanation::new("TRAIN005", InvalidArgumentError, message).help("reduce it to one number")
            }
        }
    }
}
