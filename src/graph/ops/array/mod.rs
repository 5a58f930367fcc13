//! Moves, shapes and converts elements: the ops here, their parts in a file each.

mod functions;
mod gradient;
mod infer;

pub use functions::{
    broadcast_like, cast, concat, expand_dims, fill_like, gather, identity, one_hot, pad, reshape, reshape_like, size,
    slice, squeeze, stop_gradient, transpose, unsorted_segment_sum, zeros_like,
};

use crate::core::DType;

/// Moves, shapes and converts elements.
///
/// `…Like` variants take the shape of a second input; in TensorFlow's graphs a `Shape` op stands between.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the variants carry the names of TensorFlow's ops and of their arguments")]
pub enum ArrayOp {
    Identity,
    /// `Identity` that no gradient passes.
    StopGradient,
    Cast {
        to: DType,
    },
    /// At most one size is `None`: it takes what is left.
    Reshape {
        sizes: Vec<Option<usize>>,
    },
    ReshapeLike,
    BroadcastLike,
    /// Sums over the dimensions along which the shape of the second input broadcasts to that of the first. TensorFlow
    /// finds them while it runs, too: by `BroadcastGradientArgs`.
    SumLike,
    ExpandDims {
        axis: usize,
    },
    Squeeze {
        axes: Vec<usize>,
    },
    Transpose {
        permutation: Vec<usize>,
    },
    ConcatV2 {
        axis: usize,
    },
    /// A size of `None` reaches to the end.
    Slice {
        begin: Vec<usize>,
        sizes: Vec<Option<usize>>,
    },
    /// Zeros around the elements, so that they stand at `begin` in the shape of the second input.
    PadLike {
        begin: Vec<usize>,
    },
    /// The part of the first input, along `axis`, that input `1 + index` had in a concatenation of the other inputs.
    ConcatPart {
        axis: usize,
        index: usize,
    },
    /// Zeros around the elements: how many before and after, for each dimension.
    Pad {
        paddings: Vec<(usize, usize)>,
    },
    /// Slices of the first input, along dimension `axis`, at the places that the second input names.
    GatherV2 {
        axis: usize,
    },
    /// Sums of the slices of the first input that have one number in the second.
    UnsortedSegmentSum {
        segments: usize,
    },
    OneHot {
        depth: usize,
        dtype: DType,
    },
    ZerosLike,
    FillLike {
        value: f64,
    },
    /// The number of elements, int32.
    Size,
}

impl ArrayOp {
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            ArrayOp::Identity => "Identity",
            ArrayOp::StopGradient => "StopGradient",
            ArrayOp::Cast { .. } => "Cast",
            ArrayOp::Reshape { .. } | ArrayOp::ReshapeLike => "Reshape",
            ArrayOp::BroadcastLike => "BroadcastTo",
            ArrayOp::SumLike => "Sum",
            ArrayOp::ExpandDims { .. } => "ExpandDims",
            ArrayOp::Squeeze { .. } => "Squeeze",
            ArrayOp::Transpose { .. } => "Transpose",
            ArrayOp::ConcatV2 { .. } => "ConcatV2",
            ArrayOp::Slice { .. } | ArrayOp::ConcatPart { .. } => "Slice",
            ArrayOp::Pad { .. } | ArrayOp::PadLike { .. } => "Pad",
            ArrayOp::GatherV2 { .. } => "GatherV2",
            ArrayOp::UnsortedSegmentSum { .. } => "UnsortedSegmentSum",
            ArrayOp::OneHot { .. } => "OneHot",
            ArrayOp::ZerosLike => "ZerosLike",
            ArrayOp::FillLike { .. } => "Fill",
            ArrayOp::Size => "Size",
        }
    }

    pub(super) fn read_inputs(&self, inputs: usize) -> usize {
        match self {
            ArrayOp::ZerosLike | ArrayOp::FillLike { .. } | ArrayOp::Size => 0,
            ArrayOp::ReshapeLike
            | ArrayOp::BroadcastLike
            | ArrayOp::SumLike
            | ArrayOp::PadLike { .. }
            | ArrayOp::ConcatPart { .. } => 1,
            _ => inputs,
        }
    }
}
