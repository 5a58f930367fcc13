//! `:dep` lines: the library that is already there, and paths as the notebook means them.

use std::path::Path;

use toml_edit::{DocumentMut, Item, Value};

use crate::error::{Error, Result};
use crate::template::{FEATURES, Sources};

/// The cell with its `:dep` lines made ready for evcxr; every line keeps its place.
///
/// A line that names the library loaded, by the path of sources with the digest `loaded`, becomes empty. Other
/// relative paths are taken from the folder `notebook`.
pub fn resolved(code: &str, notebook: &Path, loaded: &str) -> Result<String> {
    let mut lines = Vec::new();
    for line in code.split('\n') {
        lines.push(match line.trim_start().strip_prefix(":dep ") {
            Some(dependency) => one(line, dependency.trim(), notebook, loaded)?,
            None => line.to_owned(),
        });
    }
    Ok(lines.join("\n"))
}

fn one(line: &str, dependency: &str, notebook: &Path, loaded: &str) -> Result<String> {
    let Ok(mut document) = dependency.parse::<DocumentMut>() else { return Ok(line.to_owned()) };
    let Some((name, item)) = document.iter_mut().next() else { return Ok(line.to_owned()) };
    let name = name.get().to_owned();
    if name == "tpulab" {
        return library(item, notebook, loaded).map(|()| String::new());
    }
    if let Some(path) = item.get("path").and_then(Item::as_str).filter(|path| Path::new(path).is_relative()) {
        let path = notebook.join(path).to_string_lossy().into_owned();
        item["path"] = Item::Value(Value::from(path));
        return Ok(format!(":dep {}", document.to_string().trim()));
    }
    Ok(line.to_owned())
}

fn library(item: &Item, notebook: &Path, loaded: &str) -> Result<()> {
    let wanted = item.get("features").and_then(Item::as_array);
    let wanted =
        wanted.map(|features| features.iter().filter_map(Value::as_str).collect::<Vec<_>>()).unwrap_or_default();
    if let Some(missing) = wanted.iter().find(|feature| !FEATURES.contains(feature)) {
        let have = FEATURES.join(", ");
        return Err(Error::new("KERNEL030", format!("tpulab is loaded with the features {have}, not with {missing}"))
            .help("take the feature out of the line, or use evcxr's own kernel"));
    }
    let Some(path) = item.get("path").and_then(Item::as_str) else {
        return Err(Error::new(
            "KERNEL031",
            "tpulab is loaded already, and no other version of it can be loaded beside it",
        )
        .help("take the line out; `use tpulab` works without it"));
    };
    let path = notebook.join(path);
    if Sources::of_package(&path)?.digest() != loaded {
        return Err(Error::new(
            "KERNEL032",
            format!("the sources in {} are not those that are loaded", path.display()),
        )
        .help("run `cargo run --release -p tpulab-kernel -- kernel install` in that checkout and restart the kernel"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn here() -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../notebooks")
    }

    #[test]
    fn the_loaded_library_costs_nothing_and_other_lines_stay() {
        let digest = Sources::of_this_kernel().digest();
        let code = ":dep tpulab = { path = \"..\", features = [\"linfa\"] }\n:dep rand = \"0.9\"\nlet x = 1;";
        assert_eq!(resolved(code, &here(), &digest).unwrap(), "\n:dep rand = \"0.9\"\nlet x = 1;");
        let code = ":dep mine = { path = \"../mine\" }";
        assert_eq!(resolved(code, Path::new("/a/b"), "").unwrap(), ":dep mine = { path = \"/a/b/../mine\" }");
    }

    #[test]
    fn another_library_is_refused_with_the_way_out() {
        let refused = |line: &str| resolved(line, &here(), "other").unwrap_err().code();
        assert_eq!(refused(":dep tpulab = { path = \"..\" }"), "KERNEL032");
        assert_eq!(refused(":dep tpulab = \"0.1\""), "KERNEL031");
        assert_eq!(refused(":dep tpulab = { path = \"..\", features = [\"gpu\"] }"), "KERNEL030");
        assert_eq!(refused(":dep tpulab = { path = \"nowhere\" }"), "KERNEL006");
    }
}
