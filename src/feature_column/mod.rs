//! Feature columns: how raw features become the numbers of a first layer.
//!
//! Knows tensors under names, and frames only for their mean and deviation.

mod error;
mod input_layer;
mod numeric_column;
mod standardized;

pub use error::FeatureColumnError;
pub use input_layer::input_layer;
pub use numeric_column::{FeatureColumn, numeric_column};
pub use standardized::standardized_columns;
