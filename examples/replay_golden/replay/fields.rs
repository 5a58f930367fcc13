//! A JSON object whose fields are taken out one by one, so that what is left over is noticed.

use super::GoldenError;
use serde_json::{Map, Value};
use tpulab::prelude::*;

/// The fields of an object that nobody has asked for yet.
#[derive(Clone, Debug)]
pub struct Fields {
    /// What stands before a field's name in errors, such as `optimizer.`.
    place: String,
    left: Map<String, Value>,
    asked: Vec<String>,
}

impl Fields {
    /// The fields of `value`, which stands in the field `place`; the whole file has no place.
    pub fn new(place: &str, value: Value) -> Result<Fields> {
        match value {
            Value::Object(left) => {
                let place = if place.is_empty() { String::new() } else { format!("{place}.") };
                Ok(Fields { place, left, asked: Vec::new() })
            }
            other => {
                let field = if place.is_empty() { "the whole file" } else { place };
                Err(refused(field.to_string(), &other, "an object"))
            }
        }
    }

    /// The field under the first of `names` that is there, as `read` reads it. A `null` counts as absent.
    pub fn optional<T>(
        &mut self,
        names: &[&str],
        expected: &str,
        read: impl Fn(&Value) -> Option<T>,
    ) -> Result<Option<T>> {
        self.asked.extend(names.iter().map(|name| name.to_string()));
        let Some(name) = names.iter().find(|name| self.left.contains_key(**name)) else { return Ok(None) };
        match self.left.remove(*name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => match read(&value) {
                Some(value) => Ok(Some(value)),
                None => Err(refused(format!("{}{name}", self.place), &value, expected)),
            },
        }
    }

    /// The same for a field that must be there.
    pub fn required<T>(&mut self, name: &str, expected: &str, read: impl Fn(&Value) -> Option<T>) -> Result<T> {
        let field = format!("{}{name}", self.place);
        let missing = || GoldenError::Missing { field, expected: expected.to_string() }.into();
        self.optional(&[name], expected, read)?.ok_or_else(missing)
    }

    /// A number under one of these names.
    pub fn number(&mut self, names: &[&str]) -> Result<Option<f64>> {
        self.optional(names, "a number", Value::as_f64)
    }

    /// Leaves these fields unread.
    pub fn skip(&mut self, names: &[&str]) {
        self.asked.extend(names.iter().map(|name| name.to_string()));
        self.left.retain(|name, _| !names.contains(&name.as_str()));
    }

    /// Refuses what is left.
    pub fn finish(self) -> Result<()> {
        match self.left.keys().next() {
            None => Ok(()),
            Some(name) => {
                Err(GoldenError::Unknown { field: format!("{}{name}", self.place), known: self.asked }.into())
            }
        }
    }
}

/// The error for a value that cannot be used; long values are cut.
fn refused(field: String, found: &Value, expected: &str) -> Error {
    let mut text = found.to_string();
    if text.chars().count() > 60 {
        text = text.chars().take(60).chain("…".chars()).collect();
    }
    GoldenError::Value { field, found: text, expected: expected.to_string() }.into()
}
