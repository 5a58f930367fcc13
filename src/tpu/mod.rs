//! `tf.contrib.tpu`: the simulated TPU.

mod address;
mod batch_plan;
mod cluster_resolver;
mod cross_shard_optimizer;
mod error;
mod infeed;
mod input_pipeline_config;
mod inputs;
mod iterations_per_loop;
mod run_config;
mod sources;
mod spec;
mod topology;
mod tpu_config;
mod tpu_context;
mod tpu_estimator;
mod tpu_evaluation;
mod tpu_runner;

pub use batch_plan::BatchPlan;
pub use cluster_resolver::TpuClusterResolver;
pub use cross_shard_optimizer::CrossShardOptimizer;
pub use error::TpuError;
pub use input_pipeline_config::InputPipelineConfig;
pub use inputs::INFEED_DTYPES;
pub use iterations_per_loop::IterationsPerLoop;
pub use run_config::RunConfig;
pub use spec::{ModelSpec, TpuEstimatorSpec};
pub use topology::Topology;
pub use tpu_config::TpuConfig;
pub use tpu_context::{InputFnDeployment, TpuContext};
pub use tpu_estimator::{TpuEstimator, TpuEstimatorBuilder};
