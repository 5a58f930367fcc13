//! `tf.feature_column`.
