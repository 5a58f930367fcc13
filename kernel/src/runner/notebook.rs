use std::fs;
use std::path::{Path, PathBuf};

use jupyter_protocol::ExecutionCount;
use nbformat::v4::{Cell, CellId, CellMetadata, Output};

use super::client::Ended;
use crate::error::{Context, Error, Result};

/// A notebook of format 4.5.
pub struct Notebook {
    path: PathBuf,
    content: nbformat::v4::Notebook,
}

/// A cell that can be run.
pub struct CodeCell<'a> {
    id: &'a CellId,
    metadata: &'a CellMetadata,
    source: &'a [String],
    count: &'a mut Option<i32>,
    /// What it has put out.
    pub outputs: &'a mut Vec<Output>,
}

impl Notebook {
    /// Reads a notebook; older formats become 4.5.
    pub fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).context("RUNNER003", format!("{} cannot be read", path.display()))?;
        let wrong = || format!("{} is no notebook", path.display());
        let content = match nbformat::parse_notebook(&text).context("RUNNER003", wrong())? {
            nbformat::Notebook::V4(content) => content,
            nbformat::Notebook::V4QuirksMode(quirks) => quirks.repair(),
            nbformat::Notebook::Legacy(old) => nbformat::upgrade_legacy_notebook(old).context("RUNNER003", wrong())?,
            nbformat::Notebook::V3(old) => nbformat::upgrade_v3_notebook(old).context("RUNNER003", wrong())?,
            _ => return Err(Error::new("RUNNER003", format!("{} has an unknown format", path.display()))),
        };
        Ok(Notebook { path: path.to_owned(), content })
    }

    /// The folder that its paths are meant from.
    pub fn folder(&self) -> PathBuf {
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
    }

    /// Writes it as Jupyter does.
    pub fn write(&self, path: &Path) -> Result<()> {
        let text = nbformat::serialize_notebook(&nbformat::Notebook::V4(self.content.clone()))
            .context("RUNNER004", "the notebook cannot be written")?;
        // A notebook that was there stays whole until the new one is.
        let new = path.with_extension("ipynb.new");
        fs::write(&new, text)
            .and_then(|()| fs::rename(&new, path))
            .context("RUNNER004", format!("{} cannot be written", path.display()))
    }

    /// The cells that can be run.
    pub fn code_cells(&self) -> impl Iterator<Item = &Cell> {
        self.content.cells.iter().filter(|cell| matches!(cell, Cell::Code { .. }))
    }

    /// The cells that can be run, to be run.
    pub fn code_cells_mut(&mut self) -> impl Iterator<Item = CodeCell<'_>> {
        self.content.cells.iter_mut().filter_map(|cell| match cell {
            Cell::Code { id, metadata, execution_count: count, source, outputs } => {
                Some(CodeCell { id, metadata, source, count, outputs })
            }
            _ => None,
        })
    }

    /// Puts a cell with these values behind the one that has the tag `parameters`, as papermill does. A value keeps
    /// the type that the parameter has there.
    pub fn set_parameters(&mut self, parameters: &[(String, String)]) -> Result<()> {
        if parameters.is_empty() {
            return Ok(());
        }
        let tagged = |cell: &Cell| has_tag(cell.metadata(), "parameters");
        let at = self.content.cells.iter().position(tagged).ok_or_else(|| {
            Error::new("RUNNER005", format!("no cell of {} has the tag `parameters`", self.path.display()))
                .help("give that tag to the cell that sets the parameters")
        })?;
        let declared = self.content.cells[at].source().concat();
        let mut lines = Vec::new();
        for (name, value) in parameters {
            let declared = Declared::find(name, &declared).ok_or_else(|| {
                Error::new("RUNNER005", format!("the cell with the tag `parameters` has no `let {name}`"))
                    .help("only parameters that it sets can be given")
            })?;
            let literal = declared.form.literal(value).ok_or_else(|| {
                Error::new("RUNNER005", format!("{name} is {:?} in its cell, and {value:?} is given", declared.form))
            })?;
            lines.push(format!("let {name}{} = {literal};\n", declared.kind));
        }
        let id = CellId::new("injected-parameters").map_err(|error| Error::new("RUNNER005", error))?;
        let metadata = CellMetadata { tags: Some(vec!["injected-parameters".to_owned()]), ..CellMetadata::default() };
        self.content.cells.retain(|cell| cell.id() != &id);
        let cell = Cell::Code { id, metadata, execution_count: None, source: lines, outputs: Vec::new() };
        self.content.cells.insert(at + 1, cell);
        Ok(())
    }
}

/// How a cell sets a parameter.
struct Declared {
    /// `: type`, or empty if the cell says none.
    kind: String,
    form: Form,
}

/// What a parameter's value is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    Integer,
    Float,
    Bool,
    Text,
    /// Something that is worked out.
    Expression,
}

impl Form {
    fn of(kind: &str, value: &str) -> Self {
        let digits = value.trim_start_matches('-').starts_with(|first: char| first.is_ascii_digit());
        match value {
            "true" | "false" => Form::Bool,
            _ if value.starts_with('"') => Form::Text,
            _ if digits && (kind.contains("f32") || kind.contains("f64") || value.contains('.')) => Form::Float,
            _ if digits => Form::Integer,
            _ => Form::Expression,
        }
    }

