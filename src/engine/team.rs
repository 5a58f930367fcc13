//! Persistent worker threads that run the replicas' steps together.

use super::bank::{Bank, Part, Stored};
use super::execute::{Context, StreamKey};
use super::executor::Memory;
use super::pace::Pace;
use super::plan::{Binding, Collective, Plan};
use super::runner::thread_panicked;
use crate::core::{Error, Result};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread::JoinHandle;

/// The calling thread and its helpers. Dropping a team ends its threads.
///
/// Each thread runs the same replicas every time, and sums over replicas are taken in their order by one thread, so
/// results do not depend on how many threads there are.
pub(super) struct Team {
    workers: Vec<JoinHandle<()>>,
    /// Whether the helpers are asked only where that has proved quicker.
    adaptive: bool,
    shared: Arc<Shared>,
}

/// What the threads of a team share.
struct Shared {
    /// Counts the phases that were given out; a change wakes the helpers.
    generation: AtomicUsize,
    /// How many helpers are still at work.
    at_work: AtomicUsize,
    job: RwLock<Job>,
    lanes: Vec<Mutex<Lane>>,
    sleep: Mutex<()>,
    changed: Condvar,
}

/// The phase at hand, with what all replicas only read meanwhile.
#[derive(Default)]
struct Job {
    plan: Option<Arc<Plan>>,
    phase: usize,
    stream: StreamKey,
    binding: Binding,
    common: Bank,
    ended: bool,
}

/// A helper's replicas during a phase, and how it went.
#[derive(Default)]
struct Lane {
    first: usize,
    banks: Vec<Bank>,
    failure: Option<Failure>,
}

/// The replica that failed, and why.
type Failure = (usize, Error);

/// How often a thread looks again before it goes to sleep: some microseconds, the length of a small phase.
const SPINS: usize = 4_000;

impl Team {
    /// A team of `threads` threads, the caller among them. An adaptive one leaves its helpers asleep where the
    /// caller alone has proved quicker.
    pub fn new(threads: usize, adaptive: bool) -> Self {
        let shared = Arc::new(Shared {
            generation: AtomicUsize::new(0),
            at_work: AtomicUsize::new(0),
            job: RwLock::default(),
            lanes: (1..threads).map(|_| Mutex::default()).collect(),
            sleep: Mutex::default(),
            changed: Condvar::new(),
        });
        let spawn = |lane: usize| {
            let shared = Arc::clone(&shared);
            std::thread::Builder::new().name(format!("tpulab-core-{lane}")).spawn(move || shared.serve(lane)).ok()
        };
        // Where a thread cannot be had, the caller simply does more.
        let workers = (0..threads.saturating_sub(1)).map_while(spawn).collect();
        Team { workers, adaptive, shared }
    }

    /// Runs all phases of a plan once.
    pub fn run(&mut self, plan: &Arc<Plan>, memory: &mut Memory, stream: StreamKey) -> Result<()> {
        for (number, phase) in plan.phases.iter().enumerate() {
            for step in &phase.once {
                let (binding, bank) = (&memory.binding, &mut memory.shared);
                Context { plan, binding, bank, shared: None, stream }.run(step)?;
            }
            if !phase.each.is_empty() {
                self.run_each(plan, number, stream, memory)?;
            }
            for collective in &phase.collectives {
                all_reduce(plan, collective, memory);
            }
        }
        Ok(())
    }

    fn run_each(&self, plan: &Arc<Plan>, phase: usize, stream: StreamKey, memory: &mut Memory) -> Result<()> {
        if self.workers.is_empty() || memory.replicas.len() == 1 {
            return run_alone(plan, phase, stream, memory);
        }
        if !self.adaptive {
            return self.run_together(plan, phase, stream, memory);
        }
        memory.paces.resize(plan.phases.len(), Pace::default());
        let trial = memory.paces[phase].next();
        let result = if trial.together {
            self.run_together(plan, phase, stream, memory)
        } else {
            run_alone(plan, phase, stream, memory)
        };
        memory.paces[phase].record(trial);
        result
    }

