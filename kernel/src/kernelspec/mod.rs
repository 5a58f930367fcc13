//! How Jupyter learns of the kernel.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::error::{Context, Error, Result};
use crate::template::{self, Template};

/// The name by which Jupyter's commands know the kernel.
pub const NAME: &str = "tpulab";

/// The name that people see.
pub const DISPLAY_NAME: &str = "Rust (tpulab)";

/// Where a kernel is installed.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    /// For this user.
    User,
    /// In the active Python environment.
    Environment,
    /// Below a folder.
    Prefix(PathBuf),
}

/// Refuses names that Jupyter does not take, and the one under which evcxr's own kernel is known.
pub fn check_name(name: &str) -> Result<()> {
    let allowed = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    if name.is_empty() || !name.chars().all(allowed) {
        return Err(Error::new("KERNEL050", format!("{name:?} is no name for a kernel"))
            .help("use letters, digits, `-`, `_` and `.`"));
    }
    if name.eq_ignore_ascii_case("rust") {
        return Err(Error::new("KERNEL050", "`rust` is the name of evcxr's own kernel, which would be replaced")
            .help("leave out --name, or choose another"));
    }
    Ok(())
}

/// The folder of the kernel `name` at a place.
pub fn folder(place: &Place, name: &str) -> Result<PathBuf> {
    check_name(name)?;
    let data = match place {
        Place::User => user_data()?,
        Place::Prefix(prefix) => prefix.join("share/jupyter"),
        Place::Environment => environment().ok_or_else(|| {
            Error::new("KERNEL051", "no Python environment is active: neither CONDA_PREFIX nor VIRTUAL_ENV is set")
                .help("activate one, or give --prefix its folder")
        })?,
    };
    Ok(data.join("kernels").join(name))
}

/// Writes the kernel's description, which names this program and the template.
pub fn install(folder: &Path, template: &Template) -> Result<()> {
    let program = std::env::current_exe().context("KERNEL052", "this program cannot be found")?;
    let description = json!({
        "argv": [program, "kernel", "run", "--connection-file", "{connection_file}"],
        "display_name": DISPLAY_NAME,
        "language": "rust",
        "interrupt_mode": "message",
        "env": { template::VARIABLE: template.path() },
        "metadata": { "debugger": false, "tpulab": env!("CARGO_PKG_VERSION") },
    });
    let text = format!("{description:#}\n");
    let failed = || format!("{} cannot be written", folder.display());
    fs::create_dir_all(folder).context("KERNEL052", failed())?;
    fs::write(folder.join("logo-svg.svg"), include_bytes!("logo.svg")).context("KERNEL052", failed())?;
    fs::write(folder.join("logo-32x32.png"), include_bytes!("logo-32x32.png")).context("KERNEL052", failed())?;
    fs::write(folder.join("logo-64x64.png"), include_bytes!("logo-64x64.png")).context("KERNEL052", failed())?;
    fs::write(folder.join("kernel.json"), text).context("KERNEL052", failed())
}

/// Removes the kernel from a folder, if it is this kernel.
pub fn uninstall(folder: &Path) -> Result<()> {
    if !is_ours(folder) {
        return Err(Error::new("KERNEL053", format!("{} does not hold this kernel", folder.display()))
            .help("`tpulab kernel list` shows where it is installed"));
    }
    fs::remove_dir_all(folder).context("KERNEL052", format!("{} cannot be removed", folder.display()))
}

/// The folders in which the kernel is installed, under any name.
pub fn list() -> Vec<PathBuf> {
    let mut places: Vec<PathBuf> =
        std::env::var_os("JUPYTER_PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default();
    places.extend(user_data().ok());
    places.extend(environment());
    places.extend(["/usr/local/share/jupyter", "/usr/share/jupyter"].map(PathBuf::from));
    let mut found = Vec::new();
    for place in places {
        let Ok(kernels) = fs::read_dir(place.join("kernels")) else { continue };
        found.extend(kernels.flatten().map(|kernel| kernel.path()).filter(|folder| is_ours(folder)));
    }
    found.sort();
    found.dedup();
    found
}

fn is_ours(folder: &Path) -> bool {
    let text = fs::read_to_string(folder.join("kernel.json")).unwrap_or_default();
    serde_json::from_str::<serde_json::Value>(&text)
        .is_ok_and(|description| description["metadata"]["tpulab"].is_string())
}

fn user_data() -> Result<PathBuf> {
    if let Some(folder) = std::env::var_os("JUPYTER_DATA_DIR") {
        return Ok(folder.into());
    }
    jupyter_zmq_client::dirs::user_data_dir()
        .context("KERNEL051", "this user has no folder for Jupyter's data")
        .map_err(|error| error.help("set JUPYTER_DATA_DIR, or give --prefix"))
}

fn environment() -> Option<PathBuf> {
    let set = ["CONDA_PREFIX", "VIRTUAL_ENV"].into_iter().find_map(std::env::var_os)?;
    Some(PathBuf::from(set).join("share/jupyter"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_jupyter_would_not_take_are_refused() {
        for name in ["tpulab", "tpulab-2", "a.b_c"] {
            assert!(check_name(name).is_ok(), "{name}");
        }
        for name in ["", "rust", "Rust", "a b", "../x", "é"] {
            assert_eq!(check_name(name).unwrap_err().code(), "KERNEL050", "{name}");
        }
    }

    #[test]
    fn only_this_kernel_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("kernel.json"), r#"{"argv": [], "metadata": {}}"#).unwrap();
        assert_eq!(uninstall(folder.path()).unwrap_err().code(), "KERNEL053");
        assert!(folder.path().exists());
    }
}
