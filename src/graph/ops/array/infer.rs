//! The dtypes and shapes that come out.

use super::ArrayOp;
use crate::core::{DType, Result, Shape};
use crate::graph::GraphError;
use crate::graph::ops::broadcast::broadcast;
use crate::graph::ops::{Outputs, Signature, argument, require_number, require_same_dtype};

impl ArrayOp {
    pub(in crate::graph::ops) fn infer(&self, inputs: &[Signature<'_>]) -> Result<Outputs> {
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
                require_broadcast(name, shape, inputs[1].shape)?;
                (dtype, inputs[1].shape.clone())
            }
            ArrayOp::SumLike => {
                require_number(name, inputs[0])?;
                require_broadcast(name, inputs[1].shape, shape)?;
                (dtype, inputs[1].shape.clone())
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
}

fn require_broadcast(op: &str, shape: &Shape, target: &Shape) -> Result<()> {
    if broadcast(op, shape, target)?.is_compatible(target) {
        return Ok(());
    }
    let rule = "the left shape must broadcast to the right one".to_string();
    Err(GraphError::Shapes { op: op.to_string(), left: shape.clone(), right: target.clone(), rule }.into())
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
