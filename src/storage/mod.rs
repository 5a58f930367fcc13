//! Local folders and `gs://` buckets behind one face.
//!
//! Knows paths and bytes, not what the files mean. Every file system call of the crate is made here, and
//! nothing here reaches a network: a bucket is a folder of this machine.

mod bucket;
mod error;
mod location;
mod write;

pub use bucket::{Buckets, home};
pub use error::StorageError;
pub use location::Location;
