//! Persistent worker threads that run the replicas' steps together.

use super::all_reduce::all_reduce;
use super::bank::Bank;
use super::execute::{Context, StreamKey};
use super::lane::{Failure, Lane, Work};
use super::memory::Memory;
use super::pace::Pace;
use super::plan::{Binding, Plan};
use super::runner::thread_panicked;
use crate::core::Result;
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
    seats: Vec<Mutex<Seat>>,
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

/// A helper's lane during a phase, and how it went.
#[derive(Default)]
struct Seat {
    lane: Lane,
    failure: Option<Failure>,
}

/// How often a thread looks again before it goes to sleep: some microseconds, the length of a small phase.
const SPINS: usize = 4_000;

/// Fewer multiplications than this are done, in some tens of microseconds, before a helper is awake.
const WORTH_A_HELPER: usize = 1 << 20;

impl Team {
    /// A team of `threads` threads, the caller among them. An adaptive one leaves its helpers asleep where the
    /// caller alone has proved quicker.
    pub fn new(threads: usize, adaptive: bool) -> Self {
        let shared = Arc::new(Shared {
            generation: AtomicUsize::new(0),
            at_work: AtomicUsize::new(0),
            job: RwLock::default(),
            seats: (1..threads).map(|_| Mutex::default()).collect(),
            sleep: Mutex::default(),
            changed: Condvar::new(),
        });
        let spawn = |seat: usize| {
            let shared = Arc::clone(&shared);
            std::thread::Builder::new().name(format!("tpulab-core-{seat}")).spawn(move || shared.serve(seat)).ok()
        };
        // Where a thread cannot be had, the caller simply does more.
        let workers = (0..threads.saturating_sub(1)).map_while(spawn).collect();
        Team { workers, adaptive, shared }
    }

    /// Over how many threads replicas are split that do so much work in a run.
    pub fn lanes(&self, work: usize) -> usize {
        if self.adaptive && work < WORTH_A_HELPER { 1 } else { self.workers.len() + 1 }
    }

