//! `tf.train`: optimizers.
