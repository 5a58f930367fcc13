//! How a TPU runs a program: who sees which batch, in which loops, and to which numbers.

#[path = "../common/mod.rs"]
mod common;
mod batches;
mod estimators;
mod evaluation;
mod loops;
mod numbers;
mod prediction;
mod program;
