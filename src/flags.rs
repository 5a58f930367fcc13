//! `tf.flags`.
