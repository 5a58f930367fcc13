//! What a flag accepts and holds.

use std::fmt;

/// What a flag accepts.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    String,
    Integer,
    Float,
    Bool,
    Enum(Vec<String>),
}

/// What a flag holds.
#[derive(Clone, Debug, PartialEq)]
pub enum FlagValue {
    /// Nothing: a text without a default that nobody has set.
    None,
    /// A text, also one of several.
    String(String),
    /// An integer.
    Integer(i64),
    /// A number.
    Float(f64),
    /// A truth value.
    Bool(bool),
}

impl Kind {
    /// The value that `text` writes, if this kind of flag accepts it.
    pub(super) fn read(&self, text: &str) -> Option<FlagValue> {
        match self {
            Kind::String => Some(FlagValue::String(text.to_string())),
            Kind::Integer => read_integer(text.trim()).map(FlagValue::Integer),
            Kind::Float => text.trim().parse().ok().map(FlagValue::Float),
            Kind::Bool => match text.to_ascii_lowercase().as_str() {
                "true" | "t" | "1" => Some(FlagValue::Bool(true)),
                "false" | "f" | "0" => Some(FlagValue::Bool(false)),
                _ => None,
            },
            Kind::Enum(values) => values.iter().find(|value| *value == text).cloned().map(FlagValue::String),
        }
    }
}

/// Python's integers: `128`, `-5`, `1_000`, `0x80`.
fn read_integer(text: &str) -> Option<i64> {
    let (sign, digits) = match text.strip_prefix(['-', '+']) {
        Some(digits) => (&text[..text.len() - digits.len()], digits),
        None => ("", text),
    };
    let outer_underscore = digits.starts_with('_') || digits.ends_with('_') || digits.contains("__");
    if outer_underscore || digits.starts_with(['-', '+']) {
        return None;
    }
    let digits = digits.replace('_', "");
    match digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        Some(digits) if digits.starts_with(['-', '+']) => None,
        Some(digits) => i64::from_str_radix(&format!("{sign}{digits}"), 16).ok(),
        None => format!("{sign}{digits}").parse().ok(),
    }
}

impl fmt::Display for Kind {
    /// What the flag accepts, as a text after "expected".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::String => f.write_str("a text"),
            Kind::Integer => f.write_str("an integer"),
            Kind::Float => f.write_str("a number"),
            Kind::Bool => f.write_str("true or false"),
            Kind::Enum(values) => write!(f, "one of {}", values.join(", ")),
        }
    }
}

impl fmt::Display for FlagValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FlagValue::None => f.write_str("None"),
            FlagValue::String(value) => write!(f, "\"{value}\""),
            FlagValue::Integer(value) => write!(f, "{value}"),
            FlagValue::Float(value) => write!(f, "{value:?}"),
            FlagValue::Bool(value) => write!(f, "{value}"),
        }
    }
}

/// A type that a flag's value can be read as: `String`, `Option<String>`, `i64`, `u64`, `usize`, `f64`, `bool`.
pub trait FromFlag: Sized {
    /// The type's name, for errors.
    const NAME: &'static str;
    /// The value as this type, if it can be one.
    fn from_flag(value: &FlagValue) -> Option<Self>;
}

impl FlagValue {
    /// A type that the value can be read as.
    pub(super) fn readable(&self) -> &'static str {
        match self {
            FlagValue::None => "Option<String>",
            FlagValue::String(_) => "String",
            FlagValue::Integer(_) => "i64",
            FlagValue::Float(_) => "f64",
            FlagValue::Bool(_) => "bool",
        }
    }
}

macro_rules! from_flag {
    ($($type:ty: $($pattern:pat => $read:expr),+;)*) => {$(
        impl FromFlag for $type {
            const NAME: &'static str = stringify!($type);
            fn from_flag(value: &FlagValue) -> Option<Self> {
                match value {
                    $($pattern => $read,)+
                    _ => None,
                }
            }
        }
    )*};
}

from_flag! {
    String: FlagValue::String(value) => Some(value.clone());
    Option<String>: FlagValue::None => Some(None), FlagValue::String(value) => Some(Some(value.clone()));
    i64: FlagValue::Integer(value) => Some(*value);
    u64: FlagValue::Integer(value) => (*value).try_into().ok();
    usize: FlagValue::Integer(value) => (*value).try_into().ok();
    f64: FlagValue::Float(value) => Some(*value);
    bool: FlagValue::Bool(value) => Some(*value);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_written_as_in_python() {
        // absl reads and refuses the same.
        for (text, expected) in [
            ("128", Some(128)),
            ("-5", Some(-5)),
            ("+5", Some(5)),
            (" 5 ", Some(5)),
            ("1_000", Some(1000)),
            ("0x10", Some(16)),
            ("-0x10", Some(-16)),
            ("9223372036854775807", Some(i64::MAX)),
            ("-9223372036854775808", Some(i64::MIN)),
            ("", None),
            ("-", None),
            ("0x", None),
            ("0x-1", None),
            ("--5", None),
            ("_1", None),
            ("1_", None),
            ("1__0", None),
            ("1e3", None),
            ("2.0", None),
            ("five", None),
        ] {
            assert_eq!(Kind::Integer.read(text), expected.map(FlagValue::Integer), "{text:?}");
        }
    }

    #[test]
    fn numbers_may_be_integers_and_infinite() {
        assert_eq!(Kind::Float.read("1"), Some(FlagValue::Float(1.0)));
        assert_eq!(Kind::Float.read("1e-3"), Some(FlagValue::Float(0.001)));
        assert_eq!(Kind::Float.read("inf"), Some(FlagValue::Float(f64::INFINITY)));
        assert_eq!(Kind::Float.read("abc"), None);
    }

    #[test]
    fn truth_values_have_six_spellings() {
        for (text, expected) in [("true", true), ("T", true), ("1", true), ("False", false), ("f", false), ("0", false)]
        {
            assert_eq!(Kind::Bool.read(text), Some(FlagValue::Bool(expected)), "{text}");
        }
        for text in ["yes", "", "2", "on"] {
            assert_eq!(Kind::Bool.read(text), None, "{text}");
        }
    }
}
