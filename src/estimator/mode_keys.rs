//! What a model is built for.

use std::fmt;

/// What a `model_fn` is called for. TensorFlow: `tf.estimator.ModeKeys`.
///
/// # Examples
/// ```
/// use tpulab::estimator::ModeKeys;
/// assert_eq!(ModeKeys::Predict.to_string(), "infer");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ModeKeys {
    /// Loss and an operation that lowers it.
    Train,
    /// Loss and metrics.
    Eval,
    /// Predictions; there are no labels.
    Predict,
}

impl ModeKeys {
    /// The verb for logs and errors: `train`, `evaluate`, `predict`.
    pub(crate) fn verb(self) -> &'static str {
        match self {
            ModeKeys::Train => "train",
            ModeKeys::Eval => "evaluate",
            ModeKeys::Predict => "predict",
        }
    }
}

impl fmt::Display for ModeKeys {
    /// TensorFlow's own values: `train`, `eval`, `infer`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ModeKeys::Train => "train",
            ModeKeys::Eval => "eval",
            ModeKeys::Predict => "infer",
        })
    }
}
