//! Broadcasting: the common shape, and the way back from it.

use super::{ArrayOp, Backward, Op, reduce, reshape_like};
use crate::core::{Result, Shape};
use crate::graph::{GraphError, Tensor};

/// The shape that both shapes broadcast to.
pub(super) fn broadcast(op: &str, left: &Shape, right: &Shape) -> Result<Shape> {
    let rank = left.rank().max(right.rank());
    let size_at = |shape: &Shape, axis: usize| -> Option<usize> {
        let missing = rank - shape.rank();
        if axis < missing { Some(1) } else { shape.size(axis - missing) }
    };
    let mut sizes = Vec::with_capacity(rank);
    for axis in 0..rank {
        sizes.push(match (size_at(left, axis), size_at(right, axis)) {
            (Some(a), Some(b)) if a == b => Some(a),
            (Some(1), other) | (other, Some(1)) => other,
            // An unknown size beside a known one must turn out to be that or 1.
            (None, known) | (known, None) => known,
            (Some(a), Some(b)) => {
                let rule = format!("sizes {a} and {b} must be equal, or one of them 1");
                return Err(
                    GraphError::Shapes { op: op.to_string(), left: left.clone(), right: right.clone(), rule }.into()
                );
            }
        });
    }
    Ok(Shape::new(&sizes))
}

/// Sums a gradient over the dimensions along which input `index` of `node` was broadcast to the others.
pub(super) fn unbroadcast(gradient: &Tensor, node: &Backward<'_>, index: usize) -> Result<Tensor> {
    let input = node.input(index);
    let (from, to) = (gradient.shape(), input.shape());
    if (0..node.node.inputs.len()).any(|other| other != index && may_stretch(&to, &node.input(other).shape())) {
        return gradient.graph.add(Op::Array(ArrayOp::SumLike), "Sum", &[gradient, &input]);
    }
    if from == to {
        return Ok(gradient.clone());
    }
    let missing = from.rank() - to.rank();
    let stretched =
        |axis: &usize| *axis < missing || (to.size(axis - missing) == Some(1) && from.size(*axis) != Some(1));
    let axes: Vec<usize> = (0..from.rank()).filter(stretched).collect();
    if axes.is_empty() {
        return Ok(gradient.clone());
    }
    let sum = reduce::sum_axes(gradient, &axes)?;
    reshape_like(&sum, &input)
}

/// Whether a size of `shape` is unknown and may turn out to be 1 where that of `other` is larger.
fn may_stretch(shape: &Shape, other: &Shape) -> bool {
    let mut sizes = shape.sizes().iter().rev().zip(other.sizes().iter().rev());
    sizes.any(|(own, other)| own.is_none() && *other != Some(1))
}
