//! Compiles a graph into a plan and runs it.
//!
//! [`Plan`] is the compiled graph, [`VariableStore`] the values that live on, [`Executor`] runs plans over them for one
//! replica or many. Knows nothing of steps' purpose: training, evaluation and prediction look alike from here.

mod all_reduce;
mod bank;
mod compile;
mod emit;
mod error;
mod execute;
mod executor;
mod fusion;
mod kernels;
mod lane;
mod memory;
mod neighbours;
mod pace;
mod plan;
mod precision;
mod runner;
mod schedule;
mod team;
mod together;
mod variable_store;

pub use compile::Request;
pub use error::EngineError;
pub use executor::{Executor, ExecutorOptions, Feed, PlanId, Split};
pub use plan::Plan;
pub use precision::Precision;
pub(crate) use runner::thread_panicked;
pub use runner::{BatchSource, Flow, LocalRunner, LoopEnd, Runner};
pub use variable_store::VariableStore;
