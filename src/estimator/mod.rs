//! `tf.estimator`: trains, evaluates and predicts with a model function. Does not know that TPUs exist.

mod error;
#[allow(clippy::module_inception, reason = "the folder is named after the type that it is about")]
mod estimator;
mod evaluation;
mod fidelity;
mod hook;
mod hooks;
mod inputs;
mod json;
mod mode_keys;
mod model_dir;
mod nan_trace;
mod param;
mod params;
mod predict_options;
mod placement;
mod predictions;
mod report;
mod run_config;
mod run_error;
mod saver_hook;
mod session_config;
mod spec;
mod steps;
mod summaries;
mod training;

pub use error::EstimatorError;
pub use estimator::{Estimator, EstimatorBuilder};
pub use fidelity::Fidelity;
pub use hook::{RunContext, RunValues, SessionRunHook, SessionState};
pub use hooks::{LoggingTensorHook, NanTensorHook, OnNan, StopAtStepHook};
pub use mode_keys::ModeKeys;
pub use param::{IntoParam, Param, Shared};
pub use params::Params;
pub use placement::{PlacedOp, Placement};
pub use predict_options::PredictOptions;
pub use predictions::Predictions;
pub use report::{Evaluation, Prediction, TrainReport};
pub use run_config::{RunConfig, SaveCheckpoints};
pub use run_error::{NanOrigin, RunError};
pub use saver_hook::CheckpointSaverHook;
pub use session_config::ConfigProto;
pub use spec::EstimatorSpec;
pub use steps::{EvalSteps, MaxSteps, Steps, TrainSteps, UntilEnd};
pub(crate) use {
    estimator::{open_input, skip_training, training_parts, with_model_dir},
    evaluation::{save_result, tell_progress},
    inputs::InputTensors,
    model_dir::{ModelDir, restore},
    spec::scalar_loss,
    training::{LogStyle, Loops, Training},
};
