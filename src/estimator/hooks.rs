//! The hooks that TensorFlow brings along.

use super::RunError;
use super::hook::{RunContext, RunValues, SessionRunHook, SessionState};
use crate::core::Result;
use crate::graph::{Graph, Tensor};
use crate::notebook::logging;

/// Stops training after so many steps, or at a global step. TensorFlow: `tf.train.StopAtStepHook`.
///
/// On a TPU it is asked between loops, so training can go further than the step.
#[derive(Clone, Debug)]
pub struct StopAtStepHook {
    steps: Option<u64>,
    last_step: Option<u64>,
}

impl StopAtStepHook {
    /// Stops after `steps` more steps.
    pub fn after(steps: u64) -> Self {
        StopAtStepHook { steps: Some(steps), last_step: None }
    }

    /// Stops once the global step is `last_step`.
    pub fn at(last_step: u64) -> Self {
        StopAtStepHook { steps: None, last_step: Some(last_step) }
    }
}

impl SessionRunHook for StopAtStepHook {
    fn after_create_session(&mut self, session: &SessionState<'_>) -> Result<()> {
        if let Some(steps) = self.steps {
            self.last_step = Some(session.global_step.saturating_add(steps));
        }
        Ok(())
    }

    fn after_run(&mut self, context: &mut RunContext, _values: &RunValues<'_>) -> Result<()> {
        if self.last_step.is_some_and(|last| context.global_step >= last) {
            context.request_stop();
        }
        Ok(())
    }
}

/// Logs the values of tensors every so many loops. TensorFlow: `tf.train.LoggingTensorHook`.
#[derive(Clone, Debug)]
pub struct LoggingTensorHook {
    names: Vec<String>,
    tensors: Vec<Tensor>,
    every_n_iter: u64,
    loops: u64,
}

impl LoggingTensorHook {
    /// Logs the tensors with these names, such as `dense/BiasAdd:0`, in the first loop and every `every_n_iter` loops.
    ///
    /// # Errors
    /// `RUN008` if `every_n_iter` is 0.
    pub fn new<'a>(names: impl IntoIterator<Item = &'a str>, every_n_iter: u64) -> Result<Self> {
        if every_n_iter == 0 {
            return Err(RunError::Hook { hook: "LoggingTensorHook", problem: "every_n_iter must be 1 or more" }.into());
        }
        let names = names.into_iter().map(str::to_string).collect();
        Ok(LoggingTensorHook { names, tensors: Vec::new(), every_n_iter, loops: 0 })
    }
}

impl SessionRunHook for LoggingTensorHook {
    fn begin(&mut self, graph: &Graph) -> Result<()> {
        self.tensors = self.names.iter().map(|name| graph.tensor(name)).collect::<Result<_>>()?;
        Ok(())
    }

    fn before_run(&mut self, _context: &RunContext) -> Result<Vec<Tensor>> {
        Ok(if self.loops % self.every_n_iter == 0 { self.tensors.clone() } else { Vec::new() })
    }

    fn after_run(&mut self, _context: &mut RunContext, values: &RunValues<'_>) -> Result<()> {
        if self.loops % self.every_n_iter == 0 {
            let texts = self
                .names
                .iter()
                .enumerate()
                .filter_map(|(index, name)| values.get(index).map(|value| format!("{name} = {value}")));
            logging::info(texts.collect::<Vec<_>>().join(", "));
        }
        self.loops += 1;
        Ok(())
    }
}

/// What happens when a watched loss is NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnNan {
    /// The training fails.
    Fail,
    /// The training stops, with a warning.
    Stop,
}

/// Watches the loss for NaN. TensorFlow: `tf.train.NanTensorHook`.
///
/// Every training watches its loss already and fails; this hook is for stopping instead.
#[derive(Clone, Debug)]
pub struct NanTensorHook {
    tensor: String,
    watched: Option<Tensor>,
    on_nan: OnNan,
}

impl NanTensorHook {
    /// Watches the tensor called `tensor`.
    pub fn new(tensor: impl Into<String>, on_nan: OnNan) -> Self {
        NanTensorHook { tensor: tensor.into(), watched: None, on_nan }
    }
}

impl SessionRunHook for NanTensorHook {
    fn begin(&mut self, graph: &Graph) -> Result<()> {
        self.watched = Some(graph.tensor(&self.tensor)?);
        Ok(())
    }

    fn before_run(&mut self, _context: &RunContext) -> Result<Vec<Tensor>> {
        Ok(self.watched.iter().cloned().collect())
    }

    fn after_run(&mut self, context: &mut RunContext, values: &RunValues<'_>) -> Result<()> {
        let replicas = values.values.first().map_or(&[][..], Vec::as_slice);
        for value in replicas {
            if value.to_f64_vec()?.iter().any(|value| value.is_nan()) {
                if self.on_nan == OnNan::Fail {
                    return Err(RunError::NanLoss { step: context.global_step, origin: None }.into());
                }
                logging::warn(format!("`{}` is NaN at step {}: training stops", self.tensor, context.global_step));
                context.stop_for_nan();
            }
        }
        Ok(())
    }
}
