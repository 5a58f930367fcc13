//! The types that the elements of a tensor can have.

use std::fmt;

/// The type of a tensor's elements. TensorFlow: `tf.DType`.
///
/// The numbers of [`DType::number`] are those of TensorFlow's `DataType` enum, as files store them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum DType {
    /// 32-bit floating point.
    Float32,
    /// 64-bit floating point.
    Float64,
    /// 32-bit signed integer.
    Int32,
    /// 64-bit signed integer.
    Int64,
    /// Truth value.
    Bool,
    /// Text.
    String,
    /// 8-bit signed integer.
    Int8,
    /// 8-bit unsigned integer.
    Uint8,
    /// 32-bit unsigned integer.
    Uint32,
    /// 16-bit floating point with float32's range.
    Bfloat16,
    /// 16-bit floating point, IEEE.
    Float16,
    /// Pair of float32.
    Complex64,
    /// A variable's handle.
    Resource,
}

impl DType {
    /// TensorFlow's number for this type (`DataType` in `types.proto`).
    pub fn number(self) -> u32 {
        match self {
            DType::Float32 => 1,
            DType::Float64 => 2,
            DType::Int32 => 3,
            DType::Uint8 => 4,
            DType::Int8 => 6,
            DType::String => 7,
            DType::Complex64 => 8,
            DType::Int64 => 9,
            DType::Bool => 10,
            DType::Bfloat16 => 14,
            DType::Float16 => 19,
            DType::Resource => 20,
            DType::Uint32 => 22,
        }
    }

    /// The type with TensorFlow's number `number`, if this crate knows it.
    pub fn from_number(number: u32) -> Option<Self> {
        Self::ALL.iter().copied().find(|dtype| dtype.number() == number)
    }

    const ALL: [DType; 13] = [
        DType::Float32,
        DType::Float64,
        DType::Int32,
        DType::Int64,
        DType::Bool,
        DType::String,
        DType::Int8,
        DType::Uint8,
        DType::Uint32,
        DType::Bfloat16,
        DType::Float16,
        DType::Complex64,
        DType::Resource,
    ];

    /// TensorFlow's name, such as `float32`.
    pub fn name(self) -> &'static str {
        match self {
            DType::Float32 => "float32",
            DType::Float64 => "float64",
            DType::Int32 => "int32",
            DType::Int64 => "int64",
            DType::Bool => "bool",
            DType::String => "string",
            DType::Int8 => "int8",
            DType::Uint8 => "uint8",
            DType::Uint32 => "uint32",
            DType::Bfloat16 => "bfloat16",
            DType::Float16 => "float16",
            DType::Complex64 => "complex64",
            DType::Resource => "resource",
        }
    }

    /// Whether this is float32 or float64, the types that have gradients here.
    pub fn is_floating(self) -> bool {
        matches!(self, DType::Float32 | DType::Float64 | DType::Bfloat16 | DType::Float16)
    }

    /// Whether this is an integer type.
    pub fn is_integer(self) -> bool {
        matches!(self, DType::Int32 | DType::Int64 | DType::Int8 | DType::Uint8 | DType::Uint32)
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_tensorflows_and_come_back() {
        assert_eq!(DType::Int64.number(), 9);
        for dtype in DType::ALL {
            assert_eq!(DType::from_number(dtype.number()), Some(dtype));
        }
        assert_eq!(DType::from_number(0), None);
    }
}
