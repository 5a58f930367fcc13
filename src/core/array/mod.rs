//! A concrete value: numbers, truth values or texts with a shape.

mod cast;
mod display;
mod element;

pub(crate) use element::for_each_type;
pub use element::{Data, Element};

use super::error::{Result, ValueError, saturating_product};
use super::{DType, Shape};
use ndarray::{ArrayD, ArrayViewD, IxDyn};

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
}
