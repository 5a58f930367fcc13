//! Columns under names.

use super::{Column, DataError};
use crate::core::{DType, Result};
use crate::notebook::Table;
use std::fmt;

/// Columns of equal length under names, in order. Cloning shares the values. pandas: `DataFrame`.
///
/// # Examples
/// ```
/// use tpulab::data::{Column, Frame};
/// let frame = Frame::new([("x", Column::from(vec![1.0f32, 2.5])), ("y", Column::from(vec![0i32, 1]))])?;
/// assert_eq!(frame.shape(), (2, 2));
/// assert_eq!(frame.column("y")?.values::<i32>()?, [0, 1]);
/// println!("{frame}");
/// # Ok::<(), tpulab::core::Error>(())
/// ```
#[derive(Clone, PartialEq, Default)]
pub struct Frame {
    columns: Vec<(String, Column)>,
}

impl Frame {
    /// A frame of columns with their names.
    ///
    /// # Errors
    /// `DATA002` if a name comes twice, `DATA003` if the lengths differ.
    pub fn new<N: Into<String>>(columns: impl IntoIterator<Item = (N, Column)>) -> Result<Self> {
        let mut frame = Frame::default();
        for (name, column) in columns {
            frame.insert(name, column)?;
        }
        Ok(frame)
    }

    /// Adds a column at the end.
    ///
    /// # Errors
    /// `DATA002` if its name is taken, `DATA003` if its length is not the frame's.
    pub fn insert(&mut self, name: impl Into<String>, column: Column) -> Result<()> {
        let name = name.into();
        if self.position(&name).is_some() {
            return Err(DataError::DuplicateName { name }.into());
        }
        if let Some((first, known)) = self.columns.first()
            && known.len() != column.len()
        {
            let (left, right) = ((first.clone(), known.len()), (name, column.len()));
            return Err(DataError::Lengths { left, right }.into());
        }
        self.columns.push((name, column));
        Ok(())
    }

    /// Takes a column out and gives it. pandas: `DataFrame.pop`.
    ///
    /// # Errors
    /// `DATA010` if there is no such column.
    ///
    /// # Examples
    /// ```
    /// use tpulab::data::{Column, Frame};
    /// let mut features = Frame::new([
    ///     ("PetalLength", Column::from(vec![1.4f32, 4.2])),
    ///     ("Species", Column::from(vec![0i32, 1])),
    /// ])?;
    /// let labels = features.pop("Species")?;
    /// assert_eq!(labels.to_string(), "[0, 1]");
    /// assert_eq!(features.names(), ["PetalLength"]);
    /// # Ok::<(), tpulab::core::Error>(())
    /// ```
    pub fn pop(&mut self, name: &str) -> Result<Column> {
        let index = self.position(name).ok_or_else(|| self.unknown(name))?;
        Ok(self.columns.remove(index).1)
    }

    /// The column of this name.
    ///
    /// # Errors
    /// `DATA010` if there is none.
    pub fn column(&self, name: &str) -> Result<&Column> {
        let index = self.position(name).ok_or_else(|| self.unknown(name))?;
        Ok(&self.columns[index].1)
    }

    /// The columns of these names, in this order.
    ///
    /// # Errors
    /// `DATA010` if one does not exist, `DATA002` if one is named twice.
    pub fn select(&self, names: &[&str]) -> Result<Self> {
        let mut frame = Frame::default();
        for &name in names {
            frame.insert(name, self.column(name)?.clone())?;
        }
        Ok(frame)
    }

