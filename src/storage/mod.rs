//! Local folders and `gs://` buckets behind one face.
//!
//! Knows paths and bytes, not what the files mean. Nothing here reaches a network.
