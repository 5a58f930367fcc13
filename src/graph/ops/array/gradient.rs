//! The way back: elements go where they came from, and copies are summed.

use super::ArrayOp;
use super::functions::{
    broadcast_like, cast, expand_dims, gather, reshape_like, transpose, unsorted_segment_sum, zeros_like,
};
use crate::core::Result;
use crate::graph::Tensor;
use crate::graph::ops::broadcast::unbroadcast;
use crate::graph::ops::{Backward, Gradients, Op, greater_equal, maximum, where_};

impl ArrayOp {
    pub(in crate::graph::ops) fn gradient(&self, node: &Backward<'_>) -> Result<Gradients> {
        let x = node.input(0);
        // These pass nothing on, whatever arrives.
        if matches!(
            self,
            ArrayOp::StopGradient
                | ArrayOp::OneHot { .. }
                | ArrayOp::ZerosLike
                | ArrayOp::FillLike { .. }
                | ArrayOp::Size
        ) {
            return Ok(vec![None; node.node.inputs.len()]);
        }
        let dy = node.gradient(0)?;
        Ok(match self {
            ArrayOp::Identity => vec![Some(dy.clone())],
            ArrayOp::Cast { .. } => {
                // Integers carry no gradient.
                vec![if x.dtype().is_floating() { Some(cast(dy, x.dtype())?) } else { None }]
            }
            ArrayOp::Reshape { .. } | ArrayOp::ExpandDims { .. } | ArrayOp::Squeeze { .. } => {
                vec![Some(reshape_like(dy, &x)?)]
            }
            ArrayOp::ReshapeLike => vec![Some(reshape_like(dy, &x)?), None],
            ArrayOp::BroadcastLike => vec![Some(unbroadcast(dy, node, 0)?), None],
            ArrayOp::SumLike => vec![Some(broadcast_like(dy, &x)?), None],
            ArrayOp::Transpose { permutation } => {
                let mut inverse = vec![0; permutation.len()];
                for (to, &from) in permutation.iter().enumerate() {
                    inverse[from] = to;
                }
                let op = Op::Array(ArrayOp::Transpose { permutation: inverse });
                vec![Some(dy.graph.add(op, "transpose", &[dy])?)]
            }
            ArrayOp::ConcatV2 { axis } => {
                let parts: Vec<Tensor> = (0..node.node.inputs.len()).map(|index| node.input(index)).collect();
                let mut inputs = vec![dy];
                inputs.extend(&parts);
                (0..parts.len())
                    .map(|index| {
                        let op = Op::Array(ArrayOp::ConcatPart { axis: *axis, index });
                        dy.graph.add(op, "Slice", &inputs).map(Some)
                    })
                    .collect::<Result<Gradients>>()?
            }
            ArrayOp::Slice { begin, .. } => {
                let op = Op::Array(ArrayOp::PadLike { begin: begin.clone() });
                vec![Some(dy.graph.add(op, "Pad", &[dy, &x])?)]
            }
            ArrayOp::Pad { paddings } => {
                let begin: Vec<usize> = paddings.iter().map(|(before, _)| *before).collect();
                let sizes = x.shape().sizes().to_vec();
                if sizes.iter().any(Option::is_none) {
                    return Err(node.refuse("a padded dimension must have a known size"));
                }
                vec![Some(dy.graph.add(Op::Array(ArrayOp::Slice { begin, sizes }), "Slice", &[dy])?)]
            }
            ArrayOp::GatherV2 { axis } => {
                let Some(segments) = x.shape().size(*axis) else {
                    return Err(node.refuse("the gathered dimension must have a known size"));
                };
                vec![Some(scatter(dy, &node.input(1), *axis, segments)?), None]
            }
            ArrayOp::UnsortedSegmentSum { .. } => vec![Some(gather_known(dy, &node.input(1), &x)?), None],
            _ => return Err(node.refuse("second derivatives through it are not defined here")),
        })
    }
}

/// Adds up the slices of `dy` that [`gather`] took from one place: the indices' dimensions, which stand at `axis`,
/// become one of size `segments`.
fn scatter(dy: &Tensor, indices: &Tensor, axis: usize, segments: usize) -> Result<Tensor> {
    if axis == 0 {
        return unsorted_segment_sum(dy, indices, segments);
    }
    let end = axis + indices.shape().rank();
    let indices_first: Vec<usize> = (axis..end).chain(0..axis).chain(end..dy.shape().rank()).collect();
    let sum = unsorted_segment_sum(&transpose(dy, &indices_first)?, indices, segments)?;
    let back: Vec<usize> = (1..=axis).chain([0]).chain(axis + 1..sum.shape().rank()).collect();
    transpose(&sum, &back)
}

/// The slices of `dy` that `segment_ids` name, and zeros for negative ones, whose slices of `x` were dropped.
fn gather_known(dy: &Tensor, segment_ids: &Tensor, x: &Tensor) -> Result<Tensor> {
    let zero = zeros_like(segment_ids)?;
    let gathered = gather(dy, &maximum(segment_ids, &zero)?, 0)?;
    let mut known = greater_equal(segment_ids, &zero)?;
    for _ in segment_ids.shape().rank()..x.shape().rank() {
        known = expand_dims(&known, -1)?;
    }
    where_(&known, &gathered, &zeros_like(&gathered)?)
}
