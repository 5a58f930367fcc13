//! Which checkpoint of a model directory is the latest.

use super::{CheckpointError, CheckpointState};
use crate::core::Result;
use crate::storage::Location;

/// The prefix of the latest checkpoint in `model_dir`, `None` if there is none yet. TensorFlow:
/// `tf.train.latest_checkpoint`, which also gives nothing where this is `CKPT010`, so that training silently
/// starts afresh.
///
/// # Errors
/// `CKPT010` if the file `checkpoint` names a checkpoint that is gone, `CKPT009` if it cannot be understood.
pub fn latest_checkpoint(model_dir: &Location) -> Result<Option<Location>> {
    let path = CheckpointState::read(model_dir)?.unwrap_or_default().model_checkpoint_path;
    if path.is_empty() {
        return Ok(None);
    }
    let prefix = model_dir.resolve(&path)?;
    if !prefix.with_suffix(".index")?.exists()? {
        return Err(CheckpointError::MissingCheckpoint { model_dir: model_dir.to_string(), path }.into());
    }
    Ok(Some(prefix))
}

/// The global step in a checkpoint's prefix: 1000 for `iris/model.ckpt-1000`, `None` if it does not end in one.
pub fn step_of(prefix: &str) -> Option<u64> {
    let (_, step) = prefix.rsplit_once('-')?;
    step.bytes().all(|byte| byte.is_ascii_digit()).then(|| step.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_step_is_the_number_at_the_end() {
        assert_eq!(step_of("gs://bucket-name/iris/model.ckpt-1000"), Some(1000));
        for prefix in ["model.ckpt", "model.ckpt-", "model.ckpt-+1", "model-1/x", "x-99999999999999999999"] {
            assert_eq!(step_of(prefix), None, "{prefix}");
        }
    }

    #[test]
    fn a_checkpoint_that_is_gone_is_an_error_and_no_checkpoint_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let model_dir = Location::local(folder.path().join("iris"));
        assert_eq!(latest_checkpoint(&model_dir).unwrap(), None);
        CheckpointState::default().write(&model_dir).unwrap();
        assert_eq!(latest_checkpoint(&model_dir).unwrap(), None);
        let state = CheckpointState { model_checkpoint_path: "model.ckpt-7".to_owned(), ..Default::default() };
        state.write(&model_dir).unwrap();
        let expected = format!(
            "CKPT010: `{model_dir}/checkpoint` names `model.ckpt-7`, which has no index file; \
             bring its files back, or remove the file `checkpoint` to start afresh"
        );
        assert_eq!(latest_checkpoint(&model_dir).unwrap_err().to_string(), expected);
    }
}
