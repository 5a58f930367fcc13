//! One text while it is read: header, names, dtypes, then rows.

use super::cells::{CellProblem, Cells, Kind};
use super::place::{line_of, walk};
use super::{CsvReader, CsvTable, Header, Place, plain};
use crate::core::{DType, Error, Result};
use crate::data::{DataError, Frame};
use ::csv::{ByteRecord, Reader, ReaderBuilder};

/// One text while it is read.
pub(super) struct Source<'a> {
    /// What errors call it.
    pub name: &'a str,
    /// The text, without byte-order mark.
    pub text: &'a str,
    /// What was asked for.
    pub reader: &'a CsvReader,
}

/// What the first lines tell.
struct Outline {
    header: Header,
    names: Vec<String>,
    class_names: Vec<String>,
    /// The rows that the header promises.
    rows: Option<usize>,
}

impl Source<'_> {
    pub fn read(&self) -> Result<CsvTable> {
        let outline = self.outline()?;
        let dtypes = self.dtypes(&outline)?;
        for (name, &dtype) in outline.names.iter().zip(&dtypes) {
            if Cells::with_capacity(dtype, 0).is_none() {
                return Err(DataError::ColumnType { name: name.clone(), dtype }.into());
            }
        }
        let is_plain = !self.text.as_bytes().contains(&b'"');
        let read_plain = || plain::read(self.body(&outline), &dtypes, self.reader.non_finite);
        let columns = match is_plain.then(read_plain).flatten() {
            Some(columns) => columns,
            None => self.read_carefully(&outline, &dtypes)?,
        };
        let rows = columns.first().map_or(0, Cells::len);
        if rows == 0 {
            return Err(DataError::HeaderOnly { file: self.name.to_string() }.into());
        }
        if let Some(promised) = outline.rows
            && promised != rows
        {
            let problem = format!("the header promises {promised} rows, the file holds {rows}");
            return Err(self.header_error(problem, "restore the missing lines, or correct the first number").into());
        }
        let columns = columns.into_iter().map(Cells::into_column);
        let frame = Frame::new(outline.names.into_iter().zip(columns)).map_err(|error| self.at_header(error))?;
        Ok(CsvTable { frame, header: outline.header, class_names: outline.class_names })
    }

    /// The text below the header.
    fn body(&self, outline: &Outline) -> &str {
        let text = self.text.trim_start_matches(['\n', '\r']);
        match outline.header {
            Header::None => text,
            _ => &text[text.find(['\n', '\r']).unwrap_or(text.len())..],
        }
    }

    /// Reads record by record and says what is wrong where something is.
    fn read_carefully(&self, outline: &Outline, dtypes: &[DType]) -> Result<Vec<Cells>> {
        let mut columns: Vec<Cells> = dtypes.iter().filter_map(|&dtype| Cells::with_capacity(dtype, 0)).collect();
        self.each_row(outline, |cells, start| {
            for (index, column) in columns.iter_mut().enumerate() {
                let cell = text_of(cells, index);
                if let Err(problem) = column.push(cell, self.reader.non_finite) {
                    return Err(self.cell_error(problem, cell, column.dtype(), start, index, &outline.names));
                }
            }
            Ok(())
        })?;
        Ok(columns)
    }

    /// Reads header and names, and checks them against the first row.
    fn outline(&self) -> Result<Outline> {
        let mut records = self.records();
        let first = next(&mut records).ok_or_else(|| DataError::EmptyFile { file: self.name.to_string() })?;
        let second = next(&mut records);
        let names = self.reader.names.as_deref();
        let header = self.reader.header.resolve(&first, second.as_deref(), names);
        let width = if header == Header::None { first.len() } else { second.as_ref().map_or(first.len(), Vec::len) };
        let (mut class_names, mut rows) = (Vec::new(), None);
        if header == Header::Metadata {
            rows = Some(self.check_metadata(&first, second.as_ref().map(Vec::len))?);
            class_names = first[2..].to_vec();
        }
        let names = match names {
            Some(names) if header == Header::Names => self.check_order(names, &first)?.to_vec(),
            Some(names) => names.to_vec(),
            None if header == Header::Names => first,
            None => (0..width).map(|index| format!("column_{index}")).collect(),
        };
        // Rows below a line of names are held to it one by one.
        if header != Header::Names && names.len() != width {
            let problem = format!("names given: {}, columns found: {width}", names.len());
            return Err(self.header_error(problem, "give one name for each column").into());
        }
        if let Some(index) = (1..names.len()).find(|&index| names[..index].contains(&names[index])) {
            return Err(self.at_header(DataError::DuplicateName { name: names[index].clone() }.into()));
        }
        Ok(Outline { header, names, class_names, rows })
    }

    /// The number of rows that the metadata in `first` promise.
    fn check_metadata(&self, first: &[String], width: Option<usize>) -> Result<usize> {
        let number = |index: usize| first.get(index).and_then(|cell| cell.trim().parse::<usize>().ok());
        let (Some(rows), Some(features)) = (number(0), number(1)) else {
            let problem =
                "expected the number of rows, the number of features and the names of the classes".to_string();
            return Err(self.header_error(problem, "write them as in `120,4,setosa,versicolor,virginica`").into());
        };
        match width {
            Some(width) if features.checked_add(1) != Some(width) => {
                let problem =
                    format!("the header promises {features} features and a label, the row below has {width} cells");
                Err(self.header_error(problem, "correct the second number").into())
            }
            _ => Ok(rows),
        }
    }

    /// Refuses names that would stand above the wrong columns.
    fn check_order<'n>(&self, names: &'n [String], first: &[String]) -> Result<&'n [String]> {
        if names.len() != first.len() {
            let problem = format!("names given: {}, columns found: {}", names.len(), first.len());
            return Err(self.header_error(problem, "give one name for each column").into());
        }
        for (index, name) in names.iter().enumerate() {
            if &first[index] != name
                && let Some(other) = first.iter().position(|known| known == name)
            {
                let problem =
                    format!("`{name}` is name {} of those given and column {} of the file", index + 1, other + 1);
                return Err(self.header_error(problem, "give the names in the file's order, or none").into());
            }
        }
        Ok(names)
    }

    /// The dtype of every column, as asked for or as its cells tell.
    fn dtypes(&self, outline: &Outline) -> Result<Vec<DType>> {
        let mut dtypes = vec![None; outline.names.len()];
        for (name, dtype) in &self.reader.dtypes {
            let Some(index) = outline.names.iter().position(|known| known == name) else {
                let error = DataError::UnknownColumn { name: name.clone(), known: outline.names.clone() };
                return Err(Error::from(error).at(format!("{}, dtypes", self.name)));
            };
            dtypes[index] = Some(*dtype);
        }
        if dtypes.iter().all(Option::is_some) {
            return Ok(dtypes.into_iter().flatten().collect());
        }
        let mut kinds = vec![(Kind::Missing, false); dtypes.len()];
        self.each_row(outline, |cells, _| {
            for (index, (kind, has_missing)) in
                kinds.iter_mut().enumerate().filter(|(index, _)| dtypes[*index].is_none())
            {
                let found = Kind::of(text_of(cells, index));
                *kind = kind.join(found);
                *has_missing |= found == Kind::Missing;
            }
            Ok(())
        })?;
        let inferred = kinds.into_iter().map(|(kind, has_missing)| kind.dtype(has_missing, self.reader.non_finite));
        Ok(dtypes.into_iter().zip(inferred).map(|(given, inferred)| given.unwrap_or(inferred)).collect())
    }

    fn records(&self) -> Reader<&[u8]> {
        ReaderBuilder::new().has_headers(false).flexible(true).from_reader(self.text.as_bytes())
    }

    /// Calls `row` with each row's cells, one for each column, and the byte at which the record starts.
    fn each_row(&self, outline: &Outline, mut row: impl FnMut(&ByteRecord, usize) -> Result<()>) -> Result<()> {
        let mut records = self.records();
        let mut record = ByteRecord::new();
        let mut is_header = outline.header != Header::None;
        let mut start = 0;
        while read(&mut records, &mut record) {
            start = record.position().map_or(0, |position| position.byte() as usize);
            if std::mem::take(&mut is_header) {
                continue;
            }
            let (expected, found) = (outline.names.len(), record.len());
            if expected != found {
                self.check_quotes(start)?;
                let place = self.place(start, 0, None);
                return Err(DataError::RaggedRow { place, expected, found }.into());
            }
            row(&record, start)?;
        }
        // Only the last record can have an open quote: it takes all that follows.
        self.check_quotes(start)
    }

    fn check_quotes(&self, start: usize) -> Result<()> {
        let walked = walk(self.text.as_bytes(), start);
        match walked.unclosed {
            true => Err(DataError::UnclosedQuote { place: self.place(start, walked.fields.len() - 1, None) }.into()),
            false => Ok(()),
        }
    }

    fn place(&self, start: usize, field: usize, column: Option<&String>) -> Place {
        let fields = walk(self.text.as_bytes(), start).fields;
        let offset = fields.get(field).copied().unwrap_or(start);
        Place { file: self.name.to_string(), line: line_of(self.text.as_bytes(), offset), column: column.cloned() }
    }

    #[cold]
    fn cell_error(
        &self,
        problem: CellProblem,
        cell: &str,
        expected: DType,
        start: usize,
        index: usize,
        names: &[String],
    ) -> Error {
        if let Err(error) = self.check_quotes(start) {
            return error;
        }
        let (place, found) = (self.place(start, index, names.get(index)), cell.to_string());
        Error::from(match problem {
            CellProblem::Unreadable => DataError::Cell { place, expected, found },
            CellProblem::Missing => DataError::MissingValue { place, expected, found },
            CellProblem::NotFinite => DataError::NotFinite { place, found },
            CellProblem::OutOfRange => DataError::OutOfRange { place, expected, found },
        })
    }

    fn header_error(&self, problem: String, help: &'static str) -> DataError {
        DataError::Header { place: self.place(0, 0, None), problem, help }
    }

    fn at_header(&self, error: Error) -> Error {
        error.at(self.place(0, 0, None))
    }
}

/// Reads one record; false at the end.
fn read(records: &mut Reader<&[u8]>, record: &mut ByteRecord) -> bool {
    records.read_byte_record(record).expect("records of any length are read from memory")
}

fn next(records: &mut Reader<&[u8]>) -> Option<Vec<String>> {
    let mut record = ByteRecord::new();
    let found = read(records, &mut record);
    found.then(|| (0..record.len()).map(|index| text_of(&record, index).to_string()).collect())
}

/// A cell as text.
fn text_of(record: &ByteRecord, index: usize) -> &str {
    std::str::from_utf8(&record[index]).expect("parts of UTF-8 text between commas, quotes and line ends are UTF-8")
}
