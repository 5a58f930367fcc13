//! From a graph to a plan: what is needed, what is fused, in which order, and where values lie.

use super::bank::{Kind, Part, Slot};
use super::error::EngineError;
use super::fusion::{self, Draft};
use super::plan::{Collective, FeedSlot, Kernel, Phase, Plan, ShapeRule, Step, Value};
use super::schedule;
use super::{Precision, VariableStore, neighbours};
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

/// Gives values their places and writes the plan.
struct Emitter<'a, 'c> {
    compiler: &'a Compiler<'c>,
    request: &'a Request,
    values: Vec<Value>,
    value_of: HashMap<Edge, usize>,
    names: Vec<String>,
    name_of: HashMap<NodeId, usize>,
    shape_rules: Vec<ShapeRule>,
    constants: Vec<(Slot, crate::core::Array)>,
    feeds: Vec<FeedSlot>,
    buffers: HashMap<(Kind, bool), usize>,
    /// Values that must stand one after the other: what collectives exchange, or what optimizers read.
    flat: HashMap<Edge, (bool, usize)>,
    flat_lengths: HashMap<(Kind, bool), usize>,
    /// Copies of variables' values from before a change.
    copies: HashMap<NodeId, Slot>,
    /// For each value that is a variable to be changed: how many elements it has.
    variable_lengths: HashMap<usize, usize>,
}

impl<'a, 'c> Emitter<'a, 'c> {
    fn new(compiler: &'a Compiler<'c>, request: &'a Request) -> Result<Self> {
        Ok(Emitter {
            compiler,
            request,
            values: Vec::new(),
            value_of: HashMap::new(),
            names: Vec::new(),
            name_of: HashMap::new(),
            shape_rules: Vec::new(),
            constants: Vec::new(),
            feeds: Vec::new(),
            buffers: HashMap::new(),
            flat: HashMap::new(),
            flat_lengths: HashMap::new(),
            copies: HashMap::new(),
            variable_lengths: HashMap::new(),
        })
    }

    fn kind(&self, edge: Edge) -> Result<Kind> {
        let node = &self.compiler.nodes[edge.0];
        kind_of(node.outputs[edge.1].0, self.compiler.precision, &node.name)
    }

    fn name(&mut self, id: NodeId) -> usize {
        *self.name_of.entry(id).or_insert_with(|| {
            self.names.push(self.compiler.nodes[id].name.clone());
            self.names.len() - 1
        })
    }

