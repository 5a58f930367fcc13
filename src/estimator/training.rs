//! The training loop: the same for every runner.

use super::hook::{RunContext, RunValues, SessionRunHook, SessionState};
use super::model_dir::ModelDir;
use super::nan_trace::{Replay, Snapshot};
use super::saver_hook::CheckpointSaverHook;
use super::summaries::Summaries;
use super::{Fidelity, Placement, RunConfig, RunError, TrainReport};
use crate::core::{Array, Clock, Error, Result};
use crate::data::Position;
use crate::engine::{BatchSource, Flow, LoopEnd, PlanId, Request, Runner};
use crate::graph::{Graph, Operation, Tensor};
use crate::notebook::{Progress, StopFlag, logging};
use std::time::Duration;

/// Everything that a training needs: built by an estimator, with a runner that stands ready.
pub(crate) struct Training<'a> {
    pub config: &'a RunConfig,
    pub model_dir: &'a ModelDir,
    pub graph: &'a Graph,
    pub loss: Tensor,
    pub train_op: Operation,
    pub feeds: Vec<Tensor>,
    pub runner: &'a mut dyn Runner,
    pub hooks: &'a mut [Box<dyn SessionRunHook>],
    pub seed: u64,
    pub first_step: u64,
    /// The global step to stop at; `u64::MAX` for none.
    pub last_step: u64,
    pub loops: Loops,
    pub log: LogStyle,
    pub placement: Option<Placement>,
    /// Opens the input once more, at a position where it stood before.
    pub reopen: &'a dyn Fn(&Position) -> Result<Box<dyn BatchSource>>,
}

/// What looks on while a training runs, beside the user's hooks.
struct Observers {
    saver: CheckpointSaverHook,
    summaries: Summaries,
    progress: Progress,
}

/// How old a snapshot may be when a loop starts: a NaN costs no more than replaying so much.
const SNAPSHOT_AGE: Duration = Duration::from_secs(1);

/// How many steps a loop has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loops {
    /// One, as hooks see it; several where nobody looks in between.
    Single,
    /// So many, on a TPU.
    Of(u64),
    /// As many as the speed of earlier loops promises for this time, on a TPU; one at first.
    Lasting(Duration),
}

/// What is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogStyle {
    /// Steps between two lines; `None` for none.
    pub every: Option<u64>,
    /// Whether the loss is logged, or the speed alone.
    pub loss: bool,
    /// Rows of a step, where examples/sec is logged too.
    pub examples: Option<usize>,
}

