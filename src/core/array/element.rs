//! The types that elements may have.

use super::Array;
use crate::core::DType;
use std::fmt;
use std::sync::Arc;

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
