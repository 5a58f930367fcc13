//! The ops: what each computes, what shapes it accepts, and its gradient.
//!
//! One file or folder for a family. In each stand the family's enum, the functions that put its ops into a graph, the rule for
//! shapes and dtypes (`infer`) and the rule for gradients (`gradient`). Every op is one of TensorFlow's registry;
//! [`Op::type_name`] gives its name there. Arguments that TensorFlow passes as constant inputs (axes, shapes,
//! permutations) are fields here.

mod array;
mod broadcast;
mod collective;
mod compare;
mod entropy;
mod matrix;
mod math;
mod random;
mod reduce;
mod state;

pub use array::{
    ArrayOp, broadcast_like, cast, concat, expand_dims, fill_like, gather, identity, one_hot, pad, reshape,
    reshape_like, size, slice, squeeze, stop_gradient, transpose, unsorted_segment_sum, zeros_like,
};
pub use collective::{check_numerics, cross_replica_sum};
pub use compare::{
    Compare, equal, greater, greater_equal, less, less_equal, logical_and, logical_not, logical_or, not_equal, where_,
};
pub use entropy::{
    Entropy, log_softmax, softmax, softmax_cross_entropy_with_logits, sparse_softmax_cross_entropy_with_logits,
};
pub use math::{
    Binary, Unary, abs, add, add_n, clip_by_global_norm, clip_by_value, div_no_nan, divide, elu, exp, floor,
    global_norm, log, log1p, maximum, minimum, multiply, negative, pow, relu, rsqrt, sigmoid, sign, softplus, sqrt,
    square, squared_difference, subtract, tanh,
};
pub use matrix::{bias_add, matmul, matmul_transposed};
pub use random::{RandomKind, dropout, random, random_uniform_like};
pub use reduce::{
    Reduction, argmax, l2_loss, reduce_all, reduce_any, reduce_max, reduce_mean, reduce_min, reduce_prod, reduce_sum,
};
pub use state::StateOp;

use super::{GraphError, Node, Tensor};
use crate::core::{Array, DType, Result, Shape};

/// What a node computes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Op {
    /// A value that a run is given.
    Placeholder {
        /// The type of the elements.
        dtype: DType,
        /// The shape.
        shape: Shape,
    },
    /// A value that never changes.
    Const {
        /// The value; it may be held more exactly than `dtype` says, for runs in float64.
        value: Array,
        /// The type of the elements.
        dtype: DType,
    },
    /// Nothing: it only waits for others.
    NoOp,
    /// One value in, one value out, element by element.
    Unary(Unary),
    /// Two values in, element by element, with broadcasting.
    Binary(Binary),
    /// The sum of several values of one shape.
    AddN,
    /// Two values in, a truth value out; and choosing by truth values.
    Compare(Compare),
    /// Moves, shapes and converts elements.
    Array(ArrayOp),
    /// Reduces dimensions.
    Reduce {
        /// How.
        reduction: Reduction,
        /// Which dimensions, ascending.
        axes: Vec<usize>,
        /// Whether the reduced dimensions stay, with size 1.
        keep_dims: bool,
    },
    /// The index of the largest entry along a dimension, the lowest one of equals; int64.
    ArgMax {
        /// The dimension.
        axis: usize,
    },
    /// Half the sum of the squares.
    L2Loss,
    /// A product of matrices.
    MatMul {
        /// Whether the left one is read transposed.
        transpose_a: bool,
        /// Whether the right one is read transposed.
        transpose_b: bool,
    },
    /// Adds a vector to each row.
    BiasAdd,
    /// The sums of all rows: the gradient of a bias.
    BiasAddGrad,
    /// Softmax and the cross entropies.
    Entropy(Entropy),
    /// Random numbers.
    Random {
        /// The distribution.
        kind: RandomKind,
        /// The type of the elements.
        dtype: DType,
        /// The shape, unless an input lends its own.
        shape: Option<Vec<usize>>,
    },
    /// Reads and changes variables.
    State(StateOp),
    /// The sum over the replicas of a group.
    CrossReplicaSum {
        /// The groups, each a list of replicas; `None` for all replicas together.
        groups: Option<Vec<Vec<usize>>>,
    },
    /// Passes its input on, and fails where it holds NaN or infinity.
    CheckNumerics {
        /// What the failure says.
        message: String,
    },
}

