//! What the elements of a dataset look like.

use crate::core::{DType, Shape};
use crate::notebook::Table;
use std::fmt;

/// Dtypes and shapes of a dataset's elements. TensorFlow: `dataset.element_spec`.
///
/// # Examples
/// ```
/// use tpulab::prelude::*;
/// let x = Frame::new([("x", Column::from(vec![1.0f32, 2.0, 3.0]))])?;
/// let spec = |remainder| Dataset::from_tensor_slices(&x)?.batch(2, remainder).element_spec();
/// assert_eq!(spec(Remainder::Keep)?.features[0].2, Shape::new(&[None]));
/// assert_eq!(spec(Remainder::Drop)?.features[0].2, Shape::new(&[Some(2)]));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ElementSpec {
    /// Name, dtype and shape of each feature. After `batch` the first size is the batch's: known only with
    /// [`Remainder::Drop`](super::Remainder::Drop).
    pub features: Vec<(String, DType, Shape)>,
    /// Dtype and shape of the labels, if there are any.
    pub labels: Option<(DType, Shape)>,
}

impl ElementSpec {
    fn table(&self) -> Table {
        let features = self.features.iter().map(|(name, dtype, shape)| (name.as_str(), dtype, shape));
        let labels = self.labels.iter().map(|(dtype, shape)| ("labels", dtype, shape));
        let row = |table: Table, (name, dtype, shape): (&str, &DType, &Shape)| {
            table.row([name.to_string(), dtype.to_string(), shape.to_string()])
        };
        features.chain(labels).fold(Table::new(["element", "dtype", "shape"]), row)
    }

    /// Shows it in a notebook, a line for each feature and one for the labels.
    pub fn evcxr_display(&self) {
        self.table().evcxr_display();
    }
}

impl fmt::Display for ElementSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.table().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_that_are_unknown_show_as_question_marks() {
        let spec = ElementSpec {
            features: vec![("x".to_string(), DType::Float32, Shape::new(&[None, Some(3)]))],
            labels: Some((DType::Int32, Shape::new(&[None]))),
        };
        assert_eq!(spec.to_string(), "element  dtype    shape\nx        float32  [?, 3]\nlabels   int32    [?]");
    }
}
