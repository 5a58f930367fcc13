//! Further dependencies: what is loaded keeps its version, and the learner sees what is compiled.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, ExitCode, Stdio};

use crate::session::Folder;

/// Runs `metadata` and puts the lock file back.
///
/// evcxr asks about a new dependency with a manifest that holds nothing else, and cargo then drops from the lock
/// whatever that manifest does not need; the next build would resolve it anew and replace the loaded library.
pub fn keep_versions(
    folder: &Folder,
    metadata: impl FnOnce() -> std::io::Result<ExitCode>,
) -> std::io::Result<ExitCode> {
    let lock = folder.lock();
    let before = std::fs::read(&lock).ok();
    let result = metadata();
    if let Some(before) = before {
        std::fs::write(&lock, before)?;
    }
    result
}

/// Runs cargo and writes its `Compiling` lines to the session's progress file as they come.
pub fn report_progress(folder: &Folder, mut command: Command) -> std::io::Result<ExitCode> {
    let mut child = command.stderr(Stdio::piped()).spawn()?;
    let mut progress = std::fs::File::create(folder.progress())?;
    if let Some(stderr) = child.stderr.take() {
        for line in BufReader::new(stderr).split(b'\n') {
            let line = line?;
            let text = String::from_utf8_lossy(&line);
            let words = ["Compiling", "Downloading", "Downloaded", "Updating", "Locking"];
            if words.iter().any(|word| text.trim_start().starts_with(word)) && !text.contains("Compiling ctx ") {
                writeln!(progress, "{}", text.trim())?;
            }
            std::io::stderr().write_all(&line)?;
            std::io::stderr().write_all(b"\n")?;
        }
    }
    Ok(super::code(child.wait()))
}
