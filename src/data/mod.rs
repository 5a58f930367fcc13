//! Columns, frames, the CSV reader and datasets.
//!
//! Knows concrete values only: no graph, no gradients.
