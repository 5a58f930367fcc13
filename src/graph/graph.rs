//! The graph itself: nodes under unique names.

use super::ops::{Op, Signature};
use super::{GraphError, Operation, Tensor};
use crate::core::{Array, DType, Result, Shape};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};

/// The number of a node in its graph; inputs have smaller numbers than what reads them.
pub type NodeId = usize;

/// One operation of the graph with what it reads.
#[derive(Clone, Debug)]
pub struct Node {
    /// The unique name, such as `dense/MatMul`.
    pub name: String,
    /// What it computes.
    pub op: Op,
    /// The values it reads: node and output.
    pub inputs: Vec<(NodeId, usize)>,
    /// The nodes that must have run before.
    pub control_inputs: Vec<NodeId>,
    /// Dtype and shape of each output.
    pub outputs: Vec<(DType, Shape)>,
}

/// A variable as the graph knows it.
#[derive(Clone, Debug)]
pub(crate) struct VariableNode {
    pub name: String,
    pub dtype: DType,
    pub shape: Vec<usize>,
    pub trainable: bool,
    pub collections: Vec<String>,
    pub handle: NodeId,
    pub initial_value: (NodeId, usize),
    /// The value without control dependencies, which most readers share.
    pub read: NodeId,
}

#[derive(Default)]
struct Content {
    nodes: Vec<Node>,
    by_name: HashMap<String, NodeId>,
    /// How often a name was asked for, to number the next one.
    name_counts: HashMap<String, usize>,
    scope: String,
    control_inputs: Vec<NodeId>,
    variables: Vec<VariableNode>,
    variables_by_name: HashMap<String, usize>,
    variable_scopes: HashSet<String>,
    collections: BTreeMap<String, Vec<(NodeId, usize)>>,
    replicas: Option<usize>,
}

/// A graph of operations, as TensorFlow 1.x has it. Clones are handles of one graph.
///
/// Functions such as [`matmul`](crate::graph::ops::matmul) add nodes to the graph of their arguments; constants and
/// variables come from the graph itself. Nothing is computed until an engine runs it. TensorFlow: `tf.Graph`.
///
/// # Examples
/// ```
/// use tpulab as tf;
/// use tpulab::prelude::*;
/// let graph = Graph::new();
/// let x = graph.placeholder("x", DType::Float32, Shape::new(&[None, Some(4)]));
/// let y = tf::square(&x)?;
/// assert_eq!((y.name().as_str(), y.shape().to_string().as_str()), ("Square:0", "[?, 4]"));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Graph {
    content: Arc<Mutex<Content>>,
}

impl Graph {
    /// An empty graph.
    pub fn new() -> Self {
        Graph::default()
    }

    /// An empty graph that `replicas` cores will run, each on its shard of the batch.
    pub fn with_replicas(replicas: usize) -> Self {
        let graph = Graph::default();
        graph.lock().replicas = Some(replicas);
        graph
    }

    /// How many cores run this graph, each on its shard; `None` where no TPU is involved.
    pub fn replicas(&self) -> Option<usize> {
        self.lock().replicas
    }

    /// Whether both are handles of one graph.
    pub fn is_same(&self, other: &Graph) -> bool {
        Arc::ptr_eq(&self.content, &other.content)
    }

    fn lock(&self) -> MutexGuard<'_, Content> {
        // Nothing below panics half-way through a change, so a poisoned lock still guards whole content.
        self.content.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// A value that a run is given. TensorFlow: `tf.placeholder`.
    pub fn placeholder(&self, name: &str, dtype: DType, shape: Shape) -> Tensor {
        let op = Op::Placeholder { dtype, shape };
        self.add(op, name, &[]).expect("a placeholder reads nothing, so nothing can mismatch")
    }

    /// A value that never changes. TensorFlow: `tf.constant`.
    pub fn constant(&self, value: impl Into<Array>) -> Tensor {
        self.named_constant("Const", value)
    }

    /// A constant with a name of its own.
    pub fn named_constant(&self, name: &str, value: impl Into<Array>) -> Tensor {
        let value = value.into();
        let dtype = value.dtype();
        self.add(Op::Const { value, dtype }, name, &[]).expect("a constant reads nothing, so nothing can mismatch")
    }

    /// A constant `value` of the dtype `like` has.
    ///
    /// # Errors
    /// `CORE002` if that dtype holds no numbers.
    pub fn number_like(&self, name: &str, value: f64, like: &Tensor) -> Result<Tensor> {
        self.typed_constant(name, Array::from(value), like.dtype())
    }

    /// A constant of type `dtype` whose value a run in float64 sees unrounded.
    pub(crate) fn typed_constant(&self, name: &str, value: Array, dtype: DType) -> Result<Tensor> {
        value.cast(dtype)?;
        self.add(Op::Const { value, dtype }, name, &[])
    }

    /// Adds a node after checking shapes and dtypes, and returns its first output.
    pub(crate) fn add(&self, op: Op, name: &str, inputs: &[&Tensor]) -> Result<Tensor> {
        Ok(self.add_operation(op, name, inputs)?.output(0))
    }

