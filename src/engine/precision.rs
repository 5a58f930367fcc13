//! The width of the arithmetic.

/// The floating-point type in which an engine computes; the graph's dtypes stay as they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Precision {
    /// float32, as TensorFlow computes.
    #[default]
    Float32,
    /// float64, for proofs of equality.
    Float64,
}