    /// A given value as Rust writes it; none if it is of another form.
    fn literal(self, value: &str) -> Option<String> {
        let float =
            || value.parse::<f64>().ok().filter(|number| number.is_finite()).map(|number| format!("{number:?}"));
        match self {
            Form::Text => Some(format!("{value:?}")),
            Form::Bool => (value == "true" || value == "false").then(|| value.to_owned()),
            Form::Integer => value.parse::<i128>().ok().map(|number| number.to_string()),
            Form::Float => float(),
            Form::Expression => {
                [Form::Bool, Form::Integer, Form::Float, Form::Text].into_iter().find_map(|form| form.literal(value))
            }
        }
    }
}

/// The types that a number can end in.
const SUFFIXES: [&str; 14] =
    ["usize", "isize", "i128", "u128", "i16", "i32", "i64", "u16", "u32", "u64", "f32", "f64", "i8", "u8"];

impl Declared {
    fn find(name: &str, code: &str) -> Option<Self> {
        code.split(['\n', ';']).find_map(|statement| {
            let rest = statement.trim_start().strip_prefix("let ")?.trim_start();
            let rest = rest.strip_prefix("mut ").unwrap_or(rest).strip_prefix(name)?.trim_start();
            let (kind, value) = rest.split_once('=')?;
            let (kind, value) = (kind.trim_end(), value.trim());
            if !(kind.is_empty() || kind.starts_with(':')) {
                return None;
            }
            let digits = value.trim_start_matches('-').starts_with(|first: char| first.is_ascii_digit());
            let suffix = SUFFIXES.iter().find(|suffix| digits && value.ends_with(*suffix));
            let kind = match suffix {
                Some(suffix) if kind.is_empty() => format!(": {suffix}"),
                _ => kind.to_owned(),
            };
            let form = Form::of(&kind, value);
            Some(Declared { kind, form })
        })
    }
}

fn has_tag(metadata: &CellMetadata, tag: &str) -> bool {
    metadata.tags.iter().flatten().any(|one| one == tag)
}

impl CodeCell<'_> {
    /// Its name in the file.
    pub fn id(&self) -> &str {
        self.id.as_str()
    }

    /// Its text.
    pub fn code(&self) -> String {
        self.source.concat()
    }

    /// Whether it is not to be run.
    pub fn is_skipped(&self) -> bool {
        has_tag(self.metadata, "skip-execution") || self.code().trim().is_empty()
    }

    /// Whether it shows an error.
    pub fn raises_exception(&self) -> bool {
        has_tag(self.metadata, "raises-exception")
    }

    /// Takes over what a run put out.
    pub fn set_outputs(&mut self, number: usize, ended: &Ended) {
        *self.count = i32::try_from(number).ok();
        *self.outputs = ended.outputs.clone();
        for output in &mut *self.outputs {
            if let Output::ExecuteResult(result) = output {
                result.execution_count = ExecutionCount::new(number);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notebook(source: &str) -> Notebook {
        let text = serde_json::json!({
            "nbformat": 4, "nbformat_minor": 5, "metadata": { "own": { "kept": 1 } },
            "cells": [{ "cell_type": "code", "id": "a", "metadata": { "tags": ["parameters"] }, "outputs": [],
                        "execution_count": null, "source": source }],
        });
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.ipynb");
        fs::write(&path, text.to_string()).unwrap();
        Notebook::read(&path).unwrap()
    }

    #[test]
    fn parameters_follow_the_cell_that_declares_them_and_keep_its_types() {
        let mut notebook =
            notebook("let steps: u64 = 1000;\nlet mut name = \"iris\";\nlet rate = 0.1; let batch = 32usize;");
        let given = [("steps", "5"), ("name", "wine \"x\""), ("rate", "2"), ("batch", "16")];
        let given = given.map(|(name, value)| (name.to_owned(), value.to_owned()));
        notebook.set_parameters(&given).unwrap();
        let cells: Vec<_> = notebook.code_cells().collect();
        assert_eq!(
            cells[1].source().concat(),
            "let steps: u64 = 5;\nlet name = \"wine \\\"x\\\"\";\nlet rate = 2.0;\nlet batch: usize = 16;\n"
        );
        notebook.set_parameters(&given[..1]).unwrap();
        assert_eq!(notebook.code_cells().count(), 2, "given anew, not once more");
        for (name, value) in [("steps", "many"), ("steps", "1.5"), ("rate", "fast")] {
            let odd = [(name.to_owned(), value.to_owned())];
            assert_eq!(notebook.set_parameters(&odd).unwrap_err().code(), "RUNNER005", "{name}");
        }
        let unknown = [("step".to_owned(), "5".to_owned())];
        assert_eq!(notebook.set_parameters(&unknown).unwrap_err().code(), "RUNNER005");
    }

    #[test]
    fn the_projects_notebooks_are_written_as_they_were_read() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../notebooks");
        for name in ["iris_data_tpu.ipynb", "custom_tpuestimator.ipynb", "pt/custom_tpuestimator.ipynb"] {
            let path = folder.join(name);
            let written = tempfile::tempdir().unwrap();
            let copy = written.path().join("copy.ipynb");
            Notebook::read(&path).unwrap().write(&copy).unwrap();
            let (before, after) = (fs::read_to_string(path).unwrap(), fs::read_to_string(copy).unwrap());
            assert!(before == after, "{name} changes when it is written");
        }
    }

    #[test]
    fn what_is_no_notebook_is_said_to_be_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.ipynb");
        for text in ["", "{}", "[1]", r#"{"nbformat": 4, "nbformat_minor": 5, "cells": 3}"#] {
            fs::write(&path, text).unwrap();
            assert_eq!(Notebook::read(&path).err().map(|error| error.code()), Some("RUNNER003"), "{text}");
        }
    }
}
