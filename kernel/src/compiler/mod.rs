//! Stands between evcxr and cargo.
//!
//! evcxr runs `mold -run cargo …` where a program named `mold` is on the path; here that program is this
//! executable. It redirects the marks of the generated source to private descriptors, repeats the last call of
//! `rustc` without cargo where nothing but the cell changed, keeps the versions that are loaded, and leads a
//! process group, so that an interrupt ends cargo and rustc together.

mod analysis;
mod dependencies;
mod replay;
mod rewrite;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use nix::sys::signal::Signal;
use nix::unistd::Pid;

use crate::session::Folder;
pub use analysis::{REAL_CARGO, REAL_HOME, restore_home};
use replay::Replay;
pub use rewrite::without_marks;

/// The name under which evcxr calls cargo.
pub const CARGO: &str = "mold";

/// The name under which cargo calls rustc, so that the call can be remembered.
pub const RUSTC: &str = "tpulab-rustc";

/// The name under which inference calls cargo, in a folder that it takes for cargo's own.
pub const ANALYSIS_CARGO: &str = "cargo";

/// How dependencies are compiled, whatever a cell says about itself: fast, and without the checks that a cell has.
const PROFILE: [&str; 3] = [
    "profile.dev.package.\"*\".opt-level=3",
    "profile.dev.package.\"*\".debug-assertions=false",
    "profile.dev.package.\"*\".overflow-checks=false",
];

/// Does what `mold -run cargo …` would do.
pub fn cargo(arguments: Vec<OsString>) -> ExitCode {
    match run(arguments) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Does what cargo would do for inference.
pub fn analysis_cargo(arguments: &[OsString]) -> ExitCode {
    match analysis::cargo(arguments) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Calls rustc for cargo and remembers the call that compiles a cell.
pub fn rustc(arguments: Vec<OsString>) -> ExitCode {
    let Some((program, arguments)) = arguments.split_first() else { return ExitCode::FAILURE };
    let status = Command::new(program).args(arguments).status();
    if matches!(&status, Ok(status) if status.success())
        && let Some(folder) = Folder::of_this_session()
    {
        Replay::remember(&folder, program, arguments);
    }
    code(status)
}

fn run(arguments: Vec<OsString>) -> std::io::Result<ExitCode> {
    let missing = || std::io::Error::other("no command for cargo");
    let folder = Folder::of_this_session().ok_or_else(missing)?;
    let cargo = arguments.get(1).cloned().ok_or_else(missing)?;
    let arguments: Vec<_> = arguments.into_iter().skip(2).collect();
    let _group = Group::lead(&folder.compile_group())?;
    match arguments.iter().find_map(|argument| argument.to_str().filter(|text| !text.starts_with('-'))) {
        Some("build") => {
            rewrite::source(&folder)?;
            match Replay::of(&folder) {
                Some(replay) => replay.build(),
                None => compile(&folder, &cargo, &arguments),
            }
        }
        Some("check") => match Replay::of(&folder) {
            Some(replay) => replay.check(),
            None => compile(&folder, &cargo, &arguments),
        },
        Some("metadata") => dependencies::keep_versions(&folder, || status(&cargo, &arguments)),
        _ => status(&cargo, &arguments),
    }
}

fn status(cargo: &OsString, arguments: &[OsString]) -> std::io::Result<ExitCode> {
    let mut command = Command::new(cargo);
    analysis::restore_home(&mut command);
    Ok(code(command.args(arguments).status()))
}

fn compile(folder: &Folder, cargo: &OsString, arguments: &[OsString]) -> std::io::Result<ExitCode> {
    let mut command = Command::new(cargo);
    analysis::restore_home(&mut command);
    for setting in PROFILE {
        command.args(["--config", setting]);
    }
    command.args(arguments).stdin(Stdio::null());
    if std::env::var_os("RUSTC_WRAPPER").is_none() {
        command.env("RUSTC_WRAPPER", folder.programs().join(RUSTC));
    }
    if let Some(key) = replay::key(folder) {
        command.env(replay::KEY, key);
    }
    dependencies::report_progress(folder, command)
}

fn code(status: std::io::Result<std::process::ExitStatus>) -> ExitCode {
    match status {
        Ok(status) => ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The process group of a compilation, whose number stands in a file while it lasts.
struct Group {
    file: PathBuf,
}

impl Group {
    fn lead(file: &Path) -> std::io::Result<Self> {
        nix::sys::prctl::set_pdeathsig(Signal::SIGKILL)?;
        nix::unistd::setpgid(Pid::from_raw(0), Pid::from_raw(0))?;
        std::fs::write(file, std::process::id().to_string())?;
        Ok(Group { file: file.to_owned() })
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.file);
    }
}
