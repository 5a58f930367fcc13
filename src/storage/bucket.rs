//! Where buckets lie on this machine, and how `gs://` addresses are checked.

use super::{Location, StorageError};
use crate::core::Result;
use std::env;
use std::path::{Path, PathBuf};

/// The folder below which `gs://` buckets lie, one folder a bucket.
///
/// # Examples
/// ```
/// use tpulab::storage::Buckets;
/// let model_dir = Buckets::below("/tmp/buckets").location("gs://bucket-name/iris")?;
/// assert_eq!(model_dir.to_string(), "gs://bucket-name/iris");
/// # Ok::<(), tpulab::core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buckets {
    root: PathBuf,
}

impl Buckets {
    /// Buckets below the folder `root`, which need not exist yet.
    pub fn below(root: impl Into<PathBuf>) -> Self {
        Buckets { root: root.into() }
    }

    /// Buckets below the folder `buckets` of [`home`].
    ///
    /// # Errors
    /// `STOR007` if no environment variable says where that is.
    pub fn from_environment() -> Result<Self> {
        Ok(Buckets::below(home()?.join("buckets")))
    }

    /// The folder below which buckets lie.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The location that `text` names, as [`Location::parse`] does, with `gs://` addresses below this root.
    ///
    /// # Errors
    /// `STOR003`, `STOR004`, `STOR006`.
    pub fn location(&self, text: &str) -> Result<Location> {
        Location::parse_with(text, || Ok(self.clone()))
    }
}

/// The folder in which this crate keeps what outlives a program: `TPULAB_HOME` if set, else `tpulab` in the
/// user's data folder (`XDG_DATA_HOME` or `~/.local/share`).
///
/// # Errors
/// `STOR007` if none of `TPULAB_HOME`, `XDG_DATA_HOME` and `HOME` is set.
pub fn home() -> Result<PathBuf> {
    home_from(|name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from))
}

fn home_from(variable: impl Fn(&str) -> Option<PathBuf>) -> Result<PathBuf> {
    variable("TPULAB_HOME")
        .or_else(|| Some(variable("XDG_DATA_HOME")?.join("tpulab")))
        .or_else(|| Some(variable("HOME")?.join(".local/share/tpulab")))
        .ok_or_else(|| StorageError::NoHome.into())
}

/// Bucket and object of `address`, the part of a `gs://` URL behind the scheme; one slash at the end is ignored.
pub(super) fn split_address(address: &str) -> Result<(&str, &str), StorageError> {
    let address = address.strip_suffix('/').unwrap_or(address);
    let (bucket, object) = match address.split_once('/') {
        Some((bucket, object)) => (bucket, Some(object)),
        None => (address, None),
    };
    let is_alphanumeric = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let name = bucket.as_bytes();
    let is_valid = (3..=63).contains(&name.len())
        && name.iter().all(|byte| is_alphanumeric(byte) || b"-_.".contains(byte))
        && name.first().is_some_and(is_alphanumeric)
        && name.last().is_some_and(is_alphanumeric)
        && !bucket.contains("..");
    if !is_valid {
        return Err(StorageError::InvalidBucketName { name: bucket.to_owned() });
    }
    if let Some(object) = object {
        check_relative(object)?;
    }
    Ok((bucket, object.unwrap_or_default()))
}

/// Refuses a path that could lead anywhere but below the folder it is joined to.
pub(super) fn check_relative(path: &str) -> Result<(), StorageError> {
    let reason = if path.split('/').any(str::is_empty) {
        "has an empty part"
    } else if path.split('/').any(|part| part == "." || part == "..") {
        "has a part `.` or `..`"
    } else if path.contains('\\') {
        r"has a `\`"
    } else if path.contains(char::is_control) {
        "has a control character"
    } else {
        return Ok(());
    };
    Err(StorageError::InvalidPath { path: path.to_owned(), reason })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bucket_names_follow_cloud_storage() {
        for name in ["abc", "a-b_c.9", &"x".repeat(63)] {
            assert_eq!(split_address(name), Ok((name, "")));
        }
        for name in ["", "ab", "Iris", "-ab", "ab.", "a..b", "a b", "bücket", "ab:", &"x".repeat(64)] {
            let error = StorageError::InvalidBucketName { name: name.to_owned() };
            assert_eq!(split_address(name), Err(error), "{name}");
        }
    }

    #[test]
    fn one_slash_at_the_end_is_ignored_and_no_other_empty_part() {
        assert_eq!(split_address("iris/"), Ok(("iris", "")));
        assert_eq!(split_address("iris/model/"), Ok(("iris", "model")));
        assert!(split_address("iris//").is_err());
        assert!(split_address("iris//model").is_err());
        assert!(split_address("iris/model//").is_err());
    }

    #[test]
    fn home_is_tpulab_home_before_the_data_folder() {
        let all = |name: &str| Some(PathBuf::from(format!("/{name}")));
        assert_eq!(home_from(all).unwrap(), Path::new("/TPULAB_HOME"));
        let without = |name: &str| all(name).filter(|_| name != "TPULAB_HOME");
        assert_eq!(home_from(without).unwrap(), Path::new("/XDG_DATA_HOME/tpulab"));
        let only_home = |name: &str| all(name).filter(|_| name == "HOME");
        assert_eq!(home_from(only_home).unwrap(), Path::new("/HOME/.local/share/tpulab"));
        assert_eq!(
            home_from(|_| None).unwrap_err().to_string(),
            "STOR007: no place for buckets: TPULAB_HOME, XDG_DATA_HOME and HOME are all unset; \
             set TPULAB_HOME to a folder, or name one with `Buckets::below`"
        );
    }
}
