//! Curves for TensorBoard, in TensorFlow's event files.
//!
//! Knows the files and what a model function asks to be written; nothing of trainings and when they write.

mod error;
mod event;
mod event_log;
mod event_writer;
mod scalar;

pub use error::SummaryError;
pub use event::{Event, SessionStatus, What};
pub use event_log::EventLog;
pub use event_writer::EventWriter;
pub use scalar::{scalar, scalars};
