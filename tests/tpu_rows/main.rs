//! What a TPU refuses, each in a friendly and in a faithful run: exception, whole text, and nothing left behind.

#[path = "../common/mod.rs"]
mod common;
mod batch_sizes;
mod input;
mod model;
mod optimizer;
mod row;
mod settings;
