//! Hooks: what happens between loops of steps.

use crate::core::{Array, Result};
use crate::engine::VariableStore;
use crate::graph::{Graph, Tensor};

/// Something that happens around the loops of a training, an evaluation or a prediction. TensorFlow:
/// `tf.train.SessionRunHook`.
///
/// A loop is one step in an `Estimator` and up to `iterations_per_loop` steps on a TPU; hooks are called between
/// loops, in the order in which they were given. All methods do nothing unless written.
pub trait SessionRunHook: Send {
    /// Once, when the graph is complete and before anything runs.
    ///
    /// # Errors
    /// Ends the call that the hook belongs to.
    fn begin(&mut self, _graph: &Graph) -> Result<()> {
        Ok(())
    }

    /// Once, when variables are initialized or restored.
    ///
    /// # Errors
    /// Ends the call that the hook belongs to.
    fn after_create_session(&mut self, _session: &SessionState<'_>) -> Result<()> {
        Ok(())
    }

    /// Before each loop: the tensors whose values the hook wants to see after it.
    ///
    /// # Errors
    /// Ends the call that the hook belongs to.
    fn before_run(&mut self, _context: &RunContext) -> Result<Vec<Tensor>> {
        Ok(Vec::new())
    }

    /// After each loop, with the values of its last step.
    ///
    /// # Errors
    /// Ends the call that the hook belongs to.
    fn after_run(&mut self, _context: &mut RunContext, _values: &RunValues<'_>) -> Result<()> {
        Ok(())
    }

    /// Once, at the end, unless an error ended it.
    ///
    /// # Errors
    /// Ends the call that the hook belongs to.
    fn end(&mut self, _session: &SessionState<'_>) -> Result<()> {
        Ok(())
    }
}

/// What a hook sees of variables.
#[derive(Debug)]
pub struct SessionState<'a> {
    /// The global step.
    pub global_step: u64,
    /// The variables' values; replica 0's where replicas differ.
    pub variables: &'a VariableStore,
}

/// What a hook sees of the loop that is about to run, or just ran.
#[derive(Clone, Debug)]
pub struct RunContext {
    /// The global step: before the loop in `before_run`, after it in `after_run`.
    pub global_step: u64,
    /// How many steps the loop has.
    pub steps: u64,
    stop: bool,
    nan_is_expected: bool,
}

impl RunContext {
    pub(crate) fn new(global_step: u64, steps: u64) -> Self {
        RunContext { global_step, steps, stop: false, nan_is_expected: false }
    }

    /// Ends the training after this loop.
    pub fn request_stop(&mut self) {
        self.stop = true;
    }

    /// Whether somebody asked to stop.
    pub fn should_stop(&self) -> bool {
        self.stop
    }

    /// Ends the training after this loop, and not with an error if its loss is NaN.
    pub(crate) fn stop_for_nan(&mut self) {
        self.stop = true;
        self.nan_is_expected = true;
    }

    /// Whether a hook has dealt with a NaN.
    pub(crate) fn nan_is_expected(&self) -> bool {
        self.nan_is_expected
    }
}

/// The values that a hook asked for, in its order, and the variables after the loop.
#[derive(Debug)]
pub struct RunValues<'a> {
    pub(crate) values: Vec<Vec<Array>>,
    /// The loss of the loop's last step: the mean over the batch, in TPU runs over all shards.
    pub loss: f64,
    /// The variables' values; replica 0's where replicas differ.
    pub variables: &'a VariableStore,
}

impl RunValues<'_> {
    /// The value of tensor number `index`, on replica 0.
    pub fn get(&self, index: usize) -> Option<&Array> {
        self.on_replica(index, 0)
    }

    /// The value of tensor number `index` on replica `replica`.
    pub fn on_replica(&self, index: usize, replica: usize) -> Option<&Array> {
        self.values.get(index)?.get(replica)
    }
}
