//! The reader of files of comma-separated values.

use super::place::line_of;
use super::source::Source;
use super::{CsvTable, Header, Place};
use crate::core::{DType, Result};
use crate::data::DataError;
use std::path::Path;

/// What a float column does with NaN, infinities and missing values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NonFinite {
    /// They are errors.
    #[default]
    Refuse,
    /// NaN and infinities stay what they are; an empty cell and words such as `NA` become NaN.
    Keep,
}

/// Reads files of comma-separated values as typed columns. pandas: `read_csv`.
///
/// Cells may stand in double quotes, lines may end in any way, a byte-order mark is skipped, empty lines are no rows.
/// No other line is left out: what does not fit is an error that says the line and the column.
///
/// # Examples
/// ```
/// use tpulab::data::{CsvReader, Header};
/// let text = "2,2,setosa,virginica\n6.4,2.8,1\n5.0,2.3,0\n";
/// let table = CsvReader::new().names(["length", "width", "species"]).read_str("flowers.csv", text)?;
/// assert_eq!((table.header(), table.frame().len()), (Header::Metadata, 2));
/// assert_eq!(table.class_names(), ["setosa", "virginica"]);
/// assert_eq!(table.frame().column("length")?.values::<f64>()?, [6.4, 5.0]);
/// # Ok::<(), tpulab::core::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct CsvReader {
    pub(super) names: Option<Vec<String>>,
    pub(super) header: Header,
    pub(super) dtypes: Vec<(String, DType)>,
    pub(super) non_finite: NonFinite,
}

impl CsvReader {
    /// A reader that finds out header and dtypes by itself.
    pub fn new() -> Self {
        CsvReader::default()
    }

    /// The columns' names, in order. Without them they come from the header, or are `column_0`, `column_1`, ….
    pub fn names<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.names = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// What the first line is; [`Header::Infer`] by default.
    pub fn header(mut self, header: Header) -> Self {
        self.header = header;
        self
    }

    /// The dtypes of columns. Others are int64, float64, bool or string, whichever comes first in which all cells can
    /// be read; whole numbers beyond int64 are string.
    pub fn dtypes<N: Into<String>>(mut self, dtypes: impl IntoIterator<Item = (N, DType)>) -> Self {
        self.dtypes = dtypes.into_iter().map(|(name, dtype)| (name.into(), dtype)).collect();
        self
    }

    /// What float columns do with NaN, infinities and missing values; [`NonFinite::Refuse`] by default.
    pub fn non_finite(mut self, non_finite: NonFinite) -> Self {
        self.non_finite = non_finite;
        self
    }

    /// Reads a file.
    ///
    /// # Errors
    /// `DATA011` if it cannot be opened, and those of [`CsvReader::read_bytes`].
    pub fn read_path(&self, path: impl AsRef<Path>) -> Result<CsvTable> {
        let name = path.as_ref().display().to_string();
        let bytes = std::fs::read(path.as_ref()).map_err(|error| DataError::Unreadable {
            file: name.clone(),
            problem: error.to_string(),
            not_found: error.kind() == std::io::ErrorKind::NotFound,
        })?;
        self.read_bytes(&name, &bytes)
    }

    /// Reads the bytes of a file; `name` stands for it in errors.
    ///
    /// # Errors
    /// `DATA020` if they are not UTF-8, and those of [`CsvReader::read_str`].
    pub fn read_bytes(&self, name: &str, bytes: &[u8]) -> Result<CsvTable> {
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let offset = error.valid_up_to();
            let place = Place { file: name.to_string(), line: line_of(bytes, offset), column: None };
            DataError::NotUtf8 { place, byte: bytes[offset] }
        })?;
        self.read_str(name, text)
    }

    /// Reads text; `name` stands for the file in errors.
    ///
    /// # Errors
    /// - of the file: `DATA012` if it is empty, `DATA013` if it holds a header only, `DATA014` if the header or the
    ///   names do not fit the rows, `DATA002` if a name comes twice, `DATA010` if dtypes name a column that is not
    ///   there, `DATA022` for a dtype that a file cannot hold;
    /// - of a row: `DATA015` for another number of cells, `DATA021` for a quote that nothing closes;
    /// - of a cell: `DATA016` if it is not of its column's type, `DATA017` if it is missing, `DATA018` if it is NaN or
    ///   infinite, `DATA019` if it is too large.
    pub fn read_str(&self, name: &str, text: &str) -> Result<CsvTable> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        Source { name, text, reader: self }.read()
    }
}
