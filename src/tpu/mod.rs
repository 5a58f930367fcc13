//! `tf.contrib.tpu`: the simulated TPU.

mod address;
mod batch_plan;
mod cluster_resolver;
mod error;
mod input_pipeline_config;
mod iterations_per_loop;
mod run_config;
mod topology;
mod tpu_config;
mod tpu_context;

pub use batch_plan::BatchPlan;
pub use cluster_resolver::TpuClusterResolver;
pub use error::TpuError;
pub use input_pipeline_config::InputPipelineConfig;
pub use iterations_per_loop::IterationsPerLoop;
pub use run_config::RunConfig;
pub use topology::Topology;
pub use tpu_config::TpuConfig;
pub use tpu_context::{InputFnDeployment, TpuContext};
