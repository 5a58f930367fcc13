//! How a value shows itself, logs, progress and the stop flag, in plain text that any front end can read.
//!
//! Knows the text protocol of evcxr, but depends on neither evcxr nor a kernel.
