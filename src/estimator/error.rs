//! What can go wrong around an estimator before anything runs.

use super::ModeKeys;
use crate::core::{DType, Exception, Explain, Explanation, Shape, nearest};

/// What can go wrong around an estimator before anything runs.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum EstimatorError {
    /// No parameter has this name.
    UnknownParam {
        /// The name.
        name: String,
        /// The names that exist.
        known: Vec<String>,
    },
    /// A parameter cannot be read as the type asked for.
    ParamType {
        /// The parameter's name.
        name: String,
        /// Its value.
        found: String,
        /// The type asked for.
        expected: &'static str,
    },
    /// `model_dir` is an empty text.
    EmptyModelDir,
    /// A number in the configuration is outside its range.
    Config {
        /// The field.
        field: &'static str,
        /// Its value.
        found: String,
        /// What the field accepts.
        expected: &'static str,
        /// The way out.
        help: &'static str,
    },
    /// A `model_fn` returned a spec for another mode.
    SpecMode {
        /// The mode that `model_fn` was called with.
        called: ModeKeys,
        /// The mode of the spec.
        found: ModeKeys,
    },
    /// The loss is not one number.
    LossShape {
        /// The loss's name.
        loss: String,
        /// Its shape.
        found: Shape,
    },
    /// The loss is not a floating-point number.
    LossDType {
        /// The loss's name.
        loss: String,
        /// Its dtype.
        found: DType,
    },
    /// A part of the spec belongs to another graph.
    AnotherGraph {
        /// The part.
        part: &'static str,
        /// Its name.
        name: String,
    },
    /// A metric has a name that evaluation uses itself.
    ReservedMetric {
        /// The metric's name.
        name: String,
    },
}

impl Explain for EstimatorError {
    fn explain(&self) -> Explanation {
        use Exception::{KeyError, TypeError, ValueError};
        match self {
            EstimatorError::UnknownParam { name, known } => {
                let message = format!("no parameter `{name}`; there are {}", list(known));
                let explanation = Explanation::new("EST001", KeyError, message).section(CLASSIFIER);
                match nearest(name, known.iter().map(String::as_str)) {
                    Some(near) => explanation.help(format!("did you mean `{near}`?")),
                    None => explanation,
                }
            }
            EstimatorError::ParamType { name, found, expected } => Explanation::new(
                "EST002",
                TypeError,
                format!("parameter `{name}` is {found}, which cannot be read as {}", short(expected)),
            )
            .section(CLASSIFIER),
            EstimatorError::EmptyModelDir => {
                Explanation::new("EST003", ValueError, "model_dir is \"\"; expected the path of a folder or bucket")
                    .help("leave `model_dir` out to get a temporary folder")
                    .section("Define hyperparameters")
            }
            EstimatorError::Config { field, found, expected, help } => {
                Explanation::new("EST004", ValueError, format!("{field} is {found}; expected {expected}")).help(*help)
            }
            EstimatorError::SpecMode { called, found } => Explanation::new(
                "EST005",
                ValueError,
                format!("model_fn was called to {} and returned a {found:?} spec", called.verb()),
            )
            .help(format!("return the {called:?} spec when `mode` is `ModeKeys::{called:?}`"))
            .section(MODEL_FUNCTION),
            EstimatorError::LossShape { loss, found } => Explanation::new(
                "EST006",
                ValueError,
                format!("loss `{loss}` has shape {found}; expected one number, shape [] or [1]"),
            )
            .help("average it over the batch with `reduce_mean`")
            .section(MODEL_FUNCTION),
            EstimatorError::LossDType { loss, found } => Explanation::new(
                "EST007",
                TypeError,
                format!("loss `{loss}` is {found}; expected a floating-point number"),
            )
            .help("`cast` what it is computed from to float32")
            .section(MODEL_FUNCTION),
            EstimatorError::AnotherGraph { part, name } => Explanation::new(
                "EST008",
                ValueError,
                format!("{part} `{name}` belongs to another graph than the features"),
            )
            .help("build everything from the tensors of one `model_fn` call")
            .section(MODEL_FUNCTION),
            EstimatorError::ReservedMetric { name } => Explanation::new(
                "EST009",
                ValueError,
                format!("metric `{name}` has a name that evaluation uses itself"),
            )
            .help(format!("give it another one, such as `my_{name}`"))
            .section("Add an evaluation metric function"),
        }
    }
}

const CLASSIFIER: &str = "Add TPU-specific parameters to the classifier";
const MODEL_FUNCTION: &str = "Update the custom model function";

fn list(names: &[String]) -> String {
    if names.is_empty() {
        return "none".to_string();
    }
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// A type's name without the modules: `Vec<String>` for `alloc::vec::Vec<alloc::string::String>`.
fn short(type_name: &str) -> String {
    let mut short = String::new();
    for part in type_name.split_inclusive(|letter: char| !letter.is_alphanumeric() && letter != '_' && letter != ':') {
        short.push_str(part.rsplit("::").next().unwrap_or(part));
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_named_without_their_modules() {
        assert_eq!(short("alloc::vec::Vec<alloc::string::String>"), "Vec<String>");
        assert_eq!(short("(usize, alloc::string::String)"), "(usize, String)");
    }
}
