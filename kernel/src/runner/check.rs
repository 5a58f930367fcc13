//! Whether two runs put out the same, numbers within a tolerance.

use jupyter_protocol::{Media, MediaType};
use nbformat::v4::Output;

/// How much two numbers may differ, relative to the larger one.
const TOLERANCE: f64 = 1e-3;

/// What differs between the outputs that are saved and those of a new run. Whether a value was shown by the last
/// expression or before makes no difference.
pub fn difference(saved: &[Output], new: &[Output]) -> Option<String> {
    let (saved, new): (Vec<_>, Vec<_>) = (saved.iter().map(parts).collect(), new.iter().map(parts).collect());
    for (index, (old, now)) in saved.iter().zip(&new).enumerate() {
        for (kind, text) in old {
            let other = now.iter().find(|(name, _)| name == kind).map(|(_, text)| text.as_str());
            let Some(other) = other else {
                return Some(format!("output {}: {kind} is saved and was not put out", index + 1));
            };
            if let Some(place) = first_difference(text, other) {
                return Some(format!(
                    "output {}: {kind} differs\n  saved: {}\n  now:   {}",
                    index + 1,
                    place.0,
                    place.1
                ));
            }
        }
    }
    (saved.len() != new.len()).then(|| format!("{} outputs are saved, and {} were put out", saved.len(), new.len()))
}

/// An output's forms, with a name for each.
fn parts(output: &Output) -> Vec<(String, String)> {
    match output {
        Output::Stream { name, text } => vec![(name.clone(), text.0.clone())],
        Output::DisplayData(display) => forms(&display.data),
        Output::ExecuteResult(result) => forms(&result.data),
        Output::Error(error) => vec![("error".to_owned(), format!("{}: {}", error.ename, error.evalue))],
    }
}

fn forms(data: &Media) -> Vec<(String, String)> {
    let mut forms: Vec<_> = data.content.iter().map(|form| (form.mime_type().to_owned(), content(form))).collect();
    forms.sort();
    forms
}

fn content(form: &MediaType) -> String {
    let value = serde_json::to_value(form).unwrap_or_default();
    match value.get("data") {
        Some(serde_json::Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => String::new(),
    }
}

/// An output as plain text, with a line end.
pub fn text_of(output: &Output) -> String {
    let text = match output {
        Output::Stream { text, .. } => text.0.clone(),
        Output::Error(error) => error.traceback.join("\n"),
        Output::DisplayData(nbformat::v4::DisplayData { data, .. })
        | Output::ExecuteResult(nbformat::v4::ExecuteResult { data, .. }) => {
            let plain = data.content.iter().find(|form| matches!(form, MediaType::Plain(_)));
            plain.or(data.content.first()).map(content).unwrap_or_default()
        }
    };
    if text.ends_with('\n') || text.is_empty() { text } else { text + "\n" }
}

/// A piece of text: a number, or what stands between two.
#[derive(Debug, PartialEq)]
enum Token<'a> {
    Number(f64),
    Text(&'a str),
}

/// The lines in which two texts first differ.
fn first_difference<'a>(saved: &'a str, new: &'a str) -> Option<(&'a str, &'a str)> {
    if saved == new {
        return None;
    }
    let (mut olds, mut news) = (saved.lines(), new.lines());
    loop {
        match (olds.next(), news.next()) {
            (None, None) => return None,
            (old, new) => {
                let (old, new) = (old.unwrap_or("(nothing)"), new.unwrap_or("(nothing)"));
                if !agree(&tokens(old), &tokens(new)) {
                    return Some((old, new));
                }
            }
        }
    }
}

fn agree(left: &[Token<'_>], right: &[Token<'_>]) -> bool {
    left.len() == right.len()
        && left.iter().zip(right).all(|pair| match pair {
            (Token::Number(left), Token::Number(right)) => {
                (left - right).abs() <= TOLERANCE * left.abs().max(right.abs()).max(1e-3) || left == right
            }
            (left, right) => left == right,
        })
}

fn tokens(line: &str) -> Vec<Token<'_>> {
    let bytes = line.as_bytes();
    let mut tokens = Vec::new();
    let (mut at, mut text) = (0, 0);
    while at < bytes.len() {
        if !bytes[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let mut end = at;
        while end < bytes.len()
            && (bytes[end].is_ascii_digit()
                || (bytes[end] == b'.' && bytes.get(end + 1).is_some_and(u8::is_ascii_digit))
                || (bytes[end] == b'e' && exponent(&bytes[end + 1..])))
        {
            end += if bytes[end] == b'e' { 2 } else { 1 };
        }
        let end = end.min(bytes.len());
        let negative = at > text && bytes[at - 1] == b'-';
        let start = at - usize::from(negative);
        // What only begins like a number, such as a version, stays text.
        if let Ok(number) = line[start..end].parse() {
            if start > text {
                tokens.push(Token::Text(&line[text..start]));
            }
            tokens.push(Token::Number(number));
            text = end;
        }
        at = end;
    }
    if text < line.len() {
        tokens.push(Token::Text(&line[text..]));
    }
    tokens
}

fn exponent(rest: &[u8]) -> bool {
    match rest {
        [b'-' | b'+', digit, ..] | [digit, ..] => digit.is_ascii_digit(),
        [] => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_may_differ_a_little_and_words_not_at_all() {
        let same = |left, right| first_difference(left, right).is_none();
        assert!(same("loss 0.12345, step 7", "loss 0.12346, step 7"));
        assert!(same("1e-5", "1.0004e-5"));
        assert!(same("-0.5", "-0.5001"));
        assert!(!same("-0.5", "0.5"));
        assert!(!same("loss 0.12", "loss 0.13"));
        assert!(!same("step 100", "step 101"));
        assert!(!same("Setosa", "Virginica"));
        assert!(!same("a\nb", "a"));
        assert!(same("1.2.3", "1.2.3"));
        assert!(!same("1.2.3", "1.2.4"));
        assert!(same("x1e", "x1e"));
        assert!(same("9e", "9e") && same("1e+", "1e+"));
    }

    #[test]
    fn a_missing_form_and_a_missing_output_are_told() {
        let stream = |text: &str| Output::Stream {
            name: "stdout".to_owned(),
            text: nbformat::v4::MultilineString(text.to_owned()),
        };
        assert_eq!(difference(&[stream("a")], &[stream("a")]), None);
        assert!(difference(&[stream("a")], &[]).unwrap().contains("1 outputs are saved, and 0"));
        let error =
            Output::Error(nbformat::v4::ErrorOutput { ename: "panic".into(), evalue: "no".into(), traceback: vec![] });
        assert!(difference(&[stream("a")], &[error]).unwrap().contains("stdout is saved"));
    }
}
