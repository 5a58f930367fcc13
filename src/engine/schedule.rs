//! In which order steps run, and in which phase.

use super::compile::{Compiler, Edge, gradient_input};
use super::error::EngineError;
use super::fusion::Draft;
use super::plan::Kernel;
use crate::core::Result;
use crate::graph::NodeId;
use crate::graph::ops::{Op, StateOp};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// When a step runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// When the number of rows changes.
    Setup,
    /// Once for all replicas.
    Once,
    /// On each replica.
    Each,
}

/// A draft with its place.
#[derive(Clone, Debug)]
pub(super) struct Scheduled {
    pub draft: Draft,
    pub place: Place,
    pub phase: usize,
}

/// All steps in an order in which they can run.
#[derive(Clone, Debug)]
pub(super) struct Order {
    pub steps: Vec<Scheduled>,
    pub phases: usize,
    /// Reads of variables that must be copied, since the variable changes before they are used.
    pub copied_reads: Vec<NodeId>,
    produced: HashMap<Edge, usize>,
}

impl Order {
    /// Whether a step computes this edge.
    pub fn produces(&self, edge: Edge) -> bool {
        self.produced.contains_key(&edge)
    }
}

/// Orders the steps so that data, control dependencies and the rule of reads hold: a read sees the value from the
/// start of the step, unless it depends on the change.
pub(super) fn schedule(compiler: &Compiler<'_>, mut drafts: Vec<Draft>, fetched: &[Edge]) -> Result<Order> {
    let mut graph = Dependencies::new(compiler, &drafts);
    let copied_reads = graph.order_reads(compiler, &mut drafts, fetched);
    let order = graph.sort(&drafts)?;
    let produced = drafts
        .iter()
        .enumerate()
        .flat_map(|(index, draft)| draft.outputs.iter().map(move |&edge| (edge, index)))
        .collect();

    let mut places = vec![Place::Each; drafts.len()];
    let mut phases = vec![0usize; drafts.len()];
    for &index in &order {
        let draft = &drafts[index];
        places[index] = graph.place(compiler, draft, index, &places);
        let mut phase = 0;
        for &before in &graph.before[index] {
            let crosses = match places[before] {
                Place::Setup => continue,
                _ if is_collective(&drafts[before]) => true,
                Place::Each => places[index] == Place::Once && !is_collective(draft),
                Place::Once => false,
            };
            phase = phase.max(phases[before] + usize::from(crosses));
        }
        phases[index] = phase;
    }
    let count = phases.iter().max().map_or(1, |last| last + 1);
    let steps = order
        .iter()
        .map(|&index| Scheduled { draft: drafts[index].clone(), place: places[index], phase: phases[index] })
        .collect();
    Ok(Order { steps, phases: count, copied_reads, produced })
}

fn is_collective(draft: &Draft) -> bool {
    matches!(draft.kernel, Kernel::Op(Op::CrossReplicaSum { .. }))
}

/// How many of a step's inputs it reads; of the others only the shapes count.
fn read_inputs(draft: &Draft) -> usize {
    match &draft.kernel {
        Kernel::Op(op) => op.read_inputs(draft.inputs.len()),
        _ => draft.inputs.len(),
    }
}

/// Whether an optimizer's step takes the read `id` as its gradient.
fn takes_as_gradient(compiler: &Compiler<'_>, draft: &Draft, id: NodeId) -> bool {
    let Kernel::Op(Op::State(op)) = &draft.kernel else { return false };
    gradient_input(op).is_some_and(|gradient| compiler.root(draft.inputs[gradient]).0 == id)
}

/// Which step must run before which.
struct Dependencies {
    /// For each step: the steps before it.
    before: Vec<Vec<usize>>,
    /// For each node: the steps after which its values are there.
    ready: Vec<Vec<usize>>,
    step_of: HashMap<NodeId, usize>,
}

impl Dependencies {
    fn new(compiler: &Compiler<'_>, drafts: &[Draft]) -> Self {
        let mut step_of = HashMap::new();
        for (index, draft) in drafts.iter().enumerate() {
            draft.nodes.iter().for_each(|&node| {
                step_of.insert(node, index);
            });
        }
        let mut ready: Vec<Vec<usize>> = vec![Vec::new(); compiler.nodes.len()];
        let mut before: Vec<Vec<usize>> = vec![Vec::new(); drafts.len()];
        for (id, node) in compiler.nodes.iter().enumerate() {
            if !compiler.needed[id] {
                continue;
            }
            // Of some inputs only the shape counts, which is known before anything runs.
            let read = node.inputs.iter().take(node.op.read_inputs(node.inputs.len()));
            let sources = read.map(|&(input, _)| input).chain(node.control_inputs.iter().copied());
            let mut steps: Vec<usize> = sources.flat_map(|source| ready[source].iter().copied()).collect();
            steps.sort_unstable();
            steps.dedup();
            match step_of.get(&id) {
                Some(&step) => {
                    before[step].extend(steps.into_iter().filter(|&other| other != step));
                    ready[id] = vec![step];
                }
                None => ready[id] = steps,
            }
        }
        for (index, draft) in drafts.iter().enumerate() {
            // A fused step may read other edges than its nodes did.
            for &(input, _) in &draft.inputs[..read_inputs(draft)] {
                let extra: Vec<usize> = ready[input].iter().copied().filter(|&other| other != index).collect();
                before[index].extend(extra);
            }
            before[index].sort_unstable();
            before[index].dedup();
        }
        Dependencies { before, ready, step_of }
    }

