//! The files of one session.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use nix::fcntl::{Flock, FlockArg};

/// The variable that tells the processes of a session where its crate is.
const VARIABLE: &str = "TPULAB_SESSION";

/// The folder of the crate that a session's cells are compiled in. It lies in a folder that only its owner may
/// enter, beside what the session needs and never shares.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// The folder of the session that this process serves.
    pub fn of_this_session() -> Option<Self> {
        std::env::var_os(VARIABLE).map(|path| Folder { path: path.into() })
    }

    /// The variable and the value by which the session's processes find the folder.
    pub fn variable(&self) -> (&'static str, &Path) {
        (VARIABLE, &self.path)
    }

    /// The crate's own folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The cell's source.
    pub fn source(&self) -> PathBuf {
        self.path.join("src/lib.rs")
    }

    /// The crate's manifest.
    pub fn manifest(&self) -> PathBuf {
        self.path.join("Cargo.toml")
    }

    /// The versions in use.
    pub fn lock(&self) -> PathBuf {
        self.path.join("Cargo.lock")
    }

    /// The library's sources.
    pub fn library(&self) -> PathBuf {
        self.path.join("tpulab")
    }

    /// The remembered call of rustc.
    pub fn replay(&self) -> PathBuf {
        self.path.join("replay.json")
    }

    /// The programs that stand in front of cargo and rustc.
    pub fn programs(&self) -> PathBuf {
        self.beside("programs")
    }

    /// What inference takes for cargo's own folder.
    pub fn cargo_home(&self) -> PathBuf {
        self.beside("cargo-home")
    }

    /// An empty configuration for evcxr.
    pub fn configuration(&self) -> PathBuf {
        self.beside("configuration")
    }

    /// The standard library's sources for inference: a link, for they are needed only from the first cell on.
    pub fn standard_library(&self) -> PathBuf {
        self.beside("rust-src")
    }

    /// A standard library without any sources.
    pub fn no_standard_library(&self) -> PathBuf {
        self.beside("no-rust-src")
    }

    /// The number of the process group that compiles, while it does.
    pub fn compile_group(&self) -> PathBuf {
        self.beside("compile-group")
    }

    /// What cargo is compiling.
    pub fn progress(&self) -> PathBuf {
        self.beside("progress")
    }

    /// Where the cells' process writes to.
    pub fn socket(&self) -> PathBuf {
        self.beside("socket")
    }

    /// Removes it with all that lies beside it.
    pub fn remove(&self) {
        if let Some(private) = self.path.parent() {
            let _ = fs::remove_dir_all(private);
        }
    }

    fn beside(&self, name: &str) -> PathBuf {
        self.path.with_file_name(name)
    }
}

/// A private folder, which is removed when the session ends, or by a later session if this one was killed.
#[derive(Debug)]
pub struct PrivateFolder {
    directory: tempfile::TempDir,
    // Held as long as the session lives.
    _lock: Flock<fs::File>,
}

/// What the names of private folders begin with.
const PREFIX: &str = "tpulab-session-";

impl PrivateFolder {
    /// Makes a folder and removes those of sessions that are gone.
    pub fn create() -> io::Result<Self> {
        let all = std::env::temp_dir();
        collect(&all);
        let directory = tempfile::Builder::new().prefix(PREFIX).tempdir_in(&all)?;
        // Locked before it has its name: another session never meets it unlocked.
        let unnamed = directory.path().join("new-lock");
        let lock = lock(&unnamed)?.ok_or_else(|| io::Error::other("a new folder is in use"))?;
        fs::rename(unnamed, directory.path().join("lock"))?;
        let folder = PrivateFolder { directory, _lock: lock };
        let inner = folder.folder();
        for needed in
            [inner.path().to_owned(), inner.programs(), inner.configuration(), inner.no_standard_library().join("core")]
        {
            fs::create_dir_all(needed)?;
        }
        let program = std::env::current_exe()?;
        let analysis = inner.cargo_home().join("bin");
        fs::create_dir_all(&analysis)?;
        for (folder, name) in [
            (inner.programs(), crate::compiler::CARGO),
            (inner.programs(), crate::compiler::RUSTC),
            (analysis, crate::compiler::ANALYSIS_CARGO),
        ] {
            std::os::unix::fs::symlink(&program, folder.join(name))?;
        }
        Ok(folder)
    }

    /// The files in it.
    pub fn folder(&self) -> Folder {
        Folder { path: self.directory.path().join("crate") }
    }
}

/// Removes the folders of sessions whose kernel is gone.
fn collect(all: &Path) {
    let Ok(entries) = fs::read_dir(all) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        if name.to_string_lossy().starts_with(PREFIX)
            && entry.path().join("lock").exists()
            && matches!(lock(&entry.path().join("lock")), Ok(Some(_)))
        {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn lock(path: &Path) -> io::Result<Option<Flock<fs::File>>> {
    let file = fs::OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
    Ok(Flock::lock(file, FlockArg::LockExclusiveNonblock).ok())
}

/// Copies a folder with all that is in it; times are kept, for cargo goes by them.
///
/// What a compiler has put out is never rewritten, only replaced, and it is nearly all of the bytes: where the file
/// system allows it, both folders hold the same file.
pub fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type()?;
        if kind.is_dir() {
            copy(&source, &target)?;
        } else if kind.is_file() && !(is_compiled(&source) && fs::hard_link(&source, &target).is_ok()) {
            copy_file(&source, &target)?;
        }
    }
    Ok(())
}

fn is_compiled(file: &Path) -> bool {
    file.extension().is_some_and(|kind| kind == "rlib" || kind == "rmeta" || kind == "so")
}

fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    fs::copy(from, to)?;
    let original = fs::metadata(from)?;
    // A template may be read-only; its copy belongs to the session.
    let mode = original.permissions().mode();
    if mode & 0o200 == 0 {
        fs::set_permissions(to, fs::Permissions::from_mode(mode | 0o200))?;
    }
    let times = fs::FileTimes::new().set_modified(original.modified()?);
    fs::OpenOptions::new().write(true).open(to)?.set_times(times)
}

/// Takes the cells that were compiled in the crate `path` out of it; what they were linked to stays.
pub fn forget_cells(path: &Path) -> io::Result<()> {
    forget(path, "libcode_")
}

/// Takes the compiled library out of the crate `path`.
pub fn forget_library(path: &Path) -> io::Result<()> {
    forget(path, "libtpulab")
}

fn forget(path: &Path, prefix: &str) -> io::Result<()> {
    let mut folders = vec![path.join("target")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)?.flatten() {
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            } else if entry.file_name().to_string_lossy().starts_with(prefix) {
                fs::remove_file(entry.path())?;
            }
        }
    }
    Ok(())
}
