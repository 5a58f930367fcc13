//! `tf.nn`: activations and friends.
