//! `tf.losses`.
