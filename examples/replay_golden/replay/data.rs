//! The iris data in the precision of a run.

use tpulab::iris;
use tpulab::prelude::*;

/// What to train with, to test with, and three flowers to predict.
#[derive(Debug)]
pub struct Data {
    pub train: (Frame, Column),
    pub test: (Frame, Column),
    pub flowers: Frame,
}

impl Data {
    /// The data; for a float64 run every digit of the files.
    pub fn load(precision: Precision) -> Result<Data> {
        let flowers = iris::prediction_input_data();
        if precision != Precision::Float64 {
            let (train, test) = iris::load_data("Species")?;
            return Ok(Data { train, test, flowers });
        }
        let (train, test) = iris::load_data_untyped("Species")?;
        // One digit behind the point: what float32 has rounded, float64 gets back.
        let exact = |(name, column): &(String, Column)| {
            let tenths = column.values::<f32>()?.iter().map(|value| f64::from((value * 10.0).round()) / 10.0);
            Ok((name.clone(), Column::from(tenths.collect::<Vec<f64>>())))
        };
        let flowers = Frame::new(flowers.columns().iter().map(exact).collect::<Result<Vec<_>>>()?)?;
        Ok(Data { train, test, flowers })
    }
}
