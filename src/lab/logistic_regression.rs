//! A baseline: the simplest model that can work.

use super::LabError;
use crate::core::Result;
use crate::data::{Column, Frame};
use linfa::prelude::*;
use linfa_logistic::{MultiFittedLogisticRegression, MultiLogisticRegression};
use std::fmt;

/// How many steps L-BFGS may take.
const MOST_ITERATIONS: u64 = 500;

/// A multinomial logistic regression with linfa's default penalty, to see what a network gains over it. Deterministic.
///
/// # Examples
/// ```
/// use tpulab::lab::LogisticRegression;
/// let ((train_x, train_y), (test_x, test_y)) = tpulab::iris::load_data("Species")?;
/// let baseline = LogisticRegression::fit(&train_x, &train_y)?;
/// assert!(baseline.accuracy(&test_x, &test_y)? > 0.93);
/// # Ok::<(), tpulab::core::Error>(())
/// ```
#[derive(Clone, PartialEq)]
pub struct LogisticRegression {
    names: Vec<String>,
    fitted: MultiFittedLogisticRegression<f64, usize>,
}

impl LogisticRegression {
    /// Fits it to features, which become float64, and classes numbered from 0.
    ///
    /// # Errors
    /// `LAB002` for fewer than two classes, for numbers that are not finite, and if no fit is found; `DATA003` and
    /// `DATA023` for labels that do not suit.
    pub fn fit(features: &Frame, labels: &Column) -> Result<Self> {
        let dataset = features.to_linfa(labels)?;
        let refuse = |problem: String| LabError::Fit { problem };
        if !dataset.records.iter().all(|value| value.is_finite()) {
            return Err(refuse("a feature holds NaN or infinity".to_string()).into());
        }
        let mut classes = dataset.targets.to_vec();
        classes.sort_unstable();
        classes.dedup();
        if classes.len() < 2 || dataset.records.ncols() == 0 {
            let (columns, classes) = (dataset.records.ncols(), classes.len());
            return Err(refuse(format!("{columns} features and {classes} classes are too few")).into());
        }
        let names = dataset.feature_names().to_vec();
        let model = MultiLogisticRegression::default().max_iterations(MOST_ITERATIONS);
        let fitted = model.fit(&dataset).map_err(|error| refuse(error.to_string()))?;
        Ok(LogisticRegression { names, fitted })
    }

    /// The most likely class of each row.
    ///
    /// # Errors
    /// `LAB003` if the features are not those that it was fitted to.
    pub fn predict(&self, features: &Frame) -> Result<Vec<i64>> {
        let (records, names) = features.to_records()?;
        if names != self.names {
            return Err(LabError::OtherFeatures { expected: self.names.clone(), found: names }.into());
        }
        Ok(self.fitted.predict(&records).iter().map(|&class| class as i64).collect())
    }

    /// The share of rows whose class it finds; NaN for none.
    ///
    /// # Errors
    /// As for [`predict`](LogisticRegression::predict), and `DATA003` and `DATA023` for labels that do not suit.
    pub fn accuracy(&self, features: &Frame, labels: &Column) -> Result<f64> {
        let dataset = features.to_linfa(labels)?;
        let predicted = self.predict(features)?;
        let right = predicted.iter().zip(&dataset.targets).filter(|(found, class)| **found == **class as i64).count();
        Ok(right as f64 / predicted.len() as f64)
    }
}

impl fmt::Debug for LogisticRegression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LogisticRegression(features={:?}, classes={:?})", self.names, self.fitted.classes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(values: Vec<f64>) -> Frame {
        Frame::new([("x", Column::from(values))]).unwrap()
    }

    #[test]
    fn two_heaps_are_told_apart() {
        let features = frame(vec![-2.0, -1.0, 1.0, 2.0]);
        let baseline = LogisticRegression::fit(&features, &Column::from(vec![0i32, 0, 1, 1])).unwrap();
        assert_eq!(baseline.predict(&frame(vec![-3.0, 3.0])).unwrap(), [0, 1]);
    }

    #[test]
    fn one_class_and_nan_are_refused() {
        let refused = |values, labels: Vec<i32>| {
            LogisticRegression::fit(&frame(values), &Column::from(labels)).unwrap_err().to_string()
        };
        assert!(refused(vec![1.0, 2.0], vec![1, 1]).contains("1 features and 1 classes are too few"));
        assert!(refused(vec![1.0, f64::NAN], vec![0, 1]).contains("a feature holds NaN or infinity"));
        assert!(refused(vec![], vec![]).starts_with("LAB002"));
    }

    #[test]
    fn other_features_are_refused() {
        let baseline = LogisticRegression::fit(&frame(vec![-1.0, 1.0]), &Column::from(vec![0i32, 1])).unwrap();
        let other = Frame::new([("y", Column::from(vec![1.0]))]).unwrap();
        assert_eq!(
            baseline.predict(&other).unwrap_err().to_string(),
            "LAB003: the model was fitted to the features [\"x\"], found [\"y\"]; select the same columns in the same order"
        );
    }
}
