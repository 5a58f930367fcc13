//! What can go wrong with data.

use super::Place;
use crate::core::{DType, Exception, Explain, Explanation, nearest};

/// What can go wrong with columns, frames, files and datasets.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum DataError {
    /// One number, where rows are needed.
    NoRows,
    /// Two columns have one name.
    DuplicateName {
        /// The name.
        name: String,
    },
    /// Two columns differ in length.
    Lengths {
        /// A column and its rows.
        left: (String, usize),
        /// Another and its rows.
        right: (String, usize),
    },
    /// An argument of a dataset makes no sense.
    Dataset {
        /// The method.
        method: &'static str,
        /// What is wrong.
        problem: String,
        /// The way out.
        help: &'static str,
    },
    /// A saved position does not belong to this dataset.
    Position {
        /// Why.
        problem: String,
    },
    /// No column has this name.
    UnknownColumn {
        /// The name asked for.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// A file cannot be read.
    Unreadable {
        /// The file.
        file: String,
        /// What the system says.
        problem: String,
        /// Whether there is no such file.
        not_found: bool,
    },
    /// A file without any line.
    EmptyFile {
        /// The file.
        file: String,
    },
    /// A file with a header and nothing below it.
    HeaderOnly {
        /// The file.
        file: String,
    },
    /// The first line or the names given do not fit the table.
    Header {
        /// Where.
        place: Place,
        /// What is wrong.
        problem: String,
        /// The way out.
        help: &'static str,
    },
    /// A row with too many or too few cells.
    RaggedRow {
        /// Where.
        place: Place,
        /// The table's number of columns.
        expected: usize,
        /// The row's number of cells.
        found: usize,
    },
    /// A cell that does not read as its column's type.
    Cell {
        /// Where.
        place: Place,
        /// The column's type.
        expected: DType,
        /// The cell.
        found: String,
    },
    /// A cell without a value.
    MissingValue {
        /// Where.
        place: Place,
        /// The column's type.
        expected: DType,
        /// The cell: nothing, or a word such as `NA`.
        found: String,
    },
    /// A cell that holds NaN or an infinity.
    NotFinite {
        /// Where.
        place: Place,
        /// The cell.
        found: String,
    },
    /// A number too large for its column's type.
    OutOfRange {
        /// Where.
        place: Place,
        /// The column's type.
        expected: DType,
        /// The cell.
        found: String,
    },
    /// A file that is not UTF-8.
    NotUtf8 {
        /// Where.
        place: Place,
        /// The first byte that does not belong to UTF-8.
        byte: u8,
    },
    /// A quote that nothing closes.
    UnclosedQuote {
        /// Where it opens.
        place: Place,
    },
    /// A type that no cell of a file can have.
    ColumnType {
        /// The column.
        name: String,
        /// The type asked for.
        dtype: DType,
    },
    /// Labels that are no classes, numbered from 0.
    Classes {
        /// What they are.
        found: String,
    },
}