    /// Adds a node after checking shapes and dtypes.
    pub(crate) fn add_operation(&self, op: Op, name: &str, inputs: &[&Tensor]) -> Result<Operation> {
        self.add_node(op, Some(name), inputs)
    }

    /// Adds a node that bears the name of the current scope itself, such as `Adagrad` beside `Adagrad/update`.
    ///
    /// To be called once for each [`name_scope`](Graph::name_scope), which has reserved the name.
    pub(crate) fn add_scope_operation(&self, op: Op, inputs: &[&Tensor]) -> Result<Operation> {
        self.add_node(op, None, inputs)
    }

    fn add_node(&self, op: Op, name: Option<&str>, inputs: &[&Tensor]) -> Result<Operation> {
        for input in inputs {
            if !self.is_same(&input.graph) {
                let error = GraphError::AnotherGraph { op: op.type_name().to_string(), tensor: input.name() };
                return Err(error.into());
            }
        }
        let mut content = self.lock();
        let signatures: Vec<Signature> = inputs
            .iter()
            .map(|input| {
                let (dtype, shape) = &content.nodes[input.node].outputs[input.output];
                Signature { dtype: *dtype, shape }
            })
            .collect();
        let outputs = op.infer(&signatures)?;
        let name = match name {
            Some(name) => content.unique_name(name),
            None => content.scope.clone(),
        };
        let node = Node {
            name: name.clone(),
            op,
            inputs: inputs.iter().map(|input| (input.node, input.output)).collect(),
            control_inputs: content.control_inputs.clone(),
            outputs,
        };
        let id = content.nodes.len();
        content.nodes.push(node);
        content.by_name.insert(name, id);
        Ok(Operation { graph: self.clone(), node: id })
    }

    /// Runs `build` with `name` in front of every new name. TensorFlow: `tf.name_scope`.
    ///
    /// The scope's own name is made unique: a second `loss` becomes `loss_1`.
    pub fn name_scope<T>(&self, name: &str, build: impl FnOnce() -> T) -> T {
        let scope = self.lock().unique_name(name);
        self.in_scope(scope, build)
    }

