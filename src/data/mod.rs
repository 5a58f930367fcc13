//! Columns, frames, the CSV reader and datasets.
//!
//! Knows concrete values only: no graph, no gradients.

mod column;
mod csv;
mod dataset;
mod error;
mod frame;
mod split;
#[cfg(feature = "linfa")]
mod linfa;

pub use column::Column;
pub use csv::{CsvReader, CsvTable, Header, NonFinite, Place};
pub use dataset::{Batch, Cardinality, Dataset, DatasetIterator, ElementSpec, Position, Remainder, Slices};
pub use error::DataError;
pub use frame::Frame;
#[cfg(feature = "linfa")]
pub use linfa::Labelled;
pub use split::{Split, train_test_split};
