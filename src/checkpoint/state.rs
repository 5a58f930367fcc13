//! The file `checkpoint`: which checkpoints a model directory holds.

use super::CheckpointError;
use super::text::{parse_fields, write_quoted};
use crate::core::Result;
use crate::storage::Location;
use std::fmt;

/// The name of the file in a model directory.
const FILE_NAME: &str = "checkpoint";

/// Which checkpoints a model directory holds, and which is the latest: the content of its file `checkpoint`.
///
/// Paths are relative to the model directory, or absolute. TensorFlow: `tf.train.CheckpointState`.
///
/// # Examples
/// ```
/// use tpulab::checkpoint::CheckpointState;
/// let state = CheckpointState::parse("model_checkpoint_path: \"model.ckpt-1000\"\n")?;
/// assert_eq!(state.model_checkpoint_path, "model.ckpt-1000");
/// # Ok::<(), tpulab::core::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckpointState {
    /// The latest checkpoint, empty if there is none.
    pub model_checkpoint_path: String,
    /// All checkpoints that are kept, oldest first.
    pub all_model_checkpoint_paths: Vec<String>,
}

impl CheckpointState {
    /// The state that `text` describes; fields of other names, such as timestamps, are passed over.
    ///
    /// # Errors
    /// `CKPT009` if the text is not in protobuf's text form.
    pub fn parse(text: &str) -> Result<Self> {
        let mut state = CheckpointState::default();
        for (name, value) in parse_fields(text)? {
            match (name.as_str(), value) {
                ("model_checkpoint_path", Some(path)) => state.model_checkpoint_path = path,
                ("all_model_checkpoint_paths", Some(path)) => state.all_model_checkpoint_paths.push(path),
                _ => {}
            }
        }
        Ok(state)
    }

    /// The state of `model_dir`, `None` if it has none. TensorFlow: `tf.train.get_checkpoint_state`.
    ///
    /// # Errors
    /// `CKPT009` if the file cannot be understood.
    pub fn read(model_dir: &Location) -> Result<Option<Self>> {
        let file = model_dir.join(FILE_NAME)?;
        if !file.exists()? {
            return Ok(None);
        }
        let bytes = file.read()?;
        let text = str::from_utf8(&bytes).map_err(|error| {
            let line = 1 + bytes[..error.valid_up_to()].iter().filter(|&&byte| byte == b'\n').count();
            crate::core::Error::from(CheckpointError::InvalidState { line, reason: "the file is not UTF-8" })
        });
        text.and_then(CheckpointState::parse).map(Some).map_err(|error| error.at(&file))
    }

    /// Makes this the state of `model_dir`, in one instant.
    ///
    /// # Errors
    /// `STOR002` if the file cannot be written.
    pub fn write(&self, model_dir: &Location) -> Result<()> {
        model_dir.join(FILE_NAME)?.write_atomic(self.to_string().as_bytes())
    }
}

/// The file's content.
impl fmt::Display for CheckpointState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let latest = ("model_checkpoint_path", &self.model_checkpoint_path);
        let all = self.all_model_checkpoint_paths.iter().map(|path| ("all_model_checkpoint_paths", path));
        for (name, path) in std::iter::once(latest).chain(all) {
            write!(f, "{name}: ")?;
            write_quoted(f, path)?;
            writeln!(f)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_are_passed_over() {
        let text = "model_checkpoint_path: \"b\"\nall_model_checkpoint_paths: \"a\"\nall_model_checkpoint_paths: \"b\"\n\
                    all_model_checkpoint_timestamps: 1.5\nlast_preserved_timestamp: 1e+20\n";
        let state = CheckpointState::parse(text).unwrap();
        let expected = "model_checkpoint_path: \"b\"\n\
                        all_model_checkpoint_paths: \"a\"\nall_model_checkpoint_paths: \"b\"\n";
        assert_eq!(state.to_string(), expected);
        assert_eq!(CheckpointState::parse(expected).unwrap(), state);
    }

    #[test]
    fn a_damaged_file_is_named_with_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let model_dir = Location::local(folder.path());
        assert_eq!(CheckpointState::read(&model_dir).unwrap(), None);
        let file = model_dir.join("checkpoint").unwrap();
        file.write_atomic(b"model_checkpoint_path: \"a\"\n\xFF").unwrap();
        let error = CheckpointState::read(&model_dir).unwrap_err();
        assert_eq!(error.to_string(), format!("CKPT009: {file}: line 2: the file is not UTF-8"));
    }
}
