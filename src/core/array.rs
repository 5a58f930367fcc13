//! A concrete value: numbers, truth values or texts with a shape.

use super::error::{Result, ValueError, saturating_product};
use super::{DType, Shape};
use ndarray::{ArrayD, ArrayViewD, IxDyn};
use std::fmt;
use std::sync::Arc;

/// A concrete n-dimensional value, in row-major order. Cloning shares the elements.
///
/// Where a `Tensor` of the graph stands for a value that a run will compute, an `Array` is that value.
/// It owns its data and has no type parameters, so a notebook keeps it from cell to cell; [`Array::view`]
/// gives the elements as an ndarray view.
///
/// # Examples
/// ```
/// use tpulab::prelude::*;
/// let weights = Array::from_vec(&[2, 2], vec![1.0f32, 2.0, 3.0, 4.0])?;
/// assert_eq!(weights.shape(), [2, 2]);
/// assert_eq!(weights.view::<f32>()?[[1, 0]], 3.0);
/// assert_eq!(weights.to_string(), "[[1.0, 2.0],\n [3.0, 4.0]]");
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, PartialEq)]
pub struct Array {
    shape: Vec<usize>,
    data: Data,
}

/// The elements of an [`Array`], by type.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Data {
    /// float32
    Float32(Arc<Vec<f32>>),
    /// float64
    Float64(Arc<Vec<f64>>),
    /// int32
    Int32(Arc<Vec<i32>>),
    /// int64
    Int64(Arc<Vec<i64>>),
    /// bool
    Bool(Arc<Vec<bool>>),
    /// string
    String(Arc<Vec<String>>),
}

/// Calls `$body` with `$values` bound to the `Arc<Vec<_>>` of whatever type the data have.
macro_rules! for_each_type {
    ($data:expr, $values:ident => $body:expr) => {
        match $data {
            $crate::core::Data::Float32($values) => $body,
            $crate::core::Data::Float64($values) => $body,
            $crate::core::Data::Int32($values) => $body,
            $crate::core::Data::Int64($values) => $body,
            $crate::core::Data::Bool($values) => $body,
            $crate::core::Data::String($values) => $body,
        }
    };
}
pub(crate) use for_each_type;

/// A Rust type that can be the element of an [`Array`]: `f32`, `f64`, `i32`, `i64`, `bool`, `String`.
pub trait Element: Clone + PartialEq + fmt::Debug + Default + Send + Sync + 'static {
    /// The dtype of arrays with this element.
    const DTYPE: DType;
    /// Wraps elements as data.
    fn into_data(values: Vec<Self>) -> Data;
    /// The elements, if the data are of this type.
    fn values(data: &Data) -> Option<&[Self]>;
    /// The elements for writing, if the data are of this type; shared data are copied first.
    fn values_mut(data: &mut Data) -> Option<&mut Vec<Self>>;
}

macro_rules! element {
    ($type:ty, $variant:ident) => {
        impl Element for $type {
            const DTYPE: DType = DType::$variant;
            fn into_data(values: Vec<Self>) -> Data {
                Data::$variant(Arc::new(values))
            }
            fn values(data: &Data) -> Option<&[Self]> {
                match data {
                    Data::$variant(values) => Some(values),
                    _ => None,
                }
            }
            fn values_mut(data: &mut Data) -> Option<&mut Vec<Self>> {
                match data {
                    Data::$variant(values) => Some(Arc::make_mut(values)),
                    _ => None,
                }
            }
        }

        impl From<$type> for Array {
            fn from(value: $type) -> Self {
                Array { shape: Vec::new(), data: <$type>::into_data(vec![value]) }
            }
        }

        impl From<Vec<$type>> for Array {
            fn from(values: Vec<$type>) -> Self {
                Array { shape: vec![values.len()], data: <$type>::into_data(values) }
            }
        }

        impl<D: ndarray::Dimension> From<ndarray::Array<$type, D>> for Array {
            fn from(array: ndarray::Array<$type, D>) -> Self {
                let shape = array.shape().to_vec();
                // Row-major arrays give up their buffer; others are copied into that order.
                let values = if array.is_standard_layout() {
                    let length = array.len();
                    match array.into_raw_vec_and_offset() {
                        (values, Some(0)) if values.len() == length => values,
                        (values, offset) => values.into_iter().skip(offset.unwrap_or(0)).take(length).collect(),
                    }
                } else {
                    array.iter().cloned().collect()
                };
                Array { shape, data: <$type>::into_data(values) }
            }
        }
    };
}

