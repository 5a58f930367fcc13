//! Checkpoints in the bundle format of TensorFlow.
