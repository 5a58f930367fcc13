//! Reductions over dimensions.

use super::{
    Backward, Gradients, Op, Outputs, Signature, broadcast_like, cast, divide, equal, fill_like, multiply,
    require_floating, require_number, resolve_axis, size, subtract, where_, zeros_like,
};
use crate::core::{DType, Result, Shape};
use crate::graph::{GraphError, Tensor};

/// How dimensions are reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the variants carry the names of TensorFlow's ops")]
pub enum Reduction {
    Sum,
    Mean,
    Max,
    Min,
    Prod,
    All,
    Any,
}

impl Reduction {
    pub(crate) fn type_name(self) -> &'static str {
        match self {
            Reduction::Sum => "Sum",
            Reduction::Mean => "Mean",
            Reduction::Max => "Max",
            Reduction::Min => "Min",
            Reduction::Prod => "Prod",
            Reduction::All => "All",
            Reduction::Any => "Any",
        }
    }
}

pub(super) fn infer(
    reduction: Reduction,
    axes: &[usize],
    keep_dims: bool,
    inputs: &[Signature<'_>],
) -> Result<Outputs> {
    let input = inputs[0];
    let name = reduction.type_name();
    match reduction {
        Reduction::All | Reduction::Any => {
            if input.dtype != DType::Bool {
                let expected = "bool".to_string();
                return Err(GraphError::DType { op: name.to_string(), found: input.dtype, expected }.into());
            }
        }
        Reduction::Mean => require_floating(name, input)?,
        _ => require_number(name, input)?,
    }
    Ok(vec![(input.dtype, reduced(input.shape, axes, keep_dims))])
}

fn reduced(shape: &Shape, axes: &[usize], keep_dims: bool) -> Shape {
    let sizes = shape.sizes().iter().enumerate();
    let kept = sizes.filter_map(|(axis, size)| match axes.contains(&axis) {
        false => Some(*size),
        true if keep_dims => Some(Some(1)),
        true => None,
    });
    Shape::new(&kept.collect::<Vec<_>>())
}

pub(super) fn gradient(reduction: Reduction, axes: &[usize], node: &Backward<'_>) -> Result<Gradients> {
    let x = node.input(0);
    if matches!(reduction, Reduction::All | Reduction::Any) {
        return Ok(vec![None]);
    }
    let dy = node.gradient(0)?;
    let spread = |tensor: &Tensor| -> Result<Tensor> { broadcast_like(&with_kept_axes(tensor, &x, axes)?, &x) };
    Ok(vec![Some(match reduction {
        Reduction::Sum => spread(dy)?,
        Reduction::Mean => {
            let count = divide(&cast(&size(&x)?, x.dtype())?, &cast(&size(&node.output(0))?, x.dtype())?)?;
            divide(&spread(dy)?, &count)?
        }
        // Equal extremes share the gradient, as in TensorFlow.
        Reduction::Max | Reduction::Min => {
            let chosen = equal(&x, &spread(&node.output(0))?)?;
            let indicators = cast(&chosen, x.dtype())?;
            let number = spread(&sum_axes(&indicators, axes)?)?;
            multiply(&divide(&indicators, &number)?, &spread(dy)?)?
        }
        Reduction::Prod => {
            // A factor's derivative is the product of the others, which is 0 if one of them is.
            let zeros = zeros_like(&x)?;
            let is_zero = equal(&x, &zeros)?;
            let factors = where_(&is_zero, &fill_like(&x, 1.0)?, &x)?;
            let product = reduce_axes(Reduction::Prod, &factors, axes)?;
            let number_of_zeros = cast(&is_zero, x.dtype())?;
            let zeros_among_others = subtract(&spread(&sum_axes(&number_of_zeros, axes)?)?, &number_of_zeros)?;
            let quotient = divide(&spread(&multiply(dy, &product)?)?, &factors)?;
            where_(&equal(&zeros_among_others, &zeros)?, &quotient, &zeros)?
        }
        Reduction::All | Reduction::Any => unreachable!("handled above"),
    })])
}

/// Gives a reduced tensor its reduced dimensions back, with size 1.
fn with_kept_axes(reduced: &Tensor, original: &Tensor, axes: &[usize]) -> Result<Tensor> {
    if reduced.shape().rank() == original.shape().rank() {
        return Ok(reduced.clone());
    }
    let mut tensor = reduced.clone();
    for &axis in axes {
        tensor = super::expand_dims(&tensor, axis as isize)?;
    }
    Ok(tensor)
}

fn reduce(reduction: Reduction, x: &Tensor, axes: &[isize], keep_dims: bool) -> Result<Tensor> {
    let rank = x.shape().rank();
    let mut resolved = if axes.is_empty() {
        (0..rank).collect()
    } else {
        axes.iter().map(|&axis| resolve_axis(reduction.type_name(), axis, rank)).collect::<Result<Vec<_>>>()?
    };
    resolved.sort_unstable();
    resolved.dedup();
    let op = Op::Reduce { reduction, axes: resolved, keep_dims };
    x.graph.add(op, reduction.type_name(), &[x])
}

pub(super) fn sum_axes(x: &Tensor, axes: &[usize]) -> Result<Tensor> {
    reduce_axes(Reduction::Sum, x, axes)
}

fn reduce_axes(reduction: Reduction, x: &Tensor, axes: &[usize]) -> Result<Tensor> {
    let op = Op::Reduce { reduction, axes: axes.to_vec(), keep_dims: false };
    x.graph.add(op, reduction.type_name(), &[x])
}

macro_rules! reductions {
    ($($(#[$doc:meta])* $name:ident => $op:ident;)*) => {$(
        $(#[$doc])*
        ///
        /// `axes` are the dimensions to reduce, counted from the end where negative; none means all of them.
        ///
        /// # Errors
        /// `GRAPH004` for the dtype, `GRAPH006` for a dimension that is not there.
        pub fn $name(x: &Tensor, axes: &[isize]) -> Result<Tensor> {
            reduce(Reduction::$op, x, axes, false)
        }
    )*};
}

reductions! {
    /// The sum. TensorFlow: `tf.reduce_sum`.
    reduce_sum => Sum;
    /// The mean. TensorFlow: `tf.reduce_mean`.
    reduce_mean => Mean;
    /// The largest element; equal ones share the gradient. TensorFlow: `tf.reduce_max`.
    reduce_max => Max;
    /// The smallest element; equal ones share the gradient. TensorFlow: `tf.reduce_min`.
    reduce_min => Min;
    /// The product. TensorFlow: `tf.reduce_prod`.
    reduce_prod => Prod;
    /// Whether all are true. TensorFlow: `tf.reduce_all`.
    reduce_all => All;
    /// Whether any is true. TensorFlow: `tf.reduce_any`.
    reduce_any => Any;
}

pub(super) fn infer_argmax(axis: usize, inputs: &[Signature<'_>]) -> Result<Outputs> {
    require_number("ArgMax", inputs[0])?;
    if inputs[0].shape.size(axis) == Some(0) {
        let (found, expected) = (inputs[0].shape.clone(), format!("at least one element in dimension {axis}"));
        return Err(GraphError::Shape { op: "ArgMax".to_string(), found, expected }.into());
    }
    Ok(vec![(DType::Int64, reduced(inputs[0].shape, &[axis], false))])
}

/// The index of the largest element along `axis`, the lowest one of equals; int64. TensorFlow: `tf.argmax`.
///
/// # Errors
/// `GRAPH002` where that dimension is empty, `GRAPH004` for the dtype, `GRAPH006` for a dimension that is not there.
pub fn argmax(x: &Tensor, axis: isize) -> Result<Tensor> {
    let axis = resolve_axis("ArgMax", axis, x.shape().rank())?;
    x.graph.add(Op::ArgMax { axis }, "ArgMax", &[x])
}

/// `Σ x² / 2`: shape `[]`. TensorFlow: `tf.nn.l2_loss`.
///
/// # Errors
/// `GRAPH004` if `x` is not floating point.
pub fn l2_loss(x: &Tensor) -> Result<Tensor> {
    require_floating("L2Loss", Signature { dtype: x.dtype(), shape: &x.shape() })?;
    x.graph.add(Op::L2Loss, "L2Loss", &[x])
}