    /// Puts readers of a variable before what changes it, unless they depend on the change; where a reader does depend
    /// on it but the read does not, the read is copied beforehand.
    fn order_reads(&mut self, compiler: &Compiler<'_>, drafts: &mut Vec<Draft>, fetched: &[Edge]) -> Vec<NodeId> {
        let mut changes: HashMap<usize, Vec<usize>> = HashMap::new();
        for (index, draft) in drafts.iter().enumerate() {
            for &node in &draft.nodes {
                for variable in compiler.changes(node) {
                    changes.entry(variable).or_default().push(index);
                }
            }
        }
        let mut readers: HashMap<NodeId, Vec<usize>> = HashMap::new();
        for (index, draft) in drafts.iter().enumerate() {
            for &edge in &draft.inputs {
                readers.entry(compiler.root(edge).0).or_default().push(index);
            }
        }
        let mut copied = Vec::new();
        for (id, node) in compiler.nodes.iter().enumerate() {
            let (true, Op::State(StateOp::ReadVariableOp { .. })) = (compiler.needed[id], &node.op) else { continue };
            let changing = compiler.variable_of.get(&id).and_then(|variable| changes.get(variable));
            let changing = changing.map_or(&[][..], Vec::as_slice);
            let is_fetched = fetched.iter().any(|&edge| compiler.root(edge).0 == id);
            let own_readers = readers.get(&id).cloned().unwrap_or_default();
            // An optimizer's kernel writes the variables' memory, so its gradient must lie elsewhere.
            let mut copy = own_readers.iter().any(|&reader| takes_as_gradient(compiler, &drafts[reader], id));
            for &change in changing {
                if self.ready[id].iter().any(|&step| self.reaches(change, step)) {
                    continue;
                }
                let sees_change = |&reader: &usize| reader != change && self.reaches(change, reader);
                copy |= is_fetched || own_readers.iter().any(sees_change);
            }
            if copy {
                let kernel = Kernel::Copy;
                let draft = Draft { kernel, node: id, nodes: vec![id], inputs: vec![], outputs: vec![(id, 0)] };
                let index = drafts.len();
                drafts.push(draft);
                self.before.push(self.ready[id].clone());
                for &reader in &own_readers {
                    self.before[reader].push(index);
                }
                self.wait(changing, &[index], id);
                copied.push(id);
            } else {
                self.wait(changing, &own_readers, id);
            }
        }
        copied
    }

    /// Lets each change wait for the readers of `read`, unless the read itself comes after the change.
    fn wait(&mut self, changes: &[usize], readers: &[usize], read: NodeId) {
        for &change in changes {
            if !self.ready[read].iter().any(|&step| self.reaches(change, step)) {
                self.before[change].extend(readers.iter().copied().filter(|&reader| reader != change));
            }
        }
    }

    /// Whether a step is another or runs before it, by all that is known so far.
    fn reaches(&self, earlier: usize, later: usize) -> bool {
        let mut seen = vec![false; self.before.len()];
        let mut open = vec![later];
        while let Some(step) = open.pop() {
            if step == earlier {
                return true;
            }
            if !std::mem::replace(&mut seen[step], true) {
                open.extend(&self.before[step]);
            }
        }
        false
    }

    /// The steps so that each comes after those before it; among those that could run, the one first built.
    fn sort(&mut self, drafts: &[Draft]) -> Result<Vec<usize>> {
        let mut waiting: Vec<usize> = Vec::with_capacity(drafts.len());
        let mut next: Vec<Vec<usize>> = vec![Vec::new(); drafts.len()];
        for (index, before) in self.before.iter_mut().enumerate() {
            before.sort_unstable();
            before.dedup();
            waiting.push(before.len());
            before.iter().for_each(|&earlier| next[earlier].push(index));
        }
        let rank = |index: usize| Reverse((drafts[index].node, index));
        let mut open: BinaryHeap<_> = (0..drafts.len()).filter(|&index| waiting[index] == 0).map(rank).collect();
        let mut order = Vec::with_capacity(drafts.len());
        while let Some(Reverse((_, index))) = open.pop() {
            order.push(index);
            for &later in &next[index] {
                waiting[later] -= 1;
                if waiting[later] == 0 {
                    open.push(rank(later));
                }
            }
        }
        if order.len() == drafts.len() {
            return Ok(order);
        }
        let reason = "changes of variables wait for each other in a circle".to_string();
        Err(EngineError::Unsupported { op: "control_dependencies".to_string(), reason }.into())
    }

    fn place(&self, compiler: &Compiler<'_>, draft: &Draft, index: usize, places: &[Place]) -> Place {
        let pure = !matches!(
            &draft.kernel,
            Kernel::Copy
                | Kernel::Op(Op::State(_) | Op::Random { .. } | Op::CheckNumerics { .. } | Op::CrossReplicaSum { .. })
        );
        let read = read_inputs(draft);
        let is_known = |&edge: &Edge| {
            let root = compiler.root(edge).0;
            match &compiler.nodes[root].op {
                Op::Const { .. } => true,
                _ => self.step_of.get(&root).is_some_and(|&step| step != index && places[step] == Place::Setup),
            }
        };
        // What waits for steps of each run, as control dependencies have it, keeps its place behind them.
        let waits = self.before[index].iter().any(|&step| places[step] != Place::Setup);
        if pure && !waits && draft.inputs[..read].iter().all(is_known) {
            return Place::Setup;
        }
        if draft.nodes.iter().all(|&node| compiler.uniform[node]) { Place::Once } else { Place::Each }
    }
}
