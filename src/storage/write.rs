//! How bytes reach a file whole, and stay there.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

/// What the names of files that are still being written contain.
pub(super) const fn temporary_mark() -> &'static str {
    ".tpulab-writing-"
}

/// Writes a new file beside `path` and renames it to `path` once it is safe on disk.
pub(super) fn write_aside(path: &Path, bytes: &[u8]) -> io::Result<()> {
    /// Two threads that write one file get two files aside.
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let name = path.file_name().ok_or(io::ErrorKind::IsADirectory)?;
    let mut aside = OsString::from(".");
    aside.push(name);
    aside.push(format!("{}{}-{}", temporary_mark(), process::id(), NEXT.fetch_add(1, Ordering::Relaxed)));
    let aside = path.with_file_name(aside);
    create_folder_of(path)?;
    let written = File::create_new(&aside).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    written.and_then(|()| fs::rename(&aside, path)).inspect_err(|_| {
        // The first error is the one to report; a file left aside is never read.
        let _ = fs::remove_file(&aside);
    })?;
    sync_folder(path)
}

/// Puts `bytes` at the end of the file at `path`.
pub(super) fn append(path: &Path, bytes: &[u8]) -> io::Result<()> {
    create_folder_of(path)?;
    OpenOptions::new().create(true).append(true).open(path)?.write_all(bytes)
}

/// Makes a rename in the folder of `path` last through a power cut.
pub(super) fn sync_folder(path: &Path) -> io::Result<()> {
    // Only Unix opens folders as files.
    #[cfg(unix)]
    File::open(folder_of(path))?.sync_all()?;
    Ok(())
}

fn create_folder_of(path: &Path) -> io::Result<()> {
    fs::create_dir_all(folder_of(path))
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}
