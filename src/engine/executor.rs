//! Runs plans: one replica or many, on persistent worker threads.

use super::bank::{Bank, Part, Slot, Stored, for_kind};
use super::compile::Request;
use super::error::EngineError;
use super::execute::StreamKey;
use super::memory::Memory;
use super::plan::{FeedSlot, Plan};
use super::team::Team;
use super::{Precision, VariableStore};
use crate::core::{Array, DType, Result, Shape};
use crate::graph::{Graph, NodeId};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// How a graph is run.
#[derive(Clone, Debug, PartialEq)]
pub struct ExecutorOptions {
    /// How many cores run the graph, each on its shard of the batch. Default 1.
    pub replicas: usize,
    /// How exactly it computes. Default float32.
    pub precision: Precision,
    /// How many threads run the replicas. Default: as many as there are processors, at most one for each replica, and
    /// only one where that is quicker. Results have the same bits for any number.
    pub worker_threads: Option<usize>,
    /// The seed of random streams. Default 0.
    pub seed: u64,
    /// How replicas get their part of what is fed. Default [`Split::Rows`].
    pub split: Split,
}

impl Default for ExecutorOptions {
    fn default() -> Self {
        ExecutorOptions {
            replicas: 1,
            precision: Precision::default(),
            worker_threads: None,
            seed: 0,
            split: Split::default(),
        }
    }
}

/// How replicas get their part of what is fed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Split {
    /// Rows in order: replica 0 the first ones.
    #[default]
    Rows,
    /// Each replica gets all rows.
    Whole,
}

/// What a run is given: arrays in the order of the request's feeds.
pub trait Feed {
    /// The array for feed `column`; `None` if there is none.
    fn array(&self, column: usize) -> Option<&Array>;
}

impl Feed for [Array] {
    fn array(&self, column: usize) -> Option<&Array> {
        self.get(column)
    }
}

impl<const N: usize> Feed for [Array; N] {
    fn array(&self, column: usize) -> Option<&Array> {
        self.get(column)
    }
}

/// A plan of an executor, to be run as often as wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanId(usize);

/// Compiles and runs plans of one graph over one set of variables. TensorFlow: `tf.Session`.
///
/// # Examples
/// ```
/// use tpulab::engine::{Executor, ExecutorOptions, Request};
/// use tpulab::prelude::*;
/// let graph = Graph::new();
/// let x = graph.placeholder("x", DType::Float32, Shape::new(&[None]));
/// let double = (&x * 2.0)?;
/// let mut executor = Executor::new(&graph, ExecutorOptions::default())?;
/// let plan = executor.prepare(&Request { feeds: vec![x], fetches: vec![double], ..Request::default() })?;
/// executor.run(plan, &[Array::from(vec![1.0f32, 2.0])])?;
/// assert_eq!(executor.output(plan, 0, 0), Array::from(vec![2.0f32, 4.0]));
/// # Ok::<(), Error>(())
/// ```
pub struct Executor {
    graph: Graph,
    options: ExecutorOptions,
    store: VariableStore,
    prepared: Vec<Prepared>,
    by_key: HashMap<Key, usize>,
    active: Option<usize>,
    team: Team,
    /// The global step that random streams see.
    step: u64,
    /// The replicas' own values of variables that differ between them; empty where none do.
    own_variables: Vec<Bank>,
}

type Key = (Vec<(NodeId, usize)>, Vec<(NodeId, usize)>, Vec<NodeId>, bool);

/// A plan with the memory in which it runs.
struct Prepared {
    plan: Arc<Plan>,
    memory: Memory,
    feed_shapes: Vec<Vec<usize>>,
}

impl Executor {
    /// An executor for `graph` with all variables at their initial values.
    ///
    /// # Errors
    /// `ENGINE007` for what the engine cannot run.
    pub fn new(graph: &Graph, options: ExecutorOptions) -> Result<Self> {
        if options.replicas == 0 {
            let reason = "there must be at least one replica".to_string();
            return Err(EngineError::Unsupported { op: "Executor".to_string(), reason }.into());
        }
        let store = VariableStore::new(graph, options.precision)?;
        let mut executor = Executor::with_store(graph, options, store);
        executor.initialize()?;
        Ok(executor)
    }

