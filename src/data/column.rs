//! One named thing's values: a column.

use crate::core::{Array, DType, Data, Element, Result};
use crate::notebook::display;
use std::fmt;

/// The values of one feature or label, one entry for each example: an [`Array`] of shape `[rows, …]`. Cloning shares
/// them.
///
/// # Examples
/// ```
/// use tpulab::prelude::*;
/// let species = Column::from(vec![2i32, 1, 2]);
/// assert_eq!((species.len(), species.dtype()), (3, DType::Int32));
/// assert_eq!(species.to_string(), "[2, 1, 2]");
/// ```
#[derive(Clone, PartialEq)]
pub struct Column {
    array: Array,
}

impl Column {
    /// The column of the rows of `array`.
    ///
    /// # Errors
    /// `DATA001` if it is one number and so has no rows.
    pub fn new(array: Array) -> Result<Self> {
        if array.shape().is_empty() {
            return Err(super::DataError::NoRows.into());
        }
        Ok(Column { array })
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.array.shape().first().copied().unwrap_or(0)
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The type of the entries.
    pub fn dtype(&self) -> DType {
        self.array.dtype()
    }

    /// The shape of one entry, `[]` for one number.
    pub fn inner_shape(&self) -> &[usize] {
        self.array.shape().get(1..).unwrap_or(&[])
    }

    /// The values, `[rows, …]`.
    pub fn array(&self) -> &Array {
        &self.array
    }

    /// The entries in order, those of one row together.
    ///
    /// # Errors
    /// `CORE002` if the dtype is not that of `T`.
    pub fn values<T: Element>(&self) -> Result<&[T]> {
        self.array.as_slice()
    }

    /// The same entries as another dtype.
    ///
    /// # Errors
    /// `CORE002` if either side is neither a number nor a truth value.
    pub fn cast(&self, dtype: DType) -> Result<Self> {
        Ok(Column { array: self.array.cast(dtype)? })
    }

    /// Rows `start..end`.
    ///
    /// # Errors
    /// `CORE004` if they are not all there.
    pub fn rows(&self, start: usize, end: usize) -> Result<Self> {
        Ok(Column { array: self.array.rows(start, end)? })
    }

    /// Shows the values in a notebook.
    pub fn evcxr_display(&self) {
        display(&[("text/plain", &format!("{self}\n{} rows, {}", self.len(), self.dtype()))]);
    }

    /// One entry as a table's cell.
    pub(super) fn entry_text(&self, row: usize) -> String {
        match (self.array.row(row), self.array.data()) {
            (Ok(_), Data::String(texts)) if self.inner_shape().is_empty() => texts[row].clone(),
            (Ok(entry), _) => entry.to_string(),
            (Err(_), _) => String::new(),
        }
    }

    /// The values for writing in place.
    pub(crate) fn array_mut(&mut self) -> &mut Array {
        &mut self.array
    }
}

macro_rules! from_values {
    ($($type:ty),*) => {$(
        impl From<Vec<$type>> for Column {
            fn from(values: Vec<$type>) -> Self {
                Column { array: Array::from(values) }
            }
        }
    )*};
}

from_values!(f32, f64, i32, i64, bool, String);

impl From<Vec<&str>> for Column {
    fn from(values: Vec<&str>) -> Self {
        Column::from(values.into_iter().map(str::to_string).collect::<Vec<String>>())
    }
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.array, f)
    }
}

impl fmt::Debug for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Column({}, {} rows, {self})", self.dtype(), self.len())
    }
}
