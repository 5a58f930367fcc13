//! Saves checkpoints side by side and removes the oldest.

use super::{Checkpoint, CheckpointState};
use crate::core::Result;
use crate::storage::Location;

/// Saves a model's checkpoints in its directory, and keeps the last few. TensorFlow: `tf.train.Saver`.
///
/// A saver remembers nothing: the file `checkpoint` says what is kept, so that a new saver continues where
/// another stopped.
///
/// # Examples
/// ```
/// use tpulab::checkpoint::{Checkpoint, Saver, latest_checkpoint};
/// use tpulab::storage::Location;
/// # let folder = tempfile::tempdir().unwrap();
/// let model_dir = Location::local(folder.path());
/// let prefix = Saver::new().max_to_keep(3).save(&model_dir, 1000, &Checkpoint::new())?;
/// assert_eq!(latest_checkpoint(&model_dir)?, Some(prefix));
/// # Ok::<(), tpulab::core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saver {
    max_to_keep: usize,
}

impl Default for Saver {
    fn default() -> Self {
        Saver { max_to_keep: 5 }
    }
}

impl Saver {
    /// A saver that keeps five checkpoints.
    pub fn new() -> Self {
        Saver::default()
    }

    /// How many checkpoints to keep; 0 keeps all.
    pub fn max_to_keep(mut self, max_to_keep: usize) -> Self {
        self.max_to_keep = max_to_keep;
        self
    }

    /// Saves `checkpoint` as `model.ckpt-STEP` in `model_dir` and gives its prefix. The elements are written
    /// first, then the index, then the file `checkpoint`; an interruption leaves the latest checkpoint the latest.
    /// Afterwards the files of checkpoints that are kept no longer are removed.
    ///
    /// # Errors
    /// `CKPT007` for arrays of strings, `CKPT009` if the file `checkpoint` cannot be understood, `STOR002` if a
    /// file cannot be written.
    pub fn save(&self, model_dir: &Location, step: u64, checkpoint: &Checkpoint) -> Result<Location> {
        let mut kept = CheckpointState::read(model_dir)?.unwrap_or_default().all_model_checkpoint_paths;
        let name = format!("model.ckpt-{step}");
        let prefix = model_dir.join(&name)?;
        checkpoint.write(&prefix)?;

        kept.retain(|path| own_name(model_dir, path) != name && is_there(model_dir, path));
        kept.push(name.clone());
        let surplus = if self.max_to_keep == 0 { 0 } else { kept.len().saturating_sub(self.max_to_keep) };
        let dropped: Vec<String> = kept.drain(..surplus).collect();
        CheckpointState { model_checkpoint_path: name, all_model_checkpoint_paths: kept }.write(model_dir)?;
        dropped.iter().try_for_each(|path| remove(model_dir, own_name(model_dir, path)))?;
        Ok(prefix)
    }
}

/// The path as seen from `model_dir`, if it is below it.
fn own_name<'a>(model_dir: &Location, path: &'a str) -> &'a str {
    let below = path.strip_prefix(model_dir.to_string().trim_end_matches('/'));
    below.and_then(|below| below.strip_prefix('/')).unwrap_or(path)
}

fn is_there(model_dir: &Location, path: &str) -> bool {
    let index = model_dir.resolve(path).and_then(|prefix| prefix.with_suffix(".index"));
    index.and_then(|index| index.exists()).unwrap_or(false)
}

/// Removes what `model_dir` holds of the checkpoint `name`; a checkpoint elsewhere is left alone.
fn remove(model_dir: &Location, name: &str) -> Result<()> {
    let own = format!("{name}.");
    let mut files: Vec<String> = model_dir.list()?.into_iter().filter(|file| file.starts_with(&own)).collect();
    // Without its index a checkpoint is no more; an index without data would be a damaged one.
    files.sort_by_key(|file| !file.ends_with(".index"));
    files.iter().try_for_each(|file| model_dir.join(file)?.remove())
}
