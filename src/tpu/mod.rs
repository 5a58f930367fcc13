//! `tf.contrib.tpu`: the simulated TPU.
