//! A checkpoint in memory: values by name.

use super::CheckpointError;
use super::bundle::{decode_index, decode_shard, encode, shard_suffix};
use crate::core::{Array, Result};
use crate::storage::Location;
use std::collections::BTreeMap;
use std::fmt;

/// Values by name, in the order of the names: what a checkpoint's files hold.
///
/// Files are TensorFlow's bundle format, version 2, in both directions. A prefix such as `iris/model.ckpt-1000`
/// names `iris/model.ckpt-1000.index` and `iris/model.ckpt-1000.data-00000-of-00001`. TensorFlow:
/// `tf.train.load_checkpoint`.
///
/// # Examples
/// ```
/// use tpulab::checkpoint::Checkpoint;
/// use tpulab::core::Array;
/// use tpulab::storage::Location;
/// # let folder = tempfile::tempdir().unwrap();
/// let mut checkpoint = Checkpoint::new();
/// checkpoint.insert("dense/bias", Array::from(vec![0.5f32, -0.5]));
/// checkpoint.insert("global_step", Array::from(1000i64));
/// let prefix = Location::local(folder.path()).join("model.ckpt-1000")?;
/// checkpoint.write(&prefix)?;
/// assert_eq!(Checkpoint::read(&prefix)?, checkpoint);
/// assert_eq!(checkpoint.to_string(), "dense/bias float32 [2]\nglobal_step int64 []\n");
/// # Ok::<(), tpulab::core::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Checkpoint {
    values: BTreeMap<String, Array>,
    skipped: Vec<String>,
}

impl Checkpoint {
    /// A checkpoint without values.
    pub fn new() -> Self {
        Checkpoint::default()
    }

    /// Adds a value, or replaces the one of that name.
    pub fn insert(&mut self, name: impl Into<String>, value: Array) {
        self.values.insert(name.into(), value);
    }

    /// The value of the tensor `name`.
    ///
    /// # Errors
    /// `CKPT008` if there is none, with the names there are.
    pub fn get(&self, name: &str) -> Result<&Array> {
        self.values
            .get(name)
            .ok_or_else(|| CheckpointError::NoSuchTensor { name: name.to_owned(), names: self.names() }.into())
    }

    /// Whether there is a value of the tensor `name`.
    pub fn contains(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// The names, sorted. TensorFlow: `Estimator.get_variable_names`.
    pub fn names(&self) -> Vec<String> {
        self.values.keys().cloned().collect()
    }

    /// Names and values, sorted by name.
    pub fn iter(&self) -> std::collections::btree_map::Iter<'_, String, Array> {
        self.values.iter()
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The names of the tensors that [`read`](Self::read) passed over, because an [`Array`] does not hold their
    /// dtype; also those of strings, which TensorFlow 2 uses for its notes about Python objects.
    pub fn skipped(&self) -> &[String] {
        &self.skipped
    }

    /// Reads the checkpoint with the prefix `prefix`; every checksum and length is verified.
    ///
    /// # Errors
    /// `STOR001` if a file is missing; `CKPT001` to `CKPT005` and `WIRE001` to `WIRE004` for damaged files;
    /// `CKPT006` for partitioned variables, compressed indexes and files of big-endian machines.
    pub fn read(prefix: &Location) -> Result<Self> {
        let file = prefix.with_suffix(".index")?;
        let index = decode_index(&file.read()?).map_err(|error| error.at(&file))?;
        let mut checkpoint = Checkpoint { values: BTreeMap::new(), skipped: index.skipped };
        for (shard, entries) in index.shards {
            let file = prefix.with_suffix(&shard_suffix(shard, index.num_shards))?;
            decode_shard(&file.read()?, entries, &mut checkpoint.values).map_err(|error| error.at(&file))?;
        }
        Ok(checkpoint)
    }

    /// Writes the checkpoint to the prefix `prefix`: first the elements, then the index, each in one instant.
    ///
    /// # Errors
    /// `CKPT007` for arrays of strings and an empty name; `STOR002` if the files cannot be written.
    pub fn write(&self, prefix: &Location) -> Result<()> {
        let (index, data) = encode(&self.values)?;
        prefix.with_suffix(&shard_suffix(0, 1))?.write_atomic(&data)?;
        prefix.with_suffix(".index")?.write_atomic(&index)
    }
}

impl<'a> IntoIterator for &'a Checkpoint {
    type Item = (&'a String, &'a Array);
    type IntoIter = std::collections::btree_map::Iter<'a, String, Array>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<N: Into<String>> FromIterator<(N, Array)> for Checkpoint {
    fn from_iter<I: IntoIterator<Item = (N, Array)>>(values: I) -> Self {
        Checkpoint {
            values: values.into_iter().map(|(name, value)| (name.into(), value)).collect(),
            skipped: Vec::new(),
        }
    }
}

/// One line a tensor: name, dtype, shape.
impl fmt::Display for Checkpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.iter().try_for_each(|(name, value)| writeln!(f, "{name} {} {:?}", value.dtype(), value.shape()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_tensor_is_named_beside_those_there_are() {
        let checkpoint = Checkpoint::from_iter([("b", Array::from(1i32)), ("a", Array::from(2i32))]);
        let expected = "CKPT008: key `c` not found in checkpoint; it holds `a`, `b`";
        assert_eq!(checkpoint.get("c").unwrap_err().to_string(), expected);
        let expected = "CKPT008: key `c` not found in checkpoint; the checkpoint holds no tensor";
        assert_eq!(Checkpoint::new().get("c").unwrap_err().to_string(), expected);
    }
}