/// Dtype and shape of a value, as the rules of `infer` see it.
#[derive(Clone, Copy, Debug)]
pub struct Signature<'a> {
    /// The type of the elements.
    pub dtype: DType,
    /// The shape.
    pub shape: &'a Shape,
}

/// What an op makes: dtype and shape of each output.
pub(crate) type Outputs = Vec<(DType, Shape)>;

/// The gradient with respect to each input, `None` where none flows.
pub(crate) type Gradients = Vec<Option<Tensor>>;

impl Op {
    /// The name of its type in TensorFlow's registry.
    pub fn type_name(&self) -> &'static str {
        match self {
            Op::Placeholder { .. } => "Placeholder",
            Op::Const { .. } => "Const",
            Op::NoOp => "NoOp",
            Op::Unary(op) => op.type_name(),
            Op::Binary(op) => op.type_name(),
            Op::AddN => "AddN",
            Op::Compare(op) => op.type_name(),
            Op::Array(op) => op.type_name(),
            Op::Reduce { reduction, .. } => reduction.type_name(),
            Op::ArgMax { .. } => "ArgMax",
            Op::L2Loss => "L2Loss",
            Op::MatMul { .. } => "MatMul",
            Op::BiasAdd => "BiasAdd",
            Op::BiasAddGrad => "BiasAddGrad",
            Op::Entropy(op) => op.type_name(),
            Op::Random { kind, .. } => kind.type_name(),
            Op::State(op) => op.type_name(),
            Op::CrossReplicaSum { .. } => "CrossReplicaSum",
            Op::CheckNumerics { .. } => "CheckNumerics",
        }
    }

    /// How many of its first `inputs` inputs it reads; of the others only the shape counts.
    pub(crate) fn read_inputs(&self, inputs: usize) -> usize {
        match self {
            Op::Array(op) => op.read_inputs(inputs),
            Op::Random { .. } => 0,
            _ => inputs,
        }
    }

    /// Dtype and shape of each output for inputs of these dtypes and shapes.
    ///
    /// With sizes that are all known the answer is exact: the engine asks again once data have arrived.
    ///
    /// # Errors
    /// `GRAPH001` to `GRAPH006` if the inputs do not suit the op.
    pub fn infer(&self, inputs: &[Signature<'_>]) -> Result<Outputs> {
        match self {
            Op::Placeholder { dtype, shape } => Ok(vec![(*dtype, shape.clone())]),
            Op::Const { value, dtype } => Ok(vec![(*dtype, value.known_shape())]),
            Op::NoOp => Ok(vec![]),
            Op::Unary(op) => op.infer(inputs),
            Op::Binary(op) => op.infer(inputs),
            Op::AddN => math::infer_add_n(inputs),
            Op::Compare(op) => op.infer(inputs),
            Op::Array(op) => op.infer(inputs),
            Op::Reduce { reduction, axes, keep_dims } => reduce::infer(*reduction, axes, *keep_dims, inputs),
            Op::ArgMax { axis } => reduce::infer_argmax(*axis, inputs),
            Op::L2Loss => Ok(vec![(inputs[0].dtype, Shape::scalar())]),
            Op::MatMul { transpose_a, transpose_b } => matrix::infer_matmul(*transpose_a, *transpose_b, inputs),
            Op::BiasAdd => matrix::infer_bias_add(inputs),
            Op::BiasAddGrad => matrix::infer_bias_add_grad(inputs),
            Op::Entropy(op) => op.infer(inputs),
            Op::Random { dtype, shape, .. } => Ok(vec![(*dtype, random::shape(shape.as_deref(), inputs))]),
            Op::State(op) => op.infer(inputs),
            Op::CrossReplicaSum { .. } | Op::CheckNumerics { .. } => {
                require_floating(self.type_name(), inputs[0])?;
                Ok(vec![(inputs[0].dtype, inputs[0].shape.clone())])
            }
        }
    }

    /// Adds the nodes that compute the gradient with respect to each input.
    pub(crate) fn gradient(&self, node: &Backward<'_>) -> Result<Gradients> {
        match self {
            Op::Unary(op) => op.gradient(node),
            Op::Binary(op) => op.gradient(node),
            Op::AddN => Ok(vec![Some(node.gradient(0)?.clone()); node.node.inputs.len()]),
            Op::Compare(op) => op.gradient(node),
            Op::Array(op) => op.gradient(node),
            Op::Reduce { reduction, axes, .. } => reduce::gradient(*reduction, axes, node),
            Op::L2Loss => Ok(vec![Some(multiply(&node.input(0), node.gradient(0)?)?)]),
            Op::MatMul { transpose_a, transpose_b } => matrix::gradient_matmul(*transpose_a, *transpose_b, node),
            Op::BiasAdd => matrix::gradient_bias_add(node),
            Op::Entropy(op) => op.gradient(node),
            Op::CrossReplicaSum { groups } => Ok(vec![Some(cross_replica_sum(node.gradient(0)?, groups.clone())?)]),
            Op::CheckNumerics { .. } => Ok(vec![Some(node.gradient(0)?.clone())]),
            Op::Placeholder { .. }
            | Op::Const { .. }
            | Op::NoOp
            | Op::ArgMax { .. }
            | Op::Random { .. }
            | Op::State(_) => Ok(vec![None; node.node.inputs.len()]),
            Op::BiasAddGrad => Err(node.refuse("second derivatives through it are not defined here")),
        }
    }
}

