//! What can go wrong between a location and the file system.

use crate::core::{Exception, Explain, Explanation};
use std::io;

/// What can go wrong between a location and the file system.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StorageError {
    /// `STOR001`: there is nothing at the location.
    NotFound {
        /// What was attempted, such as `read`.
        operation: &'static str,
        /// The location as the user wrote it.
        location: String,
    },
    /// `STOR002`: the operating system refused.
    Refused {
        /// What was attempted, such as `read`.
        operation: &'static str,
        /// The location as the user wrote it.
        location: String,
        /// The operating system's reason.
        reason: String,
    },
    /// `STOR003`: a bucket name that Cloud Storage does not allow.
    InvalidBucketName {
        /// The name.
        name: String,
    },
    /// `STOR004`: a path that does not name one place below its bucket or folder.
    InvalidPath {
        /// The path as the user wrote it.
        path: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// `STOR005`: a symbolic link inside a bucket that leads out of it.
    LeavesBucket {
        /// The location as the user wrote it.
        location: String,
    },
    /// `STOR006`: a URL of a scheme other than `gs`.
    UnknownScheme {
        /// The location as the user wrote it.
        location: String,
        /// The scheme.
        scheme: String,
    },
    /// `STOR007`: no environment variable says where buckets lie.
    NoHome,
}

impl StorageError {
    pub(super) fn of(operation: &'static str, location: &impl ToString, error: &io::Error) -> Self {
        let location = location.to_string();
        match error.kind() {
            io::ErrorKind::NotFound => StorageError::NotFound { operation, location },
            _ => StorageError::Refused { operation, location, reason: error.to_string() },
        }
    }
}

impl Explain for StorageError {
    fn explain(&self) -> Explanation {
        use Exception as Raised;
        match self {
            StorageError::NotFound { operation, location } => Explanation::new(
                "STOR001",
                Raised::NotFoundError,
                format!("cannot {operation} `{location}`: there is no such file or folder"),
            ),
            StorageError::Refused { operation, location, reason } => {
                Explanation::new("STOR002", Raised::OsError, format!("cannot {operation} `{location}`: {reason}"))
            }
            StorageError::InvalidBucketName { name } => Explanation::new(
                "STOR003",
                Raised::InvalidArgumentError,
                format!("`{name}` cannot name a bucket"),
            )
            .help("use 3 to 63 lower-case letters, digits, `-`, `_` and `.`, with a letter or digit at either end"),
            StorageError::InvalidPath { path, reason } => {
                Explanation::new("STOR004", Raised::InvalidArgumentError, format!("path `{path}` {reason}"))
            }
            StorageError::LeavesBucket { location } => Explanation::new(
                "STOR005",
                Raised::InvalidArgumentError,
                format!("`{location}` leads out of its bucket over a symbolic link"),
            )
            .help("copy the files into the bucket instead of linking to them"),
            StorageError::UnknownScheme { location, scheme } => Explanation::new(
                "STOR006",
                Raised::InvalidArgumentError,
                format!("`{location}`: file system scheme `{scheme}` is not implemented"),
            )
            .help("use `gs://bucket/path`, or a path on this machine without a scheme"),
            StorageError::NoHome => Explanation::new(
                "STOR007",
                Raised::OsError,
                "no place for buckets: TPULAB_HOME, XDG_DATA_HOME and HOME are all unset",
            )
            .help("set TPULAB_HOME to a folder, or name one with `Buckets::below`"),
        }
    }
}
