//! `tf.estimator`: what a model is given and what it returns. Does not know that TPUs exist.

mod error;
mod fidelity;
mod mode_keys;
mod param;
mod params;
mod run_config;
mod session_config;
mod spec;

pub use error::EstimatorError;
pub use fidelity::Fidelity;
pub use mode_keys::ModeKeys;
pub use param::{IntoParam, Param, Shared};
pub use params::Params;
pub use run_config::{RunConfig, SaveCheckpoints};
pub use session_config::ConfigProto;
pub use spec::EstimatorSpec;
pub(crate) use spec::scalar_loss;
