//! `tf.estimator`. Does not know that TPUs exist.
