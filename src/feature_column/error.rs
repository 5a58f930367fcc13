//! What can go wrong between features and a first layer.

use crate::core::{DType, Exception, Explain, Explanation, Shape, nearest};

/// What can go wrong between features and a first layer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FeatureColumnError {
    /// There are no columns.
    NoColumns,
    /// Two columns read the same feature.
    Duplicate {
        /// The feature.
        key: String,
    },
    /// A column's feature is not there.
    Missing {
        /// The feature.
        key: String,
        /// The features that are there.
        known: Vec<String>,
    },
    /// A column's values are no numbers.
    DType {
        /// The feature.
        key: String,
        /// Their type.
        found: DType,
    },
    /// A feature's examples do not have the column's shape.
    Shape {
        /// The feature.
        key: String,
        /// The shape of one example by the column.
        expected: Vec<usize>,
        /// The feature's shape, batch first.
        found: Shape,
    },
    /// A column has a shape without elements.
    EmptyShape {
        /// The feature.
        key: String,
        /// The shape.
        found: Vec<usize>,
    },
    /// Two features have batches of different sizes.
    Batch {
        /// One feature.
        left: String,
        /// Its batch size.
        left_size: usize,
        /// Another feature.
        right: String,
        /// Its batch size.
        right_size: usize,
    },
}

impl Explain for FeatureColumnError {
    fn explain(&self) -> Explanation {
        use Exception::{TypeError, ValueError};
        match self {
            FeatureColumnError::NoColumns => Explanation::new("FEATURE001", ValueError, "there are no feature columns")
                .help("give one for each feature that the model shall see, such as `numeric_column(\"PetalLength\")`"),
            FeatureColumnError::Duplicate { key } => {
                Explanation::new("FEATURE002", ValueError, format!("two feature columns read `{key}`"))
                    .help("list it once")
            }
            FeatureColumnError::Missing { key, known } => {
                let names: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
                let there = if names.is_empty() { "none".to_string() } else { names.join(", ") };
                let message = format!("feature `{key}` is not among the features; there are {there}");
                let explanation = Explanation::new("FEATURE003", ValueError, message);
                match nearest(key, known.iter().map(String::as_str)) {
                    Some(name) => explanation.help(format!("did you mean `{name}`?")),
                    None => explanation.help("let the input function give it, or leave the column out"),
                }
            }
            FeatureColumnError::DType { key, found } => {
                Explanation::new("FEATURE004", TypeError, format!("feature `{key}`: expected numbers, found {found}"))
                    .help("turn texts into numbers in the input function")
            }
            FeatureColumnError::Shape { key, expected, found } => {
                let message = format!(
                    "feature `{key}`: the column expects examples of shape {expected:?}, found batches of shape {found}"
                );
                Explanation::new("FEATURE005", ValueError, message)
                    .help("give the column the shape of one example: `numeric_column(…).shape(&[…])`")
            }
            FeatureColumnError::EmptyShape { key, found } => Explanation::new(
                "FEATURE006",
                ValueError,
                format!("feature `{key}`: the column's shape {found:?} has no elements"),
            )
            .help("use sizes of 1 or more"),
            FeatureColumnError::Batch { left, left_size, right, right_size } => Explanation::new(
                "FEATURE007",
                ValueError,
                format!("feature `{left}` has batches of {left_size}, `{right}` of {right_size}"),
            )
            .help("give every feature the same number of rows"),
        }
    }
}
