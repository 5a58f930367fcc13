//! Trains on the cores, in loops.

use super::sources::Sources;
use super::tpu_estimator::TpuEstimator;
use super::tpu_runner::TpuRunner;
use super::{IterationsPerLoop, ProgramError, TpuError};
use crate::core::Result;
use crate::data::{Dataset, Position};
use crate::engine::Executor;
use crate::estimator::{
    Fidelity, LogStyle, Loops, ModeKeys, Params, SessionRunHook, TrainReport, TrainSteps, Training, open_input,
    restore, skip_training, training_parts,
};
use crate::graph::ops::Op;
use crate::notebook::logging;

impl TpuEstimator {
    pub(super) fn train_on_tpu(
        &self,
        input_fn: &impl Fn(&Params) -> Result<Dataset>,
        steps: TrainSteps,
        hooks: &mut [Box<dyn SessionRunHook>],
    ) -> Result<TrainReport> {
        self.check_model_dir()?;
        let model_dir = &self.cpu.model_dir;
        let latest = model_dir.latest()?;
        let first_step = latest.as_ref().map_or(0, |(_, step)| *step);
        let last_step = steps.last_step(first_step);
        if last_step <= first_step {
            return Ok(skip_training(first_step));
        }
        let call = self.call(ModeKeys::Train, self.train_batch_size, input_fn)?;
        let spec = call.spec.into_estimator_spec()?.checked(ModeKeys::Train, &call.graph)?;
        let replicas = call.plan.num_replicas;
        let sums = |op: &Op| matches!(op, Op::CrossReplicaSum { .. });
        if replicas > 1 && !call.graph.nodes().iter().any(|node| sums(&node.op)) {
            return Err(ProgramError::NoCrossShard { replicas }.into());
        }
        let (loss, train_op) = training_parts(spec);
        let (seed, position) = model_dir.resume(&self.config.base, latest.as_ref().map(|(prefix, _)| prefix));
        let mut executor = Executor::new(&call.graph, self.executor_options(seed, replicas, call.split))?;
        if let Some((prefix, _)) = &latest {
            restore(&mut executor, prefix)?;
        }
        let open = |position: Option<&Position>| -> Result<Sources> {
            // Hosts that read alike would all shuffle alike, so each has a seed of its own.
            let inputs = call.datasets.iter().zip(0..).map(|(dataset, host)| {
                let position = position.map(|position| position.with_seed(seed.wrapping_add(host)));
                open_input(dataset, seed.wrapping_add(host), position.as_ref())
            });
            Ok(Sources::new(inputs.collect::<Result<Vec<_>>>()?, call.pulls))
        };
        let mut runner = TpuRunner::new(executor, open(position.as_ref())?)?;
        let loops = match self.config.tpu_config.iterations_per_loop {
            IterationsPerLoop::Count(steps) => Loops::Of(steps),
            IterationsPerLoop::Time(time) => Loops::Lasting(time),
        };
        let report = Training {
            config: &self.config.base,
            model_dir,
            graph: &call.graph,
            loss,
            train_op,
            feeds: call.inputs.feeds,
            runner: &mut runner,
            hooks,
            seed,
            first_step,
            last_step,
            loops,
            log: LogStyle {
                every: self.config.base.log_step_count_steps,
                loss: true,
                examples: Some(call.plan.global_batch_size),
            },
            placement: call.placement,
            reopen: &|position| Ok(Box::new(open(Some(position))?)),
        }
        .run();
        logging::info("Stop infeed thread controller");
        logging::info("Shutdown TPU system.");
        report
    }

    fn check_model_dir(&self) -> Result<()> {
        let location = self.cpu.model_dir();
        if self.config.base.fidelity == Fidelity::Faithful && !location.is_bucket() {
            return Err(TpuError::LocalModelDir { model_dir: location.to_string() }.into());
        }
        Ok(())
    }
}
