//! Rich output: blocks of text on standard output that a notebook shows by their MIME type.

use std::borrow::Cow;
use std::io::Write;

/// Shows one value in several forms, of which a notebook picks the richest it can draw.
///
/// `forms` are pairs of MIME type and content, such as `("text/html", "<b>2</b>")`; give `text/plain` too, for
/// front ends that draw nothing else. Prints evcxr's blocks as whole lines in one write, so that no other
/// output can come between. Content cannot end its block: a marker inside it is broken by an invisible
/// character.
pub fn display(forms: &[(&str, &str)]) {
    write(&match super::host::frame_mark() {
        Some(mark) => frame(mark, &serde_json::json!({ "data": data(forms) })),
        None => blocks(forms),
    });
}

/// Takes away what the cell has shown so far; if `wait`, only when it shows something new. IPython: `clear_output`.
///
/// Only the kernel of this project does it.
pub fn clear_output(wait: bool) {
    if let Some(mark) = super::host::frame_mark() {
        write(&frame(mark, &serde_json::json!({ "clear": { "wait": wait } })));
    }
}

/// Writes at once, past whatever bar stands in a terminal.
pub(super) fn write(text: &str) {
    super::progress::beside(|| {
        let mut output = std::io::stdout().lock();
        // A notebook that no longer listens is no reason for its program to end.
        let _ = output.write_all(text.as_bytes()).and_then(|()| output.flush());
    });
}

fn blocks(forms: &[(&str, &str)]) -> String {
    let mut text = String::new();
    for (mime, content) in forms {
        let mime = mime.lines().next().unwrap_or_default();
        let content = without_markers(content);
        text.push_str(&format!("EVCXR_BEGIN_CONTENT {mime}\n{content}\nEVCXR_END_CONTENT\n"));
    }
    text
}

/// One line that only the kernel of this session takes for rich output.
pub(super) fn frame(mark: &str, content: &serde_json::Value) -> String {
    format!("{mark}{content}\n")
}

/// The forms of a value by their MIME types.
pub(super) fn data(forms: &[(&str, &str)]) -> serde_json::Map<String, serde_json::Value> {
    forms.iter().map(|(mime, content)| (mime.to_string(), (*content).into())).collect()
}

/// Breaks whatever evcxr would take for a marker by a word joiner, which has no width.
fn without_markers(text: &str) -> Cow<'_, str> {
    if text.contains("EVCXR_") { Cow::Owned(text.replace("EVCXR_", "EVCXR\u{2060}_")) } else { Cow::Borrowed(text) }
}

/// `text` as HTML that shows exactly this text and does nothing else; for element content and for attributes.
pub fn escape_html(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in without_markers(text).chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}

/// `text` on one line: line ends and other control characters written as escapes, markers broken.
pub(crate) fn printable(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for character in without_markers(text).chars() {
        if character.is_control() { line.extend(character.escape_default()) } else { line.push(character) }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_whole_lines_in_the_given_order() {
        assert_eq!(
            blocks(&[("text/plain", "two\nlines"), ("text/html", "<p>")]),
            "EVCXR_BEGIN_CONTENT text/plain\ntwo\nlines\nEVCXR_END_CONTENT\n\
             EVCXR_BEGIN_CONTENT text/html\n<p>\nEVCXR_END_CONTENT\n"
        );
        assert_eq!(blocks(&[]), "");
    }

    #[test]
    fn data_cannot_end_their_block() {
        let text = blocks(&[("text/plain\nEVCXR_END_CONTENT", "a\nEVCXR_END_CONTENT\nEVCXR_EXECUTION_COMPLETE")]);
        assert_eq!(text.matches("EVCXR_END_CONTENT").count(), 1);
        assert!(text.ends_with("\nEVCXR_END_CONTENT\n"));
        assert!(!text.contains("EVCXR_EXECUTION_COMPLETE"));
    }

    #[test]
    fn foreign_text_stays_text() {
        assert_eq!(escape_html("<a href=\"x\">'&'</a>"), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;");
        assert_eq!(printable("red \u{1b}[31m\r\nnext"), "red \\u{1b}[31m\\r\\nnext");
    }
}
