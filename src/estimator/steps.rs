//! How long to train and to evaluate.

use super::RunError;
use crate::core::Result;

/// So many steps: more of them for training, from where the model stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Steps(pub u64);

/// Train until the global step is this one, counted from the very first training.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MaxSteps(pub u64);

/// No number of steps: to the end of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UntilEnd;

/// How long to train: [`Steps`], [`MaxSteps`] or [`UntilEnd`]; at most one of them, so that steps beside max_steps do
/// not compile:
///
/// ```compile_fail
/// # use tpulab::prelude::*;
/// # fn train(classifier: &Estimator, input: fn() -> Result<Dataset>) -> Result<()> {
/// classifier.train(input, Steps(1000), MaxSteps(1000))?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TrainSteps {
    /// So many more steps.
    More(u64),
    /// Up to this global step.
    Max(u64),
    /// To the end of the input.
    UntilEnd,
}

/// How long to evaluate: [`Steps`] or [`UntilEnd`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EvalSteps {
    /// So many batches.
    Steps(u64),
    /// To the end of the input.
    UntilEnd,
}

impl From<Steps> for TrainSteps {
    fn from(Steps(steps): Steps) -> Self {
        TrainSteps::More(steps)
    }
}

impl From<MaxSteps> for TrainSteps {
    fn from(MaxSteps(steps): MaxSteps) -> Self {
        TrainSteps::Max(steps)
    }
}

impl From<UntilEnd> for TrainSteps {
    fn from(_: UntilEnd) -> Self {
        TrainSteps::UntilEnd
    }
}

impl From<Steps> for EvalSteps {
    fn from(Steps(steps): Steps) -> Self {
        EvalSteps::Steps(steps)
    }
}

impl From<UntilEnd> for EvalSteps {
    fn from(_: UntilEnd) -> Self {
        EvalSteps::UntilEnd
    }
}

impl TrainSteps {
    pub(crate) fn check(self) -> Result<()> {
        match self {
            TrainSteps::More(0) => Err(RunError::Steps { name: "steps" }.into()),
            TrainSteps::Max(0) => Err(RunError::Steps { name: "max_steps" }.into()),
            _ => Ok(()),
        }
    }

    /// The global step to stop at, from global step `start` on.
    pub(crate) fn last_step(self, start: u64) -> u64 {
        match self {
            TrainSteps::More(steps) => start.saturating_add(steps),
            TrainSteps::Max(last) => last,
            TrainSteps::UntilEnd => u64::MAX,
        }
    }
}

impl EvalSteps {
    pub(crate) fn check(self) -> Result<()> {
        match self {
            EvalSteps::Steps(0) => Err(RunError::Steps { name: "steps" }.into()),
            _ => Ok(()),
        }
    }

    pub(crate) fn limit(self) -> u64 {
        match self {
            EvalSteps::Steps(steps) => steps,
            EvalSteps::UntilEnd => u64::MAX,
        }
    }
}
