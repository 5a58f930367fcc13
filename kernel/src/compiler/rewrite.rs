//! The source that evcxr generates around a cell: its marks are taken off the standard streams, and what the loaded
//! library holds compiled is not compiled again.
//!
//! Whatever is replaced keeps its number of lines, so the compiler's messages keep their places.

use crate::runtime::streams::{ANSWERS, REPORTS};
use crate::session::Folder;

/// Rewrites the source of the session's cell.
pub fn source(folder: &Folder) -> std::io::Result<()> {
    let path = folder.source();
    let source = std::fs::read_to_string(&path)?;
    let source = match Marks::of(folder) {
        Marks::InTheCell => redirected(&source, Marks::InTheCell),
        Marks::InTheLibrary => redirected(&without_runtime(&source), Marks::InTheLibrary),
    };
    std::fs::write(path, source)
}

/// Where the code lies that writes a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Marks {
    /// In the cell, which can do without the library.
    InTheCell,
    /// In the library's module `notebook::cells`.
    InTheLibrary,
}

impl Marks {
    /// Sources of another version may lack the module, and a session is first without the library.
    fn of(folder: &Folder) -> Self {
        let manifest = std::fs::read_to_string(folder.manifest()).unwrap_or_default();
        let loaded = manifest.lines().any(|line| line.starts_with(DEPENDENCY));
        let holds = folder.library().join(CELLS).exists();
        if loaded && holds { Marks::InTheLibrary } else { Marks::InTheCell }
    }
}

/// How the line of the manifest begins that names the library.
const DEPENDENCY: &str = "tpulab = ";

/// Where the library's sources hold what is called.
const CELLS: &str = "src/notebook/cells.rs";

/// How evcxr's module begins and how its last item does.
const RUNTIME: &str = "mod evcxr_internal_runtime {\n// Copyright 2020 The Evcxr Authors.\n";
const LAST_ITEM: &str = "\npub fn create_variable_store() ";
const ENDS: &str = "\n}\n}\n";

/// The source with the library's module in the place of evcxr's own, or unchanged if it is not as expected.
fn without_runtime(source: &str) -> String {
    let parts = || {
        let (before, rest) = source.split_once(RUNTIME)?;
        let (_, last) = rest.split_once(LAST_ITEM)?;
        let (_, after) = last.split_once(ENDS)?;
        Some((before, after))
    };
    let Some((before, after)) = parts() else { return source.to_owned() };
    let lines = source[before.len()..source.len() - after.len()].lines().count();
    format!("{before}use ::tpulab::notebook::cells as evcxr_internal_runtime;{}{after}", "\n".repeat(lines))
}

/// The cell's own text, kept from looking like a mark: `println!("EVCXR_…` gets a space.
pub fn without_marks(cell: &str) -> String {
    cell.replace("println!(\"EVCXR_", "println!( \"EVCXR_")
}

fn redirected(source: &str, marks: Marks) -> String {
    let mut text = String::with_capacity(source.len() + 1024);
    for line in source.lines() {
        match marks.instead_of(line.trim()) {
            Some(other) => text.push_str(&other),
            None => text.push_str(line),
        }
        text.push('\n');
    }
    text
}

impl Marks {
    fn instead_of(self, line: &str) -> Option<String> {
        Some(match line {
            "println!(\"EVCXR_PANIC_NOTIFICATION\");" => {
                self.answer("\"EVCXR_PANIC_NOTIFICATION\\n\"") + &self.report("panicked", "\"\"")
            }
            "println!(\"{}\", evcxr_internal_runtime::USER_ERROR_OCCURRED);" => {
                self.answer("\"EVCXR_ERROR_OCCURRED\\n\"")
            }
            "println!(\"{VARIABLE_CHANGED_TYPE}{name}\");" => {
                self.answer("&format!(\"EVCXR_VARIABLE_CHANGED_TYPE:{name}\\n\")")
            }
            "eprintln!(\"The type of the variable {name} was redefined, so was lost.\",);" => {
                self.report("lost", "name")
            }
            ").evcxr_display();" => format!(").evcxr_display(); {}", self.report("result", "\"\"")),
            _ => {
                let form = line.strip_prefix("eprintln!(\"")?.strip_suffix("\", error);")?;
                matches!(form, "{}" | "{:?}" | "{:#?}")
                    .then(|| self.report("error", &format!("&format!(\"{form}\", error)")))?
            }
        })
    }

    /// Code that writes a line for evcxr; `text` is an expression of type `&str`.
    fn answer(self, text: &str) -> String {
        match self {
            Marks::InTheLibrary => format!("::tpulab::notebook::cells::answer({text});"),
            Marks::InTheCell => write(ANSWERS, text),
        }
    }

    /// Code that reports to the kernel; `body` is an expression of type `&str`.
    fn report(self, word: &str, body: &str) -> String {
        match self {
            Marks::InTheLibrary => format!("::tpulab::notebook::cells::report(\"{word}\", {body});"),
            Marks::InTheCell => {
                let text = format!("&{{ let body: &str = {body}; format!(\"{word} {{}}\\n{{}}\", body.len(), body) }}");
                write(REPORTS, &text)
            }
        }
    }
}

fn write(descriptor: i32, text: &str) -> String {
    format!(
        "{{ let text: &str = {text}; let _ = ::std::io::Write::write_all(&mut *::std::mem::ManuallyDrop::new(unsafe \
         {{ <::std::fs::File as ::std::os::fd::FromRawFd>::from_raw_fd({descriptor}) }}), text.as_bytes()); }}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_leave_the_standard_streams_and_lines_keep_their_places() {
        let source = "fn a() {}\n    println!(\"EVCXR_PANIC_NOTIFICATION\");\n   eprintln!(\"{}\", error);\nlast";
        let text = redirected(source, Marks::InTheCell);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!((lines.len(), lines[0], lines[3]), (4, "fn a() {}", "last"));
        assert!(!text.contains("println!"), "{text}");
        assert!(lines[1].contains("from_raw_fd(200)") && lines[2].contains("from_raw_fd(201)"));
    }

    #[test]
    fn a_cell_may_print_what_evcxr_prints() {
        let cell = without_marks("println!(\"EVCXR_PANIC_NOTIFICATION\");");
        assert_eq!(redirected(&cell, Marks::InTheLibrary).trim_end(), cell);
    }

    #[test]
    fn the_library_stands_for_what_evcxr_compiles_with_each_cell() {
        let runtime = "pub struct VariableStore {\n}\n\npub fn create_variable_store() -> u8 {\n    0\n}\n";
        let source = format!("use a;\n{RUNTIME}{runtime}}}\nfn cell() {{\n}}\n");
        let text = without_runtime(&source);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[..2], ["use a;", "use ::tpulab::notebook::cells as evcxr_internal_runtime;"]);
        assert!(!text.contains("VariableStore") && text.ends_with("\nfn cell() {\n}\n"), "{text}");
        assert_eq!(lines.len(), source.lines().count());
        assert_eq!(without_runtime("mod evcxr_internal_runtime {\n}"), "mod evcxr_internal_runtime {\n}");
    }
}
