//! All that a notebook cell or a program needs, by name.

pub use crate::checkpoint::{Checkpoint, latest_checkpoint};
pub use crate::core::{Array, DType, Error, Exception, Result, Shape};
pub use crate::data::{Batch, Column, Dataset, Frame, Remainder};
pub use crate::engine::Precision;
pub use crate::estimator::{
    ConfigProto, Estimator, EstimatorSpec, Evaluation, Fidelity, MaxSteps, ModeKeys, Params, PredictOptions,
    Prediction, Predictions, SaveCheckpoints, SessionRunHook, Shared, Steps, TrainReport, UntilEnd,
};
pub use crate::feature_column::FeatureColumn;
pub use crate::flags::Flags;
pub use crate::graph::{Graph, Initializer, Operation, Tensor, Tensors, Variable, VariableOptions};
pub use crate::lab::{Checks, Lesson};
pub use crate::metrics::{Metric, Metrics};
pub use crate::notebook::Show as _;
pub use crate::plot::{ConfusionMatrix, LineChart, ScatterMatrix, ShardPicture};
pub use crate::storage::Location;
pub use crate::tpu::{
    CrossShardOptimizer, InputPipelineConfig, IterationsPerLoop, TpuClusterResolver, TpuConfig, TpuEstimator,
    TpuEstimatorSpec,
};
pub use crate::train::Optimizer;
