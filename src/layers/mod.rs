//! `tf.layers`.
