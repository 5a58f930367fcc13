//! From a graph to a plan: what is needed, and what all replicas share.

use super::bank::Kind;
use super::emit::Emitter;
use super::error::EngineError;
use super::plan::Plan;
use super::{Precision, VariableStore, fusion, schedule};
use crate::core::{DType, Result};
use crate::graph::ops::{ArrayOp, Op, StateOp};
use crate::graph::{Graph, Node, NodeId, Operation, Tensor};
use std::collections::HashMap;

/// One output of one node.
pub(super) type Edge = (NodeId, usize);

/// What a plan is asked for.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The tensors that a run is given, in the order in which it gives them.
    pub feeds: Vec<Tensor>,
    /// The tensors whose values are wanted.
    pub fetches: Vec<Tensor>,
    /// The operations that shall run too.
    pub targets: Vec<Operation>,
    /// Whether each op shall stay a step of its own, as when a NaN is traced.
    pub unfused: bool,
}

/// How a graph's dtype is stored.
pub(super) fn kind_of(dtype: DType, precision: Precision, name: &str) -> Result<Kind> {
    match (dtype, precision) {
        (DType::Float32, Precision::Float32) => Ok(Kind::F32),
        (DType::Float32, Precision::Float64) | (DType::Float64, _) => Ok(Kind::F64),
        (DType::Int32, _) => Ok(Kind::I32),
        (DType::Int64, _) => Ok(Kind::I64),
        (DType::Bool, _) => Ok(Kind::Bool),
        (other, _) => {
            let reason = format!("the engine does not compute with {other}");
            Err(EngineError::Unsupported { op: name.to_string(), reason }.into())
        }
    }
}

/// A graph on its way to a plan.
pub(super) struct Compiler<'a> {
    pub nodes: Vec<Node>,
    pub needed: Vec<bool>,
    /// For each node that reads or names a variable: which one.
    pub variable_of: HashMap<NodeId, usize>,
    /// Whether a node's results are the same on all replicas.
    pub uniform: Vec<bool>,
    /// Whether each variable is the same on all replicas.
    pub variable_shared: Vec<bool>,
    pub store: &'a VariableStore,
    pub replicas: usize,
    pub precision: Precision,
}

impl Plan {
    /// Compiles `graph` for what `request` asks, to be run by `replicas` cores.
    ///
    /// # Errors
    /// `ENGINE005` if a needed placeholder is not among the feeds, `ENGINE007` for what the engine cannot run.
    pub fn compile(
        graph: &Graph,
        request: &Request,
        store: &VariableStore,
        precision: Precision,
        replicas: usize,
    ) -> Result<Plan> {
        let mut compiler = Compiler::new(graph, request, store, precision, replicas)?;
        compiler.find_uniform();
        let fetched: Vec<Edge> = request.fetches.iter().map(|tensor| (tensor.node, tensor.output)).collect();
        let order_of = |unfused| schedule::schedule(&compiler, fusion::draft(&compiler, &fetched, unfused), &fetched);
        // Ops that run as one may wait for what waits for one of them; each on its own they have an order.
        let order = order_of(request.unfused).or_else(|_| order_of(true))?;
        Emitter::new(&compiler, request)?.emit(order, &fetched)
    }
}

impl<'a> Compiler<'a> {
    fn new(
        graph: &Graph,
        request: &Request,
        store: &'a VariableStore,
        precision: Precision,
        replicas: usize,
    ) -> Result<Self> {
        let nodes = graph.nodes();
        let mut needed = vec![false; nodes.len()];
        for tensor in &request.fetches {
            needed[tensor.node] = true;
        }
        for operation in &request.targets {
            needed[operation.node] = true;
        }
        for id in (0..nodes.len()).rev() {
            if needed[id] {
                nodes[id].inputs.iter().for_each(|&(input, _)| needed[input] = true);
                nodes[id].control_inputs.iter().for_each(|&input| needed[input] = true);
            }
        }
        let index: HashMap<&str, usize> =
            store.entries().iter().enumerate().map(|(index, entry)| (entry.name.as_str(), index)).collect();
        let mut variable_of = HashMap::new();
        for variable in graph.variable_nodes() {
            if let Some(&position) = index.get(variable.name.as_str()) {
                variable_of.insert(variable.handle, position);
            }
        }
        for (id, node) in nodes.iter().enumerate() {
            if let Op::State(StateOp::ReadVariableOp { .. }) = node.op
                && let Some(&variable) = variable_of.get(&node.inputs[0].0)
            {
                variable_of.insert(id, variable);
            }
        }
        let uniform = vec![true; nodes.len()];
        let variable_shared = vec![true; store.entries().len()];
        Ok(Compiler { nodes, needed, variable_of, uniform, variable_shared, store, replicas, precision })
    }

