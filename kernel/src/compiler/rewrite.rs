//! The marks that evcxr puts into the source it generates, taken off the standard streams.
//!
//! Every mark is a line of its own, so the source keeps its lines and the compiler's messages their places.

use std::path::Path;

use crate::runtime::streams::{ANSWERS, REPORTS};

/// Redirects the marks of the source file at `path`.
pub fn source(path: &Path) -> std::io::Result<()> {
    let source = std::fs::read_to_string(path)?;
    std::fs::write(path, redirected(&source))
}

/// The cell's own text, kept from looking like a mark: `println!("EVCXR_…` gets a space.
pub fn without_marks(cell: &str) -> String {
    cell.replace("println!(\"EVCXR_", "println!( \"EVCXR_")
}

fn redirected(source: &str) -> String {
    let mut text = String::with_capacity(source.len() + 1024);
    for line in source.lines() {
        match instead_of(line.trim()) {
            Some(other) => text.push_str(&other),
            None => text.push_str(line),
        }
        text.push('\n');
    }
    text
}

fn instead_of(line: &str) -> Option<String> {
    Some(match line {
        "println!(\"EVCXR_PANIC_NOTIFICATION\");" => {
            answer("EVCXR_PANIC_NOTIFICATION\\n") + &report("panicked", "String::new()")
        }
        "println!(\"{}\", evcxr_internal_runtime::USER_ERROR_OCCURRED);" => answer("EVCXR_ERROR_OCCURRED\\n"),
        "println!(\"{VARIABLE_CHANGED_TYPE}{name}\");" => answer("EVCXR_VARIABLE_CHANGED_TYPE:{name}\\n"),
        "eprintln!(\"The type of the variable {name} was redefined, so was lost.\",);" => {
            report("lost", "name.to_string()")
        }
        ").evcxr_display();" => format!(").evcxr_display(); {}", report("result", "String::new()")),
        _ => {
            let form = line.strip_prefix("eprintln!(\"")?.strip_suffix("\", error);")?;
            matches!(form, "{}" | "{:?}" | "{:#?}").then(|| report("error", &format!("format!(\"{form}\", error)")))?
        }
    })
}

fn answer(text: &str) -> String {
    write(ANSWERS, &format!("format!(\"{text}\")"))
}

fn report(word: &str, body: &str) -> String {
    let text = format!("{{ let body = {body}; format!(\"{word} {{}}\\n{{}}\", body.len(), body) }}");
    write(REPORTS, &text)
}

fn write(descriptor: i32, text: &str) -> String {
    format!(
        "{{ let text: String = {text}; let _ = ::std::io::Write::write_all(&mut *::std::mem::ManuallyDrop::new(unsafe \
         {{ <::std::fs::File as ::std::os::fd::FromRawFd>::from_raw_fd({descriptor}) }}), text.as_bytes()); }}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_leave_the_standard_streams_and_lines_keep_their_places() {
        let source = "fn a() {}\n    println!(\"EVCXR_PANIC_NOTIFICATION\");\n   eprintln!(\"{}\", error);\nlast";
        let text = redirected(source);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!((lines.len(), lines[0], lines[3]), (4, "fn a() {}", "last"));
        assert!(!text.contains("println!"), "{text}");
        assert!(lines[1].contains("from_raw_fd(200)") && lines[2].contains("from_raw_fd(201)"));
    }

    #[test]
    fn a_cell_may_print_what_evcxr_prints() {
        let cell = without_marks("println!(\"EVCXR_PANIC_NOTIFICATION\");");
        assert_eq!(redirected(&cell).trim_end(), cell);
    }
}
