//! Bytes as text, whatever arrives when.

/// Decodes a stream of bytes: a character that arrives in two halves is one character, and what is no text at all
/// becomes U+FFFD.
#[derive(Debug, Default)]
pub struct Text {
    begun: Vec<u8>,
}

impl Text {
    /// The text that is complete with `bytes`.
    pub fn push(&mut self, bytes: &[u8]) -> String {
        self.begun.extend_from_slice(bytes);
        let end = self.begun.len() - unfinished(&self.begun);
        let text = String::from_utf8_lossy(&self.begun[..end]).into_owned();
        self.begun.drain(..end);
        text
    }

    /// The rest, when nothing more will come.
    pub fn finish(&mut self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut self.begun)).into_owned()
    }
}

/// How many bytes at the end begin a character that may still be finished.
fn unfinished(bytes: &[u8]) -> usize {
    match std::str::from_utf8(&bytes[bytes.len().saturating_sub(3)..]) {
        Ok(_) => 0,
        Err(_) => (1..=bytes.len().min(3))
            .find(|count| {
                let tail = &bytes[bytes.len() - count..];
                matches!(std::str::from_utf8(tail), Err(error) if error.valid_up_to() == 0 && error.error_len().is_none())
            })
            .unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_in_halves_become_whole() {
        let all = "añ✓🦀z".as_bytes();
        for cut in 0..=all.len() {
            let mut text = Text::default();
            let whole = text.push(&all[..cut]) + &text.push(&all[cut..]) + &text.finish();
            assert_eq!(whole, "añ✓🦀z", "cut at {cut}");
        }
    }

    #[test]
    fn what_is_no_text_is_marked_and_never_held_back() {
        let mut text = Text::default();
        assert_eq!(text.push(b"a\xff"), "a\u{fffd}");
        assert_eq!(text.push(b"\xf0\x9f"), "");
        assert_eq!(text.finish(), "\u{fffd}");
    }
}