element!(f32, Float32);
element!(f64, Float64);
element!(i32, Int32);
element!(i64, Int64);
element!(bool, Bool);
element!(String, String);

impl Array {
    /// An array of shape `shape` from its elements in row-major order.
    ///
    /// # Errors
    /// `CORE001` if the number of elements is not the product of the sizes.
    pub fn from_vec<T: Element>(shape: &[usize], values: Vec<T>) -> Result<Self> {
        if saturating_product(shape) != values.len() {
            return Err(ValueError::WrongLength { shape: shape.to_vec(), found: values.len() }.into());
        }
        Ok(Array { shape: shape.to_vec(), data: T::into_data(values) })
    }

    /// An array of shape `shape` with `value` everywhere.
    pub fn full<T: Element>(shape: &[usize], value: T) -> Self {
        Array { shape: shape.to_vec(), data: T::into_data(vec![value; saturating_product(shape)]) }
    }

    /// An array of zeros (`false`, empty texts) of a storable dtype: float32, float64, int32, int64, bool, string.
    ///
    /// # Errors
    /// `CORE002` for a dtype that arrays cannot hold.
    pub fn zeros(dtype: DType, shape: &[usize]) -> Result<Self> {
        Ok(match dtype {
            DType::Float32 => Array::full(shape, 0f32),
            DType::Float64 => Array::full(shape, 0f64),
            DType::Int32 => Array::full(shape, 0i32),
            DType::Int64 => Array::full(shape, 0i64),
            DType::Bool => Array::full(shape, false),
            DType::String => Array::full(shape, String::new()),
            other => return Err(ValueError::WrongDtype { expected: DType::Float32, found: other }.into()),
        })
    }

    /// The shape, `[]` for one number.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        for_each_type!(&self.data, values => values.len())
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The type of the elements.
    pub fn dtype(&self) -> DType {
        match &self.data {
            Data::Float32(_) => DType::Float32,
            Data::Float64(_) => DType::Float64,
            Data::Int32(_) => DType::Int32,
            Data::Int64(_) => DType::Int64,
            Data::Bool(_) => DType::Bool,
            Data::String(_) => DType::String,
        }
    }

    /// The shape as a [`Shape`], all sizes known.
    pub fn known_shape(&self) -> Shape {
        Shape::known(&self.shape)
    }

    /// The elements by type.
    pub fn data(&self) -> &Data {
        &self.data
    }

    /// The elements in row-major order.
    ///
    /// # Errors
    /// `CORE002` if the array's dtype is not that of `T`.
    pub fn as_slice<T: Element>(&self) -> Result<&[T]> {
        T::values(&self.data).ok_or_else(|| ValueError::WrongDtype { expected: T::DTYPE, found: self.dtype() }.into())
    }