    /// Runs `build` with `scope` in front of every new name, entered as it is.
    pub(crate) fn in_scope<T>(&self, scope: String, build: impl FnOnce() -> T) -> T {
        struct Restore<'a>(&'a Graph, String);
        impl Drop for Restore<'_> {
            fn drop(&mut self) {
                self.0.lock().scope = std::mem::take(&mut self.1);
            }
        }
        let outer = std::mem::replace(&mut self.lock().scope, scope);
        let _restore = Restore(self, outer);
        build()
    }

    /// The scope that new names start with, without a trailing slash; empty at the top.
    pub(crate) fn scope(&self) -> String {
        self.lock().scope.clone()
    }

    /// Runs `build` so that every new node waits for `operations`. TensorFlow: `tf.control_dependencies`.
    pub fn control_dependencies<T>(&self, operations: &[Operation], build: impl FnOnce() -> T) -> T {
        struct Restore<'a>(&'a Graph, usize);
        impl Drop for Restore<'_> {
            fn drop(&mut self) {
                self.0.lock().control_inputs.truncate(self.1);
            }
        }
        let outer = self.lock().control_inputs.len();
        self.lock().control_inputs.extend(operations.iter().map(|operation| operation.node));
        let _restore = Restore(self, outer);
        build()
    }

    /// Runs `build` so that new nodes wait for nothing. TensorFlow: `tf.control_dependencies(None)`.
    pub(crate) fn without_control_dependencies<T>(&self, build: impl FnOnce() -> T) -> T {
        struct Restore<'a>(&'a Graph, Vec<NodeId>);
        impl Drop for Restore<'_> {
            fn drop(&mut self) {
                self.0.lock().control_inputs = std::mem::take(&mut self.1);
            }
        }
        let outer = std::mem::take(&mut self.lock().control_inputs);
        let _restore = Restore(self, outer);
        build()
    }

    pub(crate) fn has_control_dependencies(&self) -> bool {
        !self.lock().control_inputs.is_empty()
    }

    /// One operation that runs all of `operations`. TensorFlow: `tf.group`.
    ///
    /// # Errors
    /// `GRAPH005` if one of them belongs to another graph.
    pub fn group(&self, operations: &[Operation], name: &str) -> Result<Operation> {
        for operation in operations {
            if !self.is_same(&operation.graph) {
                let error = GraphError::AnotherGraph { op: "NoOp".to_string(), tensor: operation.name() };
                return Err(error.into());
            }
        }
        self.control_dependencies(operations, || self.add_operation(Op::NoOp, name, &[]))
    }

    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.lock().nodes.len()
    }

    /// Whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All nodes, in the order in which they were added.
    pub fn nodes(&self) -> Vec<Node> {
        self.lock().nodes.clone()
    }

    /// A node by its number.
    pub(crate) fn node(&self, id: NodeId) -> Node {
        self.lock().nodes[id].clone()
    }

    pub(crate) fn node_name(&self, id: NodeId) -> String {
        self.lock().nodes[id].name.clone()
    }

    pub(crate) fn output(&self, node: NodeId, output: usize) -> (DType, Shape) {
        self.lock().nodes[node].outputs[output].clone()
    }

    /// The tensor called `name`: `dense/MatMul:0`, or `dense/MatMul` for its first output.
    ///
    /// # Errors
    /// `GRAPH008` if there is none.
    pub fn tensor(&self, name: &str) -> Result<Tensor> {
        let content = self.lock();
        let (node_name, output) = match name.rsplit_once(':') {
            Some((node, output)) => (node, output.parse().unwrap_or(usize::MAX)),
            None => (name, 0),
        };
        match content.by_name.get(node_name) {
            Some(&node) if output < content.nodes[node].outputs.len() => {
                Ok(Tensor { graph: self.clone(), node, output })
            }
            _ => {
                let known = content.nodes.iter().map(|node| node.name.clone()).collect();
                Err(GraphError::Unknown { kind: "tensor", name: name.to_string(), known }.into())
            }
        }
    }

    /// All floating-point values that `loss` or `operation` depends on, in the order in which they were added.
    pub(crate) fn floating_ancestors(&self, loss: &Tensor, operation: &Operation) -> Vec<Tensor> {
        let content = self.lock();
        let mut needed = vec![false; content.nodes.len()];
        needed[loss.node] = true;
        needed[operation.node] = true;
        for id in (0..needed.len()).rev().filter(|&id| id <= loss.node.max(operation.node)) {
            if needed[id] {
                content.nodes[id].inputs.iter().for_each(|&(input, _)| needed[input] = true);
                content.nodes[id].control_inputs.iter().for_each(|&input| needed[input] = true);
            }
        }
        let outputs = content.nodes.iter().enumerate().filter(|(id, _)| needed[*id]).flat_map(|(id, node)| {
            let floating = node.outputs.iter().enumerate().filter(|(_, (dtype, _))| dtype.is_floating());
            floating.map(move |(output, _)| (id, output))
        });
        outputs.map(|(node, output)| Tensor { graph: self.clone(), node, output }).collect()
    }

    /// Remembers a tensor under a collection's name. TensorFlow: `tf.add_to_collection`.
    pub fn add_to_collection(&self, collection: &str, tensor: &Tensor) {
        self.lock().collections.entry(collection.to_string()).or_default().push((tensor.node, tensor.output));
    }

    /// The tensors of a collection, in order; none if nobody added any. TensorFlow: `tf.get_collection`.
    pub fn collection(&self, collection: &str) -> Vec<Tensor> {
        let members = self.lock().collections.get(collection).cloned().unwrap_or_default();
        members.into_iter().map(|(node, output)| Tensor { graph: self.clone(), node, output }).collect()
    }

    /// Remembers an operation that a training step must run too, such as a moving average's. TensorFlow:
    /// `tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, …)`.
    pub fn add_update_op(&self, operation: &Operation) {
        self.lock().collections.entry(UPDATE_OPS.to_string()).or_default().push((operation.node, 0));
    }

    /// The operations that a training step must run too.
    pub fn update_ops(&self) -> Vec<Operation> {
        let members = self.lock().collections.get(UPDATE_OPS).cloned().unwrap_or_default();
        members.into_iter().map(|(node, _)| Operation { graph: self.clone(), node }).collect()
    }

    /// `base`, or `base_1`, `base_2`, … if a variable scope took it before: how `dense` names its variables.
    pub(crate) fn unique_variable_scope(&self, base: &str) -> String {
        let mut content = self.lock();
        let mut name = base.to_string();
        let mut number = 0;
        while !content.variable_scopes.insert(name.clone()) {
            number += 1;
            name = format!("{base}_{number}");
        }
        name
    }

    pub(crate) fn add_variable(&self, variable: VariableNode) -> usize {
        let mut content = self.lock();
        let index = content.variables.len();
        content.variables_by_name.insert(variable.name.clone(), index);
        content.variables.push(variable);
        index
    }

    pub(crate) fn variable_node(&self, index: usize) -> VariableNode {
        self.lock().variables[index].clone()
    }

    pub(crate) fn variable_index(&self, name: &str) -> Option<usize> {
        self.lock().variables_by_name.get(name).copied()
    }

    pub(crate) fn variable_nodes(&self) -> Vec<VariableNode> {
        self.lock().variables.clone()
    }
}

const UPDATE_OPS: &str = "update_ops";

impl Content {
    /// `name` inside the current scope, numbered if it is taken, as TensorFlow numbers it.
    fn unique_name(&mut self, name: &str) -> String {
        let full = if self.scope.is_empty() { name.to_string() } else { format!("{}/{name}", self.scope) };
        let count = self.name_counts.entry(full.clone()).or_insert(0);
        *count += 1;
        if *count == 1 {
            return full;
        }
        let mut number = *count - 1;
        loop {
            let candidate = format!("{full}_{number}");
            if !self.name_counts.contains_key(&candidate) {
                self.name_counts.insert(candidate.clone(), 1);
                self.name_counts.insert(full, number + 1);
                return candidate;
            }
            number += 1;
        }
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let content = self.lock();
        write!(f, "Graph({} nodes, {} variables)", content.nodes.len(), content.variables.len())
    }
}
