//! The symbolic graph: tensors, ops, shapes and gradients.
//!
//! Knows no files and no training, and computes nothing.
