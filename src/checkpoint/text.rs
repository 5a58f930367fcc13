//! Protobuf's text form, as far as a file of texts needs it.

use super::CheckpointError;
use std::fmt::{self, Write};

/// Writes `text` in quotes, all but printable ASCII escaped.
pub(super) fn write_quoted(f: &mut impl Write, text: &str) -> fmt::Result {
    f.write_char('"')?;
    for byte in text.bytes() {
        match byte {
            b'\n' => f.write_str(r"\n")?,
            b'\r' => f.write_str(r"\r")?,
            b'\t' => f.write_str(r"\t")?,
            b'"' | b'\'' | b'\\' => write!(f, r"\{}", char::from(byte))?,
            b' '..=b'~' => f.write_char(char::from(byte))?,
            _ => write!(f, r"\{byte:03o}")?,
        }
    }
    f.write_char('"')
}

/// The fields of a message in text form, in order; `None` for values that are not texts.
pub(super) fn parse_fields(text: &str) -> Result<Vec<(String, Option<String>)>, CheckpointError> {
    let mut scanner = Scanner { bytes: text.as_bytes(), offset: 0 };
    scanner.fields().map_err(|reason| {
        let line = 1 + scanner.bytes[..scanner.offset].iter().filter(|&&byte| byte == b'\n').count();
        CheckpointError::InvalidState { line, reason }
    })
}

struct Scanner<'a> {
    bytes: &'a [u8],
    offset: usize,
}

