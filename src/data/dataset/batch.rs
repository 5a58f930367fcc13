//! The values of one element.

use super::cardinality::{MOST_BYTES, element_bytes};
use crate::core::{Array, Result, for_each_type};
use crate::data::DataError;
use std::fmt;

/// The values of one element of a dataset: a batch, `[rows, …]` each, or a single example before `batch`.
#[derive(Clone, Default, PartialEq)]
pub struct Batch {
    pub(super) features: Vec<(String, Array)>,
    pub(super) labels: Option<Array>,
    pub(super) source_rows: Vec<u32>,
}

impl Batch {
    /// A batch of these features and labels.
    pub fn new(features: Vec<(String, Array)>, labels: Option<Array>) -> Self {
        Batch { features, labels, source_rows: Vec::new() }
    }

    /// The features with their names, in order.
    pub fn features(&self) -> &[(String, Array)] {
        &self.features
    }

    /// The labels, if there are any.
    pub fn labels(&self) -> Option<&Array> {
        self.labels.as_ref()
    }

    /// The feature called `name`.
    ///
    /// # Errors
    /// `DATA004` if there is none.
    pub fn feature(&self, name: &str) -> Result<&Array> {
        let found = self.features.iter().find(|(known, _)| known == name);
        found.map(|(_, values)| values).ok_or_else(|| {
            let known: Vec<&str> = self.features.iter().map(|(name, _)| name.as_str()).collect();
            let problem = format!("no feature `{name}`; there are {}", known.join(", "));
            DataError::Dataset { method: "feature", problem, help: "use one of these names" }.into()
        })
    }

    /// Replaces a feature, or adds it at the end.
    pub fn set_feature(&mut self, name: &str, values: impl Into<Array>) {
        let values = values.into();
        match self.features.iter_mut().find(|(known, _)| known == name) {
            Some(feature) => feature.1 = values,
            None => self.features.push((name.to_string(), values)),
        }
    }

    /// Replaces the labels.
    pub fn set_labels(&mut self, labels: impl Into<Array>) {
        self.labels = Some(labels.into());
    }

    /// How many rows it has: the first size of its features.
    pub fn rows(&self) -> usize {
        self.features.first().and_then(|(_, values)| values.shape().first()).copied().unwrap_or(1)
    }

    /// Where each row comes from: its number in what was sliced, counted from 0.
    pub fn source_rows(&self) -> &[u32] {
        &self.source_rows
    }

    /// A copy that shares no memory with it.
    pub(crate) fn unshared(&self) -> Batch {
        fn copy<T: crate::core::Element>(values: &[T], shape: &[usize]) -> Array {
            Array::from_vec(shape, values.to_vec()).expect("the length is the shape's product")
        }
        let copy = |array: &Array| for_each_type!(array.data(), values => copy(values, array.shape()));
        Batch {
            features: self.features.iter().map(|(name, array)| (name.clone(), copy(array))).collect(),
            labels: self.labels.as_ref().map(copy),
            source_rows: self.source_rows.clone(),
        }
    }

    /// Each column by name, to be written, beside that of another batch.
    pub(crate) fn columns_with<'a>(&'a mut self, other: &'a Batch) -> Vec<(String, &'a mut Array, Option<&'a Array>)> {
        self.source_rows.extend_from_slice(&other.source_rows);
        let features = self.features.iter_mut().enumerate();
        let mut columns: Vec<_> = features
            .map(|(index, (name, array))| (name.clone(), array, other.features.get(index).map(|(_, array)| array)))
            .collect();
        columns.extend(self.labels.as_mut().map(|labels| ("labels".to_string(), labels, other.labels.as_ref())));
        columns
    }

    /// Zero rows behind the others, up to `rows` in all.
    pub(crate) fn pad(&mut self, rows: usize) -> Result<()> {
        let arrays = self.features.iter().map(|(_, array)| array).chain(&self.labels);
        let row_bytes = arrays.map(|array| {
            let width = array.shape().iter().skip(1).product::<usize>();
            for_each_type!(array.data(), values => width * element_bytes(values))
        });
        if rows as u128 * row_bytes.sum::<usize>() as u128 > MOST_BYTES {
            let problem = format!("a batch of {rows} rows takes more than 4 GiB");
            return Err(DataError::Dataset { method: "pad", problem, help: "use a smaller batch size" }.into());
        }
        for array in self.features.iter_mut().map(|(_, array)| array).chain(&mut self.labels) {
            pad(array, rows);
        }
        Ok(())
    }
}

fn pad(array: &mut Array, rows: usize) {
    fn grow<T: crate::core::Element>(array: &mut Array, rows: usize) {
        let Some((shape, values)) = array.parts_mut::<T>() else { return };
        if let Some(first) = shape.first_mut() {
            *first = rows;
            let length = shape.iter().product();
            values.resize(length, T::default());
        }
    }
    use crate::core::DType;
    match array.dtype() {
        DType::Float32 => grow::<f32>(array, rows),
        DType::Float64 => grow::<f64>(array, rows),
        DType::Int32 => grow::<i32>(array, rows),
        DType::Int64 => grow::<i64>(array, rows),
        DType::Bool => grow::<bool>(array, rows),
        _ => grow::<String>(array, rows),
    }
}

impl fmt::Debug for Batch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Batch");
        for (name, values) in &self.features {
            shown.field(name, values);
        }
        shown.field("labels", &self.labels).finish()
    }
}