    /// The elements as an ndarray view.
    ///
    /// # Errors
    /// `CORE002` if the array's dtype is not that of `T`.
    pub fn view<T: Element>(&self) -> Result<ArrayViewD<'_, T>> {
        let values = self.as_slice::<T>()?;
        Ok(ArrayViewD::from_shape(IxDyn(&self.shape), values).expect("length equals the shape's product"))
    }

    /// The elements as an ndarray array of their own.
    ///
    /// # Errors
    /// `CORE002` if the array's dtype is not that of `T`.
    pub fn to_ndarray<T: Element>(&self) -> Result<ArrayD<T>> {
        Ok(self.view::<T>()?.to_owned())
    }

    /// The one element of an array that holds exactly one.
    ///
    /// # Errors
    /// `CORE003` if there are more or none, `CORE002` for another dtype.
    pub fn to_scalar<T: Element>(&self) -> Result<T> {
        match self.as_slice::<T>()? {
            [value] => Ok(value.clone()),
            _ => Err(ValueError::NotScalar { shape: self.shape.clone() }.into()),
        }
    }

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

    /// The same elements in another shape.
    ///
    /// # Errors
    /// `CORE001` if the new shape holds another number of elements.
    pub fn reshape(&self, shape: &[usize]) -> Result<Self> {
        if saturating_product(shape) != self.len() {
            return Err(ValueError::WrongLength { shape: shape.to_vec(), found: self.len() }.into());
        }
        Ok(Array { shape: shape.to_vec(), data: self.data.clone() })
    }

    /// Rows `start..end` of dimension 0.
    ///
    /// # Errors
    /// `CORE004` if the rows are not all there, or the array is one number.
    pub fn rows(&self, start: usize, end: usize) -> Result<Self> {
        let out_of_bounds = || ValueError::OutOfBounds { index: vec![start, end], shape: self.shape.clone() };
        let rows = *self.shape.first().ok_or_else(out_of_bounds)?;
        if start > end || end > rows {
            return Err(out_of_bounds().into());
        }
        let width: usize = self.shape[1..].iter().product();
        let mut shape = self.shape.clone();
        shape[0] = end - start;
        fn cut<T: Element>(values: &[T], start: usize, end: usize) -> Data {
            T::into_data(values[start..end].to_vec())
        }
        let data = for_each_type!(&self.data, values => cut(values, start * width, end * width));
        Ok(Array { shape, data })
    }

    /// Row `index` of dimension 0, with one dimension fewer.
    ///
    /// # Errors
    /// `CORE004` if there is no such row.
    pub fn row(&self, index: usize) -> Result<Self> {
        let row = self.rows(index, index.saturating_add(1))?;
        let shape = row.shape[1..].to_vec();
        Ok(Array { shape, data: row.data })
    }

    /// Shape and elements for writing in place; what shares the elements keeps its own copy.
    pub(crate) fn parts_mut<T: Element>(&mut self) -> Option<(&mut Vec<usize>, &mut Vec<T>)> {
        T::values_mut(&mut self.data).map(|values| (&mut self.shape, values))
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_takes_over_the_buffer_of_an_ndarray() {
        let source = ndarray::array![[1.0f32, 2.0], [3.0, 4.0]];
        let address = source.as_ptr();
        let array = Array::from(source);
        assert_eq!(array.as_slice::<f32>().unwrap().as_ptr(), address);
        let transposed = Array::from(array.to_ndarray::<f32>().unwrap().reversed_axes());
        assert_eq!(transposed.as_slice::<f32>().unwrap(), [1.0, 3.0, 2.0, 4.0]);
    }

    #[test]
    fn rows_are_cut_from_dimension_zero() {
        let array = Array::from_vec(&[3, 2], vec![1i64, 2, 3, 4, 5, 6]).unwrap();
        assert_eq!(array.rows(1, 3).unwrap(), Array::from_vec(&[2, 2], vec![3i64, 4, 5, 6]).unwrap());
        assert_eq!(array.row(2).unwrap(), Array::from(vec![5i64, 6]));
        assert_eq!(array.rows(2, 4).unwrap_err().code(), "CORE004");
        assert_eq!(Array::from(1i64).row(0).unwrap_err().code(), "CORE004");
    }

    #[test]
    fn a_read_as_another_dtype_is_refused_with_both_names() {
        let error = Array::from(vec![1i32]).as_slice::<f32>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "CORE002: expected an array of float32, found int32; read it as int32, or `cast` it first"
        );
    }

    #[test]
    fn long_dimensions_are_shortened_in_print() {
        let array = Array::from((0..20).collect::<Vec<i32>>());
        assert_eq!(array.to_string(), "[0, 1, 2, …, 17, 18, 19]");
        assert_eq!(Array::zeros(DType::Float32, &[0, 2]).unwrap().to_string(), "[]");
    }

    #[test]
    fn casts_keep_integers_whole() {
        let large = Array::from(vec![i64::from(i32::MAX)]);
        assert_eq!(large.cast(DType::Int32).unwrap(), Array::from(vec![i32::MAX]));
        assert_eq!(Array::from(vec![0.5f32, 0.0]).cast(DType::Bool).unwrap(), Array::from(vec![true, false]));
        assert_eq!(Array::from(String::new()).cast(DType::Float32).unwrap_err().code(), "CORE002");
    }
}
