//! The part of the standard library's sources that inference needs.

use std::fs;
use std::path::Path;

use super::Toolchain;
use crate::error::{Context, Error, Result};

/// The crates whose types appear in cells.
const CRATES: [&str; 3] = ["core", "alloc", "std"];

/// Folders below them that describe processors and tests; they are most of the sources.
const LEFT_OUT: [&str; 4] = ["tests", "benches", "core_arch", "os"];

/// Copies it into the folder `to`.
pub fn copy(toolchain: &Toolchain, to: &Path) -> Result<()> {
    let from = toolchain.sysroot.join("lib/rustlib/src/rust/library");
    if !from.join("core").exists() {
        let add = "run `rustup component add rust-src`";
        return Err(Error::new(
            "KERNEL005",
            format!("the sources of the standard library are not in {}", from.display()),
        )
        .help(add));
    }
    for name in CRATES {
        copy_sources(&from.join(name).join("src"), &to.join(name).join("src"))
            .context("KERNEL005", "the standard library's sources cannot be copied")?;
    }
    Ok(())
}

fn copy_sources(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name();
        if entry.file_type()?.is_dir() {
            if !LEFT_OUT.iter().any(|left_out| name == *left_out) {
                copy_sources(&entry.path(), &to.join(name))?;
            }
        } else if entry.path().extension().is_some_and(|extension| extension == "rs" || extension == "md") {
            fs::copy(entry.path(), to.join(name))?;
        }
    }
    Ok(())
}
