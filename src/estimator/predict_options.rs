//! What a prediction gives, and in which portions.

use super::RunError;
use crate::core::Result;
use crate::graph::{Tensor, Tensors};

/// What `predict` gives, and in which portions. Default: all predictions, one example at a time.
///
/// # Examples
/// ```
/// use tpulab::estimator::PredictOptions;
/// let classes_by_batch = PredictOptions::new().predict_keys(["class_ids"]).yield_single_examples(false);
/// ```
#[derive(Clone, Debug)]
pub struct PredictOptions {
    keys: Vec<String>,
    pub(crate) single_examples: bool,
}

impl Default for PredictOptions {
    fn default() -> Self {
        PredictOptions { keys: Vec::new(), single_examples: true }
    }
}

impl PredictOptions {
    /// All predictions, one example at a time.
    pub fn new() -> Self {
        PredictOptions::default()
    }

    /// The predictions that are wanted; only they are computed. None means all. As in TensorFlow, names that the model
    /// does not predict are passed over, unless it predicts none of them.
    pub fn predict_keys<K: Into<String>>(mut self, keys: impl IntoIterator<Item = K>) -> Self {
        self.keys = keys.into_iter().map(Into::into).collect();
        self
    }

    /// Whether each example comes alone, true unless set; else a batch comes whole, `[rows, …]` each.
    pub fn yield_single_examples(mut self, yield_single_examples: bool) -> Self {
        self.single_examples = yield_single_examples;
        self
    }

    /// The names and tensors of the predictions that are wanted.
    pub(crate) fn choose(&self, predictions: &Tensors) -> Result<(Vec<String>, Vec<Tensor>)> {
        let is_wanted = |name: &String| self.keys.is_empty() || self.keys.contains(name);
        let wanted: Vec<_> = predictions.entries().iter().filter(|(name, _)| is_wanted(name)).cloned().collect();
        if wanted.is_empty() && !self.keys.is_empty() {
            let known = predictions.names().into_iter().map(str::to_string).collect();
            return Err(RunError::PredictKeys { keys: self.keys.clone(), known }.into());
        }
        Ok(wanted.into_iter().unzip())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Graph;

    fn chosen(options: &PredictOptions) -> Result<Vec<String>> {
        let graph = Graph::new();
        let predictions = Tensors::from([("classes", graph.constant(1.0f32)), ("logits", graph.constant(2.0f32))]);
        options.choose(&predictions).map(|(names, _)| names)
    }

    #[test]
    fn keys_that_are_not_predicted_are_passed_over_unless_none_is() {
        assert_eq!(chosen(&PredictOptions::new()).unwrap(), ["classes", "logits"]);
        assert_eq!(chosen(&PredictOptions::new().predict_keys(["logits", "others"])).unwrap(), ["logits"]);
        let error = chosen(&PredictOptions::new().predict_keys(["logit", "others"])).unwrap_err();
        let expected = "RUN012: none of the keys `logit`, `others` is predicted; use one of `classes`, `logits`";
        assert_eq!((error.to_string().as_str(), error.code()), (expected, "RUN012"));
    }
}
