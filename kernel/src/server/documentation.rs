//! What the library's sources say about a name.

use crate::template::Sources;

/// The words by which a documented item begins.
const ITEMS: [&str; 8] = ["fn", "const fn", "struct", "enum", "trait", "type", "const", "mod"];

/// The signature and the documentation of the first public item of this name. A path is searched by its last part,
/// preferring files that its other parts name.
pub fn find(path: &str) -> Option<String> {
    let parts: Vec<_> = path.split("::").collect();
    let (name, before) = parts.split_last()?;
    if name.is_empty() {
        return None;
    }
    let sources = Sources::of_this_kernel();
    let mut found: Vec<(usize, String)> = Vec::new();
    for (file, text) in sources.texts() {
        let fits = before.iter().filter(|part| file.contains(&part.to_lowercase())).count();
        found.extend(in_file(name, text).map(|item| (fits, item)));
    }
    // The first of those that fit best.
    let best = found.iter().map(|(fits, _)| *fits).max()?;
    found.into_iter().find(|(fits, _)| *fits == best).map(|(_, item)| item)
}

fn in_file(name: &str, text: &str) -> Option<String> {
    let lines: Vec<_> = text.lines().collect();
    let at = lines.iter().position(|line| declares(name, line.trim_start()))?;
    let mut signature = Vec::new();
    for line in &lines[at..] {
        let line = line.trim_end();
        signature.push(line.trim_end_matches('{').trim_end());
        if line.ends_with(['{', ';', '}', ')']) && !line.trim_start().starts_with('#') {
            break;
        }
    }
    let above = lines[..at].iter().rev().map(|line| line.trim_start());
    let mut docs: Vec<_> = above
        .take_while(|line| line.starts_with("///") || line.starts_with("#[") || line.ends_with(")]"))
        .filter_map(|line| line.strip_prefix("///"))
        .map(|line| line.strip_prefix(' ').unwrap_or(line))
        .collect();
    docs.reverse();
    Some(format!("{}\n\n{}\n", signature.join("\n"), docs.join("\n")))
}

fn declares(name: &str, line: &str) -> bool {
    let Some(rest) = line.strip_prefix("pub ") else { return false };
    ITEMS.iter().any(|item| {
        rest.strip_prefix(item).and_then(|rest| rest.strip_prefix(' ')).is_some_and(|rest| {
            rest.strip_prefix(name)
                .is_some_and(|rest| !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_'))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_library_are_explained() {
        let text = find("Estimator").unwrap();
        assert!(text.starts_with("pub struct Estimator"), "{text}");
        assert!(text.lines().count() > 3, "{text}");
        let text = find("tf::Dataset").unwrap();
        assert!(text.starts_with("pub struct Dataset"), "{text}");
        assert_eq!(find("NoSuchThing"), None);
        assert_eq!(find(""), None);
        assert_eq!(find("::"), None);
    }
}