impl Training<'_> {
    /// Trains to the last step, to the end of the input, or until a hook stops it. A user's interrupt is an error, but
    /// ends the training as well as any: its last step is saved.
    pub fn run(mut self) -> Result<TrainReport> {
        let clock = Clock::system();
        let saver = CheckpointSaverHook::of(self.model_dir, self.config, clock.clone());
        for hook in &mut *self.hooks {
            hook.begin(self.graph)?;
        }
        let summaries = Summaries::new(&self)?;
        let mut observers = Observers { saver, summaries, progress: Progress::new("train", Some(self.last_step)) };
        self.with_session(self.first_step, |hook, session| hook.after_create_session(session), &mut observers)?;
        self.note_checkpoint(self.first_step, &mut observers)?;

        let replicas = self.runner.executor().replicas();
        let mut report = TrainReport {
            first_step: self.first_step,
            global_step: self.first_step,
            shards: replicas,
            placement: self.placement.take(),
            ..TrainReport::default()
        };
        let mut speed = Speed::new(self.log, self.first_step, clock.clone());
        let mut snapshot: Option<(Duration, Snapshot)> = None;
        let mut step = self.first_step;
        let mut ended = false;
        while step < self.last_step && !ended && !StopFlag::process().stop_requested() {
            let wanted = self.steps_of_next_loop(step, &observers, &speed);
            let now = clock.now();
            if snapshot.as_ref().is_none_or(|(taken, _)| now.saturating_sub(*taken) >= SNAPSHOT_AGE) {
                let position = self.runner.input_position();
                let variables = self.runner.executor().store().clone();
                snapshot = Some((now, Snapshot { step, variables, position }));
            }
            let snapshot = snapshot.as_ref().map(|(_, snapshot)| snapshot);
            let (context, last_loss, end) = self.run_loop(step, wanted, &mut observers, &mut report, snapshot)?;
            let done = context.global_step;
            if done == step && end == LoopEnd::EndOfInput {
                break;
            }
            if done == step {
                return Err(RunError::GlobalStep.into());
            }
            step = done;
            report.global_step = step;
            if let Some(steps_per_second) = speed.log(step, last_loss) {
                observers.summaries.speed(step, steps_per_second, self.log.examples)?;
            }
            self.note_checkpoint(step, &mut observers)?;
            ended = context.should_stop() || end == LoopEnd::EndOfInput;
        }
        let interrupted = StopFlag::process().stop_requested() && step < self.last_step && !ended;
        if report.steps() == 0 && self.first_step < self.last_step && !interrupted {
            return Err(RunError::NoInput { mode: "train" }.into());
        }
        self.with_session(step, |hook, session| hook.end(session), &mut observers)?;
        self.note_checkpoint(step, &mut observers)?;
        if let Some(loss) = report.loss() {
            logging::info(format!("Loss for final step: {}.", shown_loss(self.config, &report, loss)));
        }
        if interrupted {
            let saved = Some(self.model_dir.location().to_string());
            return Err(RunError::Interrupted { mode: "train", step, saved }.into());
        }
        Ok(report)
    }

    /// Runs one loop with all that belongs around it.
    fn run_loop(
        &mut self,
        step: u64,
        wanted: u64,
        observers: &mut Observers,
        report: &mut TrainReport,
        snapshot: Option<&Snapshot>,
    ) -> Result<(RunContext, f64, LoopEnd)> {
        let Observers { saver, summaries, progress } = observers;
        let before = RunContext::new(step, wanted);
        let mut asked = Vec::with_capacity(self.hooks.len());
        let mut fetches = vec![self.loss.clone()];
        for hook in &mut *self.hooks {
            let tensors = hook.before_run(&before)?;
            asked.push(fetches.len()..fetches.len() + tensors.len());
            fetches.extend(tensors);
        }
        let summarised = fetches.len();
        fetches.extend(summaries.before_run(step, wanted));
        let count = fetches.len();
        let request =
            Request { feeds: self.feeds.clone(), fetches, targets: vec![self.train_op.clone()], unfused: false };
        let plan = self.runner.executor().prepare(&request)?;
        self.runner.executor().set_step(step);
        let replicas = report.shards;
        let room = usize::try_from(wanted.min(1 << 20)).unwrap_or(0);
        report.losses.reserve(room);
        report.shard_losses.reserve(room * replicas);
        let start = report.losses.len() as u64;
        let mut nan = false;
        let end = self.runner.run_loop(plan, wanted, &mut |executor| {
            let mut total = 0.0;
            for replica in 0..replicas {
                let loss = executor.scalar(plan, 0, replica);
                report.shard_losses.push(loss);
                total += loss;
            }
            let mean = total / replicas as f64;
            report.losses.push(mean);
            progress.update(step + report.losses.len() as u64 - start, Some(("loss", mean)));
            nan = mean.is_nan();
            Ok(if nan || StopFlag::process().stop_requested() { Flow::Stop } else { Flow::Continue })
        })?;
        let done = report.losses.len() as u64 - start;
        report.loops += if self.loops == Loops::Single { done } else { 1 };
        let Some(&loss) = report.losses.last() else { return Ok((before, f64::NAN, end)) };
        let executor = self.runner.executor();
        let values: Vec<Vec<Array>> = (1..count)
            .map(|fetch| (0..replicas).map(|replica| executor.output(plan, fetch, replica)).collect())
            .collect();
        let variables = executor.store();
        let global_step = variables.get("global_step")?.to_scalar::<i64>()?.max(0) as u64;
        let mut context = RunContext::new(global_step, done);
        let run_values = |range: std::ops::Range<usize>| RunValues {
            values: values[range.start - 1..range.end - 1].to_vec(),
            loss,
            variables,
        };
        if done > 0 {
            let mut hooks = self.hooks.iter_mut().zip(asked);
            let called = hooks.try_for_each(|(hook, range)| hook.after_run(&mut context, &run_values(range)));
            if nan && !context.nan_is_expected() {
                return Err(self.nan_loss(plan, step + done, snapshot));
            }
            called?;
            saver.after_run(&mut context, &run_values(1..1))?;
            summaries.after_run(step + done, done, &run_values(summarised..count))?;
        }
        Ok((context, loss, end))
    }

    /// The error for a NaN loss, with its origin if a replay finds it.
    fn nan_loss(&mut self, plan: PlanId, step: u64, snapshot: Option<&Snapshot>) -> Error {
        let found = snapshot.map(|snapshot| {
            let replay = Replay {
                graph: self.graph,
                loss: &self.loss,
                train_op: &self.train_op,
                feeds: &self.feeds,
                input: (self.reopen)(&snapshot.position)?,
                executor: self.runner.executor(),
                plan,
            };
            replay.find_origin(snapshot, step)
        });
        let origin = match found {
            Some(Ok(origin)) => origin,
            Some(Err(error)) => {
                logging::warn(format!("The origin of the NaN could not be found: {error}"));
                None
            }
            None => None,
        };
        RunError::NanLoss { step, origin }.into()
    }

    fn steps_of_next_loop(&self, step: u64, observers: &Observers, speed: &Speed) -> u64 {
        let left = self.last_step - step;
        match self.loops {
            Loops::Of(steps) => steps.min(left),
            Loops::Lasting(time) => ((speed.steps_per_second * time.as_secs_f64()) as u64).max(1).min(left),
            Loops::Single if !self.hooks.is_empty() => 1,
            // Nobody looks between these steps, so they may run in one go.
            Loops::Single => {
                let saver = observers.saver.patience(step);
                let patience = saver.min(observers.summaries.steps_in_one_go(step)).min(speed.patience(step));
                left.min(patience).min(100)
            }
        }
    }

    fn with_session(
        &mut self,
        global_step: u64,
        mut call: impl FnMut(&mut dyn SessionRunHook, &SessionState<'_>) -> Result<()>,
        observers: &mut Observers,
    ) -> Result<()> {
        let session = SessionState { global_step, variables: self.runner.executor().store() };
        for hook in &mut *self.hooks {
            call(hook.as_mut(), &session)?;
        }
        call(&mut observers.saver, &session)
    }

    /// Keeps the input's position beside a checkpoint that was just saved, and notes it among the events.
    fn note_checkpoint(&mut self, step: u64, observers: &mut Observers) -> Result<()> {
        let Some(prefix) = observers.saver.take_saved() else { return Ok(()) };
        self.model_dir.save_input(&prefix, self.seed, &self.runner.input_position())?;
        observers.summaries.checkpoint(&prefix, step)
    }
}