    fn with_store(graph: &Graph, options: ExecutorOptions, store: VariableStore) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = options.worker_threads.unwrap_or(processors).clamp(1, options.replicas.max(1));
        Executor {
            graph: graph.clone(),
            store,
            prepared: Vec::new(),
            by_key: HashMap::new(),
            active: None,
            team: Team::new(threads, options.worker_threads.is_none()),
            step: 0,
            own_variables: Vec::new(),
            options,
        }
    }

    /// Sets all variables to their initial values.
    fn initialize(&mut self) -> Result<()> {
        let fetches: Vec<_> = self.graph.variables().iter().map(|variable| variable.initial_value()).collect();
        if fetches.is_empty() {
            return Ok(());
        }
        // Initial values are the same on all replicas, so one computes them.
        let options = ExecutorOptions { replicas: 1, worker_threads: Some(1), ..self.options.clone() };
        let store = VariableStore::new(&self.graph, options.precision)?;
        let mut initial = Executor::with_store(&self.graph, options, store);
        let plan = initial.prepare(&Request { fetches, ..Request::default() })?;
        initial.run(plan, &[])?;
        for (index, name) in self.store.names().into_iter().enumerate() {
            self.store.set(&name, &initial.output(plan, index, 0))?;
        }
        Ok(())
    }

    /// The values of all variables; replica 0's where replicas differ.
    pub fn store(&mut self) -> &VariableStore {
        self.take_back();
        &self.store
    }

    /// The values of all variables, for changing them.
    pub fn store_mut(&mut self) -> &mut VariableStore {
        self.take_back();
        self.own_variables.clear();
        &mut self.store
    }

    /// How exactly it computes.
    pub fn precision(&self) -> Precision {
        self.options.precision
    }

    /// How many replicas there are.
    pub fn replicas(&self) -> usize {
        self.options.replicas
    }

    /// Tells random streams at which global step the next run stands; each run counts on by one.
    pub fn set_step(&mut self, step: u64) {
        self.step = step;
    }

    /// Compiles what `request` asks, or finds the plan that did so before.
    ///
    /// # Errors
    /// `ENGINE005` if a needed placeholder is not fed, `ENGINE007` for what the engine cannot run.
    pub fn prepare(&mut self, request: &Request) -> Result<PlanId> {
        let edges =
            |tensors: &[crate::graph::Tensor]| tensors.iter().map(|tensor| (tensor.node, tensor.output)).collect();
        let targets = request.targets.iter().map(|operation| operation.node).collect();
        let key: Key = (edges(&request.feeds), edges(&request.fetches), targets, request.unfused);
        if let Some(&index) = self.by_key.get(&key) {
            return Ok(PlanId(index));
        }
        let ExecutorOptions { precision, replicas, .. } = self.options;
        let plan = Plan::compile(&self.graph, request, &self.store, precision, replicas)?;
        let memory = Memory::new(&plan)?;
        self.prepared.push(Prepared { plan: Arc::new(plan), memory, feed_shapes: Vec::new() });
        let index = self.prepared.len() - 1;
        self.by_key.insert(key, index);
        Ok(PlanId(index))
    }

    /// The compiled plan.
    pub fn plan(&self, id: PlanId) -> &Plan {
        &self.prepared[id.0].plan
    }

    /// Runs a plan once.
    ///
    /// # Errors
    /// `ENGINE004` to `ENGINE006` if the feed does not suit it, `ENGINE001` to `ENGINE003` for values that an op
    /// refuses, `ENGINE008` if a worker panics. After an error the variables are as the failed step left them.
    pub fn run(&mut self, id: PlanId, feed: &(impl Feed + ?Sized)) -> Result<()> {
        self.bind(id.0, feed)?;
        self.activate(id.0);
        let prepared = &mut self.prepared[id.0];
        for slot in &prepared.plan.feeds {
            let array = feed.array(slot.column).expect("`bind` checked that it is there");
            prepared.memory.feed(&prepared.plan, slot, array, self.options.split)?;
        }
        let stream = StreamKey { seed: self.options.seed, step: self.step, replica: 0 };
        self.step += 1;
        self.team.run(&prepared.plan, &mut prepared.memory, stream)
    }

    /// Computes shapes anew where the feed has others than last time.
    fn bind(&mut self, index: usize, feed: &(impl Feed + ?Sized)) -> Result<()> {
        let Prepared { plan, memory, feed_shapes } = &mut self.prepared[index];
        let mut same = memory.binding.complete;
        for (number, slot) in plan.feeds.iter().enumerate() {
            let array =
                feed.array(slot.column).ok_or_else(|| EngineError::NoInput { name: plan.node_name(slot.value) })?;
            same &= feed_shapes.get(number).is_some_and(|shape| shape.as_slice() == array.shape());
            if !accepts(slot.dtype, array.dtype(), self.options.precision) {
                return Err(mismatch(plan, slot, array).into());
            }
        }
        if same {
            return Ok(());
        }
        // What fails half-way must be done again.
        memory.binding.complete = false;
        self.take_back();
        let Prepared { plan, memory, feed_shapes } = &mut self.prepared[index];
        let arrays = plan.feeds.iter().filter_map(|slot| feed.array(slot.column));
        *feed_shapes = arrays.map(|array| array.shape().to_vec()).collect();
        let shapes = shard_shapes(plan, feed, self.options.split)?;
        plan.bind(&mut memory.binding, &shapes)?;
        memory.reserve(plan, self.team.lanes(plan.work(&memory.binding.dims)));
        memory.set_up(plan)?;
        memory.binding.complete = true;
        Ok(())
    }

    /// Moves the variables into the memory of plan `index`.
    fn activate(&mut self, index: usize) {
        if self.active == Some(index) {
            return;
        }
        self.take_back();
        let Prepared { plan, memory, .. } = &mut self.prepared[index];
        if plan.replicated_variables {
            if self.own_variables.is_empty() {
                self.own_variables = vec![self.store.bank.clone(); plan.replicas];
            }
            memory.swap_variables(&mut self.own_variables);
        }
        memory.home(plan.replicas > 1).swap_variables(0, &mut self.store.bank);
        self.active = Some(index);
    }

    /// Moves the variables back into the store: replica 0's where replicas differ.
    fn take_back(&mut self) {
        let Some(index) = self.active.take() else { return };
        let Prepared { plan, memory, .. } = &mut self.prepared[index];
        memory.home(plan.replicas > 1).swap_variables(0, &mut self.store.bank);
        if plan.replicated_variables {
            memory.swap_variables(&mut self.own_variables);
        }
        // What the plan changed for all replicas at once, their own copies must follow.
        for (Slot { kind, part, .. }, length) in plan.shared_changes(&memory.binding.dims) {
            for own in &mut self.own_variables {
                for_kind!(kind, T => {
                    own.write::<T>(part, 0, length).copy_from_slice(self.store.bank.read(part, 0, length));
                });
            }
        }
        if !plan.replicated_variables {
            return;
        }
        for (value, dims) in plan.values.iter().zip(&memory.binding.dims) {
            if let Slot { kind, shared: false, part: part @ Part::Variable(_) } = value.slot {
                let length = dims.elements();
                for_kind!(kind, T => {
                    let own = self.own_variables[0].read::<T>(part, 0, length);
                    self.store.bank.write(part, 0, length).copy_from_slice(own);
                });
            }
        }
    }

    /// The value of fetch `fetch` on replica `replica`, after a run.
    pub fn output(&self, id: PlanId, fetch: usize, replica: usize) -> Array {
        let Prepared { plan, memory, .. } = &self.prepared[id.0];
        let value = plan.fetches[fetch];
        let slot = plan.values[value].slot;
        memory.to_array(slot, replica, memory.binding.dims[value].sizes())
    }

    /// A fetched number on replica `replica`, after a run; the first element of a larger value.
    pub fn scalar(&self, id: PlanId, fetch: usize, replica: usize) -> f64 {
        let Prepared { plan, memory, .. } = &self.prepared[id.0];
        let slot = plan.values[plan.fetches[fetch]].slot;
        let length = memory.binding.dims[plan.fetches[fetch]].elements();
        for_kind!(slot.kind, T => memory.read::<T>(slot, replica, length)[0].to_f64())
    }

    /// The values of fetch `fetch` on all replicas, one after the other along dimension 0.
    pub fn concatenated(&self, id: PlanId, fetch: usize) -> Array {
        let Prepared { plan, memory, .. } = &self.prepared[id.0];
        let value = plan.fetches[fetch];
        let slot = plan.values[value].slot;
        let mut shape = memory.binding.dims[value].sizes().to_vec();
        let length: usize = shape.iter().product();
        match shape.first_mut() {
            Some(rows) => *rows *= plan.replicas,
            None => shape.push(plan.replicas),
        }
        for_kind!(slot.kind, T => {
            let mut all: Vec<T> = Vec::with_capacity(length * plan.replicas);
            for replica in 0..plan.replicas {
                all.extend_from_slice(memory.read::<T>(slot, replica, length));
            }
            Array::from_vec(&shape, all).expect("the length is the shape's product")
        })
    }
}