    fn run_together(&self, plan: &Arc<Plan>, phase: usize, stream: StreamKey, memory: &mut Memory) -> Result<()> {
        let shared = &*self.shared;
        let threads = self.workers.len() + 1;
        let replicas = memory.replicas.len();
        {
            let mut job = shared.job.write().unwrap_or_else(PoisonError::into_inner);
            job.plan = Some(Arc::clone(plan));
            (job.phase, job.stream) = (phase, stream);
            std::mem::swap(&mut job.binding, &mut memory.binding);
            std::mem::swap(&mut job.common, &mut memory.shared);
        }
        // The caller keeps the first replicas; the others go out in order, the last ones first to keep the rest in place.
        for lane in (1..threads).rev() {
            let first = lane * replicas / threads;
            let mut lane = lock(&shared.lanes[lane - 1]);
            lane.first = first;
            lane.banks.extend(memory.replicas.drain(first..));
        }
        shared.at_work.store(threads - 1, Ordering::Release);
        shared.announce();
        let own = {
            let job = shared.job.read().unwrap_or_else(PoisonError::into_inner);
            job.run(0, &mut memory.replicas)
        };
        shared.wait(|| shared.at_work.load(Ordering::Acquire) == 0);
        let mut failure = own.err();
        for lane in &shared.lanes[..threads - 1] {
            let mut lane = lock(lane);
            memory.replicas.append(&mut lane.banks);
            // The first replica's failure is reported, whoever was faster.
            failure = failure.or(lane.failure.take());
        }
        let mut job = shared.job.write().unwrap_or_else(PoisonError::into_inner);
        std::mem::swap(&mut job.binding, &mut memory.binding);
        std::mem::swap(&mut job.common, &mut memory.shared);
        failure.map_or(Ok(()), |(_, error)| Err(error))
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        self.shared.job.write().unwrap_or_else(PoisonError::into_inner).ended = true;
        self.shared.announce();
        for worker in self.workers.drain(..) {
            // A helper catches its panics, so this only waits for its end.
            let _ = worker.join();
        }
    }
}

impl Shared {
    /// The life of helper `lane`.
    fn serve(&self, lane: usize) {
        let mut seen = 0;
        loop {
            self.wait(|| self.generation.load(Ordering::Acquire) != seen);
            seen = self.generation.load(Ordering::Acquire);
            {
                let job = self.job.read().unwrap_or_else(PoisonError::into_inner);
                if job.ended {
                    return;
                }
                let mut lane = lock(&self.lanes[lane]);
                let Lane { first, banks, failure } = &mut *lane;
                *failure = job.run(*first, banks).err();
            }
            if self.at_work.fetch_sub(1, Ordering::AcqRel) == 1 {
                self.notify();
            }
        }
    }

    fn announce(&self) {
        self.generation.fetch_add(1, Ordering::AcqRel);
        self.notify();
    }

    fn notify(&self) {
        // Whoever is about to sleep holds the lock from its last look until it sleeps, so no call is missed.
        drop(lock(&self.sleep));
        self.changed.notify_all();
    }

