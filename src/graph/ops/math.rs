//! Element by element: arithmetic, activations, and what is composed of them.

use super::broadcast::{broadcast, unbroadcast};
use super::{
    Backward, Gradients, Op, Outputs, Signature, argument, l2_loss, require_floating, require_number,
    require_same_dtype, where_,
};
use crate::core::{DType, Result};
use crate::graph::{GraphError, Tensor};

/// One value in, one value out, element by element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the variants carry the names of TensorFlow's ops")]
pub enum Unary {
    Neg,
    Abs,
    Sign,
    Floor,
    Exp,
    Log,
    Log1p,
    Sqrt,
    Rsqrt,
    Square,
    Relu,
    Sigmoid,
    Tanh,
    Elu,
    Softplus,
    LogicalNot,
}

/// Two values in, element by element, with broadcasting. The `…Grad` ops take what TensorFlow's take: gradients and
/// either the activation's output or, for `ReluGrad` and `SoftplusGrad`, its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the variants carry the names of TensorFlow's ops")]
pub enum Binary {
    AddV2,
    Sub,
    Mul,
    RealDiv,
    DivNoNan,
    Maximum,
    Minimum,
    Pow,
    SquaredDifference,
    /// Inputs: gradients, features.
    ReluGrad,
    /// Inputs: output, gradients.
    SigmoidGrad,
    /// Inputs: output, gradients.
    TanhGrad,
    /// Inputs: gradients, output.
    EluGrad,
    /// Inputs: gradients, features.
    SoftplusGrad,
}

impl Unary {
    pub(crate) fn type_name(self) -> &'static str {
        match self {
            Unary::Neg => "Neg",
            Unary::Abs => "Abs",
            Unary::Sign => "Sign",
            Unary::Floor => "Floor",
            Unary::Exp => "Exp",
            Unary::Log => "Log",
            Unary::Log1p => "Log1p",
            Unary::Sqrt => "Sqrt",
            Unary::Rsqrt => "Rsqrt",
            Unary::Square => "Square",
            Unary::Relu => "Relu",
            Unary::Sigmoid => "Sigmoid",
            Unary::Tanh => "Tanh",
            Unary::Elu => "Elu",
            Unary::Softplus => "Softplus",
            Unary::LogicalNot => "LogicalNot",
        }
    }

    pub(super) fn infer(self, inputs: &[Signature<'_>]) -> Result<Outputs> {
        let input = inputs[0];
        match self {
            Unary::LogicalNot if input.dtype == DType::Bool => {}
            Unary::LogicalNot => {
                let op = self.type_name().to_string();
                return Err(GraphError::DType { op, found: input.dtype, expected: "bool".to_string() }.into());
            }
            Unary::Neg | Unary::Abs | Unary::Sign | Unary::Square => require_number(self.type_name(), input)?,
            _ => require_floating(self.type_name(), input)?,
        }
        Ok(vec![(input.dtype, input.shape.clone())])
    }

    pub(super) fn gradient(self, node: &Backward<'_>) -> Result<Gradients> {
        let (x, y) = (node.input(0), node.output(0));
        if self == Unary::LogicalNot {
            return Ok(vec![None]);
        }
        let dy = node.gradient(0)?;
        Ok(vec![match self {
            Unary::Neg => Some(negative(dy)?),
            Unary::Abs => Some(multiply(dy, &sign(&x)?)?),
            // Constant between its jumps.
            Unary::Sign | Unary::Floor | Unary::LogicalNot => None,
            Unary::Exp => Some(multiply(dy, &y)?),
            Unary::Log => Some(divide(dy, &x)?),
            Unary::Log1p => Some(divide(dy, &(&x + 1.0)?)?),
            Unary::Sqrt => Some(divide(&(dy * 0.5)?, &y)?),
            Unary::Rsqrt => Some(multiply(&(dy * -0.5)?, &multiply(&y, &square(&y)?)?)?),
            Unary::Square => {
                let two = node.graph.number_like("Const", 2.0, &x)?;
                Some(multiply(dy, &multiply(&x, &two)?)?)
            }
            Unary::Relu => Some(binary(Binary::ReluGrad, dy, &x)?),
            Unary::Sigmoid => Some(binary(Binary::SigmoidGrad, &y, dy)?),
            Unary::Tanh => Some(binary(Binary::TanhGrad, &y, dy)?),
            Unary::Elu => Some(binary(Binary::EluGrad, dy, &y)?),
            Unary::Softplus => Some(binary(Binary::SoftplusGrad, dy, &x)?),
        }])
    }
}