    /// The same columns with all entries as another dtype.
    ///
    /// # Errors
    /// `CORE002` for a column of texts, or if `dtype` is neither a number nor a truth value.
    ///
    /// # Examples
    /// ```
    /// use tpulab::prelude::*;
    /// let guessed = Frame::new([("x", Column::from(vec![1.5f64])), ("n", Column::from(vec![2i64]))])?;
    /// assert_eq!(guessed.cast(DType::Float32)?.column("n")?.dtype(), DType::Float32);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn cast(&self, dtype: DType) -> Result<Self> {
        let cast = |(name, column): &(String, Column)| Ok((name.clone(), column.cast(dtype)?));
        Ok(Frame { columns: self.columns.iter().map(cast).collect::<Result<_>>()? })
    }

    /// The first `count` rows, or all if there are fewer.
    pub fn head(&self, count: usize) -> Self {
        let rows = |column: &Column| column.rows(0, count.min(column.len())).expect("rows within the column");
        Frame { columns: self.columns.iter().map(|(name, column)| (name.clone(), rows(column))).collect() }
    }

    /// The columns with their names, in order.
    pub fn columns(&self) -> &[(String, Column)] {
        &self.columns
    }

    /// The names, in order.
    pub fn names(&self) -> Vec<&str> {
        self.columns.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.columns.first().map_or(0, |(_, column)| column.len())
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The numbers of rows and of columns.
    pub fn shape(&self) -> (usize, usize) {
        (self.len(), self.columns.len())
    }

    /// Shows the first rows in a notebook, with each column's dtype below its name.
    pub fn evcxr_display(&self) {
        self.table().evcxr_display();
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|(known, _)| known == name)
    }

    fn unknown(&self, name: &str) -> DataError {
        let known = self.names().into_iter().map(str::to_string).collect();
        DataError::UnknownColumn { name: name.to_string(), known }
    }

    /// The first rows, numbered.
    fn table(&self) -> Table {
        const SHOWN: usize = 10;
        let headings = self.columns.iter().map(|(name, column)| format!("{name}\n{}", column.dtype()));
        let mut table = Table::new(std::iter::once(String::new()).chain(headings));
        for row in 0..self.len().min(SHOWN) {
            let cells = self.columns.iter().map(|(_, column)| column.entry_text(row));
            table = table.row(std::iter::once(row.to_string()).chain(cells));
        }
        let (rows, columns) = self.shape();
        table.caption(match rows > SHOWN {
            true => format!("first {SHOWN} of {rows} rows × {columns} columns"),
            false => format!("{rows} rows × {columns} columns"),
        })
    }
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.table(), f)
    }
}

impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Frame({} rows, {:?})", self.len(), self.names())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flowers() -> Frame {
        let lengths = Column::from(vec![1.4f32, 4.2]);
        Frame::new([("PetalLength", lengths), ("Species", Column::from(vec!["Setosa", "Versicolor"]))]).unwrap()
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_known_ones_and_the_nearest() {
        assert_eq!(
            flowers().pop("species_").unwrap_err().to_string(),
            "DATA010: no column is called `species_`; the columns are `PetalLength`, `Species`; did you mean `Species`?"
        );
        assert_eq!(
            Frame::default().column("x").unwrap_err().to_string(),
            "DATA010: no column is called `x`; there are no columns"
        );
    }

    #[test]
    fn a_column_must_fit_the_frame() {
        let mut frame = flowers();
        assert_eq!(frame.insert("Species", Column::from(vec![1i32, 2])).unwrap_err().code(), "DATA002");
        assert_eq!(
            frame.insert("PetalWidth", Column::from(vec![1.0f32])).unwrap_err().to_string(),
            "DATA003: `PetalLength` has 2 rows, `PetalWidth` has 1; all columns must have one entry for each example"
        );
        assert_eq!(frame.select(&["Species", "Species"]).unwrap_err().code(), "DATA002");
    }

    #[test]
    fn a_frame_reads_as_a_table() {
        assert_eq!(
            flowers().to_string(),
            "   PetalLength float32  Species string\n\
             0                  1.4  Setosa\n\
             1                  4.2  Versicolor\n\
             2 rows × 2 columns"
        );
        assert!(flowers().table().to_html().contains("PetalLength<br>float32"));
        assert_eq!(Frame::default().to_string(), "\n0 rows × 0 columns");
    }

    #[test]
    fn the_head_of_a_short_frame_is_all_of_it() {
        assert_eq!(flowers().head(9), flowers());
        assert_eq!(flowers().head(0).shape(), (0, 2));
        assert_eq!(flowers().select(&["Species"]).unwrap().head(1).to_string().lines().count(), 3);
    }
}
