//! Figures from plain numbers: lines over steps, a confusion matrix, a scatter matrix, a batch split over cores.
//!
//! Knows names, numbers and frames; knows nothing of models, training or TPUs. Figures are SVG documents that need no
//! fonts of the machine they are made on; a notebook shows them as pictures, a terminal as text.

mod axis;
mod confusion_drawing;
mod confusion_matrix;
mod error;
mod line_chart;
mod line_drawing;
mod palette;
mod scatter_drawing;
mod scatter_matrix;
mod series;
mod shard_drawing;
mod shard_picture;
mod sheet;

pub use axis::Scale;
pub use confusion_matrix::ConfusionMatrix;
pub use error::PlotError;
pub use line_chart::LineChart;
pub use scatter_matrix::ScatterMatrix;
pub use shard_picture::ShardPicture;