/// A node on the way back: its values, and the gradients that reached its outputs.
pub(crate) struct Backward<'a> {
    pub graph: &'a super::Graph,
    pub id: super::NodeId,
    pub node: &'a Node,
    pub gradients: &'a [Option<Tensor>],
}

impl Backward<'_> {
    /// The value that input `index` reads.
    pub fn input(&self, index: usize) -> Tensor {
        let (node, output) = self.node.inputs[index];
        Tensor { graph: self.graph.clone(), node, output }
    }

    /// The value of output `index`.
    pub fn output(&self, index: usize) -> Tensor {
        Tensor { graph: self.graph.clone(), node: self.id, output: index }
    }

    /// The gradient that reached output `index`.
    pub fn gradient(&self, index: usize) -> Result<&Tensor> {
        self.gradients[index].as_ref().ok_or_else(|| self.refuse(&format!("nothing flows into output {index}")))
    }

    pub fn refuse(&self, reason: &str) -> crate::core::Error {
        let op = format!("{} `{}`", self.node.op.type_name(), self.node.name);
        GraphError::NoGradient { op, reason: reason.to_string() }.into()
    }
}

fn require_floating(op: &str, input: Signature<'_>) -> Result<()> {
    match input.dtype {
        DType::Float32 | DType::Float64 => Ok(()),
        found => {
            let expected = "float32 or float64".to_string();
            Err(GraphError::DType { op: op.to_string(), found, expected }.into())
        }
    }
}

fn require_number(op: &str, input: Signature<'_>) -> Result<()> {
    match input.dtype {
        DType::Float32 | DType::Float64 | DType::Int32 | DType::Int64 => Ok(()),
        found => {
            let expected = "float32, float64, int32 or int64".to_string();
            Err(GraphError::DType { op: op.to_string(), found, expected }.into())
        }
    }
}

fn require_same_dtype(op: &str, left: Signature<'_>, right: Signature<'_>) -> Result<()> {
    if left.dtype == right.dtype {
        return Ok(());
    }
    Err(GraphError::DTypes { op: op.to_string(), left: left.dtype, right: right.dtype }.into())
}

fn require_rank(op: &str, input: Signature<'_>, rank: usize) -> Result<()> {
    if input.shape.rank() == rank {
        return Ok(());
    }
    let expected = format!("rank {rank}");
    Err(GraphError::Shape { op: op.to_string(), found: input.shape.clone(), expected }.into())
}

fn argument(op: &str, problem: impl Into<String>, help: impl Into<String>) -> crate::core::Error {
    GraphError::Argument { op: op.to_string(), problem: problem.into(), help: help.into() }.into()
}

/// Counts a dimension from the end where `axis` is negative, as NumPy does.
fn resolve_axis(op: &str, axis: isize, rank: usize) -> Result<usize> {
    let resolved = if axis < 0 { axis + rank as isize } else { axis };
    if (0..rank as isize).contains(&resolved) {
        return Ok(resolved as usize);
    }
    let problem = format!("axis {axis} is outside a shape of rank {rank}");
    let help = if rank == 0 {
        "give a tensor with at least one dimension".to_string()
    } else {
        format!("use an axis from {} to {}", -(rank as isize), rank - 1)
    };
    Err(argument(op, problem, help))
}
