//! The column of numbers.

use crate::core::{DType, Result};
use crate::graph::Tensor;
use std::fmt;
use std::sync::Arc;

/// How a model sees one feature. TensorFlow: a numeric `FeatureColumn`.
///
/// Clones share the normalizer.
#[derive(Clone)]
pub struct FeatureColumn {
    pub(super) key: String,
    pub(super) shape: Vec<usize>,
    pub(super) dtype: DType,
    pub(super) normalizer: Option<Normalizer>,
}

/// A function from raw values to those that the model sees.
pub(super) type Normalizer = Arc<dyn Fn(&Tensor) -> Result<Tensor> + Send + Sync>;

/// A column of numbers from the feature `key`, one number for each example. TensorFlow:
/// `tf.feature_column.numeric_column`.
///
/// # Examples
/// ```
/// use tpulab as tf;
/// use tpulab::feature_column::FeatureColumn;
/// let columns: Vec<FeatureColumn> =
///     ["SepalLength", "SepalWidth"].into_iter().map(tf::feature_column::numeric_column).collect();
/// assert_eq!(columns[1].key(), "SepalWidth");
///
/// let pixels = tf::feature_column::numeric_column("pixels").shape(&[28, 28]).normalizer(|raw| raw / 255.0);
/// assert_eq!(format!("{pixels:?}"), r#"FeatureColumn("pixels", shape=[28, 28], dtype=float32, normalized)"#);
/// ```
pub fn numeric_column(key: impl Into<String>) -> FeatureColumn {
    FeatureColumn { key: key.into(), shape: vec![1], dtype: DType::Float32, normalizer: None }
}

impl FeatureColumn {
    /// The shape of one example, without the batch. Default: `[1]`, one number.
    pub fn shape(mut self, shape: &[usize]) -> Self {
        self.shape = shape.to_vec();
        self
    }

    /// The type that files hold the feature in; a model sees float32 whatever it is. Default: float32.
    pub fn dtype(mut self, dtype: DType) -> Self {
        self.dtype = dtype;
        self
    }

    /// What is done to the raw values, before they become float32. Default: nothing.
    #[doc(alias = "normalizer_fn")]
    pub fn normalizer(mut self, normalizer: impl Fn(&Tensor) -> Result<Tensor> + Send + Sync + 'static) -> Self {
        self.normalizer = Some(Arc::new(normalizer));
        self
    }

    /// The feature that it reads.
    pub fn key(&self) -> &str {
        &self.key
    }
}

impl fmt::Debug for FeatureColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let normalized = if self.normalizer.is_some() { ", normalized" } else { "" };
        write!(f, "FeatureColumn({:?}, shape={:?}, dtype={}{normalized})", self.key, self.shape, self.dtype)
    }
}