    /// The variables that a node changes.
    pub fn changes(&self, id: NodeId) -> Vec<usize> {
        match &self.nodes[id].op {
            Op::State(op) => {
                let handles = &self.nodes[id].inputs[..op.changed_variables()];
                handles.iter().filter_map(|(handle, _)| self.variable_of.get(handle).copied()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Finds which nodes give the same results on all replicas. A variable that a replica's own value changes is that
    /// replica's own, and so is what is read from it: repeated until nothing changes any more.
    fn find_uniform(&mut self) {
        if self.replicas == 1 {
            self.uniform.fill(false);
            self.variable_shared.fill(false);
            return;
        }
        loop {
            let mut changed = false;
            for id in 0..self.nodes.len() {
                if !self.needed[id] {
                    continue;
                }
                let node = &self.nodes[id];
                let uniform = match &node.op {
                    Op::Placeholder { .. } | Op::Random { .. } => false,
                    Op::CrossReplicaSum { groups } => groups.as_ref().is_none_or(|groups| groups.len() == 1),
                    Op::State(StateOp::VarHandleOp { .. } | StateOp::ReadVariableOp { .. }) => {
                        self.variable_of.get(&id).is_some_and(|&variable| self.variable_shared[variable])
                    }
                    // Of some inputs only the shape counts, and shapes are the same everywhere.
                    op => {
                        let read = op.read_inputs(node.inputs.len());
                        node.inputs[..read].iter().all(|&(input, _)| self.uniform[input])
                    }
                };
                self.uniform[id] = uniform;
                if !uniform {
                    for variable in self.changes(id) {
                        changed |= std::mem::replace(&mut self.variable_shared[variable], false);
                    }
                }
            }
            if !changed {
                return;
            }
        }
    }

    /// Whether a node gives its input's elements unchanged, in the same memory.
    pub fn alias_of(&self, id: NodeId) -> Option<Edge> {
        let node = &self.nodes[id];
        match &node.op {
            Op::Array(
                ArrayOp::Identity
                | ArrayOp::StopGradient
                | ArrayOp::Reshape { .. }
                | ArrayOp::ReshapeLike
                | ArrayOp::ExpandDims { .. }
                | ArrayOp::Squeeze { .. },
            ) => Some(node.inputs[0]),
            Op::CrossReplicaSum { .. } if self.replicas == 1 => Some(node.inputs[0]),
            Op::Array(ArrayOp::Cast { .. }) => {
                let (input, output) = node.inputs[0];
                let from = kind_of(self.nodes[input].outputs[output].0, self.precision, "");
                let to = kind_of(node.outputs[0].0, self.precision, "");
                (from.ok()? == to.ok()?).then_some(node.inputs[0])
            }
            _ => None,
        }
    }

    /// Where the elements of an edge really come from.
    pub fn root(&self, mut edge: Edge) -> Edge {
        while let Some(next) = self.alias_of(edge.0) {
            edge = next;
        }
        edge
    }
}

/// Which input of an optimizer's op is the gradient.
pub(super) fn gradient_input(op: &StateOp) -> Option<usize> {
    match op {
        StateOp::ResourceApplyGradientDescent => Some(2),
        StateOp::ResourceApplyMomentum { .. } | StateOp::ResourceApplyAdagrad | StateOp::ResourceApplyFtrl => Some(3),
        StateOp::ResourceApplyAdam => Some(9),
        StateOp::ResourceApplyRMSProp => Some(7),
        StateOp::ResourceApplyCenteredRMSProp => Some(8),
        _ => None,
    }
}
