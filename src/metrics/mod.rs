//! `tf.metrics`: streaming metrics.
