//! Frames as linfa's datasets, and back.

use super::{Column, DataError, Frame};
use crate::core::{Array, DType, Result};
use ndarray::{Array1, Array2, Axis, Ix1};

/// linfa's dataset of float64 records `[rows, features]` and one class for each row.
pub type Labelled = linfa::Dataset<f64, usize, Ix1>;

impl Frame {
    /// The frame with its labels as linfa's dataset. Numbers become float64; linfa keeps rows together, so they are
    /// copied once. A column of several numbers a row, `x`, becomes the features `x_0`, `x_1` and so on.
    ///
    /// # Errors
    /// `DATA003` if the lengths differ, `DATA023` for labels that are no classes, `CORE002` for columns of texts.
    ///
    /// # Examples
    /// ```
    /// use tpulab::prelude::*;
    /// let ((train_x, train_y), _) = tpulab::iris::load_data("Species")?;
    /// let dataset = train_x.to_linfa(&train_y)?;
    /// assert_eq!(dataset.records.dim(), (120, 4));
    /// assert_eq!(dataset.feature_names()[3], "PetalWidth");
    /// let (back, labels) = Frame::from_linfa(&dataset)?;
    /// assert_eq!((back.shape(), labels.len()), ((120, 4), 120));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn to_linfa(&self, labels: &Column) -> Result<Labelled> {
        let (records, names) = self.to_records()?;
        if labels.len() != self.len() {
            let (left, right) = (("the features".to_string(), self.len()), ("the labels".to_string(), labels.len()));
            return Err(DataError::Lengths { left, right }.into());
        }
        Ok(linfa::Dataset::new(records, classes(labels)?).with_feature_names(names))
    }

    /// The frame's numbers as float64, `[rows, features]`, and the features' names.
    ///
    /// # Errors
    /// `CORE002` for columns of texts.
    pub(crate) fn to_records(&self) -> Result<(Array2<f64>, Vec<String>)> {
        let widths: Vec<usize> =
            self.columns().iter().map(|(_, column)| column.inner_shape().iter().product()).collect();
        let mut records = Array2::zeros((self.len(), widths.iter().sum()));
        let mut names = Vec::new();
        for ((name, column), width) in self.columns().iter().zip(widths) {
            let values = column.cast(DType::Float64)?;
            let first = names.len();
            for (row, entry) in values.values::<f64>()?.chunks_exact(width.max(1)).enumerate() {
                entry.iter().enumerate().for_each(|(index, &value)| records[[row, first + index]] = value);
            }
            match column.inner_shape() {
                [] => names.push(name.clone()),
                _ => names.extend((0..width).map(|index| format!("{name}_{index}"))),
            }
        }
        Ok((records, names))
    }

    /// The features, float64, and the labels, int64, of linfa's dataset. Features without names are called `feature_0`
    /// and so on.
    ///
    /// # Errors
    /// `DATA002` if two features have one name.
    pub fn from_linfa(dataset: &Labelled) -> Result<(Frame, Column)> {
        let names = dataset.feature_names();
        let columns = dataset.records.axis_iter(Axis(1)).enumerate().map(|(index, column)| {
            let name = names.get(index).cloned().unwrap_or_else(|| format!("feature_{index}"));
            (name, Column::from(column.to_vec()))
        });
        let labels: Vec<i64> = dataset.targets.iter().map(|&class| class as i64).collect();
        Ok((Frame::new(columns)?, Column::from(labels)))
    }
}

/// One class for each row.
pub(crate) fn classes(labels: &Column) -> Result<Array1<usize>> {
    let refuse = |found: String| -> crate::core::Error { DataError::Classes { found }.into() };
    if !labels.inner_shape().is_empty() || !matches!(labels.dtype(), DType::Int32 | DType::Int64) {
        return Err(refuse(format!("{} of shape {:?}", labels.dtype(), labels.array().shape())));
    }
    let values: Array = labels.array().cast(DType::Int64)?;
    let class = |&label: &i64| usize::try_from(label).map_err(|_| refuse(label.to_string()));
    values.as_slice::<i64>()?.iter().map(class).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_several_numbers_become_features_with_numbers() {
        let image = Array::from_vec(&[2, 2], vec![1.0f32, 2.0, 3.0, 4.0]).unwrap();
        let frame = Frame::new([("image", Column::new(image).unwrap()), ("age", Column::from(vec![7i32, 8]))]).unwrap();
        let dataset = frame.to_linfa(&Column::from(vec![0i32, 2])).unwrap();
        assert_eq!(dataset.feature_names(), ["image_0", "image_1", "age"]);
        assert_eq!(dataset.records, ndarray::arr2(&[[1.0, 2.0, 7.0], [3.0, 4.0, 8.0]]));
        assert_eq!(dataset.targets.to_vec(), [0, 2]);
    }

    #[test]
    fn labels_that_are_no_classes_are_refused() {
        let frame = Frame::new([("x", Column::from(vec![1.0f32, 2.0]))]).unwrap();
        let refused = |labels: Column| frame.to_linfa(&labels).unwrap_err().to_string();
        assert_eq!(
            refused(Column::from(vec![0i32, -1])),
            "DATA023: labels: expected classes numbered from 0, one number for each row, found -1; \
             number the classes 0, 1, 2 and so on, as int32 or int64"
        );
        assert!(refused(Column::from(vec![0.0f32, 1.0])).contains("found float32 of shape [2]"));
        assert!(refused(Column::from(vec![0i32])).starts_with("DATA003"));
    }
}
