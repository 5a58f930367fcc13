//! Hyperparameters under names.

use super::EstimatorError;
use super::param::{IntoParam, Param, Shared, read};
use crate::core::Result;
use std::any::{Any, type_name};
use std::fmt;

const BATCH_SIZE: &str = "batch_size";
const CONTEXT: &str = "context";
const USE_TPU: &str = "use_tpu";

/// Hyperparameters under names, in order: what Python code passes as the dict `params`.
///
/// A value is JSON (a number, a text, a list, …) or any shared Rust value, such as the feature columns. The framework
/// adds keys of its own to the copy that `input_fn` and `model_fn` see: [`batch_size`](Params::batch_size),
/// [`use_tpu`](Params::use_tpu) and `context`.
///
/// # Examples
/// ```
/// use tpulab::estimator::Params;
/// use tpulab::prelude::*;
/// let params = Params::new().set("hidden_units", [10, 10]).set("n_classes", 3);
/// let units: Vec<usize> = params.get("hidden_units")?;
/// assert_eq!(units, [10, 10]);
/// assert_eq!(params.get_or("learning_rate", 0.1)?, 0.1);
/// assert_eq!(
///     params.get::<usize>("n_class").unwrap_err().to_string(),
///     "EST001: no parameter `n_class`; there are `hidden_units`, `n_classes`; did you mean `n_classes`?",
/// );
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Params {
    entries: Vec<(String, Param)>,
}

impl Params {
    /// No parameters yet.
    pub fn new() -> Self {
        Params::default()
    }

    /// Sets `name` to a number, truth value, text, list, JSON value or [`Shared`] value, replacing an earlier one.
    pub fn set(mut self, name: impl Into<String>, value: impl IntoParam) -> Self {
        let (name, value) = (name.into(), value.into_param());
        match self.entries.iter_mut().find(|(known, _)| *known == name) {
            Some(entry) => entry.1 = value,
            None => self.entries.push((name, value)),
        }
        self
    }

    /// Sets `name` to a Rust value that copies of the parameters share.
    pub fn set_shared<T: Any + Send + Sync>(self, name: impl Into<String>, value: T) -> Self {
        self.set(name, Shared::new(value))
    }

    /// The value of `name`, as `T`.
    ///
    /// JSON is read as `bool`, `String`, an integer (`usize`, `u64`, `u32`, `i64`, `i32`), `f64`, `f32`, a `Vec` of
    /// these, or `serde_json::Value`; an integer can be read as a float, not the reverse. A shared value is read as
    /// its own type, and cloned.
    ///
    /// # Errors
    /// `EST001` if there is no such name, `EST002` if its value cannot be read as `T`.
    pub fn get<T: Clone + 'static>(&self, name: &str) -> Result<T> {
        match self.find(name) {
            Some(value) => read(value).ok_or_else(|| {
                let found = format!("{value:?}");
                EstimatorError::ParamType { name: name.to_string(), found, expected: type_name::<T>() }.into()
            }),
            None => {
                let known = self.names().into_iter().map(str::to_string).collect();
                Err(EstimatorError::UnknownParam { name: name.to_string(), known }.into())
            }
        }
    }

    /// The value of `name`, or `default` if it is not set.
    ///
    /// # Errors
    /// `EST002` if the value cannot be read as `T`.
    pub fn get_or<T: Clone + 'static>(&self, name: &str, default: T) -> Result<T> {
        if self.contains(name) { self.get(name) } else { Ok(default) }
    }

    /// Whether `name` is set.
    pub fn contains(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// The names, in order.
    pub fn names(&self) -> Vec<&str> {
        self.entries.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// The entries, in order.
    pub fn entries(&self) -> &[(String, Param)] {
        &self.entries
    }

    /// How many rows the `input_fn` or `model_fn` that was given these parameters works on.
    ///
    /// A `TpuEstimator` always sets it: the size of one shard for its `model_fn`, that of what one call delivers for
    /// its `input_fn`. It is 0 in parameters that no `TpuEstimator` has handed out, and a dataset refuses batches
    /// of 0 rows. TensorFlow: `params["batch_size"]`.
    pub fn batch_size(&self) -> usize {
        self.get(BATCH_SIZE).unwrap_or(0)
    }

    /// Whether the model is built for a TPU; false unless set. TensorFlow: `params["use_tpu"]`.
    pub fn use_tpu(&self) -> bool {
        self.get(USE_TPU).unwrap_or(false)
    }

    /// The first name that only the framework may set, if it is set: `batch_size` or `context`.
    ///
    /// `use_tpu` is not among them: one may set it, and the framework overwrites it.
    pub(crate) fn reserved_name(&self) -> Option<&'static str> {
        [BATCH_SIZE, CONTEXT].into_iter().find(|name| self.contains(name))
    }

    /// A copy with the framework's batch size.
    pub(crate) fn with_batch_size(&self, rows: usize) -> Self {
        self.clone().set(BATCH_SIZE, rows)
    }

    /// A copy with the framework's word on where the model runs.
    pub(crate) fn with_use_tpu(&self, use_tpu: bool) -> Self {
        self.clone().set(USE_TPU, use_tpu)
    }

    /// A copy with what the framework tells about the devices.
    pub(crate) fn with_context<T: Any + Send + Sync>(&self, context: T) -> Self {
        self.clone().set_shared(CONTEXT, context)
    }

    fn find(&self, name: &str) -> Option<&Param> {
        self.entries.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }
}

