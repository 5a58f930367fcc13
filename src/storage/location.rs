//! A place for files: a folder or file of this machine, or an object of a bucket.

use super::bucket::{check_relative, split_address};
use super::write::{append, sync_folder, temporary_mark, write_aside};
use super::{Buckets, StorageError};
use crate::core::Result;
use std::path::{Path, PathBuf};
use std::{fmt, fs, io};

/// A place for files: a folder or file of this machine, or below a `gs://` bucket, which is a folder too.
///
/// `Display` gives the spelling that the user gave. What a program does to a location never shows half a file:
/// new content is written aside and renamed. Locations in a bucket cannot leave it, neither by `..` nor over a
/// symbolic link. TensorFlow: `tf.io.gfile`.
///
/// # Errors
/// Of every operation: `STOR001` if there is nothing at the location, `STOR002` with the operating system's
/// reason for all else, `STOR005` for a symbolic link that leads out of a bucket.
///
/// # Examples
/// ```
/// use tpulab::storage::Buckets;
/// # let folder = tempfile::tempdir().unwrap();
/// # let root = folder.path();
/// let model_dir = Buckets::below(root).location("gs://bucket-name/iris")?;
/// model_dir.join("checkpoint")?.write_atomic(b"state")?;
/// assert_eq!(model_dir.list()?, ["checkpoint"]);
/// # Ok::<(), tpulab::core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    spelling: String,
    path: PathBuf,
    bucket: Option<Bucket>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Bucket {
    buckets: Buckets,
    name: String,
}

impl Location {
    /// The location that `text` names: `gs://bucket/path`, or a path on this machine. Buckets lie where
    /// [`Buckets::from_environment`] says.
    ///
    /// # Errors
    /// `STOR003` for a bucket name and `STOR004` for a path that cannot be, `STOR006` for another scheme,
    /// `STOR007` if the environment does not say where buckets lie.
    pub fn parse(text: &str) -> Result<Self> {
        Location::parse_with(text, Buckets::from_environment)
    }

    /// The location of a path on this machine.
    pub fn local(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        Location { spelling: path.display().to_string(), path, bucket: None }
    }

    pub(super) fn parse_with(text: &str, buckets: impl FnOnce() -> Result<Buckets>) -> Result<Self> {
        match text.split_once("://") {
            Some(("gs", address)) => {
                let (name, object) = split_address(address)?;
                let buckets = buckets()?;
                let path = buckets.root().join(name).join(object);
                let bucket = Some(Bucket { buckets, name: name.to_owned() });
                Ok(Location { spelling: text.to_owned(), path, bucket })
            }
            Some((scheme, _)) if !scheme.contains('/') => {
                Err(StorageError::UnknownScheme { location: text.to_owned(), scheme: scheme.to_owned() }.into())
            }
            _ if text.is_empty() => Err(StorageError::InvalidPath { path: String::new(), reason: "is empty" }.into()),
            _ => Ok(Location::local(text)),
        }
    }

    /// Whether this is a `gs://` address.
    pub fn is_bucket(&self) -> bool {
        self.bucket.is_some()
    }

    /// The location `name` below this one; `name` may have several parts with `/` between them.
    ///
    /// # Errors
    /// `STOR004` if a part is empty, `.` or `..`.
    pub fn join(&self, name: &str) -> Result<Self> {
        check_relative(name)?;
        let spelling = format!("{}/{name}", self.spelling.trim_end_matches('/'));
        Ok(Location { spelling, path: self.path.join(name), bucket: self.bucket.clone() })
    }

    /// The location whose last part has `suffix` behind it: `iris/model.ckpt-0` with `.index`.
    ///
    /// # Errors
    /// `STOR004` if the location has no last part to lengthen, as a bucket itself.
    pub fn with_suffix(&self, suffix: &str) -> Result<Self> {
        self.check_file_name()?;
        check_relative(suffix)?;
        let mut path = self.path.clone().into_os_string();
        path.push(suffix);
        Ok(Location { spelling: format!("{}{suffix}", self.spelling), path: path.into(), bucket: self.bucket.clone() })
    }

    /// The location that `text` names when it is found in a file of the folder `self`: an address or absolute
    /// path stands for itself, another is below `self`.
    ///
    /// # Errors
    /// Those of [`Location::parse`] and [`Location::join`]; `STOR004` for an absolute path found in a bucket.
    pub fn resolve(&self, text: &str) -> Result<Self> {
        if !text.contains("://") && !Path::new(text).is_absolute() {
            return self.join(text);
        }
        match &self.bucket {
            None => Location::parse(text),
            Some(bucket) if text.contains("://") => bucket.buckets.location(text),
            Some(_) => {
                Err(StorageError::InvalidPath { path: text.to_owned(), reason: "leads out of its bucket" }.into())
            }
        }
    }

