//! Columns of numbers on one scale.

use super::{FeatureColumn, numeric_column};
use crate::core::{DType, Result};
use crate::data::Frame;

/// A numeric column for each column of `features`, normalized by the mean and the standard deviation that the column has
/// there: what differs by thousands and what differs by thousandths then count alike. A column that never varies is only
/// moved to 0. In TensorFlow one writes `normalizer_fn=lambda x: (x - mean) / deviation`.
///
/// # Errors
/// `CORE002` for a column of texts.
///
/// # Examples
/// ```
/// use tpulab::feature_column::standardized_columns;
/// use tpulab::prelude::*;
/// let train_x = Frame::new([("alcohol", Column::from(vec![9.0f32, 11.0])), ("density", Column::from(vec![0.99f32, 1.0]))])?;
/// let columns = standardized_columns(&train_x)?;
/// assert_eq!(columns[1].key(), "density");
/// # Ok::<(), Error>(())
/// ```
pub fn standardized_columns(features: &Frame) -> Result<Vec<FeatureColumn>> {
    let columns = features.columns().iter().map(|(name, column)| {
        let values = column.cast(DType::Float64)?;
        let values = values.values::<f64>()?;
        let count = values.len().max(1) as f64;
        let mean = values.iter().sum::<f64>() / count;
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
        let deviation = if variance > 0.0 { variance.sqrt() } else { 1.0 };
        let shape: &[usize] = if column.inner_shape().is_empty() { &[1] } else { column.inner_shape() };
        Ok(numeric_column(name).shape(shape).dtype(column.dtype()).normalizer(move |raw| &(raw - mean)? / deviation))
    });
    columns.collect()
}

#[cfg(test)]
mod tests {
    use super::super::input_layer;
    use super::*;
    use crate::core::Array;
    use crate::data::Column;
    use crate::engine::{Executor, ExecutorOptions, Request};
    use crate::graph::{Graph, Tensors};

    #[test]
    fn the_layer_has_mean_0_and_deviation_1_and_constants_are_0() {
        let columns = [("a", vec![1.0f32, 3.0]), ("b", vec![1000.0, -1000.0]), ("c", vec![5.0, 5.0])];
        let frame = Frame::new(columns.clone().map(|(name, values)| (name, Column::from(values)))).unwrap();
        let graph = Graph::new();
        let features = columns.map(|(name, values)| (name, graph.constant(values)));
        let layer = input_layer(&Tensors::from(features), &standardized_columns(&frame).unwrap()).unwrap();
        let mut executor = Executor::new(&graph, ExecutorOptions::default()).unwrap();
        let plan = executor.prepare(&Request { fetches: vec![layer], ..Request::default() }).unwrap();
        executor.run(plan, &[]).unwrap();
        let expected = Array::from_vec(&[2, 3], vec![-1.0f32, 1.0, 0.0, 1.0, -1.0, 0.0]).unwrap();
        assert_eq!(executor.output(plan, 0, 0), expected);
    }
}
