//! The functions that put the ops into a graph.

use super::ArrayOp;
use crate::core::{Array, DType, Result, Shape};
use crate::graph::Tensor;
use crate::graph::ops::{Op, Signature, argument, require_number, resolve_axis};

fn array(op: ArrayOp, name: &str, inputs: &[&Tensor]) -> Result<Tensor> {
    inputs[0].graph.add(Op::Array(op), name, inputs)
}

/// `x` itself, under a name of its own. TensorFlow: `tf.identity`.
///
/// # Errors
/// None in practice.
pub fn identity(x: &Tensor) -> Result<Tensor> {
    array(ArrayOp::Identity, "Identity", &[x])
}

/// `x` itself, but no gradient passes. TensorFlow: `tf.stop_gradient`.
///
/// # Errors
/// None in practice.
pub fn stop_gradient(x: &Tensor) -> Result<Tensor> {
    array(ArrayOp::StopGradient, "StopGradient", &[x])
}

/// `x` as another dtype; `x` itself if it has that already. TensorFlow: `tf.cast`.
///
/// # Errors
/// `GRAPH004` for texts and handles.
pub fn cast(x: &Tensor, dtype: DType) -> Result<Tensor> {
    if x.dtype() == dtype {
        return Ok(x.clone());
    }
    array(ArrayOp::Cast { to: dtype }, "Cast", &[x])
}

/// The same elements in another shape; one size may be -1 and takes what is left. TensorFlow: `tf.reshape`.
///
/// # Errors
/// `GRAPH001` if the numbers of elements differ, `GRAPH006` for a size below -1 or a second -1.
pub fn reshape(x: &Tensor, shape: &[isize]) -> Result<Tensor> {
    let open = shape.iter().filter(|&&size| size == -1).count();
    if open > 1 || shape.iter().any(|&size| size < -1) {
        let help = "give sizes of 0 or more, and -1 at most once";
        return Err(argument("Reshape", format!("shape {shape:?} has no meaning"), help));
    }
    let sizes = shape.iter().map(|&size| usize::try_from(size).ok()).collect();
    array(ArrayOp::Reshape { sizes }, "Reshape", &[x])
}

/// The elements of `x` in the shape of `like`.
///
/// # Errors
/// `GRAPH001` if the numbers of elements differ.
pub fn reshape_like(x: &Tensor, like: &Tensor) -> Result<Tensor> {
    if x.shape() == like.shape() && x.shape().elements().is_some() {
        return Ok(x.clone());
    }
    array(ArrayOp::ReshapeLike, "Reshape", &[x, like])
}

/// `x` repeated to the shape of `like`. TensorFlow: `tf.broadcast_to(x, tf.shape(like))`.
///
/// # Errors
/// `GRAPH001` if it does not broadcast to that shape.
pub fn broadcast_like(x: &Tensor, like: &Tensor) -> Result<Tensor> {
    array(ArrayOp::BroadcastLike, "BroadcastTo", &[x, like])
}

/// A new dimension of size 1 before dimension `axis`; -1 appends it. TensorFlow: `tf.expand_dims`, `x[:, tf.newaxis]`.
///
/// # Errors
/// `GRAPH006` if there is no such place.
pub fn expand_dims(x: &Tensor, axis: isize) -> Result<Tensor> {
    let axis = resolve_axis("ExpandDims", axis, x.shape().rank() + 1)?;
    array(ArrayOp::ExpandDims { axis }, "ExpandDims", &[x])
}

/// Without the dimensions `axes`, which must have size 1. TensorFlow: `tf.squeeze`.
///
/// # Errors
/// `GRAPH002` if one has another size, `GRAPH006` if it is not there.
pub fn squeeze(x: &Tensor, axes: &[isize]) -> Result<Tensor> {
    let rank = x.shape().rank();
    let axes = axes.iter().map(|&axis| resolve_axis("Squeeze", axis, rank)).collect::<Result<Vec<_>>>()?;
    array(ArrayOp::Squeeze { axes }, "Squeeze", &[x])
}

/// Dimensions in another order: result dimension `i` is dimension `permutation[i]` of `x`. TensorFlow: `tf.transpose`.
///
/// # Errors
/// `GRAPH006` if `permutation` is not one.
pub fn transpose(x: &Tensor, permutation: &[usize]) -> Result<Tensor> {
    let mut sorted = permutation.to_vec();
    sorted.sort_unstable();
    if !sorted.iter().copied().eq(0..x.shape().rank()) {
        let problem = format!("{permutation:?} is no order of {} dimensions", x.shape().rank());
        return Err(argument("Transpose", problem, "name each dimension once"));
    }
    array(ArrayOp::Transpose { permutation: permutation.to_vec() }, "transpose", &[x])
}

