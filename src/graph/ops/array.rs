//! Moves, shapes and converts elements.

use super::math::unbroadcast;
use super::{
    Backward, Gradients, Op, Outputs, Signature, argument, greater_equal, maximum, require_number, require_same_dtype,
    resolve_axis, where_,
};
use crate::core::{Array, DType, Result, Shape};
use crate::graph::{GraphError, Tensor};

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
            ArrayOp::ReshapeLike | ArrayOp::BroadcastLike | ArrayOp::PadLike { .. } | ArrayOp::ConcatPart { .. } => 1,
            _ => inputs,
        }
    }

    pub(super) fn infer(&self, inputs: &[Signature<'_>]) -> Result<Outputs> {
        let (dtype, shape) = (inputs[0].dtype, inputs[0].shape);
        let name = self.type_name();
        Ok(vec![match self {
            ArrayOp::Identity | ArrayOp::StopGradient | ArrayOp::ZerosLike | ArrayOp::FillLike { .. } => {
                (dtype, shape.clone())
            }
            ArrayOp::Cast { to } => {
                let castable = |dtype| {
                    let plain = [DType::Float32, DType::Float64, DType::Int32, DType::Int64, DType::Bool];
                    plain.contains(&dtype)
                };
                for side in [dtype, *to] {
                    if !castable(side) {
                        let expected = "numbers or truth values".to_string();
                        return Err(GraphError::DType { op: name.to_string(), found: side, expected }.into());
                    }
                }
                (*to, shape.clone())
            }
            ArrayOp::Reshape { sizes } => (dtype, reshaped(shape, sizes)?),
            ArrayOp::ReshapeLike => {
                let target = inputs[1].shape;
                if let (Some(from), Some(to)) = (shape.elements(), target.elements())
                    && from != to
                {
                    return Err(element_count(shape, target));
                }
                (dtype, target.clone())
            }
            ArrayOp::BroadcastLike => {
                let target = inputs[1].shape;
                if super::math::broadcast(name, shape, target)? != *target {
                    let rule = "the left shape must broadcast to the right one".to_string();
                    let (left, right) = (shape.clone(), target.clone());
                    return Err(GraphError::Shapes { op: name.to_string(), left, right, rule }.into());
                }
                (dtype, target.clone())
            }
            ArrayOp::ExpandDims { axis } => {
                let mut sizes = shape.sizes().to_vec();
                sizes.insert(*axis, Some(1));
                (dtype, Shape::new(&sizes))
            }
            ArrayOp::Squeeze { axes } => {
                for &axis in axes {
                    if shape.size(axis).is_some_and(|size| size != 1) {
                        let expected = format!("size 1 in dimension {axis}");
                        return Err(GraphError::Shape { op: name.to_string(), found: shape.clone(), expected }.into());
                    }
                }
                let kept = shape.sizes().iter().enumerate().filter(|(axis, _)| !axes.contains(axis));
                (dtype, Shape::new(&kept.map(|(_, size)| *size).collect::<Vec<_>>()))
            }
            ArrayOp::Transpose { permutation } => {
                (dtype, Shape::new(&permutation.iter().map(|&axis| shape.size(axis)).collect::<Vec<_>>()))
            }
            ArrayOp::ConcatV2 { axis } => (dtype, concatenated(*axis, inputs)?),
            ArrayOp::Slice { begin, sizes } => (dtype, sliced(shape, begin, sizes)?),
            ArrayOp::PadLike { .. } => (dtype, inputs[1].shape.clone()),
            ArrayOp::ConcatPart { index, .. } => (dtype, inputs[1 + index].shape.clone()),
            ArrayOp::Pad { paddings } => {
                let sizes = shape.sizes().iter().zip(paddings);
                let padded = sizes.map(|(size, (before, after))| {
                    size.map(|size| size.saturating_add(*before).saturating_add(*after))
                });
                (dtype, Shape::new(&padded.collect::<Vec<_>>()))
            }
            ArrayOp::GatherV2 { axis } => {
                require_index(name, inputs[1])?;
                let mut sizes = shape.sizes()[..*axis].to_vec();
                sizes.extend(inputs[1].shape.sizes());
                sizes.extend(&shape.sizes()[axis + 1..]);
                (dtype, Shape::new(&sizes))
            }
            ArrayOp::UnsortedSegmentSum { segments } => {
                require_number(name, inputs[0])?;
                require_index(name, inputs[1])?;
                let ids = inputs[1].shape;
                let prefix = Shape::new(&shape.sizes()[..ids.rank().min(shape.rank())]);
                if !ids.is_compatible(&prefix) {
                    let rule = "each slice of the left one needs one number in the right one".to_string();
                    let (left, right) = (shape.clone(), ids.clone());
                    return Err(GraphError::Shapes { op: name.to_string(), left, right, rule }.into());
                }
                let mut sizes = vec![Some(*segments)];
                sizes.extend(&shape.sizes()[inputs[1].shape.rank().min(shape.rank())..]);
                (dtype, Shape::new(&sizes))
            }
            ArrayOp::OneHot { depth, dtype } => {
                require_index(name, inputs[0])?;
                let mut sizes = shape.sizes().to_vec();
                sizes.push(Some(*depth));
                (*dtype, Shape::new(&sizes))
            }
            ArrayOp::Size => (DType::Int32, Shape::scalar()),
        }])
    }

    pub(super) fn gradient(&self, node: &Backward<'_>) -> Result<Gradients> {
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
            ArrayOp::BroadcastLike => vec![Some(unbroadcast(dy, &x)?), None],
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

fn element_count(from: &Shape, to: &Shape) -> crate::core::Error {
    let rule = "both must hold the same number of elements".to_string();
    GraphError::Shapes { op: "Reshape".to_string(), left: from.clone(), right: to.clone(), rule }.into()
}

fn require_index(op: &str, input: Signature<'_>) -> Result<()> {
    if matches!(input.dtype, DType::Int32 | DType::Int64) {
        return Ok(());
    }
    let expected = "indices of int32 or int64".to_string();
    Err(GraphError::DType { op: op.to_string(), found: input.dtype, expected }.into())
}

fn reshaped(shape: &Shape, sizes: &[Option<usize>]) -> Result<Shape> {
    let known = sizes.iter().flatten().fold(1usize, |product, &size| product.saturating_mul(size));
    let target = Shape::new(sizes);
    let Some(elements) = shape.elements() else { return Ok(target) };
    match sizes.iter().filter(|size| size.is_none()).count() {
        0 if known == elements => Ok(target),
        1 if known > 0 && elements % known == 0 => {
            let filled: Vec<_> = sizes.iter().map(|size| size.or(Some(elements / known))).collect();
            Ok(Shape::new(&filled))
        }
        _ => Err(element_count(shape, &target)),
    }
}

fn concatenated(axis: usize, inputs: &[Signature<'_>]) -> Result<Shape> {
    let first = inputs[0];
    let mut sizes = first.shape.sizes().to_vec();
    for input in &inputs[1..] {
        require_same_dtype("ConcatV2", first, *input)?;
        let others_agree = input.shape.rank() == sizes.len()
            && sizes
                .iter()
                .zip(input.shape.sizes())
                .enumerate()
                .all(|(at, (a, b))| at == axis || a.is_none() || b.is_none() || a == b);
        if !others_agree {
            let rule = format!("all sizes but those of dimension {axis} must be equal");
            let (left, right) = (first.shape.clone(), input.shape.clone());
            return Err(GraphError::Shapes { op: "ConcatV2".to_string(), left, right, rule }.into());
        }
        for (at, (size, other)) in sizes.iter_mut().zip(input.shape.sizes()).enumerate() {
            *size = match (at == axis, *size, *other) {
                (true, Some(a), Some(b)) => Some(a + b),
                (true, ..) => None,
                (false, a, b) => a.or(b),
            };
        }
    }
    Ok(Shape::new(&sizes))
}

fn sliced(shape: &Shape, begin: &[usize], sizes: &[Option<usize>]) -> Result<Shape> {
    let mut result = Vec::with_capacity(sizes.len());
    for (axis, (begin, size)) in begin.iter().zip(sizes).enumerate() {
        let available = shape.size(axis);
        if let Some(available) = available
            && begin.saturating_add(size.unwrap_or(0)) > available
        {
            let end = begin.saturating_add(size.unwrap_or(0));
            let problem = format!("{begin} to {end} reaches outside dimension {axis} of size {available}");
            return Err(argument("Slice", problem, format!("stay within 0 to {available}")));
        }
        result.push(size.or(available.map(|available| available - begin)));
    }
    Ok(Shape::new(&result))
}

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
