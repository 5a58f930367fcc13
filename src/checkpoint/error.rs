//! What can go wrong with a checkpoint.

use crate::core::{Exception, Explain, Explanation};

/// What can go wrong with a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CheckpointError {
    /// `CKPT001`: an index file that is not a table of tensors.
    DamagedIndex {
        /// Where in the file, or in the block whose entries are read.
        offset: usize,
        /// What is wrong there.
        reason: &'static str,
    },
    /// `CKPT002`: a block of the index file that does not have the checksum beside it.
    BlockChecksum {
        /// Where the block starts.
        offset: usize,
    },
    /// `CKPT003`: a tensor's entry in the index that cannot be.
    InvalidEntry {
        /// The tensor's name.
        tensor: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// `CKPT004`: a tensor whose bytes do not have the checksum in the index.
    TensorChecksum {
        /// The tensor's name.
        tensor: String,
    },
    /// `CKPT005`: a data file of another length than the index describes.
    WrongDataLength {
        /// The length by the index.
        expected: u64,
        /// The file's length.
        found: usize,
    },
    /// `CKPT006`: a checkpoint that uses a part of the format that is not read here.
    Unsupported {
        /// The part of the format.
        feature: &'static str,
    },
    /// `CKPT007`: a value that is not written to checkpoints.
    NotWritable {
        /// The tensor's name.
        tensor: String,
        /// Why not.
        reason: &'static str,
    },
    /// `CKPT008`: no tensor of this name.
    NoSuchTensor {
        /// The name asked for.
        name: String,
        /// The names there are.
        names: Vec<String>,
    },
    /// `CKPT009`: a `checkpoint` file that cannot be read.
    InvalidState {
        /// The line.
        line: usize,
        /// What is wrong there.
        reason: &'static str,
    },
    /// `CKPT010`: a `checkpoint` file that names a checkpoint whose files are gone.
    MissingCheckpoint {
        /// The folder.
        model_dir: String,
        /// The checkpoint's path in the file.
        path: String,
    },
}

impl Explain for CheckpointError {
    fn explain(&self) -> Explanation {
        use Exception as Raised;
        let damaged = "the file was damaged or cut after it was written; use another checkpoint";
        match self {
            CheckpointError::DamagedIndex { offset, reason } => {
                Explanation::new("CKPT001", Raised::DataLossError, format!("byte {offset}: {reason}")).help(damaged)
            }
            CheckpointError::BlockChecksum { offset } => Explanation::new(
                "CKPT002",
                Raised::DataLossError,
                format!("block at byte {offset} does not match its checksum"),
            )
            .help(damaged),
            CheckpointError::InvalidEntry { tensor, reason } => {
                Explanation::new("CKPT003", Raised::DataLossError, format!("tensor `{tensor}` {reason}"))
            }
            CheckpointError::TensorChecksum { tensor } => Explanation::new(
                "CKPT004",
                Raised::DataLossError,
                format!("tensor `{tensor}` does not match its checksum"),
            )
            .help(damaged),
            CheckpointError::WrongDataLength { expected, found } => Explanation::new(
                "CKPT005",
                Raised::DataLossError,
                format!("expected {expected} bytes by the index, found {found}"),
            )
            .help("index and data are of two checkpoints, or the file was cut; use another checkpoint"),
            CheckpointError::Unsupported { feature } => Explanation::new(
                "CKPT006",
                Raised::InvalidArgumentError,
                format!("the checkpoint has {feature}, which cannot be read here"),
            ),
            CheckpointError::NotWritable { tensor, reason } => Explanation::new(
                "CKPT007",
                Raised::InvalidArgumentError,
                format!("tensor `{tensor}` cannot be saved: {reason}"),
            ),
            CheckpointError::NoSuchTensor { name, names } => {
                Explanation::new("CKPT008", Raised::NotFoundError, format!("key `{name}` not found in checkpoint"))
                    .help(if names.is_empty() {
                        "the checkpoint holds no tensor".to_owned()
                    } else {
                        format!("it holds `{}`", names.join("`, `"))
                    })
            }
            CheckpointError::InvalidState { line, reason } => {
                Explanation::new("CKPT009", Raised::DataLossError, format!("line {line}: {reason}"))
            }
            CheckpointError::MissingCheckpoint { model_dir, path } => Explanation::new(
                "CKPT010",
                Raised::NotFoundError,
                format!("`{model_dir}/checkpoint` names `{path}`, which has no index file"),
            )
            .help("bring its files back, or remove the file `checkpoint` to start afresh"),
        }
    }
}
