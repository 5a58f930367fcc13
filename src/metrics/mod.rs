//! Metrics: quality measured over a stream of batches.
//!
//! Knows no loop: each metric is a value to read and an update to run for each batch. What it adds up stays in local
//! variables, which no checkpoint saves and each evaluation starts from 0.

mod auc;
mod mean;
mod metric;
mod options;
mod positives;
mod running_sum;

pub use auc::{Auc, Curve, SummationMethod, auc};
pub use mean::{accuracy, mean, mean_squared_error, root_mean_squared_error};
pub use metric::{Metric, Metrics};
pub use options::MetricOptions;
pub use positives::{precision, recall};
