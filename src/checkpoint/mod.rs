//! Checkpoints in the bundle format of TensorFlow.
//!
//! Knows names, values and files: `PREFIX.index` (a sorted table of names), `PREFIX.data-00000-of-00001` (the
//! elements) and `checkpoint` (which prefix is the latest). Does not know what the values mean to a model.

mod block;
mod bundle;
mod entry;
mod error;
mod latest;
mod saver;
mod state;
mod table;
mod tensor;
mod text;
mod value;

pub use error::CheckpointError;
pub use latest::{latest_checkpoint, step_of};
pub use saver::Saver;
pub use state::CheckpointState;
pub use value::Checkpoint;
