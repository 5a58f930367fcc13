//! How exactly the engine computes.

/// How exactly the engine computes what the graph calls float32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Precision {
    /// float32, as TensorFlow does.
    #[default]
    Float32,
    /// float64 throughout, for proofs: casts to float32 do not round.
    Float64,
}
