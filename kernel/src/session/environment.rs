//! What the processes of a session see of the world outside.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use super::Folder;
use super::folder::PrivateFolder;
use crate::compiler::{REAL_CARGO, REAL_HOME};
use crate::error::{Context, Result};
use crate::runtime::streams;
use crate::template::Toolchain;

/// The variable that holds the secret of the session's frames.
const SECRET: &str = "TPULAB_DISPLAY";

/// Where the path is kept for the cells, which get it unchanged.
const PATH: &str = "TPULAB_PATH";

/// Where the system looks for shared libraries, before the place that a program names itself.
const LIBRARIES: &str = "LD_LIBRARY_PATH";

/// Settings for cargo and rustc that a notebook's surroundings may hold; none of them reaches a session.
const FOREIGN: [&str; 9] = [
    "RUSTC",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTFLAGS",
    "RUSTDOCFLAGS",
    "RUSTUP_TOOLCHAIN",
    "EVCXR_IS_RUNTIME",
    "EVCXR_CACHE_ENABLED",
    "LD_PRELOAD",
];

/// Goes into the session: from here on this process sees the session's folder and settings only. To be called while
/// the process has one thread.
pub fn enter(private: &PrivateFolder, standard_library: &Path, toolchain: &Toolchain) -> Result<()> {
    let folder = private.folder();
    let target = folder.standard_library();
    let _ = std::fs::remove_file(&target);
    std::os::unix::fs::symlink(folder.no_standard_library(), &target).context("KERNEL012", "no link to the sources")?;
    std::fs::write(folder.path().with_file_name("rust-src-path"), standard_library.to_string_lossy().as_bytes())
        .context("KERNEL012", "no note of the sources")?;
    std::env::set_current_dir(folder.configuration()).context("KERNEL012", "the session's folder cannot be entered")?;

    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places = vec![folder.programs(), toolchain.sysroot.join("bin")];
    places.extend(std::env::split_paths(&path));
    let inner = std::env::join_paths(places).context("KERNEL012", "the path cannot be extended")?;
    let cargo = |name: &OsString| {
        name.to_str()
            .is_some_and(|name| name.starts_with("CARGO_") && name != "CARGO_HOME" && !name.starts_with("CARGO_HTTP"))
    };
    let foreign: Vec<_> = std::env::vars_os().map(|(name, _)| name).filter(cargo).collect();
    let (session, here) = folder.variable();
    // SAFETY: the caller has one thread.
    unsafe {
        for name in foreign.iter().map(OsString::as_os_str).chain(FOREIGN.map(std::ffi::OsStr::new)) {
            std::env::remove_var(name);
        }
        match without_other_builds() {
            Some(path) => std::env::set_var(LIBRARIES, path),
            None => std::env::remove_var(LIBRARIES),
        }
        if let Some(name) = toolchain.name() {
            std::env::set_var("RUSTUP_TOOLCHAIN", name);
        }
        if let Some(home) = std::env::var_os("CARGO_HOME") {
            std::env::set_var(REAL_HOME, home);
        }
        std::env::set_var(REAL_CARGO, toolchain.sysroot.join("bin/cargo"));
        std::env::set_var("CARGO_HOME", folder.cargo_home());
        std::env::set_var(PATH, path);
        std::env::set_var("PATH", inner);
        std::env::set_var(session, here);
        std::env::set_var("EVCXR_TMPDIR", here);
        std::env::set_var("EVCXR_CONFIG_DIR", folder.configuration());
        std::env::set_var("RUST_SRC_PATH", &target);
    }
    Ok(())
}

/// The places of shared libraries, without those that hold another build of the library: `cargo run` and `cargo test`
/// put such a place there.
fn without_other_builds() -> Option<OsString> {
    let places = std::env::var_os(LIBRARIES)?;
    let kept = std::env::split_paths(&places).filter(|place| !place.join("libtpulab.so").exists());
    std::env::join_paths(kept).ok().filter(|places| !places.is_empty())
}

/// Shows inference the sources of the standard library; until then it works without, which is faster to start.
pub fn use_standard_library(folder: &Folder) -> std::io::Result<()> {
    let sources = std::fs::read_to_string(folder.path().with_file_name("rust-src-path"))?;
    let link = folder.standard_library();
    std::fs::remove_file(&link)?;
    std::os::unix::fs::symlink(sources, link)
}

/// The command that evcxr starts the process for the cells with.
pub fn cells_process(folder: &Folder, notebook: &Path, secret: &str) -> Result<Command> {
    let program = std::env::current_exe().context("KERNEL011", "this program cannot be found")?;
    let mut command = Command::new(program);
    command.current_dir(notebook).env(streams::SOCKET, folder.socket()).env(SECRET, secret);
    crate::compiler::restore_home(&mut command);
    for name in [
        REAL_HOME,
        REAL_CARGO,
        "EVCXR_TMPDIR",
        "EVCXR_CONFIG_DIR",
        "RUST_SRC_PATH",
        "RUSTUP_TOOLCHAIN",
        PATH,
        folder.variable().0,
    ] {
        command.env_remove(name);
    }
    if let Some(path) = std::env::var_os(PATH) {
        command.env("PATH", path);
    }
    Ok(command)
}

/// Something that no cell prints by chance.
pub fn secret() -> String {
    let mut bytes = [0; 16];
    let read =
        std::fs::File::open("/dev/urandom").and_then(|mut file| std::io::Read::read_exact(&mut file, &mut bytes));
    if read.is_err() {
        bytes[..4].copy_from_slice(&std::process::id().to_le_bytes());
    }
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