impl Scanner<'_> {
    fn fields(&mut self) -> Result<Vec<(String, Option<String>)>, &'static str> {
        let mut fields = Vec::new();
        while self.skip_space().is_some() {
            let name = self.word();
            if name.is_empty() {
                return Err("expected the name of a field");
            }
            if self.skip_space() == Some(b':') {
                self.offset += 1;
            }
            fields.push((name, self.value()?));
            if matches!(self.skip_space(), Some(b',' | b';')) {
                self.offset += 1;
            }
        }
        Ok(fields)
    }

    fn value(&mut self) -> Result<Option<String>, &'static str> {
        match self.skip_space() {
            Some(b'"' | b'\'') => self.texts().map(Some),
            Some(b'{' | b'<' | b'[') => self.skip_nested().map(|()| None),
            _ if self.word().is_empty() => Err("expected a value"),
            _ => Ok(None),
        }
    }

    /// Passes over spaces and comments; the byte that follows.
    fn skip_space(&mut self) -> Option<u8> {
        loop {
            match self.peek()? {
                b'#' => {
                    while !matches!(self.peek(), None | Some(b'\n')) {
                        self.offset += 1;
                    }
                }
                byte if byte.is_ascii_whitespace() => self.offset += 1,
                byte => return Some(byte),
            }
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.offset).copied()
    }

    /// A name or a number.
    fn word(&mut self) -> String {
        let mut word = String::new();
        while let Some(byte) = self.peek().filter(|byte| byte.is_ascii_alphanumeric() || b"_.+-".contains(byte)) {
            word.push(char::from(byte));
            self.offset += 1;
        }
        word
    }

    fn skip_nested(&mut self) -> Result<(), &'static str> {
        let mut depth = 0usize;
        loop {
            match self.skip_space().ok_or("the file ends inside a message")? {
                b'{' | b'<' | b'[' => depth += 1,
                b'}' | b'>' | b']' => depth -= 1,
                b'"' | b'\'' => {
                    self.texts()?;
                    continue;
                }
                _ => {}
            }
            self.offset += 1;
            if depth == 0 {
                return Ok(());
            }
        }
    }

    /// Texts that follow each other are one.
    fn texts(&mut self) -> Result<String, &'static str> {
        let mut text = Vec::new();
        while let Some(quote @ (b'"' | b'\'')) = self.skip_space() {
            self.offset += 1;
            loop {
                let byte = self.peek().filter(|&byte| byte != b'\n').ok_or("the text has no closing quote")?;
                self.offset += 1;
                match byte {
                    b'\\' => self.escape(&mut text)?,
                    byte if byte == quote => break,
                    byte => text.push(byte),
                }
            }
        }
        String::from_utf8(text).map_err(|_| "the text is not UTF-8")
    }

    fn escape(&mut self, text: &mut Vec<u8>) -> Result<(), &'static str> {
        let letter = self.peek().ok_or("the text has no closing quote")?;
        self.offset += 1;
        let unknown = "the text has an unknown escape";
        text.push(match letter {
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'a' => 0x07,
            b'b' => 0x08,
            b'f' => 0x0C,
            b'v' => 0x0B,
            b'"' | b'\'' | b'\\' | b'?' => letter,
            b'0'..=b'7' => {
                self.offset -= 1;
                self.digits(8, 3).and_then(|value| u8::try_from(value).ok()).ok_or(unknown)?
            }
            b'x' | b'X' => self.digits(16, 2).map(|value| value as u8).ok_or(unknown)?,
            b'u' | b'U' => {
                let digits = if letter == b'u' { 4 } else { 8 };
                let character = self.digits(16, digits).and_then(char::from_u32).ok_or(unknown)?;
                text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                return Ok(());
            }
            _ => return Err(unknown),
        });
        Ok(())
    }

    /// The number of one to `most` digits.
    fn digits(&mut self, radix: u32, most: usize) -> Option<u32> {
        let start = self.offset;
        let mut number = 0;
        while self.offset < start + most {
            let Some(digit) = self.peek().and_then(|byte| char::from(byte).to_digit(radix)) else { break };
            number = number * radix + digit;
            self.offset += 1;
        }
        (self.offset > start).then_some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn quoted(text: &str) -> String {
        let mut quoted = String::new();
        write_quoted(&mut quoted, text).unwrap();
        quoted
    }

    #[test]
    fn escapes_are_tensorflows() {
        // What TensorFlow 2.15 writes for this path.
        let text = "a\"b'c\\d\n\t\r\u{1}é😀\u{7f}?";
        let written = r#""a\"b\'c\\d\n\t\r\001\303\251\360\237\230\200\177?""#;
        assert_eq!(quoted(text), written);
        assert_eq!(parse_fields(&format!("x: {written}")).unwrap(), [("x".to_owned(), Some(text.to_owned()))]);
    }

    #[test]
    fn all_forms_of_values_are_passed_over_or_read() {
        let text = "# notes\nnumber: -1.5e+20, word: TRUE; message { inner: \"}\" list: [1, 2] } other: < a: 1 >\n\
                    text: 'one ' # half\n  \"\\x41\\u00e9\\U0001F600\\7\"";
        let fields = parse_fields(text).unwrap();
        let names: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["number", "word", "message", "other", "text"]);
        assert_eq!(fields[4].1.as_deref(), Some("one Aé😀\u{7}"));
        assert!(fields[..4].iter().all(|(_, value)| value.is_none()));
    }

    #[test]
    fn errors_say_the_line() {
        for (text, expected) in [
            ("a: 1\n: 2", "CKPT009: line 2: expected the name of a field"),
            ("a:", "CKPT009: line 1: expected a value"),
            ("a: \"x\n\"", "CKPT009: line 1: the text has no closing quote"),
            ("a: \"\\", "CKPT009: line 1: the text has no closing quote"),
            ("a: {\n", "CKPT009: line 2: the file ends inside a message"),
            (r#"a: "\400""#, "CKPT009: line 1: the text has an unknown escape"),
            (r#"a: "\q""#, "CKPT009: line 1: the text has an unknown escape"),
            (r#"a: "\377""#, "CKPT009: line 1: the text is not UTF-8"),
        ] {
            assert_eq!(crate::core::Error::from(parse_fields(text).unwrap_err()).to_string(), expected);
        }
    }

    proptest! {
        #[test]
        fn texts_come_back(text: String) {
            let fields = parse_fields(&format!("x: {}", quoted(&text))).unwrap();
            prop_assert_eq!(fields, [("x".to_owned(), Some(text))]);
        }

        #[test]
        fn arbitrary_text_ends_in_fields_or_an_error(text in r#"[a-z:{}<>\[\]"'\\#\n0-9xuU é,;]{0,40}"#) {
            let _ = parse_fields(&text);
        }
    }
}
