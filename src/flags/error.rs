//! What can go wrong with flags.

use crate::core::{Exception, Explain, Explanation, nearest};

/// What can go wrong with flags.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FlagError {
    /// No flag has this name.
    Unknown {
        /// The name.
        name: String,
        /// The names that exist.
        known: Vec<String>,
    },
    /// A flag is defined twice.
    Duplicate {
        /// The name.
        name: String,
        /// What the first definition says about it.
        help: String,
    },
    /// A name that no command line can hold.
    Name {
        /// The name.
        name: String,
    },
    /// A value that the flag does not accept.
    Value {
        /// The name.
        name: String,
        /// The value, as it was written.
        found: String,
        /// What the flag accepts.
        expected: String,
    },
    /// A flag at the end, without the value that should follow.
    NoValue {
        /// The name.
        name: String,
        /// What the flag accepts.
        expected: String,
    },
    /// `--noflag` with a value.
    Negated {
        /// The name.
        name: String,
        /// The value.
        found: String,
    },
    /// A value that cannot be read as the type asked for.
    Type {
        /// The name.
        name: String,
        /// The value, as it would be written.
        found: String,
        /// The type asked for.
        expected: &'static str,
        /// A type that it can be read as.
        readable: &'static str,
    },
}

impl Explain for FlagError {
    fn explain(&self) -> Explanation {
        use Exception::{KeyError, TypeError, ValueError};
        let explanation = match self {
            FlagError::Unknown { name, known } => {
                let list = known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
                let list = if list.is_empty() { "none".to_string() } else { list };
                let explanation = Explanation::new("FLAG001", KeyError, format!("no flag `{name}`; there are {list}"));
                match nearest(name, known.iter().map(String::as_str)) {
                    Some(near) => explanation.help(format!("did you mean `{near}`?")),
                    None => explanation,
                }
            }
            FlagError::Duplicate { name, help } => {
                Explanation::new("FLAG002", ValueError, format!("flag `{name}` is defined twice, first as \"{help}\""))
                    .help("keep one definition, or give the second one a name of its own")
            }
            FlagError::Name { name } => {
                Explanation::new("FLAG003", ValueError, format!("\"{name}\" cannot name a flag"))
                    .help("use letters, digits and `_`, with a letter first, such as `batch_size`")
            }
            FlagError::Value { name, found, expected } => Explanation::new(
                "FLAG004",
                ValueError,
                format!("flag `{name}`: expected {expected}, found \"{found}\""),
            ),
            FlagError::NoValue { name, expected } => {
                Explanation::new("FLAG005", ValueError, format!("flag `{name}` has no value"))
                    .help(format!("write `--{name}=…` with {expected}"))
            }
            FlagError::Negated { name, found } => {
                Explanation::new("FLAG006", ValueError, format!("`--no{name}` takes no value, found \"{found}\""))
                    .help(format!("write `--{name}=true` or `--{name}=false`"))
            }
            FlagError::Type { name, found, expected, readable } => Explanation::new(
                "FLAG007",
                TypeError,
                format!("flag `{name}` is {found}, which cannot be read as {expected}"),
            )
            .help(format!("read it as {readable}")),
        };
        explanation.section("Define hyperparameters")
    }
}
