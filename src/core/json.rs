//! Reads JSON objects entry by entry, with errors that say where.

use super::nearest;
use super::{Exception, Explain, Explanation, Result};
use serde_json::{Map, Number, Value};

/// What can be wrong with JSON that shall become a value of ours.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum JsonError {
    /// A key that nobody reads.
    UnknownKey {
        /// The path to it, such as `config.tpu_config.iteration`.
        path: String,
        /// The keys that are read there.
        known: Vec<String>,
    },
    /// A value of another kind.
    Kind {
        /// The path to it; empty for the whole.
        path: String,
        /// What should stand there.
        expected: String,
        /// What stands there.
        found: String,
    },
    /// A value that JSON has no form for.
    Unwritable {
        /// The path to it.
        path: String,
        /// What it is.
        found: String,
    },
}

impl Explain for JsonError {
    fn explain(&self) -> Explanation {
        match self {
            JsonError::UnknownKey { path, known } => {
                let key = path.rsplit('.').next().unwrap_or_default();
                let list = known.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
                let message = format!("`{path}` is not known; known are {list}");
                let explanation = Explanation::new("JSON001", Exception::KeyError, message);
                match nearest(key, known.iter().map(String::as_str)) {
                    Some(near) => explanation.help(format!("did you mean `{near}`?")),
                    None => explanation,
                }
            }
            JsonError::Kind { path, expected, found } => {
                let place = if path.is_empty() { "the value" } else { path };
                Explanation::new(
                    "JSON002",
                    Exception::TypeError,
                    format!("{place}: expected {expected}, found {found}"),
                )
            }
            JsonError::Unwritable { path, found } => Explanation::new(
                "JSON003",
                Exception::TypeError,
                format!("`{path}` cannot be written as JSON: {found}"),
            )
            .help("keep it in the program, and set it again after reading"),
        }
    }
}

/// A value that JSON can hold.
pub(crate) trait FromJson: Sized {
    /// What a message calls it.
    const KIND: &'static str;
    /// The value, if it is one.
    fn from_json(value: &Value) -> Option<Self>;
}

macro_rules! from_json {
    ($($type:ty, $kind:literal, $read:expr;)*) => {$(
        impl FromJson for $type {
            const KIND: &'static str = $kind;
            fn from_json(value: &Value) -> Option<Self> {
                $read(value)
            }
        }
    )*};
}

from_json! {
    bool, "true or false", Value::as_bool;
    u64, "a whole number, 0 or more", Value::as_u64;
    usize, "a whole number, 0 or more", |value: &Value| usize::try_from(value.as_u64()?).ok();
    String, "a text", |value: &Value| value.as_str().map(str::to_string);
    f64, "a number", float;
    Vec<f64>, "a list of numbers", |value: &Value| value.as_array()?.iter().map(float).collect();
    Value, "a value", |value: &Value| Some(value.clone());
}

/// JSON has no form for these numbers, so they are texts.
const NOT_FINITE: [(&str, f64); 3] = [("NaN", f64::NAN), ("Infinity", f64::INFINITY), ("-Infinity", f64::NEG_INFINITY)];

fn float(value: &Value) -> Option<f64> {
    let text = |text: &str| NOT_FINITE.iter().find(|(name, _)| *name == text).map(|(_, value)| *value);
    value.as_f64().or_else(|| value.as_str().and_then(text))
}

/// A number; NaN and the infinities as the texts `NaN`, `Infinity` and `-Infinity`.
pub(crate) fn number(value: f64) -> Value {
    Number::from_f64(value).map_or_else(
        || {
            Value::from(if value.is_nan() {
                "NaN"
            } else if value > 0.0 {
                "Infinity"
            } else {
                "-Infinity"
            })
        },
        Value::Number,
    )
}

/// The entries of an object, taken one by one, so that those which nobody took are found.
pub(crate) struct Entries<'a> {
    path: String,
    map: &'a Map<String, Value>,
    taken: Vec<&'static str>,
}