    /// Gives gradients their places in the flat buffer, in the order in which they are used.
    fn lay_out_gradients(&mut self, order: &schedule::Order) -> Result<()> {
        let steps = order.steps.iter();
        for scheduled in steps {
            let Kernel::Op(op) = &scheduled.draft.kernel else { continue };
            let node = &self.compiler.nodes[scheduled.draft.node];
            match op {
                Op::CrossReplicaSum { .. } => {
                    self.place_flat(order, (scheduled.draft.node, 0))?;
                    self.place_flat(order, self.compiler.root(node.inputs[0]))?;
                }
                Op::State(op) if self.compiler.replicas == 1 => {
                    if let Some(gradient) = gradient_input(op) {
                        self.place_flat(order, self.compiler.root(node.inputs[gradient]))?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Whether a step would read and write one flat buffer at once if this edge lay there.
    fn meets_flat(&self, order: &schedule::Order, edge: Edge, shared: bool) -> bool {
        let is_flat = |&other: &Edge| {
            let place = self.flat.get(&self.compiler.root(other));
            place.is_some_and(|&(other_shared, _)| other_shared == shared)
        };
        order.steps.iter().any(|scheduled| {
            let Draft { inputs, outputs, .. } = &scheduled.draft;
            (outputs.contains(&edge) && inputs.iter().any(is_flat))
                || (inputs.iter().any(|&input| self.compiler.root(input) == edge) && outputs.iter().any(is_flat))
        })
    }

    /// Puts what a step computes behind the values that already lie in a flat buffer, if it can lie there.
    fn place_flat(&mut self, order: &schedule::Order, edge: Edge) -> Result<()> {
        let shared = self.compiler.uniform[edge.0];
        if self.flat.contains_key(&edge) || !order.produces(edge) || self.meets_flat(order, edge, shared) {
            return Ok(());
        }
        let Some(length) = self.compiler.nodes[edge.0].outputs[edge.1].1.elements() else { return Ok(()) };
        let kind = self.kind(edge)?;
        let end = self.flat_lengths.entry((kind, shared)).or_insert(0);
        self.flat.insert(edge, (shared, *end));
        *end += length;
        Ok(())
    }

    fn new_buffer(&mut self, kind: Kind, shared: bool) -> Slot {
        let next = self.buffers.entry((kind, shared)).or_insert(0);
        let part = Part::Buffer(*next);
        *next += 1;
        Slot { kind, shared, part }
    }

    /// The value of an edge, with its place and the rule for its shape.
    fn value(&mut self, edge: Edge) -> Result<usize> {
        if let Some(&value) = self.value_of.get(&edge) {
            return Ok(value);
        }
        let (id, output) = edge;
        let compiler = self.compiler;
        let node = &compiler.nodes[id];
        let name = self.name(id);
        // All inputs have values first, so that shape rules come in order.
        let inputs = match node.op {
            Op::State(_) => Vec::new(),
            _ => node.inputs.iter().map(|&input| self.value(input)).collect::<Result<Vec<_>>>()?,
        };
        let kind = self.kind(edge)?;
        let slot = if compiler.alias_of(id).is_some() {
            self.values[inputs[0]].slot
        } else if let Some(&copy) = self.copies.get(&id) {
            copy
        } else if let (Op::State(StateOp::ReadVariableOp { .. }), Some(&variable)) =
            (&node.op, compiler.variable_of.get(&id))
        {
            let entry = &compiler.store.entries()[variable];
            Slot { kind, shared: compiler.variable_shared[variable], part: entry.part }
        } else if let Some(&(shared, offset)) = self.flat.get(&edge) {
            Slot { kind, shared, part: Part::Flat(offset) }
        } else {
            self.new_buffer(kind, compiler.uniform[id])
        };
        // Other outputs of the node that nobody asked for yet get their values too, so that one rule covers all.
        let mut outputs = Vec::with_capacity(node.outputs.len());
        for index in 0..node.outputs.len() {
            let this = (id, index);
            let slot = if index == output { slot } else { self.slot_of_sibling(this)? };
            self.values.push(Value { slot, name, output: index });
            self.value_of.insert(this, self.values.len() - 1);
            outputs.push(self.values.len() - 1);
        }
        match &node.op {
            Op::Placeholder { dtype, shape } => {
                let tensors = self.request.feeds.iter();
                let column = tensors.enumerate().find(|(_, tensor)| tensor.node == id).map(|(index, _)| index);
                let Some(column) = column else {
                    return Err(EngineError::NoInput { name: node.name.clone() }.into());
                };
                self.feeds.push(FeedSlot { column, value: outputs[0], dtype: *dtype, shape: shape.clone() });
            }
            op => {
                if let Op::Const { value, .. } = op {
                    self.constants.push((slot, value.clone()));
                }
                self.shape_rules.push(ShapeRule { op: op.clone(), inputs, outputs, name });
            }
        }
        Ok(self.value_of[&edge])
    }

    fn slot_of_sibling(&mut self, edge: Edge) -> Result<Slot> {
        let kind = self.kind(edge)?;
        Ok(match self.flat.get(&edge) {
            Some(&(shared, offset)) => Slot { kind, shared, part: Part::Flat(offset) },
            None => self.new_buffer(kind, self.compiler.uniform[edge.0]),
        })
    }

    fn emit(mut self, order: schedule::Order, fetched: &[Edge]) -> Result<Plan> {
        self.lay_out_gradients(&order)?;
        for &read in &order.copied_reads {
            let kind = self.kind((read, 0))?;
            let slot = self.new_buffer(kind, self.compiler.uniform[read]);
            self.copies.insert(read, slot);
        }
        let mut phases: Vec<Phase> = Vec::new();
        phases.resize_with(order.phases.max(1), Phase::default);
        let mut setup = Vec::new();
        for scheduled in &order.steps {
            let step = self.step(&scheduled.draft)?;
            let phase = &mut phases[scheduled.phase];
            match (&step.kernel, scheduled.place) {
                (Kernel::Op(Op::CrossReplicaSum { groups }), _) => {
                    let groups = groups.clone().filter(|groups| groups.len() > 1);
                    let (input, output) = (step.inputs[0], step.outputs[0]);
                    let length = self.compiler.nodes[scheduled.draft.node].outputs[0].1.elements();
                    phase.collectives.push(Collective { input, output, length, groups });
                }
                (_, schedule::Place::Setup) => setup.push(step),
                (_, schedule::Place::Once) => phase.once.push(step),
                (_, schedule::Place::Each) => phase.each.push(step),
            }
        }
        let fetches = fetched.iter().map(|&edge| self.value(edge)).collect::<Result<Vec<_>>>()?;
        for phase in &mut phases {
            phase.collectives = neighbours::join_collectives(std::mem::take(&mut phase.collectives), &self.values);
            for steps in [&mut phase.once, &mut phase.each] {
                *steps = neighbours::join_updates(std::mem::take(steps), &self.values, |value| {
                    self.variable_lengths[&value]
                });
            }
        }
        Ok(Plan {
            values: self.values,
            setup,
            phases,
            feeds: self.feeds,
            fetches,
            constants: self.constants,
            shape_rules: self.shape_rules,
            names: self.names,
            replicas: self.compiler.replicas,
            replicated_variables: self.compiler.replicas > 1
                && self.compiler.variable_shared.iter().any(|shared| !shared),
        })
    }

    fn step(&mut self, draft: &Draft) -> Result<Step> {
        let name = self.name(draft.node);
        let compiler = self.compiler;
        if let Kernel::Copy = draft.kernel {
            let variable = compiler.variable_of[&draft.node];
            let output = self.value((draft.node, 0))?;
            // The variable itself, as a value of its own.
            let slot = Slot { part: compiler.store.entries()[variable].part, ..self.values[output].slot };
            self.values.push(Value { slot, name, output: 0 });
            let input = self.values.len() - 1;
            let op = compiler.nodes[draft.node].op.clone();
            self.shape_rules.push(ShapeRule { op, inputs: Vec::new(), outputs: vec![input], name });
            return Ok(Step { kernel: Kernel::Copy, inputs: vec![input], outputs: vec![output], name });
        }
        let inputs = draft
            .inputs
            .iter()
            .map(|&edge| match compiler.nodes[edge.0].op {
                Op::State(StateOp::VarHandleOp { .. }) => self.variable_value(edge.0),
                _ => self.value(edge),
            })
            .collect::<Result<Vec<_>>>()?;
        let outputs = draft.outputs.iter().map(|&edge| self.value(edge)).collect::<Result<Vec<_>>>()?;
        Ok(Step { kernel: draft.kernel.clone(), inputs, outputs, name })
    }

    /// A variable as the value that an assignment or an optimizer changes in its place.
    fn variable_value(&mut self, handle: NodeId) -> Result<usize> {
        if let Some(&value) = self.value_of.get(&(handle, usize::MAX)) {
            return Ok(value);
        }
        let name = self.name(handle);
        let variable = self.compiler.variable_of[&handle];
        let entry = &self.compiler.store.entries()[variable];
        let shared = self.compiler.variable_shared[variable];
        self.values.push(Value { slot: Slot { kind: entry.kind, shared, part: entry.part }, name, output: 0 });
        let value = self.values.len() - 1;
        self.variable_lengths.insert(value, entry.shape.iter().product());
        let op = Op::State(StateOp::ReadVariableOp { dtype: entry.dtype, shape: entry.shape.clone() });
        self.shape_rules.push(ShapeRule { op, inputs: Vec::new(), outputs: vec![value], name });
        self.value_of.insert((handle, usize::MAX), value);
        Ok(value)
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
