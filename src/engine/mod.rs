//! Compiles a graph into a plan and runs it.