fn accepts(expected: DType, found: DType, precision: Precision) -> bool {
    expected == found || (precision == Precision::Float64 && expected == DType::Float32 && found == DType::Float64)
}

/// The shapes of what one replica is given.
fn shard_shapes(plan: &Plan, feed: &(impl Feed + ?Sized), split: Split) -> Result<Vec<Vec<usize>>> {
    let mut shapes = Vec::with_capacity(plan.feeds.len());
    for slot in &plan.feeds {
        let Some(array) = feed.array(slot.column) else { continue };
        let mut shape = array.shape().to_vec();
        if let (Split::Rows, Some(rows)) = (split, shape.first_mut()) {
            if *rows % plan.replicas != 0 {
                return Err(EngineError::Rows { rows: *rows, replicas: plan.replicas }.into());
            }
            *rows /= plan.replicas;
        }
        if !slot.shape.accepts(&shape) {
            return Err(mismatch(plan, slot, array).into());
        }
        shapes.push(shape);
    }
    Ok(shapes)
}

fn mismatch(plan: &Plan, slot: &FeedSlot, array: &Array) -> EngineError {
    let expected: (DType, Shape) = (slot.dtype, slot.shape.clone());
    EngineError::Input { name: plan.node_name(slot.value), expected, found: (array.dtype(), array.shape().to_vec()) }
}

impl fmt::Debug for Executor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Executor")
            .field("graph", &self.graph)
            .field("options", &self.options)
            .field("plans", &self.prepared.len())
            .finish_non_exhaustive()
    }
}
