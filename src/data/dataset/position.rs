//! Where reading stands, to be saved and restored.

use crate::core::Result;
use crate::data::DataError;
use serde_json::{Value, json};

/// Where reading a dataset stands: enough to go on with the very same elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    seed: u64,
    elements: u64,
    dataset: String,
}

impl Position {
    pub(super) fn new(seed: u64, elements: u64, dataset: String) -> Self {
        Position { seed, elements, dataset }
    }

    /// The seed of the iterator.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// How many elements were read.
    pub fn elements(&self) -> u64 {
        self.elements
    }

    /// The place `elements` further on.
    pub(crate) fn behind(&self, elements: u64) -> Self {
        Position { elements: self.elements + elements, ..self.clone() }
    }

    /// The same place in a dataset that is read with another seed.
    pub(crate) fn with_seed(&self, seed: u64) -> Self {
        Position { seed, ..self.clone() }
    }

    /// As JSON.
    pub fn to_json(&self) -> Value {
        json!({"seed": self.seed, "elements": self.elements, "dataset": self.dataset})
    }

    /// From what [`Position::to_json`] wrote.
    ///
    /// # Errors
    /// `DATA005` if it is something else.
    pub fn from_json(value: &Value) -> Result<Self> {
        let read = || {
            Some(Position {
                seed: value.get("seed")?.as_u64()?,
                elements: value.get("elements")?.as_u64()?,
                dataset: value.get("dataset")?.as_str()?.to_string(),
            })
        };
        read().ok_or_else(|| DataError::Position { problem: format!("`{value}` is no position") }.into())
    }

    pub(super) fn check(&self, dataset: &str) -> Result<()> {
        if self.dataset == dataset {
            return Ok(());
        }
        let problem = format!("it was saved for `{}`, and this is `{dataset}`", self.dataset);
        Err(DataError::Position { problem }.into())
    }
}