impl<'a> Entries<'a> {
    /// The entries of the object at `path`.
    ///
    /// # Errors
    /// `JSON002` if it is no object.
    pub fn of(value: &'a Value, path: &str) -> Result<Self> {
        match value.as_object() {
            Some(map) => Ok(Entries { path: path.to_string(), map, taken: Vec::new() }),
            None => Err(kind(path, "an object", value)),
        }
    }

    /// The value of `key`; none if it is not there or null.
    ///
    /// # Errors
    /// `JSON002` for a value of another kind.
    pub fn take<T: FromJson>(&mut self, key: &'static str) -> Result<Option<T>> {
        self.taken.push(key);
        match self.map.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => T::from_json(value).map(Some).ok_or_else(|| kind(&self.path_of(key), T::KIND, value)),
        }
    }

    /// The value of `key`, which must be there.
    ///
    /// # Errors
    /// `JSON002` for none, or a value of another kind.
    pub fn need<T: FromJson>(&mut self, key: &'static str) -> Result<T> {
        self.take(key)?.ok_or_else(|| kind(&self.path_of(key), T::KIND, &Value::Null))
    }

    /// One of some words.
    ///
    /// # Errors
    /// `JSON002` for anything else.
    pub fn word<T: Copy>(&mut self, key: &'static str, words: &[(&str, T)]) -> Result<Option<T>> {
        let Some(found) = self.take::<Value>(key)? else { return Ok(None) };
        match words.iter().find(|(word, _)| found.as_str() == Some(word)) {
            Some((_, value)) => Ok(Some(*value)),
            None => {
                let list: Vec<String> = words.iter().map(|(word, _)| format!("\"{word}\"")).collect();
                Err(kind(&self.path_of(key), &list.join(" or "), &found))
            }
        }
    }

    /// The path of an entry.
    pub fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_string() } else { format!("{}.{key}", self.path) }
    }

    /// # Errors
    /// `JSON001` for the first entry that nobody took.
    pub fn finish(self) -> Result<()> {
        match self.map.keys().find(|key| !self.taken.contains(&key.as_str())) {
            None => Ok(()),
            Some(key) => {
                let known = self.taken.iter().map(|key| key.to_string()).collect();
                Err(JsonError::UnknownKey { path: self.path_of(key), known }.into())
            }
        }
    }
}

/// The error for a value of another kind.
pub(crate) fn kind(path: &str, expected: &str, found: &Value) -> super::Error {
    let mut found = found.to_string();
    if found.chars().count() > 60 {
        found = found.chars().take(60).chain(['…']).collect();
    }
    JsonError::Kind { path: path.to_string(), expected: expected.to_string(), found }.into()
}

/// The word of a value.
pub(crate) fn word_of<T: Copy + PartialEq>(value: T, words: &[(&'static str, T)]) -> Value {
    words.iter().find(|(_, known)| *known == value).map_or(Value::Null, |(word, _)| Value::from(*word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_come_back_to_the_same_bits() {
        for value in [0.1, f64::MIN_POSITIVE, f64::MAX, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::from(0.1f32)] {
            let text = number(value).to_string();
            let read: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(f64::from_json(&read).unwrap().to_bits(), value.to_bits(), "{text}");
        }
        assert!(f64::from_json(&number(f64::NAN)).unwrap().is_nan());
        assert_eq!(u64::from_json(&serde_json::from_str("9007199254740993").unwrap()), Some((1 << 53) + 1));
    }

    #[test]
    fn errors_say_where_what_and_which() {
        let value = json!({"steps": -1, "stops": 2});
        let mut entries = Entries::of(&value, "config").unwrap();
        assert_eq!(
            entries.take::<u64>("steps").unwrap_err().to_string(),
            "JSON002: config.steps: expected a whole number, 0 or more, found -1"
        );
        assert_eq!(
            entries.need::<bool>("use_tpu").unwrap_err().to_string(),
            "JSON002: config.use_tpu: expected true or false, found null"
        );
        assert_eq!(
            entries.finish().unwrap_err().to_string(),
            "JSON001: `config.stops` is not known; known are `steps`, `use_tpu`; did you mean `steps`?"
        );
        let error = Entries::of(&json!([1]), "").err().unwrap();
        assert_eq!(error.to_string(), "JSON002: the value: expected an object, found [1]");
    }
}
