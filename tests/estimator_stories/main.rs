//! What happens around a training: steps, checkpoints, resuming, hooks, and all that can end it.

#[path = "../common/mod.rs"]
mod common;
mod checkpoints;
mod endings;
mod estimators;
mod evaluation;
mod hooks;
mod notes;
