//! `:dep` lines: the library that is already there, and paths as the notebook means them.

use std::path::Path;

use toml_edit::{DocumentMut, Item, Value};

use crate::error::{Error, Result};
use crate::template::{FEATURES, Sources};

/// A cell whose `:dep` lines are ready for evcxr.
#[derive(Debug)]
pub struct Resolved {
    /// The cell; every line keeps its place.
    pub code: String,
    /// The library's sources, if it asks for others than those that are loaded.
    pub library: Option<Sources>,
}

/// Makes the `:dep` lines of a cell ready for evcxr.
///
/// A line that names the library by the path of a checkout becomes empty: it is loaded, or will be before the cell
/// runs. Other relative paths are taken from the folder `notebook`.
pub fn resolved(code: &str, notebook: &Path, loaded: &str) -> Result<Resolved> {
    let mut lines = Vec::new();
    let mut library = None;
    for line in code.split('\n') {
        lines.push(match line.trim_start().strip_prefix(":dep ") {
            Some(dependency) => one(line, dependency.trim(), notebook, loaded, &mut library)?,
            None => line.to_owned(),
        });
    }
    Ok(Resolved { code: lines.join("\n"), library })
}

fn one(line: &str, dependency: &str, notebook: &Path, loaded: &str, library: &mut Option<Sources>) -> Result<String> {
    let Ok(mut document) = dependency.parse::<DocumentMut>() else { return Ok(line.to_owned()) };
    let Some((name, item)) = document.iter_mut().next() else { return Ok(line.to_owned()) };
    let name = name.get().to_owned();
    if name == "tpulab" {
        let sources = wanted_library(item, notebook)?;
        *library = (sources.digest() != loaded).then_some(sources);
        return Ok(String::new());
    }
    if let Some(path) = item.get("path").and_then(Item::as_str).filter(|path| Path::new(path).is_relative()) {
        let path = notebook.join(path).to_string_lossy().into_owned();
        item["path"] = Item::Value(Value::from(path));
        return Ok(format!(":dep {}", document.to_string().trim()));
    }
    Ok(line.to_owned())
}

fn wanted_library(item: &Item, notebook: &Path) -> Result<Sources> {
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
    Sources::of_package(&notebook.join(path))
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
        let ready = resolved(code, &here(), &digest).unwrap();
        assert!(ready.library.is_none());
        assert_eq!(ready.code, "\n:dep rand = \"0.9\"\nlet x = 1;");
        let code = ":dep mine = { path = \"../mine\" }";
        assert_eq!(resolved(code, Path::new("/a/b"), "").unwrap().code, ":dep mine = { path = \"/a/b/../mine\" }");
    }

    #[test]
    fn other_sources_are_asked_for_and_other_forms_refused() {
        let refused = |line: &str| resolved(line, &here(), "other").unwrap_err().code();
        let changed = resolved(":dep tpulab = { path = \"..\" }", &here(), "other").unwrap();
        assert_eq!(changed.library.map(|sources| sources.digest()), Some(Sources::of_this_kernel().digest()));
        assert_eq!(refused(":dep tpulab = \"0.1\""), "KERNEL031");
        assert_eq!(refused(":dep tpulab = { path = \"..\", features = [\"gpu\"] }"), "KERNEL030");
        assert_eq!(refused(":dep tpulab = { path = \"nowhere\" }"), "KERNEL006");
    }
}
