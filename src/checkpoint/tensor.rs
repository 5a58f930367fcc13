//! A tensor's elements as bytes, little-endian, and back.

use crate::core::{Array, DType, Data, Element, Result};

/// The elements' bytes; none for strings.
pub(super) fn to_bytes(array: &Array) -> Option<Vec<u8>> {
    Some(match array.data() {
        Data::Float32(values) => flatten(values, |value| value.to_le_bytes()),
        Data::Float64(values) => flatten(values, |value| value.to_le_bytes()),
        Data::Int32(values) => flatten(values, |value| value.to_le_bytes()),
        Data::Int64(values) => flatten(values, |value| value.to_le_bytes()),
        Data::Bool(values) => flatten(values, |value| [u8::from(value)]),
        Data::String(_) => return None,
    })
}

fn flatten<T: Copy, const N: usize>(values: &[T], to_bytes: impl Fn(T) -> [u8; N]) -> Vec<u8> {
    values.iter().map(|&value| to_bytes(value)).collect::<Vec<_>>().into_flattened()
}

/// How many bytes an element takes; none for a dtype that is not read here.
pub(super) fn element_size(dtype: DType) -> Option<usize> {
    match dtype {
        DType::Float32 | DType::Int32 => Some(4),
        DType::Float64 | DType::Int64 => Some(8),
        DType::Bool => Some(1),
        _ => None,
    }
}

/// The array with these elements. `bytes` must be a whole number of elements of a dtype with an [`element_size`].
pub(super) fn from_bytes(dtype: DType, shape: &[usize], bytes: &[u8]) -> Result<Array> {
    match dtype {
        DType::Float32 => array(shape, bytes, f32::from_le_bytes),
        DType::Float64 => array(shape, bytes, f64::from_le_bytes),
        DType::Int32 => array(shape, bytes, i32::from_le_bytes),
        DType::Int64 => array(shape, bytes, i64::from_le_bytes),
        _ => array(shape, bytes, |[byte]| byte != 0),
    }
}

fn array<T: Element, const N: usize>(shape: &[usize], bytes: &[u8], value: impl Fn([u8; N]) -> T) -> Result<Array> {
    Array::from_vec(shape, bytes.as_chunks().0.iter().map(|&chunk| value(chunk)).collect())
}
