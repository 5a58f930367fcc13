//! Puts the library's sources into the kernel, so that it can build the library wherever it is installed.

use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// What the library is built from.
const PARTS: [&str; 7] = ["Cargo.toml", "Cargo.lock", "README.md", "LICENSE-MIT", "LICENSE-APACHE", "docs", "src"];

fn main() -> Result<(), Box<dyn Error>> {
    let root = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?).join("..").canonicalize()?;
    let mut files = Vec::new();
    for part in PARTS {
        println!("cargo::rerun-if-changed={}", root.join(part).display());
        collect(&root.join(part), &mut files)?;
    }
    files.sort();
    let mut code = String::from("pub const FILES: &[(&str, &[u8])] = &[\n");
    for file in files {
        let name = file.strip_prefix(&root)?.to_str().ok_or("a source file's name is no text")?;
        let place = file.to_str().ok_or("the sources' folder is no text")?;
        writeln!(code, "({name:?}, include_bytes!({place:?})),")?;
    }
    code.push_str("];\n");
    let output = PathBuf::from(std::env::var("OUT_DIR")?).join("sources.rs");
    Ok(fs::write(output, code)?)
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            collect(&entry?.path(), files)?;
        }
    } else {
        files.push(path.to_owned());
    }
    Ok(())
}
