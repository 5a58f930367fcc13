//! Columns under names.

use super::{Column, DataError};
use crate::core::Result;
use std::fmt;

/// Columns of equal length under names, in order. Cloning shares the values. pandas: `DataFrame`.
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
            let name = name.into();
            if frame.names().contains(&name.as_str()) {
                return Err(DataError::DuplicateName { name }.into());
            }
            if let Some((first, known)) = frame.columns.first()
                && known.len() != column.len()
            {
                let (left, right) = ((first.clone(), known.len()), (name, column.len()));
                return Err(DataError::Lengths { left, right }.into());
            }
            frame.columns.push((name, column));
        }
        Ok(frame)
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
}

impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Frame({} rows, {:?})", self.len(), self.names())
    }
}
