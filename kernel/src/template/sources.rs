//! The library's sources, and how two states of them are told apart.

use std::fs;
use std::path::Path;

use sha2::{Digest, Sha256};
use toml_edit::DocumentMut;

use crate::error::{Context, Error, Result};

mod embedded {
    include!(concat!(env!("OUT_DIR"), "/sources.rs"));
}

/// What the library is built from: names below its root, and contents.
#[derive(Clone, Debug, PartialEq)]
pub struct Sources {
    files: Vec<(String, Vec<u8>)>,
}

impl Sources {
    /// The sources that this kernel carries.
    pub fn of_this_kernel() -> Self {
        let mut files: Vec<_> =
            embedded::FILES.iter().map(|(name, bytes)| (name.to_string(), bytes.to_vec())).collect();
        files.sort();
        Sources { files }
    }

    /// The sources in the folder of a package, if that package is the library.
    pub fn of_package(root: &Path) -> Result<Self> {
        let missing = || format!("{} is no checkout of tpulab", root.display());
        let manifest = fs::read_to_string(root.join("Cargo.toml")).context("KERNEL006", missing())?;
        let name = manifest
            .parse::<DocumentMut>()
            .ok()
            .and_then(|manifest| Some(manifest.get("package")?.get("name")?.as_str()?.to_owned()));
        if name.as_deref() != Some("tpulab") {
            return Err(Error::new("KERNEL006", missing()).help("give the folder that holds tpulab's Cargo.toml"));
        }
        let mut files = Vec::new();
        for (name, _) in embedded::FILES.iter().filter(|(name, _)| !name.contains('/')) {
            if let Ok(bytes) = fs::read(root.join(name)) {
                files.push((name.to_string(), bytes));
            }
        }
        for folder in ["docs", "src"] {
            collect(root, &root.join(folder), &mut files).context("KERNEL006", missing())?;
        }
        files.sort();
        Ok(Sources { files })
    }

    /// The library's Rust files: their names and texts.
    pub fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        let rust = self.files.iter().filter(|(name, _)| name.starts_with("src/") && name.ends_with(".rs"));
        rust.filter_map(|(name, bytes)| Some((name.as_str(), std::str::from_utf8(bytes).ok()?)))
    }

    /// A digest of what decides the compiled library; the same sources give the same digest anywhere.
    pub fn digest(&self) -> String {
        let mut hasher = Sha256::new();
        for (name, bytes) in self.files.iter().filter(|(name, _)| decides(name)) {
            for part in [name.as_bytes(), bytes] {
                hasher.update((part.len() as u64).to_le_bytes());
                hasher.update(part);
            }
        }
        hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The versions that the library is tested with.
    pub fn lock(&self) -> Vec<u8> {
        self.files.iter().find(|(name, _)| name == "Cargo.lock").map(|(_, bytes)| bytes.clone()).unwrap_or_default()
    }

    /// Writes them into the folder `to`; files that are already as they should be keep their times.
    pub fn write(&self, to: &Path) -> std::io::Result<()> {
        for (name, bytes) in self.files.iter().filter(|(name, _)| name != "Cargo.lock") {
            let path = to.join(name);
            let bytes = if name == "Cargo.toml" { library_alone(bytes) } else { bytes.clone() };
            if fs::read(&path).ok().as_ref() != Some(&bytes) {
                path.parent().map_or(Ok(()), fs::create_dir_all)?;
                fs::write(path, bytes)?;
            }
        }
        Ok(())
    }
}

fn decides(name: &str) -> bool {
    name == "Cargo.toml" || name == "Cargo.lock" || name.starts_with("src/")
}

/// The manifest without what is not copied: the workspace, tests, benches and what only they need.
fn library_alone(manifest: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(manifest);
    match text.parse::<DocumentMut>() {
        Ok(mut manifest) => {
            for part in ["workspace", "dev-dependencies", "test", "bench", "example", "profile"] {
                manifest.remove(part);
            }
            manifest.to_string().into_bytes()
        }
        Err(_) => manifest.to_vec(),
    }
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<(String, Vec<u8>)>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(root, &path, files)?;
        } else if let Ok(name) = path.strip_prefix(root) {
            files.push((name.to_string_lossy().into_owned(), fs::read(&path)?));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checkout_has_the_digest_that_the_kernel_carries() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        assert_eq!(Sources::of_package(&root).unwrap().digest(), Sources::of_this_kernel().digest());
    }

    #[test]
    fn a_changed_line_changes_the_digest_and_a_page_does_not() {
        let sources = Sources::of_this_kernel();
        let changed = |name: &str| {
            let mut sources = sources.clone();
            sources.files.iter_mut().find(|file| file.0 == name).unwrap().1.push(b'\n');
            sources.digest()
        };
        assert_ne!(changed("src/lib.rs"), sources.digest());
        assert_eq!(changed("README.md"), sources.digest());
    }

    #[test]
    fn the_copied_manifest_stands_alone() {
        let folder = tempfile::tempdir().unwrap();
        Sources::of_this_kernel().write(folder.path()).unwrap();
        let manifest = fs::read_to_string(folder.path().join("Cargo.toml")).unwrap();
        assert!(!manifest.contains("[workspace]") && !manifest.contains("[[bench]]"));
        assert!(manifest.contains("crate-type = [\"lib\", \"dylib\"]"));
    }
}