/// Tensors one after the other along dimension `axis`. TensorFlow: `tf.concat`.
///
/// # Errors
/// `GRAPH001` or `GRAPH003` if the others do not suit the first, `GRAPH006` if there are none or no such dimension.
pub fn concat(tensors: &[Tensor], axis: isize) -> Result<Tensor> {
    let Some(first) = tensors.first() else {
        return Err(argument("ConcatV2", "there is nothing to concatenate", "give at least one tensor"));
    };
    let axis = resolve_axis("ConcatV2", axis, first.shape().rank())?;
    let inputs: Vec<&Tensor> = tensors.iter().collect();
    array(ArrayOp::ConcatV2 { axis }, "concat", &inputs)
}

/// The part that starts at `begin` and has `sizes` elements in each dimension; -1 reaches to the end.
/// TensorFlow: `tf.slice`.
///
/// # Errors
/// `GRAPH006` if the part is not inside `x`, or not every dimension is named.
pub fn slice(x: &Tensor, begin: &[usize], sizes: &[isize]) -> Result<Tensor> {
    let rank = x.shape().rank();
    if begin.len() != rank || sizes.len() != rank || sizes.iter().any(|&size| size < -1) {
        let problem = format!("begin {begin:?} and sizes {sizes:?} do not describe a part of rank {rank}");
        return Err(argument("Slice", problem, "give one begin and one size (or -1) for each dimension"));
    }
    let sizes = sizes.iter().map(|&size| usize::try_from(size).ok()).collect();
    array(ArrayOp::Slice { begin: begin.to_vec(), sizes }, "Slice", &[x])
}

/// Zeros around `x`: `(before, after)` for each dimension. TensorFlow: `tf.pad`.
///
/// # Errors
/// `GRAPH006` if not every dimension is named.
pub fn pad(x: &Tensor, paddings: &[(usize, usize)]) -> Result<Tensor> {
    if paddings.len() != x.shape().rank() {
        let problem = format!("{} paddings for rank {}", paddings.len(), x.shape().rank());
        return Err(argument("Pad", problem, "give (before, after) for each dimension"));
    }
    array(ArrayOp::Pad { paddings: paddings.to_vec() }, "Pad", &[x])
}

/// The slices of `x` along dimension `axis` that `indices` name: its shape replaces that dimension. TensorFlow:
/// `tf.gather`.
///
/// # Errors
/// `GRAPH004` if `indices` are not int32 or int64, `GRAPH006` if there is no such dimension. An index outside fails
/// when it is run.
pub fn gather(x: &Tensor, indices: &Tensor, axis: isize) -> Result<Tensor> {
    let axis = resolve_axis("GatherV2", axis, x.shape().rank())?;
    array(ArrayOp::GatherV2 { axis }, "GatherV2", &[x, indices])
}

/// For each number below `segments` the sum of those slices of `x` that carry it; a negative number drops its slice.
/// TensorFlow: `tf.unsorted_segment_sum`.
///
/// # Errors
/// `GRAPH004` for the dtypes. A number outside fails when it is run.
pub fn unsorted_segment_sum(x: &Tensor, segment_ids: &Tensor, segments: usize) -> Result<Tensor> {
    array(ArrayOp::UnsortedSegmentSum { segments }, "UnsortedSegmentSum", &[x, segment_ids])
}

/// A row of `depth` entries for each index: 1 at the index, 0 elsewhere, and only 0 for an index outside. TensorFlow:
/// `tf.one_hot`.
///
/// # Errors
/// `GRAPH004` if `indices` are not int32 or int64, or `dtype` is neither number nor bool.
pub fn one_hot(indices: &Tensor, depth: usize, dtype: DType) -> Result<Tensor> {
    if dtype != DType::Bool {
        require_number("OneHot", Signature { dtype, shape: &Shape::scalar() })?;
    }
    array(ArrayOp::OneHot { depth, dtype }, "one_hot", &[indices])
}

/// Zeros with the shape and dtype of `x`. TensorFlow: `tf.zeros_like`.
///
/// # Errors
/// None in practice.
pub fn zeros_like(x: &Tensor) -> Result<Tensor> {
    array(ArrayOp::ZerosLike, "zeros_like", &[x])
}

/// `value` everywhere, with the shape and dtype of `x`. TensorFlow: `tf.fill(tf.shape(x), value)`.
///
/// # Errors
/// `CORE002` if the dtype holds no numbers.
pub fn fill_like(x: &Tensor, value: f64) -> Result<Tensor> {
    Array::from(value).cast(x.dtype())?;
    array(ArrayOp::FillLike { value }, "Fill", &[x])
}

/// The number of elements of `x`, an int32 of shape `[]`. TensorFlow: `tf.size`.
///
/// # Errors
/// None in practice.
pub fn size(x: &Tensor) -> Result<Tensor> {
    array(ArrayOp::Size, "Size", &[x])
}
