//! Feature columns: how raw features become the numbers of a first layer.
//!
//! Knows tensors under names and nothing of where they come from.

mod error;
mod input_layer;
mod numeric_column;

pub use error::FeatureColumnError;
pub use input_layer::input_layer;
pub use numeric_column::{FeatureColumn, numeric_column};
