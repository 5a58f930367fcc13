//! The compiler that belongs to a template.

use std::path::PathBuf;
use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::error::{Context, Error, Result};

/// The compiler whose libraries the template holds; another one cannot read them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Toolchain {
    /// What `rustc --version` says.
    pub version: String,
    /// Where the compiler and its libraries are.
    pub sysroot: PathBuf,
}

impl Toolchain {
    /// The compiler that `rustc` means now.
    pub fn find() -> Result<Self> {
        let help = "install Rust from rustup.rs, or put `rustc` and `cargo` on the path";
        let ask = |question: &[&str]| -> Result<String> {
            // A notebook's folder must not choose the compiler.
            let output = Command::new("rustc")
                .args(question)
                .current_dir("/")
                .output()
                .context("KERNEL004", "rustc cannot be run")
                .map_err(|error| error.help(help))?;
            if !output.status.success() {
                let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
                return Err(Error::new("KERNEL004", format!("rustc does not answer: {said}")).help(help));
            }
            Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
        };
        Ok(Toolchain { version: ask(&["--version"])?, sysroot: ask(&["--print", "sysroot"])?.into() })
    }

    /// The version alone, such as `1.95.0`.
    pub fn number(&self) -> String {
        self.version.split_whitespace().nth(1).unwrap_or_default().to_owned()
    }

    /// The name by which rustup knows it, if it is one of rustup's.
    pub fn name(&self) -> Option<String> {
        let below_rustup = self.sysroot.parent()?.file_name()? == "toolchains";
        below_rustup.then(|| self.sysroot.file_name().map(|name| name.to_string_lossy().into_owned()))?
    }
}
