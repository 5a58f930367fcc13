//! Typed tables from files of comma-separated values.
//!
//! Knows text and columns; what the columns mean is for others.

mod cells;
mod header;
mod place;
mod plain;
mod reader;
mod source;
mod table;

pub use header::Header;
pub use place::Place;
pub use reader::{CsvReader, NonFinite};
pub use table::CsvTable;
