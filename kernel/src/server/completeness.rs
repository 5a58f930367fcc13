//! Whether a text is ready to run, for front ends that decide by it what the Enter key does.

use jupyter_protocol::IsCompleteReply;
use ra_ap_syntax::{Edition, SourceFile, SyntaxKind};

/// Complete, invalid, or incomplete with the indent for the next line.
pub fn check(code: &str) -> IsCompleteReply {
    // Commands stand on lines of their own.
    let rust: String =
        code.lines().map(|line| if line.starts_with(':') { "\n" } else { line }.to_owned() + "\n").collect();
    let depth = match brackets(&rust) {
        Some(depth) => depth,
        None => return IsCompleteReply::invalid(),
    };
    if depth > 0 {
        return IsCompleteReply::incomplete(indent(code, true));
    }
    let head = "fn cell() {\n";
    let body = rust.trim_end();
    let parsed = SourceFile::parse(&format!("{head}{body}\n}}"), Edition::Edition2024);
    let end = head.len() + body.len();
    let errors = parsed.errors();
    if errors.is_empty() {
        IsCompleteReply::complete()
    } else if errors.iter().any(|error| error.to_string().contains("Missing trailing"))
        || errors.iter().all(|error| usize::from(error.range().start()) >= end)
    {
        IsCompleteReply::incomplete(indent(code, false))
    } else {
        IsCompleteReply::invalid()
    }
}

/// How many brackets are open at the end; none if they do not fit together.
fn brackets(code: &str) -> Option<usize> {
    let parsed = SourceFile::parse(code, Edition::Edition2024);
    let mut open = Vec::new();
    let tokens = parsed.syntax_node().descendants_with_tokens();
    for kind in tokens.filter_map(|element| element.into_token()).map(|token| token.kind()) {
        match kind {
            SyntaxKind::L_CURLY | SyntaxKind::L_PAREN | SyntaxKind::L_BRACK => open.push(kind),
            SyntaxKind::R_CURLY if open.pop() != Some(SyntaxKind::L_CURLY) => return None,
            SyntaxKind::R_PAREN if open.pop() != Some(SyntaxKind::L_PAREN) => return None,
            SyntaxKind::R_BRACK if open.pop() != Some(SyntaxKind::L_BRACK) => return None,
            _ => {}
        }
    }
    Some(open.len())
}

/// The indent of the last line, one step deeper after a bracket.
fn indent(code: &str, deeper: bool) -> String {
    let last = code.trim_end().lines().last().unwrap_or("");
    let mut indent: String = last.chars().take_while(|letter| *letter == ' ').collect();
    if deeper && last.ends_with(['{', '(', '[']) {
        indent.push_str("    ");
    }
    indent
}

#[cfg(test)]
mod tests {
    use jupyter_protocol::IsCompleteReplyStatus;

    use super::*;

    #[test]
    fn what_is_ready_is_told_from_what_goes_on() {
        for code in [
            "",
            "1 + 1",
            "let x = 5;",
            "fn f() -> u8 { 1 }",
            "use std::fmt;\nstruct A;",
            ":dep csv = \"1\"",
            ":opt 2\nlet a = 1;",
            "println!(\"{}\", \"}\");",
            "for i in 0..3 {\n    print!(\"{i}\")\n}",
            "// a remark",
            "let text = 'a';",
        ] {
            assert_eq!(check(code).status, IsCompleteReplyStatus::Complete, "{code}");
        }
        for (code, indent) in [
            ("fn f() {", "    "),
            ("  if a == [", "      "),
            ("let x =", ""),
            ("1 +", ""),
            ("let s = \"abc", ""),
            ("/* a remark", ""),
            ("struct A {\n    a: u8,", "    "),
            ("#[derive(Debug)]", ""),
            ("f(1,\n  2", "  "),
        ] {
            let reply = check(code);
            assert_eq!((reply.status, reply.indent.as_str()), (IsCompleteReplyStatus::Incomplete, indent), "{code}");
        }
        for code in ["}", "fn f() { ]", "let 1 x = ;", "import numpy as np", "let x = = 1;", "(]"] {
            assert_eq!(check(code).status, IsCompleteReplyStatus::Invalid, "{code}");
        }
    }
}