    /// All bytes of the file.
    pub fn read(&self) -> Result<Vec<u8>> {
        self.attempt("read", fs::read(self.checked()?))
    }

    /// Makes `bytes` the file's content, in one instant: a reader, or a program started after a crash, sees the
    /// old content or the new. Missing folders are made, and so is the bucket.
    ///
    /// # Errors
    /// `STOR004` if the location is a bucket itself.
    pub fn write_atomic(&self, bytes: &[u8]) -> Result<()> {
        self.check_file_name()?;
        self.attempt("write", write_aside(self.checked()?, bytes))
    }

    /// Puts `bytes` at the file's end; a missing file and missing folders are made. Unlike
    /// [`write_atomic`](Self::write_atomic), this may be interrupted halfway.
    ///
    /// # Errors
    /// `STOR004` if the location is a bucket itself.
    pub fn append(&self, bytes: &[u8]) -> Result<()> {
        self.check_file_name()?;
        self.attempt("append to", append(self.checked()?, bytes))
    }

    /// The names of the files and folders in this folder, sorted. Files that are still being written are left out.
    pub fn list(&self) -> Result<Vec<String>> {
        let names = fs::read_dir(self.checked()?)
            .and_then(|entries| entries.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<_>>>());
        let mut names: Vec<String> = self
            .attempt("list", names)?
            .into_iter()
            .map(|name| name.to_string_lossy().into_owned())
            .filter(|name| !name.contains(temporary_mark()))
            .collect();
        names.sort_unstable();
        Ok(names)
    }

    /// Whether there is a file or folder.
    pub fn exists(&self) -> Result<bool> {
        self.attempt("look for", self.checked()?.try_exists())
    }

    /// Whether there is a folder.
    pub fn is_folder(&self) -> Result<bool> {
        Ok(self.exists()? && self.path.is_dir())
    }

    /// Removes the file.
    pub fn remove(&self) -> Result<()> {
        self.attempt("remove", fs::remove_file(self.checked()?))
    }

    /// Removes the file, or the folder with all that is in it.
    pub fn remove_all(&self) -> Result<()> {
        let path = self.checked()?;
        let removed = fs::symlink_metadata(path).and_then(|metadata| match metadata.is_dir() {
            true => fs::remove_dir_all(path),
            false => fs::remove_file(path),
        });
        self.attempt("remove", removed)
    }

    /// Moves the file or folder to `target`, whose folder is made if it is missing; a file that was at `target`
    /// is replaced in one instant.
    pub fn rename(&self, target: &Location) -> Result<()> {
        let (from, to) = (self.checked()?, target.checked()?);
        if let Some(folder) = to.parent() {
            target.attempt("write", fs::create_dir_all(folder))?;
        }
        self.attempt("rename", fs::rename(from, to).and_then(|()| sync_folder(to)).and_then(|()| sync_folder(from)))
    }

    /// Makes the folder, and those above it that are missing.
    pub fn create_dir_all(&self) -> Result<()> {
        self.attempt("create folder", fs::create_dir_all(self.checked()?))
    }

    fn attempt<T>(&self, operation: &'static str, result: io::Result<T>) -> Result<T> {
        result.map_err(|error| StorageError::of(operation, self, &error).into())
    }

    /// Refuses what can only be a folder, such as a bucket itself.
    fn check_file_name(&self) -> Result<()> {
        let is_whole = |Bucket { buckets, name }: &Bucket| self.path == buckets.root().join(name);
        let is_folder = self.spelling.ends_with('/') || self.path.file_name().is_none();
        if is_folder || self.bucket.as_ref().is_some_and(is_whole) {
            let reason = "names a folder, expected the name of a file";
            return Err(StorageError::InvalidPath { path: self.spelling.clone(), reason }.into());
        }
        Ok(())
    }

    /// The path on this machine, after a look at every symbolic link between the buckets' root and it.
    fn checked(&self) -> Result<&Path> {
        let Some(Bucket { buckets, name }) = &self.bucket else { return Ok(&self.path) };
        // Without a root there is no link to follow.
        let Ok(root) = buckets.root().canonicalize() else { return Ok(&self.path) };
        let folder = root.join(name);
        let below = self.path.strip_prefix(buckets.root()).expect("paths in buckets are made below the root");
        let mut path = root;
        for part in below {
            path.push(part);
            // A link that cannot be followed may later lead anywhere.
            let is_link = fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_symlink());
            if is_link && !path.canonicalize().is_ok_and(|target| target.starts_with(&folder)) {
                return Err(StorageError::LeavesBucket { location: self.spelling.clone() }.into());
            }
        }
        Ok(&self.path)
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.spelling)
    }
}