impl Binary {
    pub(crate) fn type_name(self) -> &'static str {
        match self {
            Binary::AddV2 => "AddV2",
            Binary::Sub => "Sub",
            Binary::Mul => "Mul",
            Binary::RealDiv => "RealDiv",
            Binary::DivNoNan => "DivNoNan",
            Binary::Maximum => "Maximum",
            Binary::Minimum => "Minimum",
            Binary::Pow => "Pow",
            Binary::SquaredDifference => "SquaredDifference",
            Binary::ReluGrad => "ReluGrad",
            Binary::SigmoidGrad => "SigmoidGrad",
            Binary::TanhGrad => "TanhGrad",
            Binary::EluGrad => "EluGrad",
            Binary::SoftplusGrad => "SoftplusGrad",
        }
    }

    pub(super) fn infer(self, inputs: &[Signature<'_>]) -> Result<Outputs> {
        let (left, right) = (inputs[0], inputs[1]);
        require_same_dtype(self.type_name(), left, right)?;
        match self {
            Binary::AddV2
            | Binary::Sub
            | Binary::Mul
            | Binary::Maximum
            | Binary::Minimum
            | Binary::SquaredDifference => {
                require_number(self.type_name(), left)?;
            }
            _ => require_floating(self.type_name(), left)?,
        }
        Ok(vec![(left.dtype, broadcast(self.type_name(), left.shape, right.shape)?)])
    }

    pub(super) fn gradient(self, node: &Backward<'_>) -> Result<Gradients> {
        let (a, b, y, dy) = (node.input(0), node.input(1), node.output(0), node.gradient(0)?);
        let (da, db) = match self {
            Binary::AddV2 => (dy.clone(), dy.clone()),
            Binary::Sub => (dy.clone(), negative(dy)?),
            Binary::Mul => (multiply(dy, &b)?, multiply(dy, &a)?),
            Binary::RealDiv => (divide(dy, &b)?, negative(&multiply(dy, &divide(&y, &b)?)?)?),
            Binary::DivNoNan => (div_no_nan(dy, &b)?, negative(&multiply(dy, &div_no_nan(&y, &b)?)?)?),
            Binary::Maximum | Binary::Minimum => {
                // As in TensorFlow, equal values send the whole gradient to the left.
                let left =
                    if self == Binary::Maximum { super::greater_equal(&a, &b)? } else { super::less_equal(&a, &b)? };
                let zeros = super::zeros_like(dy)?;
                (where_(&left, dy, &zeros)?, where_(&left, &zeros, dy)?)
            }
            Binary::Pow => {
                let one = node.graph.number_like("sub/y", 1.0, &b)?;
                let da = multiply(dy, &multiply(&b, &pow(&a, &subtract(&b, &one)?)?)?)?;
                // The logarithm counts only where the base is positive.
                let zero = node.graph.number_like("Greater/y", 0.0, &a)?;
                let positive = super::greater(&a, &zero)?;
                let ones = super::fill_like(&a, 1.0)?;
                let safe = where_(&positive, &a, &ones)?;
                let logarithm = where_(&positive, &log(&safe)?, &super::zeros_like(&a)?)?;
                (da, multiply(dy, &multiply(&y, &logarithm)?)?)
            }
            Binary::SquaredDifference => {
                let two = node.graph.number_like("scalar", 2.0, dy)?;
                let da = multiply(&multiply(dy, &two)?, &subtract(&a, &b)?)?;
                (da.clone(), negative(&da)?)
            }
            Binary::ReluGrad | Binary::SigmoidGrad | Binary::TanhGrad | Binary::EluGrad | Binary::SoftplusGrad => {
                return Err(node.refuse("second derivatives through it are not defined here"));
            }
        };
        Ok(vec![Some(unbroadcast(&da, node, 0)?), Some(unbroadcast(&db, node, 1)?)])
    }
}

