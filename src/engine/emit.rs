//! The last part of compiling: where values lie, and which steps read and write them.

use super::bank::{Kind, Part, Slot};
use super::compile::{Compiler, Edge, Request, gradient_input, kind_of};
use super::error::EngineError;
use super::fusion::Draft;
use super::plan::{Collective, FeedSlot, Kernel, Phase, Plan, ShapeRule, Step, Value};
use super::{neighbours, schedule};
use crate::core::Result;
use crate::graph::NodeId;
use crate::graph::ops::{Op, StateOp};
use std::collections::HashMap;

/// Gives values their places and writes the plan.
pub(super) struct Emitter<'a, 'c> {
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
    pub fn new(compiler: &'a Compiler<'c>, request: &'a Request) -> Result<Self> {
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

    pub fn emit(mut self, order: schedule::Order, fetched: &[Edge]) -> Result<Plan> {
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
