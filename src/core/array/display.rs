//! How an array is printed.

use super::{Array, Data};
use std::fmt;

impl fmt::Display for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_nested(f, 0, 0)
    }
}

impl fmt::Debug for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Array({}, {:?}, {self})", self.dtype(), self.shape)
    }
}

impl Array {
    fn write_element(&self, f: &mut fmt::Formatter<'_>, index: usize) -> fmt::Result {
        match &self.data {
            Data::Float32(values) => write!(f, "{:?}", values[index]),
            Data::Float64(values) => write!(f, "{:?}", values[index]),
            Data::Int32(values) => write!(f, "{}", values[index]),
            Data::Int64(values) => write!(f, "{}", values[index]),
            Data::Bool(values) => write!(f, "{}", values[index]),
            Data::String(values) => write!(f, "{:?}", values[index]),
        }
    }

    fn write_nested(&self, f: &mut fmt::Formatter<'_>, axis: usize, offset: usize) -> fmt::Result {
        /// Long dimensions show this many entries at either end.
        const SHOWN: usize = 3;
        let Some(&size) = self.shape.get(axis) else { return self.write_element(f, offset) };
        let stride: usize = self.shape[axis + 1..].iter().product();
        let last_axis = axis + 1 == self.shape.len();
        let limit = if last_axis { 4 * SHOWN } else { 2 * SHOWN + 1 };
        f.write_str("[")?;
        let mut entry = 0;
        while entry < size {
            if entry > 0 {
                f.write_str(",")?;
                if last_axis {
                    f.write_str(" ")?;
                } else {
                    write!(f, "\n{:width$}", "", width = axis + 1)?;
                }
            }
            if size > limit && entry == SHOWN {
                f.write_str("…")?;
                entry = size - SHOWN;
                continue;
            }
            self.write_nested(f, axis + 1, offset + entry * stride)?;
            entry += 1;
        }
        f.write_str("]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::DType;

    #[test]
    fn long_dimensions_are_shortened_in_print() {
        let array = Array::from((0..20).collect::<Vec<i32>>());
        assert_eq!(array.to_string(), "[0, 1, 2, …, 17, 18, 19]");
        assert_eq!(Array::zeros(DType::Float32, &[0, 2]).unwrap().to_string(), "[]");
    }
}