    fn wait(&self, ready: impl Fn() -> bool) {
        for _ in 0..SPINS {
            if ready() {
                return;
            }
            std::hint::spin_loop();
        }
        let mut guard = lock(&self.sleep);
        while !ready() {
            guard = self.changed.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Job {
    /// Runs the phase on `banks`, the replicas from `first` on; a panic becomes an error.
    fn run(&self, first: usize, banks: &mut [Bank]) -> Result<(), Failure> {
        let Some(plan) = &self.plan else { return Ok(()) };
        let run = || run_replicas(plan, self.phase, self.stream, &self.binding, Some(&self.common), first, banks);
        catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| Err((first, thread_panicked(&*panic))))
    }
}

fn run_alone(plan: &Plan, phase: usize, stream: StreamKey, memory: &mut Memory) -> Result<()> {
    let Memory { binding, shared, replicas, .. } = memory;
    let shared = if replicas.len() > 1 { Some(&*shared) } else { None };
    run_replicas(plan, phase, stream, binding, shared, 0, replicas).map_err(|(_, error)| error)
}

/// Runs one phase on `banks`, the replicas from `first` on.
fn run_replicas(
    plan: &Plan,
    phase: usize,
    stream: StreamKey,
    binding: &Binding,
    shared: Option<&Bank>,
    first: usize,
    banks: &mut [Bank],
) -> Result<(), Failure> {
    for (index, bank) in banks.iter_mut().enumerate() {
        let replica = first + index;
        let mut context = Context { plan, binding, bank, shared, stream: StreamKey { replica, ..stream } };
        for step in &plan.phases[phase].each {
            context.run(step).map_err(|error| (replica, error))?;
        }
    }
    Ok(())
}

/// Sums a value over the replicas, in their order.
fn all_reduce(plan: &Plan, collective: &Collective, memory: &mut Memory) {
    match plan.values[collective.output].slot.kind {
        super::bank::Kind::F64 => all_reduce_typed(plan, collective, memory, |a: f64, b| a + b),
        _ => all_reduce_typed(plan, collective, memory, |a: f32, b| a + b),
    }
}

fn all_reduce_typed<T: Stored>(plan: &Plan, collective: &Collective, memory: &mut Memory, add: impl Fn(T, T) -> T) {
    let Memory { binding, shared, replicas, .. } = memory;
    let (input, output) = (plan.values[collective.input].slot, plan.values[collective.output].slot);
    let length = binding.dims[collective.input].elements();
    let start = match output.part {
        Part::Buffer(_) => 0,
        Part::Flat(offset) | Part::Variable(offset) => offset,
    };
    let mut sum = |members: &mut dyn Iterator<Item = usize>, replicas: &mut [Bank]| -> Vec<T> {
        // The memory of the first member's output, or of the shared one, takes the sum.
        let mut members = members.peekable();
        let first = members.peek().copied().unwrap_or(0);
        let home = if output.shared { &mut *shared } else { &mut replicas[first] };
        let mut memory = home.take::<T>(output.part);
        let out = &mut memory[start..start + length];
        for (index, member) in members.enumerate() {
            let bank = if input.shared { &*shared } else { &replicas[member] };
            let part = bank.read::<T>(input.part, length);
            if index == 0 {
                out.copy_from_slice(part);
            } else {
                out.iter_mut().zip(part).for_each(|(out, &x)| *out = add(*out, x));
            }
        }
        memory
    };
    match &collective.groups {
        None => {
            let count = replicas.len();
            let memory = sum(&mut (0..count), replicas);
            let home = if output.shared { &mut *shared } else { &mut replicas[0] };
            home.put(output.part, memory);
        }
        Some(groups) => {
            for group in groups {
                let memory = sum(&mut group.iter().copied(), replicas);
                for &member in &group[1..] {
                    let mut own = replicas[member].take::<T>(output.part);
                    own[start..start + length].copy_from_slice(&memory[start..start + length]);
                    replicas[member].put(output.part, own);
                }
                replicas[group[0]].put(output.part, memory);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{Array, DType, Shape};
    use crate::engine::{Executor, ExecutorOptions, Precision, Request};
    use crate::graph::{Graph, ops};

    /// A plan of eight replicas that draws a number on each, and the memory that it needs.
    fn drawing_plan() -> Result<(Plan, Memory)> {
        let graph = Graph::new();
        let drawn = ops::random(&graph, ops::RandomKind::Uniform, DType::Float32, &[2], "drawn")?;
        let mut executor = Executor::new(&graph, ExecutorOptions::default())?;
        let request = Request { fetches: vec![drawn], ..Request::default() };
        let plan = Plan::compile(&graph, &request, executor.store(), Precision::Float32, 8)?;
        let mut memory = Memory { replicas: vec![Bank::default(); 8], ..Memory::default() };
        plan.bind(&mut memory.binding, &[])?;
        memory.replicas.iter_mut().for_each(|bank| plan.reserve(&memory.binding, bank, false));
        Ok((plan, memory))
    }

    #[test]
    fn a_panic_on_a_worker_is_an_error_and_the_team_goes_on() -> Result<()> {
        let (plan, mut memory) = drawing_plan()?;
        let (mut broken, _) = drawing_plan()?;
        // No value has this number, so every thread panics when it looks for its shape.
        broken.phases[0].each[0].outputs = vec![usize::MAX];
        let (plan, broken) = (Arc::new(plan), Arc::new(broken));
        for threads in [2, 4, 8] {
            let mut team = Team::new(threads, false);
            let error = team.run(&broken, &mut memory, StreamKey::default()).unwrap_err();
            assert_eq!(error.code(), "ENGINE008");
            assert!(error.message().starts_with("a worker thread panicked: index out of bounds"), "{error}");
            team.run(&plan, &mut memory, StreamKey::default())?;
            assert_eq!(memory.replicas.len(), 8);
            team.run(&broken, &mut memory, StreamKey::default()).unwrap_err();
            drop(team);
        }
        Ok(())
    }

    #[test]
    fn any_number_of_threads_gives_the_same_bits() -> Result<()> {
        let (rows, units, replicas) = (64 * 4, 96, 4);
        let run = |threads: usize| -> Result<Array> {
            let graph = Graph::with_replicas(replicas);
            let x = graph.placeholder("x", DType::Float32, Shape::new(&[None, Some(units)]));
            let weights = (0..units * units).map(|index| (index % 101) as f32 / 101.0 - 0.3).collect();
            let w = graph.constant(Array::from_vec(&[units, units], weights)?);
            let product = ops::matmul(&x, &w)?;
            let sum = ops::cross_replica_sum(&ops::reduce_sum(&product, &[0])?, None)?;
            let options = ExecutorOptions { replicas, worker_threads: Some(threads), ..ExecutorOptions::default() };
            let mut executor = Executor::new(&graph, options)?;
            let request = Request { feeds: vec![x], fetches: vec![sum], ..Request::default() };
            let plan = executor.prepare(&request)?;
            let numbers = (0..rows * units).map(|index| (index % 997) as f32 / 997.0).collect();
            let feed = [Array::from_vec(&[rows, units], numbers)?];
            for _ in 0..20 {
                executor.run(plan, &feed)?;
            }
            Ok(executor.output(plan, 0, 0))
        };
        let alone = run(1)?;
        assert_eq!(alone, run(2)?);
        assert_eq!(alone, run(3)?);
        Ok(())
    }
}
