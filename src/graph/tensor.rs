//! Handles of what a node produces.

use super::ops;
use super::{Graph, NodeId};
use crate::core::{DType, Result, Shape};
use std::fmt;

/// A value that a run will compute: one output of one node of a graph. TensorFlow: `tf.Tensor`.
///
/// Owned and cheap to clone. Arithmetic gives a `Result`, since shapes may not fit: `(&a + &b)?`.
#[derive(Clone)]
pub struct Tensor {
    pub(crate) graph: Graph,
    pub(crate) node: NodeId,
    pub(crate) output: usize,
}

impl Tensor {
    /// The name, such as `dense/MatMul:0`.
    pub fn name(&self) -> String {
        format!("{}:{}", self.graph.node_name(self.node), self.output)
    }

    /// The type of the elements.
    pub fn dtype(&self) -> DType {
        self.graph.output(self.node, self.output).0
    }

    /// The shape, with `None` for sizes that only a run knows.
    pub fn shape(&self) -> Shape {
        self.graph.output(self.node, self.output).1
    }

    /// The graph it belongs to.
    pub fn graph(&self) -> Graph {
        self.graph.clone()
    }

    /// The operation that produces it.
    pub fn op(&self) -> Operation {
        Operation { graph: self.graph.clone(), node: self.node }
    }

    /// Whether both are the same output of the same node.
    pub fn is_same(&self, other: &Tensor) -> bool {
        self.graph.is_same(&other.graph) && (self.node, self.output) == (other.node, other.output)
    }
}

impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tensor({:?}, shape={}, dtype={})", self.name(), self.shape(), self.dtype())
    }
}

/// A node of a graph as something to run, whatever it produces. TensorFlow: `tf.Operation`.
#[derive(Clone)]
pub struct Operation {
    pub(crate) graph: Graph,
    pub(crate) node: NodeId,
}

impl Operation {
    /// The name, such as `dense/MatMul`.
    pub fn name(&self) -> String {
        self.graph.node_name(self.node)
    }

    /// The name of its type in TensorFlow's registry, such as `MatMul`.
    pub fn type_name(&self) -> &'static str {
        self.graph.node(self.node).op.type_name()
    }

    /// The graph it belongs to.
    pub fn graph(&self) -> Graph {
        self.graph.clone()
    }

    pub(crate) fn output(&self, output: usize) -> Tensor {
        Tensor { graph: self.graph.clone(), node: self.node, output }
    }
}

impl fmt::Debug for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Operation({:?}, type={})", self.name(), self.type_name())
    }
}

macro_rules! operator {
    ($trait:ident, $method:ident, $function:path) => {
        impl std::ops::$trait<&Tensor> for &Tensor {
            type Output = Result<Tensor>;
            fn $method(self, right: &Tensor) -> Result<Tensor> {
                $function(self, right)
            }
        }
        impl std::ops::$trait<f64> for &Tensor {
            type Output = Result<Tensor>;
            fn $method(self, right: f64) -> Result<Tensor> {
                let right = self.graph.number_like(concat!(stringify!($method), "/y"), right, self)?;
                $function(self, &right)
            }
        }
    };
}

operator!(Add, add, ops::add);
operator!(Sub, sub, ops::subtract);
operator!(Mul, mul, ops::multiply);
operator!(Div, div, ops::divide);

impl std::ops::Neg for &Tensor {
    type Output = Result<Tensor>;
    fn neg(self) -> Result<Tensor> {
        ops::negative(self)
    }
}
