//! Random numbers: streams of a run, keyed by its seed, the op's name, the replica and the global step.

use super::{Op, Signature, add, cast, floor, multiply};
use crate::core::{DType, Result, Shape};
use crate::graph::ops::{argument, require_floating};
use crate::graph::{Graph, Tensor};

/// A distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RandomKind {
    /// Uniform in `[0, 1)`.
    Uniform,
    /// Normal with mean 0 and standard deviation 1.
    Normal,
    /// The same, drawn again beyond two standard deviations.
    TruncatedNormal,
}

impl RandomKind {
    /// The name of the op in TensorFlow's registry.
    pub fn type_name(self) -> &'static str {
        match self {
            RandomKind::Uniform => "RandomUniform",
            RandomKind::Normal => "RandomStandardNormal",
            RandomKind::TruncatedNormal => "TruncatedNormal",
        }
    }
}

pub(super) fn shape(own: Option<&[usize]>, inputs: &[Signature<'_>]) -> Shape {
    match own {
        Some(sizes) => Shape::known(sizes),
        None => inputs[0].shape.clone(),
    }
}

/// Random numbers of shape `shape`, new ones at each step.
///
/// # Errors
/// `GRAPH004` if `dtype` is not floating point.
pub fn random(graph: &Graph, kind: RandomKind, dtype: DType, shape: &[usize], name: &str) -> Result<Tensor> {
    require_floating(kind.type_name(), Signature { dtype, shape: &Shape::known(shape) })?;
    graph.add(Op::Random { kind, dtype, shape: Some(shape.to_vec()) }, name, &[])
}

/// Uniform random numbers in `[0, 1)` with the shape and dtype of `x`, new ones at each step.
///
/// # Errors
/// `GRAPH004` if `x` is not floating point.
pub fn random_uniform_like(x: &Tensor) -> Result<Tensor> {
    require_floating("RandomUniform", Signature { dtype: x.dtype(), shape: &x.shape() })?;
    let op = Op::Random { kind: RandomKind::Uniform, dtype: x.dtype(), shape: None };
    x.graph.add(op, "random_uniform/RandomUniform", &[x])
}

/// Sets each element to 0 with probability `rate` and scales the others by `1 / (1 - rate)`. TensorFlow:
/// `tf.nn.dropout`.
///
/// On the TPU each core draws for its own shard, so no two numbers of cores give the same result.
///
/// # Errors
/// `GRAPH004` if `x` is not floating point, `GRAPH006` if `rate` is not in `[0, 1)`.
pub fn dropout(x: &Tensor, rate: f64) -> Result<Tensor> {
    if !(0.0..1.0).contains(&rate) {
        let problem = format!("rate must be in [0, 1), found {rate}");
        return Err(argument("dropout", problem, "give the probability that an element is dropped"));
    }
    let graph = x.graph();
    graph.name_scope("dropout", || {
        let keep = graph.number_like("keep_prob", 1.0 - rate, x)?;
        let scale = graph.number_like("scale", 1.0 / (1.0 - rate), x)?;
        // 1 with probability keep, else 0.
        let mask = cast(&floor(&add(&random_uniform_like(x)?, &keep)?)?, x.dtype())?;
        multiply(&multiply(x, &scale)?, &mask)
    })
}