pub(super) fn infer_add_n(inputs: &[Signature<'_>]) -> Result<Outputs> {
    let Some(first) = inputs.first() else {
        return Err(argument("AddN", "there is nothing to add", "give at least one tensor"));
    };
    require_number("AddN", *first)?;
    for input in inputs {
        require_same_dtype("AddN", *first, *input)?;
        if !first.shape.is_compatible(input.shape) {
            let rule = "all shapes must be equal".to_string();
            let (left, right) = (first.shape.clone(), input.shape.clone());
            return Err(GraphError::Shapes { op: "AddN".to_string(), left, right, rule }.into());
        }
    }
    Ok(vec![(first.dtype, first.shape.clone())])
}

pub(super) fn unary(op: Unary, x: &Tensor) -> Result<Tensor> {
    x.graph.add(Op::Unary(op), op.type_name(), &[x])
}

pub(super) fn binary(op: Binary, a: &Tensor, b: &Tensor) -> Result<Tensor> {
    // TensorFlow names some nodes after the Python function, not after the op.
    let name = match op {
        Binary::AddV2 => "add",
        Binary::Sub => "sub",
        Binary::Mul => "mul",
        Binary::RealDiv => "truediv",
        Binary::DivNoNan => "div_no_nan",
        other => other.type_name(),
    };
    a.graph.add(Op::Binary(op), name, &[a, b])
}

macro_rules! unary_functions {
    ($($(#[$doc:meta])* $name:ident => $op:ident;)*) => {$(
        $(#[$doc])*
        ///
        /// Element by element; the shape stays.
        ///
        /// # Errors
        /// `GRAPH004` for a dtype without this operation.
        pub fn $name(x: &Tensor) -> Result<Tensor> {
            unary(Unary::$op, x)
        }
    )*};
}

unary_functions! {
    /// `-x`. TensorFlow: `tf.negative`.
    negative => Neg;
    /// `|x|`; the gradient at 0 is 0. TensorFlow: `tf.abs`.
    abs => Abs;
    /// -1, 0 or 1; no gradient flows through it. TensorFlow: `tf.sign`.
    sign => Sign;
    /// The largest whole number that is not larger; no gradient flows through it. TensorFlow: `tf.floor`.
    floor => Floor;
    /// `eˣ`. TensorFlow: `tf.exp`.
    exp => Exp;
    /// The natural logarithm. TensorFlow: `tf.log`.
    log => Log;
    /// `log(1 + x)`, exact near 0. TensorFlow: `tf.log1p`.
    log1p => Log1p;
    /// The square root. TensorFlow: `tf.sqrt`.
    sqrt => Sqrt;
    /// `1 / √x`. TensorFlow: `tf.rsqrt`.
    rsqrt => Rsqrt;
    /// `x²`. TensorFlow: `tf.square`.
    square => Square;
    /// `max(x, 0)`; the gradient at 0 is 0. TensorFlow: `tf.nn.relu`.
    relu => Relu;
    /// `1 / (1 + e⁻ˣ)`. TensorFlow: `tf.sigmoid`.
    sigmoid => Sigmoid;
    /// The hyperbolic tangent. TensorFlow: `tf.tanh`.
    tanh => Tanh;
    /// `x` above 0, else `eˣ - 1`. TensorFlow: `tf.nn.elu`.
    elu => Elu;
    /// `log(1 + eˣ)`. TensorFlow: `tf.nn.softplus`.
    softplus => Softplus;
}

macro_rules! binary_functions {
    ($($(#[$doc:meta])* $name:ident => $op:ident;)*) => {$(
        $(#[$doc])*
        ///
        /// Element by element, with broadcasting.
        ///
        /// # Errors
        /// `GRAPH001` if the shapes do not broadcast, `GRAPH003` and `GRAPH004` for the dtypes.
        pub fn $name(a: &Tensor, b: &Tensor) -> Result<Tensor> {
            binary(Binary::$op, a, b)
        }
    )*};
}

binary_functions! {
    /// `a + b`. TensorFlow: `tf.add`.
    add => AddV2;
    /// `a - b`. TensorFlow: `tf.subtract`.
    subtract => Sub;
    /// `a · b`. TensorFlow: `tf.multiply`.
    multiply => Mul;
    /// `a / b`. TensorFlow: `tf.divide`, for floating point.
    divide => RealDiv;
    /// `a / b`, and 0 where `b` is 0. TensorFlow: `tf.div_no_nan`.
    div_no_nan => DivNoNan;
    /// The larger of both. TensorFlow: `tf.maximum`.
    maximum => Maximum;
    /// The smaller of both. TensorFlow: `tf.minimum`.
    minimum => Minimum;
    /// `aᵇ`. TensorFlow: `tf.pow`.
    pow => Pow;
    /// `(a - b)²`. TensorFlow: `tf.squared_difference`.
    squared_difference => SquaredDifference;
}

/// The sum of several tensors of one shape, in their order. TensorFlow: `tf.add_n`.
///
/// # Errors
/// `GRAPH006` if there are none, `GRAPH001` or `GRAPH003` if they differ.
pub fn add_n(tensors: &[Tensor]) -> Result<Tensor> {
    let Some(first) = tensors.first() else {
        return Err(argument("AddN", "there is nothing to add", "give at least one tensor"));
    };
    let inputs: Vec<&Tensor> = tensors.iter().collect();
    first.graph.add(Op::AddN, "AddN", &inputs)
}

/// `x` held between `minimum` and `maximum`. TensorFlow: `tf.clip_by_value`.
///
/// # Errors
/// `GRAPH004` for a dtype that has no order.
pub fn clip_by_value(x: &Tensor, lower: f64, upper: f64) -> Result<Tensor> {
    x.graph.name_scope("clip_by_value", || {
        let upper = x.graph.number_like("Minimum/y", upper, x)?;
        let lower = x.graph.number_like("y", lower, x)?;
        maximum(&minimum(x, &upper)?, &lower)
    })
}

/// The length of all tensors taken together, `√(Σ x²)`: shape `[]`. TensorFlow: `tf.global_norm`.
///
/// # Errors
/// `GRAPH006` if there are none.
pub fn global_norm(tensors: &[Tensor]) -> Result<Tensor> {
    let Some(first) = tensors.first() else {
        return Err(argument("global_norm", "there are no tensors", "give at least one tensor"));
    };
    first.graph.name_scope("global_norm", || {
        let halves = tensors.iter().map(l2_loss).collect::<Result<Vec<_>>>()?;
        sqrt(&(&add_n(&halves)? * 2.0)?)
    })
}

/// All tensors scaled down together so that their common length is at most `clip_norm`, and that length before.
/// TensorFlow: `tf.clip_by_global_norm`.
///
/// # Errors
/// `GRAPH006` if there are none.
pub fn clip_by_global_norm(tensors: &[Tensor], clip_norm: f64) -> Result<(Vec<Tensor>, Tensor)> {
    let norm = global_norm(tensors)?;
    let graph = norm.graph();
    let clipped = graph.name_scope("clip_by_global_norm", || -> Result<Vec<Tensor>> {
        let one = graph.number_like("Const", 1.0, &norm)?;
        let limit = graph.number_like("clip_norm", clip_norm, &norm)?;
        // clip_norm · min(1 / norm, 1 / clip_norm), TensorFlow's order of operations.
        let scale = multiply(&limit, &minimum(&divide(&one, &norm)?, &divide(&one, &limit)?)?)?;
        // 0, and NaN for an infinite norm, so that no tensor passes as clipped.
        let scale = add(&scale, &subtract(&norm, &norm)?)?;
        tensors.iter().map(|tensor| multiply(tensor, &scale)).collect()
    })?;
    Ok((clipped, norm))
}