/// The loss that logs and results show: the mean over all shards, or shard 0's, as the original does.
fn shown_loss(config: &RunConfig, report: &TrainReport, mean: f64) -> f32 {
    let shard =
        report.steps().checked_sub(1).and_then(|last| report.shard_losses(last)).and_then(|shards| shards.first());
    match (config.fidelity, shard) {
        (Fidelity::Faithful, Some(&shard)) => shard as f32,
        _ => mean as f32,
    }
}

/// Log lines on loss and speed.
struct Speed {
    style: LogStyle,
    clock: Clock,
    first: u64,
    last: Option<(u64, Duration)>,
    /// The speed of the last loop; 0 before it.
    steps_per_second: f64,
    loop_end: (u64, Duration),
}

impl Speed {
    fn new(style: LogStyle, first: u64, clock: Clock) -> Self {
        let now = clock.now();
        Speed { style, clock, first, last: None, steps_per_second: 0.0, loop_end: (first, now) }
    }

    /// After how many steps at most there is a line to log.
    fn patience(&self, step: u64) -> u64 {
        match (self.style.every, self.last) {
            (None, _) => u64::MAX,
            (Some(_), None) => (self.first + 1).saturating_sub(step).max(1),
            (Some(every), Some((last, _))) => last.saturating_add(every).saturating_sub(step).max(1),
        }
    }

    /// Logs what is due after a loop that ended at `step`; the steps per second, if they are.
    fn log(&mut self, step: u64, loss: f64) -> Option<f64> {
        let now = self.clock.now();
        let (last, then) = std::mem::replace(&mut self.loop_end, (step, now));
        self.steps_per_second = (step - last) as f64 / now.saturating_sub(then).as_secs_f64().max(1e-9);
        let every = self.style.every?;
        let loss = loss as f32;
        let rate = match self.last {
            None => {
                if self.style.loss {
                    logging::info(format!("loss = {loss}, step = {step}"));
                }
                None
            }
            Some((last, then)) if step >= last.saturating_add(every) => {
                let seconds = now.saturating_sub(then).as_secs_f64().max(1e-9);
                let rate = (step - last) as f64 / seconds;
                logging::info(format!("global_step/sec: {rate:.6}"));
                if let Some(rows) = self.style.examples {
                    logging::info(format!("examples/sec: {:.4}", rate * rows as f64));
                }
                if self.style.loss {
                    logging::info(format!("loss = {loss}, step = {step} ({seconds:.3} sec)"));
                }
                Some(rate)
            }
            Some(_) => return None,
        };
        self.last = Some((step, now));
        rate
    }
}