impl Explain for DataError {
    fn explain(&self) -> Explanation {
        use Exception::ValueError;
        match self {
            DataError::NoRows => Explanation::new("DATA001", ValueError, "expected values with rows, found one number")
                .help("give one entry for each example"),
            DataError::DuplicateName { name } => {
                Explanation::new("DATA002", ValueError, format!("two columns are called `{name}`"))
                    .help("rename one of them")
            }
            DataError::Lengths { left, right } => Explanation::new(
                "DATA003",
                ValueError,
                format!("`{}` has {} rows, `{}` has {}", left.0, left.1, right.0, right.1),
            )
            .help("all columns must have one entry for each example"),
            DataError::Dataset { method, problem, help } => {
                Explanation::new("DATA004", ValueError, format!("{method}: {problem}")).help(*help)
            }
            DataError::Position { problem } => {
                Explanation::new("DATA005", ValueError, format!("a saved position does not fit: {problem}"))
                    .help("start the input from its beginning")
            }
            DataError::UnknownColumn { name, known } => unknown_column(name, known),
            DataError::Unreadable { file, problem, not_found } => {
                let raised = if *not_found { Exception::NotFoundError } else { Exception::OsError };
                Explanation::new("DATA011", raised, format!("cannot read `{file}`: {problem}"))
                    .help("check the path; a relative one starts at the working directory, in a notebook its folder")
            }
            DataError::EmptyFile { file } => {
                Explanation::new("DATA012", ValueError, format!("{file}: the file is empty")).help("give it rows to read")
            }
            DataError::HeaderOnly { file } => {
                Explanation::new("DATA013", ValueError, format!("{file}: a header and no rows below it"))
                    .help("if that line is an example, say so with `header(Header::None)`")
            }
            DataError::Header { place, problem, help } => {
                Explanation::new("DATA014", ValueError, format!("{place}: {problem}")).help(*help)
            }
            DataError::RaggedRow { place, expected, found } => Explanation::new(
                "DATA015",
                ValueError,
                format!("{place}: expected {}, found {found}", count(*expected, "cell")),
            )
            .help("put a text that contains commas in double quotes"),
            DataError::Cell { place, expected, found } => Explanation::new(
                "DATA016",
                ValueError,
                format!("{place}: expected {}, found {}", one(*expected), quoted(found)),
            )
            .help("correct the cell, or give the column another dtype with `dtypes`"),
            DataError::MissingValue { place, expected, found } => missing_value(place, *expected, found),
            DataError::NotFinite { place, found } => Explanation::new(
                "DATA018",
                ValueError,
                format!("{place}: expected a finite number, found {}", quoted(found)),
            )
            .help(
                "one such value makes the loss NaN: correct or remove it, or keep it with `non_finite(NonFinite::Keep)`",
            ),
            DataError::OutOfRange { place, expected, found } => {
                let wider = match expected {
                    DType::Int32 => "read the column as int64",
                    DType::Float32 => "read the column as float64",
                    _ => "read the column as string",
                };
                Explanation::new("DATA019", ValueError, format!("{place}: {} is too large for {expected}", quoted(found)))
                    .help(wider)
            }
            DataError::NotUtf8 { place, byte } => {
                Explanation::new("DATA020", ValueError, format!("{place}: expected UTF-8 text, found the byte 0x{byte:02X}"))
                    .help("save the file as UTF-8")
            }
            DataError::UnclosedQuote { place } => {
                Explanation::new("DATA021", ValueError, format!("{place}: this quote is never closed"))
                    .help("close it; write a quote inside quotes twice")
            }
            DataError::ColumnType { name, dtype } => Explanation::new(
                "DATA022",
                Exception::TypeError,
                format!("column `{name}`: a file cannot hold values of {dtype}"),
            )
            .help("read it as float32, float64, int32, int64, bool or string"),
            DataError::Classes { found } => Explanation::new(
                "DATA023",
                ValueError,
                format!("labels: expected classes numbered from 0, one number for each row, found {found}"),
            )
            .help("number the classes 0, 1, 2 and so on, as int32 or int64"),
        }
    }
}

fn unknown_column(name: &str, known: &[String]) -> Explanation {
    let list = known.iter().map(|known| format!("`{known}`")).collect::<Vec<_>>().join(", ");
    let message = match list.as_str() {
        "" => format!("no column is called `{name}`; there are no columns"),
        list => format!("no column is called `{name}`; the columns are {list}"),
    };
    let explanation = Explanation::new("DATA010", Exception::KeyError, message);
    match nearest(name, known.iter().map(String::as_str)) {
        Some(near) => explanation.help(format!("did you mean `{near}`?")),
        None => explanation,
    }
}

fn missing_value(place: &Place, expected: DType, found: &str) -> Explanation {
    let found = if found.trim().is_empty() { "an empty cell".to_string() } else { quoted(found) };
    let help = match expected {
        DType::Float32 | DType::Float64 => {
            "fill it in, remove the row, or read it as NaN with `non_finite(NonFinite::Keep)`"
        }
        _ => "fill it in, remove the row, or read the column as a float type, which has a NaN",
    };
    Explanation::new("DATA017", Exception::ValueError, format!("{place}: expected {}, found {found}", one(expected)))
        .help(help)
}

/// One value of a type, in words.
fn one(dtype: DType) -> String {
    match dtype {
        DType::Int32 | DType::Int64 => format!("an {dtype}"),
        DType::Bool => "a bool (true or false)".to_string(),
        other => format!("a {other}"),
    }
}

/// How many, with the plural's letter.
fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// A cell in quotes, shortened.
fn quoted(cell: &str) -> String {
    const SHOWN: usize = 40;
    match cell.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{:?}…", &cell[..end]),
        None => format!("{cell:?}"),
    }
}
