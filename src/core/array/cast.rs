//! Elements as other numbers.

use super::{Array, Data, Element};
use crate::core::DType;
use crate::core::error::{Result, ValueError};

impl Array {
    /// The elements as float64, in row-major order; texts cannot be read so.
    ///
    /// # Errors
    /// `CORE002` for an array of texts.
    pub fn to_f64_vec(&self) -> Result<Vec<f64>> {
        Ok(match &self.data {
            Data::Float32(values) => values.iter().map(|&value| f64::from(value)).collect(),
            Data::Float64(values) => values.to_vec(),
            Data::Int32(values) => values.iter().map(|&value| f64::from(value)).collect(),
            Data::Int64(values) => values.iter().map(|&value| value as f64).collect(),
            Data::Bool(values) => values.iter().map(|&value| f64::from(u8::from(value))).collect(),
            Data::String(_) => {
                return Err(ValueError::WrongDtype { expected: DType::Float64, found: DType::String }.into());
            }
        })
    }

    /// The same elements as another numeric or truth type; numbers are converted as Rust's `as` does.
    ///
    /// # Errors
    /// `CORE002` if either side is neither a number nor a truth value.
    pub fn cast(&self, dtype: DType) -> Result<Self> {
        if dtype == self.dtype() {
            return Ok(self.clone());
        }
        let data = match (&self.data, dtype) {
            // Integers keep all their bits among themselves.
            (Data::Int64(values), DType::Int32) => i32::into_data(values.iter().map(|&value| value as i32).collect()),
            (Data::Int32(values), DType::Int64) => {
                i64::into_data(values.iter().map(|&value| i64::from(value)).collect())
            }
            // Through float64 they would be rounded twice.
            (Data::Int64(values), DType::Float32) => f32::into_data(values.iter().map(|&value| value as f32).collect()),
            (_, DType::Float32) => f32::into_data(self.to_f64_vec()?.into_iter().map(|value| value as f32).collect()),
            (_, DType::Float64) => f64::into_data(self.to_f64_vec()?),
            (_, DType::Int32) => i32::into_data(self.to_f64_vec()?.into_iter().map(|value| value as i32).collect()),
            (_, DType::Int64) => i64::into_data(self.to_f64_vec()?.into_iter().map(|value| value as i64).collect()),
            (_, DType::Bool) => bool::into_data(self.to_f64_vec()?.into_iter().map(|value| value != 0.0).collect()),
            (_, other) => return Err(ValueError::WrongDtype { expected: other, found: self.dtype() }.into()),
        };
        Ok(Array { shape: self.shape.clone(), data })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn casts_keep_integers_whole() {
        let large = Array::from(vec![i64::from(i32::MAX)]);
        assert_eq!(large.cast(DType::Int32).unwrap(), Array::from(vec![i32::MAX]));
        assert_eq!(Array::from(vec![0.5f32, 0.0]).cast(DType::Bool).unwrap(), Array::from(vec![true, false]));
        assert_eq!(Array::from(String::new()).cast(DType::Float32).unwrap_err().code(), "CORE002");
    }
}
