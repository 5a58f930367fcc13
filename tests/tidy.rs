//! The house rules that no compiler checks: floors, modules' words, loose ends, dependencies, formatting.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// From the lowest floor up; a floor uses only those before it in this list.
const FLOORS: [&str; 25] = [
    "core",
    "notebook",
    "wire",
    "storage",
    "data",
    "plot",
    "graph",
    "nn",
    "layers",
    "losses",
    "metrics",
    "feature_column",
    "train",
    "engine",
    "checkpoint",
    "summary",
    "estimator",
    "hardware",
    "control_plane",
    "tpu",
    "lab",
    "iris",
    "flags",
    "prelude",
    "lib",
];

#[test]
fn each_floor_uses_only_those_below() {
    let mut wrong = Vec::new();
    for file in rust_files("src") {
        let module = module_of(&file);
        let Some(own) = FLOORS.iter().position(|floor| *floor == module[0]) else {
            wrong.push(format!("{}: `{}` is no floor", file.display(), module[0]));
            continue;
        };
        if module[0] == "lib" {
            continue;
        }
        for (line, target) in floors_named(&code_of(&read(&file)), module.len()) {
            let place = format!("{}:{line}", file.display());
            match FLOORS.iter().position(|floor| *floor == target) {
                Some(other) if other <= own => {}
                Some(_) => wrong.push(format!("{place}: `{}` stands below `{target}` and must not use it", module[0])),
                None => wrong.push(format!("{place}: `crate::{target}` is no floor; name the floor that defines it")),
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn every_module_says_what_it_knows() {
    let silent: Vec<PathBuf> = rust_files("src").into_iter().filter(|file| !read(file).starts_with("//! ")).collect();
    assert!(silent.is_empty(), "these begin without `//!`: {silent:?}");
}

#[test]
fn nothing_is_left_open() {
    // Put together here, so that this file does not find itself.
    let words =
        ["TO DO", "FIX ME", "dbg !", "todo !", "unimplemented !", "# [ignore"].map(|word| word.replace(' ', ""));
    let mut found = Vec::new();
    for file in ["src", "tests", "examples", "benches", "kernel"].into_iter().flat_map(rust_files) {
        for (number, line) in read(&file).lines().enumerate() {
            if words.iter().any(|word| line.contains(word.as_str())) {
                found.push(format!("{}:{}: {}", file.display(), number + 1, line.trim()));
            }
        }
    }
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

#[test]
fn the_changes_list_holds_the_version() {
    let changes = read(&root().join("CHANGELOG.md"));
    let version = env!("CARGO_PKG_VERSION");
    let headed = changes.lines().any(|line| line.starts_with("## ") && line.contains(version));
    assert!(headed, "CHANGELOG.md has no section `## {version}`");
}

#[test]
fn the_library_stands_on_few_crates() {
    // Learners compile them; macros that parse Rust cost the most.
    let arguments = ["tree", "--edges", "normal", "--prefix", "none", "--format", "{p}", "--offline", "--locked"];
    let tree = cargo(&[&arguments[..], &["--package", "tpulab"]].concat());
    let crates: BTreeSet<&str> = tree.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(crates.contains("ndarray"), "unexpected answer: {tree}");
    assert!(crates.len() <= 24, "tpulab and at most 23 others, found {}: {crates:?}", crates.len());
    for unwanted in ["syn", "evcxr", "tpulab-kernel"] {
        assert!(!crates.contains(unwanted), "the library depends on `{unwanted}`");
    }
}

#[test]
fn the_code_is_formatted() {
    cargo(&["fmt", "--check"]);
}

#[test]
fn floors_are_found_wherever_they_are_named() {
    let code = code_of(
        r#"
        use crate::core::{Array, Shape};
        use crate::{data, graph::{Graph, ops}};
        use super::super::wire::Field; // crate::comment::one
        /* crate::comment::two */
        fn f() -> crate::train::Optimizer { let text = "crate::text::one"; $crate::notebook::warn(text) }
        const QUOTE: char = '"'; type Slot = crate::engine::Slot<'static>;
        #[cfg(test)]
        mod tests { use crate::tpu::Only; fn g() { } }
        #[cfg(test)]
        use crate::lab::Only;
        use super::neighbour;
        pub(crate) use crate :: layers :: dense;
        "#,
    );
    let named: Vec<String> = floors_named(&code, 2).into_iter().map(|(_, floor)| floor).collect();
    assert_eq!(named, ["core", "data", "graph", "wire", "train", "notebook", "engine", "layers"]);
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

fn rust_files(folder: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut open = vec![root().join(folder)];
    while let Some(folder) = open.pop() {
        let Ok(entries) = fs::read_dir(folder) else { continue };
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.is_dir() && path.file_name().is_some_and(|name| name != "target") {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// `src/graph/ops/math.rs` is `graph`, `ops`, `math`.
fn module_of(file: &Path) -> Vec<String> {
    let inside = file.strip_prefix(root().join("src")).expect("it lies in src").with_extension("");
    let mut parts: Vec<String> = inside.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if parts.last().is_some_and(|last| last == "mod") {
        parts.pop();
    }
    parts
}

/// The code with comments, texts and what only tests see blanked out; lines stay where they are.
fn code_of(source: &str) -> String {
    without_tests(&without_comments_and_texts(source))
}

fn without_comments_and_texts(source: &str) -> String {
    let characters: Vec<char> = source.chars().collect();
    let mut code = String::with_capacity(source.len());
    let mut at = 0;
    while at < characters.len() {
        let end = match (characters[at], characters.get(at + 1)) {
            ('/', Some('/')) => until(&characters, at, &['\n']),
            ('/', Some('*')) => until(&characters, at + 2, &['*', '/']) + 2,
            ('r', Some('#')) if characters.get(at + 2) == Some(&'"') => until(&characters, at + 3, &['"', '#']) + 2,
            ('"', _) => end_of_text(&characters, at),
            ('\'', Some('\\')) => until(&characters, at + 3, &['\'']) + 1,
            ('\'', Some(_)) if characters.get(at + 2) == Some(&'\'') => at + 3,
            _ => {
                code.push(characters[at]);
                at += 1;
                continue;
            }
        };
        let end = end.min(characters.len());
        code.extend(characters[at..end].iter().map(|&character| if character == '\n' { '\n' } else { ' ' }));
        at = end;
    }
    code
}

fn until(characters: &[char], from: usize, mark: &[char]) -> usize {
    (from..characters.len()).find(|&at| characters[at..].starts_with(mark)).unwrap_or(characters.len())
}

fn end_of_text(characters: &[char], start: usize) -> usize {
    let mut at = start + 1;
    while at < characters.len() && characters[at] != '"' {
        at += if characters[at] == '\\' { 2 } else { 1 };
    }
    at + 1
}

/// Blanks the item behind each `#[cfg(test)]`: up to its closing brace, or to its semicolon.
fn without_tests(code: &str) -> String {
    const MARK: &str = "#[cfg(test)]";
    let mut rest = code;
    let mut kept = String::with_capacity(code.len());
    while let Some(start) = rest.find(MARK) {
        kept.push_str(&rest[..start]);
        let mut depth = 0;
        let mut end = rest.len();
        for (at, character) in rest.char_indices().skip_while(|(at, _)| *at < start) {
            depth += i32::from(character == '{') - i32::from(character == '}');
            if depth == 0 && (character == '}' || character == ';') {
                end = at + 1;
                break;
            }
        }
        kept.extend(rest[start..end].chars().filter(|character| *character == '\n'));
        rest = &rest[end..];
    }
    kept + rest
}

/// The floors that a file at this depth names, each with its line: behind `crate::`, and behind as many `super::` as
/// lead to the root.
fn floors_named(code: &str, depth: usize) -> Vec<(usize, String)> {
    let root_path = vec!["super"; depth].join("::");
    let mut named = Vec::new();
    // Spaces around `::` and braces carry no meaning.
    let words = tokens(code);
    for (index, (line, word)) in words.iter().enumerate() {
        let from_root = match word.as_str() {
            "crate" => index + 1,
            "super" if index == 0 || words[index - 1].1 != "::" => {
                let path: Vec<&str> =
                    words[index..].iter().take(2 * depth - 1).map(|(_, word)| word.as_str()).collect();
                if path.concat() != root_path {
                    continue;
                }
                index + 2 * depth - 1
            }
            _ => continue,
        };
        if words.get(from_root).is_none_or(|(_, word)| word != "::") {
            continue;
        }
        named.extend(first_segments(&words[from_root + 1..]).into_iter().map(|floor| (*line, floor)));
    }
    named
}

/// `a::b` begins with `a`; `{a::b, c}` with `a` and `c`.
fn first_segments(words: &[(usize, String)]) -> Vec<String> {
    let Some((_, first)) = words.first() else { return Vec::new() };
    if first != "{" {
        return vec![first.clone()];
    }
    let mut depth = 0;
    let mut segments = Vec::new();
    let mut before = "";
    for (_, word) in words {
        if depth == 1 && (before == "{" || before == ",") && word != "}" {
            segments.push(word.clone());
        }
        depth += i32::from(word == "{") - i32::from(word == "}");
        if depth == 0 {
            break;
        }
        before = word;
    }
    segments
}

/// Names, `::`, and single signs, each with its line.
fn tokens(code: &str) -> Vec<(usize, String)> {
    let mut tokens = Vec::new();
    for (number, line) in code.lines().enumerate() {
        let mut rest = line.trim_start();
        while let Some(first) = rest.chars().next() {
            let is_name = |character: char| character.is_alphanumeric() || character == '_';
            let length = if rest.starts_with("::") {
                2
            } else if is_name(first) {
                rest.find(|character| !is_name(character)).unwrap_or(rest.len())
            } else {
                first.len_utf8()
            };
            tokens.push((number + 1, rest[..length].to_string()));
            rest = rest[length..].trim_start();
        }
    }
    tokens
}

/// What a cargo command prints; it must succeed.
fn cargo(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO"))
        .args(arguments)
        .current_dir(root())
        .output()
        .unwrap_or_else(|error| panic!("cargo {arguments:?}: {error}"));
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo {}:\n{printed}{errors}", arguments.join(" "));
    printed
}
