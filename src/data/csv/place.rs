//! Where in a file something stands.

use std::fmt;

/// A place in a text file: its name, the line, counted from 1, and the column if there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file, as it was named.
    pub file: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The name of the column.
    pub column: Option<String>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, line {}", self.file, self.line)?;
        match &self.column {
            Some(column) => write!(f, ", column `{column}`"),
            None => Ok(()),
        }
    }
}

/// The line, counted from 1, of the byte at `offset`; lines end in `\n`, `\r\n` or `\r`.
pub(super) fn line_of(text: &[u8], offset: usize) -> usize {
    let before = &text[..offset.min(text.len())];
    let breaks = before.iter().enumerate().filter(|&(index, &byte)| match byte {
        b'\n' => true,
        b'\r' => text.get(index + 1) != Some(&b'\n'),
        _ => false,
    });
    breaks.count() + 1
}

/// The record that starts at or after `start`, walked field by field only where an error asks for its place.
pub(super) struct Walk {
    /// Where each field starts.
    pub fields: Vec<usize>,
    /// Whether the text ends inside quotes.
    pub unclosed: bool,
}

/// Follows the quotes of one record, by the rules of the `csv` crate: they count where a field starts with one.
pub(super) fn walk(text: &[u8], start: usize) -> Walk {
    #[derive(PartialEq)]
    enum State {
        FieldStart,
        Plain,
        Quoted,
        /// After a quote inside quotes: it closes them, or is the first of two that stand for one.
        Closing,
    }
    let breaks = text[start.min(text.len())..].iter().take_while(|&&byte| matches!(byte, b'\n' | b'\r')).count();
    let first = start + breaks;
    let mut fields = vec![first];
    let mut state = State::FieldStart;
    for (index, &byte) in text.iter().enumerate().skip(first) {
        state = match (state, byte) {
            (State::Quoted, b'"') => State::Closing,
            (State::Quoted, _) | (State::FieldStart | State::Closing, b'"') => State::Quoted,
            (_, b',') => {
                fields.push(index + 1);
                State::FieldStart
            }
            (_, b'\n' | b'\r') => return Walk { fields, unclosed: false },
            _ => State::Plain,
        };
    }
    Walk { fields, unclosed: state == State::Quoted }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_over_every_kind_of_line_end() {
        let text = b"a\nb\r\nc\rd";
        let lines: Vec<usize> = [0, 2, 5, 7].map(|offset| line_of(text, offset)).to_vec();
        assert_eq!(lines, [1, 2, 3, 4]);
    }

    #[test]
    fn fields_start_after_commas_outside_quotes() {
        let walked = walk(b"\n1,\"a,\"\"\n,b\",2\n3", 0);
        assert_eq!((walked.fields, walked.unclosed), (vec![1, 3, 13], false));
        assert!(walk(b"1,\"a\nb,2\n", 0).unclosed);
        assert!(!walk(b"5\" pipe,\"\"", 0).unclosed);
        assert_eq!(walk(b"", 0).fields, [0]);
    }
}
