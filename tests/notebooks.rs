//! The rules of the notebooks, and the figure that the README shows.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use tpulab::prelude::*;

const MOST_CODE_CELLS: usize = 25;
const MOST_LINES: usize = 20;
const MOST_BYTES: usize = 300 << 10;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn notebooks(folder: &str) -> Vec<PathBuf> {
    let files = fs::read_dir(root().join(folder)).expect("the folder is there");
    let mut files: Vec<PathBuf> = files.map(|entry| entry.expect("it can be listed").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "ipynb"));
    files.sort();
    files
}

fn all() -> Vec<PathBuf> {
    [notebooks("notebooks"), notebooks("notebooks/pt")].concat()
}

fn cells(file: &Path) -> Vec<Value> {
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let notebook: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    notebook["cells"].as_array().expect("a notebook has cells").clone()
}

fn source(cell: &Value) -> String {
    text(&cell["source"])
}

/// A text, which may stand there as a list of lines.
fn text(value: &Value) -> String {
    match value.as_array() {
        Some(lines) => lines.iter().filter_map(Value::as_str).collect(),
        None => value.as_str().unwrap_or_default().to_string(),
    }
}

fn is_code(cell: &Value) -> bool {
    cell["cell_type"] == "code"
}

#[test]
fn both_languages_have_the_same_code() {
    for file in notebooks("notebooks") {
        let twin = root().join("notebooks/pt").join(file.file_name().expect("a file"));
        let (english, portuguese) = (cells(&file), cells(&twin));
        assert_eq!(english.len(), portuguese.len(), "{}", twin.display());
        for (english, portuguese) in english.iter().zip(&portuguese) {
            let place = format!("{} cell {}", twin.display(), english["id"]);
            assert_eq!(english["id"], portuguese["id"], "{place}");
            assert_eq!(english["cell_type"], portuguese["cell_type"], "{place}");
            if is_code(english) {
                // The folder lies one deeper.
                assert_eq!(source(english), source(portuguese).replace("\"../..\"", "\"..\""), "{place}");
            } else {
                assert_ne!(source(english), source(portuguese), "{place} is not translated");
            }
        }
    }
    assert_eq!(notebooks("notebooks").len(), notebooks("notebooks/pt").len());
}

#[test]
fn cells_are_short_few_and_introduced() {
    for file in all() {
        let cells = cells(&file);
        let count = cells.iter().filter(|cell| is_code(cell)).count();
        assert!(count <= MOST_CODE_CELLS, "{} has {count} code cells", file.display());
        for pair in cells.windows(2) {
            let place = format!("{} cell {}", file.display(), pair[1]["id"]);
            assert!(!(is_code(&pair[0]) && is_code(&pair[1])), "{place} has no words before it");
            let lines = source(&pair[1]).lines().count();
            assert!(!is_code(&pair[1]) || lines <= MOST_LINES, "{place} has {lines} lines");
        }
    }
}

#[test]
fn outputs_are_there_and_say_nothing_of_a_machine() {
    for file in all() {
        let size = fs::metadata(&file).expect("the file is there").len() as usize;
        assert!(size <= MOST_BYTES, "{} has {size} bytes", file.display());
        let cells = cells(&file);
        for cell in cells.iter().filter(|cell| is_code(cell)) {
            let place = format!("{} cell {}", file.display(), cell["id"]);
            for output in cell["outputs"].as_array().expect("a code cell has outputs") {
                assert_ne!(output["output_type"], "error", "{place}");
                assert_ne!(output["name"], "stderr", "{place}");
                let shown = output.to_string();
                for path in ["/tmp/", "/home/", "/root/", "/Users/"] {
                    let given = source(cell).contains(path);
                    assert!(given || !shown.contains(path), "{place} shows a path: {path}");
                }
            }
        }
        let last = cells.iter().rfind(|cell| is_code(cell)).expect("a notebook has code");
        let said = text(&last["outputs"][0]["text"]);
        let (passed, expected) = said.trim().trim_end_matches(" checks passed").split_once(" of ").unwrap_or_default();
        assert!(passed == expected && !passed.is_empty(), "{}: {said:?}", file.display());
    }
}

#[test]
fn links_lead_somewhere() {
    let pages = ["README.md", "notebooks/README.md", "docs/from_python.md"].map(|page| root().join(page));
    for file in pages.into_iter().chain(all()) {
        let words = match file.extension().is_some_and(|extension| extension == "ipynb") {
            true => cells(&file).iter().filter(|cell| !is_code(cell)).map(source).collect::<Vec<_>>().join("\n"),
            false => fs::read_to_string(&file).expect("the page is there"),
        };
        for link in words.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let target = link.split('#').next().unwrap_or_default();
            let folder = file.parent().expect("a file is in a folder");
            let leads = target.contains("://") || target.is_empty() || folder.join(target).exists();
            assert!(leads, "{}: {link}", file.display());
        }
    }
}

#[test]
fn the_readmes_figure_is_the_librarys() -> Result<()> {
    let kept = fs::read_to_string(root().join("docs/batch_on_eight_cores.svg")).unwrap_or_default();
    let drawn = ShardPicture::new(128, 8)?.svg();
    assert!(kept == drawn, "docs/batch_on_eight_cores.svg is not what `ShardPicture::new(128, 8)?.svg()` draws");
    Ok(())
}