impl fmt::Debug for Params {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.entries.iter().map(|(name, value)| (name, value))).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[derive(Clone, Debug, PartialEq)]
    struct Column(&'static str);

    #[test]
    fn no_parameters_know_no_name() {
        let error = Params::new().get::<f64>("learning_rate").unwrap_err();
        assert_eq!(error.to_string(), "EST001: no parameter `learning_rate`; there are none");
        assert_eq!(error.exception().to_string(), "KeyError");
        assert_eq!((Params::new().batch_size(), Params::new().use_tpu()), (0, false));
    }

    #[test]
    fn a_later_value_replaces_an_earlier_one_in_its_place() {
        let params = Params::new().set("a", 1).set("b", 2).set("a", "x");
        assert_eq!(format!("{params:?}"), r#"{"a": "x", "b": 2}"#);
    }

    #[test]
    fn what_is_set_can_be_got() -> Result<()> {
        let params = Params::new()
            .set("n_classes", 3)
            .set("learning_rate", 0.1f32)
            .set("name", "iris")
            .set("hidden_units", vec![10usize, 20])
            .set("rates", [0.5, 0.25])
            .set("species", ["Setosa", "Virginica"])
            .set("nested", json!({"depth": 2}));
        assert_eq!(params.get::<usize>("n_classes")?, 3);
        assert_eq!(params.get::<i64>("n_classes")?, 3);
        assert_eq!(params.get::<f64>("n_classes")?, 3.0);
        assert_eq!(params.get::<f32>("learning_rate")?, 0.1f32);
        assert_eq!(params.get::<String>("name")?, "iris");
        assert_eq!(params.get::<Vec<usize>>("hidden_units")?, [10, 20]);
        assert_eq!(params.get::<Vec<f64>>("rates")?, [0.5, 0.25]);
        assert_eq!(params.get::<Vec<String>>("species")?, ["Setosa", "Virginica"]);
        assert_eq!(params.get::<serde_json::Value>("nested")?["depth"], 2);
        Ok(())
    }

    #[test]
    fn a_value_of_another_type_is_refused_with_both_types() {
        let params = Params::new().set("rate", 0.5).set("steps", -1).set_shared("columns", vec![Column("x")]);
        let text = |error: crate::core::Error| (error.to_string(), error.exception().to_string());
        let expected = "EST002: parameter `rate` is 0.5, which cannot be read as usize";
        assert_eq!(text(params.get::<usize>("rate").unwrap_err()), (expected.to_string(), "TypeError".to_string()));
        assert!(params.get::<usize>("steps").is_err());
        assert!(params.get::<Vec<f64>>("rate").is_err());
        assert!(params.get_or("rate", "x".to_string()).is_err());
        let error = params.get::<usize>("columns").unwrap_err();
        assert!(error.message().starts_with("parameter `columns` is a shared "), "{error}");
    }

    #[test]
    fn shared_values_keep_their_type() -> Result<()> {
        let columns = vec![Column("SepalLength"), Column("SepalWidth")];
        let params = Params::new().set_shared("feature_columns", columns.clone());
        assert_eq!(params.clone().get::<Vec<Column>>("feature_columns")?, columns);
        Ok(())
    }

    #[test]
    fn an_infinite_number_is_kept() -> Result<()> {
        // JSON has no infinity and would make it null.
        assert_eq!(Params::new().set("clip_norm", f64::INFINITY).get::<f64>("clip_norm")?, f64::INFINITY);
        Ok(())
    }

    #[test]
    fn only_the_framework_sets_batch_size_and_context() {
        assert_eq!(Params::new().set("use_tpu", true).reserved_name(), None);
        assert_eq!(Params::new().set("batch_size", 128).reserved_name(), Some("batch_size"));
        assert_eq!(Params::new().set("context", "mine").reserved_name(), Some("context"));
    }

    #[test]
    fn the_framework_writes_into_copies() -> Result<()> {
        let own = Params::new().set("use_tpu", true);
        let given = own.with_batch_size(16).with_use_tpu(false).with_context(Column("tpu"));
        assert_eq!((given.batch_size(), given.use_tpu()), (16, false));
        assert_eq!(given.get::<Column>("context")?, Column("tpu"));
        assert_eq!(own.names(), ["use_tpu"]);
        assert!(own.use_tpu());
        Ok(())
    }
}