    /// Runs all phases of a plan once.
    pub fn run(&mut self, plan: &Arc<Plan>, memory: &mut Memory, stream: StreamKey) -> Result<()> {
        for (number, phase) in plan.phases.iter().enumerate() {
            for step in &phase.once {
                let (dims, bank) = (&memory.binding.dims, &mut memory.shared);
                Context { plan, dims, bank, replica: 0, replicas: 1, shared: None, stream }.run(step)?;
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
        if memory.lanes.len() == 1 {
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
        {
            let mut job = shared.job.write().unwrap_or_else(PoisonError::into_inner);
            job.plan = Some(Arc::clone(plan));
            (job.phase, job.stream) = (phase, stream);
            std::mem::swap(&mut job.binding, &mut memory.binding);
            std::mem::swap(&mut job.common, &mut memory.shared);
        }
        // The caller keeps the first lane.
        let (own, others) = memory.lanes.split_first_mut().expect("there is a lane for each thread");
        for (lane, seat) in others.iter_mut().zip(&shared.seats) {
            std::mem::swap(lane, &mut lock(seat).lane);
        }
        shared.at_work.store(others.len(), Ordering::Release);
        shared.announce();
        let mut outcome = Outcome::default();
        {
            let job = shared.job.read().unwrap_or_else(PoisonError::into_inner);
            outcome.add(job.run(own));
        }
        shared.wait(|| shared.at_work.load(Ordering::Acquire) == 0);
        for (lane, seat) in others.iter_mut().zip(&shared.seats) {
            let mut seat = lock(seat);
            std::mem::swap(lane, &mut seat.lane);
            outcome.add(seat.failure.take());
        }
        let mut job = shared.job.write().unwrap_or_else(PoisonError::into_inner);
        std::mem::swap(&mut job.binding, &mut memory.binding);
        std::mem::swap(&mut job.common, &mut memory.shared);
        outcome.result()
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
    /// The life of the helper on seat `seat`.
    fn serve(&self, seat: usize) {
        let mut seen = 0;
        loop {
            self.wait(|| self.generation.load(Ordering::Acquire) != seen);
            seen = self.generation.load(Ordering::Acquire);
            {
                let job = self.job.read().unwrap_or_else(PoisonError::into_inner);
                if job.ended {
                    return;
                }
                let Seat { lane, failure } = &mut *lock(&self.seats[seat]);
                *failure = job.run(lane);
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
    /// Runs the phase on a lane; a panic becomes an error.
    fn run(&self, lane: &mut Lane) -> Option<Failure> {
        let plan = self.plan.as_deref()?;
        let work =
            Work { plan, phase: self.phase, binding: &self.binding, shared: Some(&self.common), stream: self.stream };
        let run = AssertUnwindSafe(|| lane.run(work).err());
        catch_unwind(run).unwrap_or_else(|panic| Some(Failure { step: 0, error: thread_panicked(&*panic) }))
    }
}

fn run_alone(plan: &Plan, phase: usize, stream: StreamKey, memory: &mut Memory) -> Result<()> {
    let Memory { binding, shared, lanes, .. } = memory;
    let shared = (plan.replicas > 1).then_some(&*shared);
    let work = Work { plan, phase, binding, shared, stream };
    let mut outcome = Outcome::default();
    lanes.iter_mut().for_each(|lane| outcome.add(lane.run(work).err()));
    outcome.result()
}

/// How a phase went on all lanes.
#[derive(Default)]
struct Outcome(Option<Failure>);

impl Outcome {
    /// Lanes are added in order, so that any number of threads reports the same failure.
    fn add(&mut self, failure: Option<Failure>) {
        let Some(failure) = failure else { return };
        if self.0.as_ref().is_none_or(|first| failure.step < first.step) {
            self.0 = Some(failure);
        }
    }

    fn result(self) -> Result<()> {
        self.0.map_or(Ok(()), |failure| Err(failure.error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{Array, DType, Shape};
    use crate::engine::{Executor, ExecutorOptions, Precision, Request};
    use crate::graph::{Graph, ops};

    /// A plan of eight replicas that draws a number on each, and the memory that it needs.
    fn drawing_plan(lanes: usize) -> Result<(Plan, Memory)> {
        let graph = Graph::new();
        let drawn = ops::random(&graph, ops::RandomKind::Uniform, DType::Float32, &[2], "drawn")?;
        let mut executor = Executor::new(&graph, ExecutorOptions::default())?;
        let request = Request { fetches: vec![drawn], ..Request::default() };
        let plan = Plan::compile(&graph, &request, executor.store(), Precision::Float32, 8)?;
        let mut memory = Memory::new(&plan)?;
        plan.bind(&mut memory.binding, &[])?;
        memory.reserve(&plan, lanes);
        Ok((plan, memory))
    }

    #[test]
    fn a_panic_on_a_worker_is_an_error_and_the_team_goes_on() -> Result<()> {
        for threads in [2, 4, 8] {
            let (plan, mut memory) = drawing_plan(threads)?;
            let (mut broken, _) = drawing_plan(threads)?;
            // No value has this number, so every thread panics when it looks for its shape.
            broken.phases[0].each[0].outputs = vec![usize::MAX];
            let (plan, broken) = (Arc::new(plan), Arc::new(broken));
            let mut team = Team::new(threads, false);
            let error = team.run(&broken, &mut memory, StreamKey::default()).unwrap_err();
            assert_eq!(error.code(), "ENGINE008");
            assert!(error.message().starts_with("a worker thread panicked: index out of bounds"), "{error}");
            team.run(&plan, &mut memory, StreamKey::default())?;
            assert_eq!(memory.lanes.iter().map(|lane| lane.count).sum::<usize>(), 8);
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
