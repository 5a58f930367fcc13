//! Takes rich output out of the text that a cell prints.
//!
//! Two forms are understood. evcxr's blocks, which any crate may print:
//! `EVCXR_BEGIN_CONTENT <mime>`, lines, `EVCXR_END_CONTENT`; blocks of different types back to back are one
//! value. And the library's own frames, one line of JSON after a mark that holds a secret of the session.

use serde_json::Value;

use super::{Bundle, Text};

const BEGIN: &[u8] = b"EVCXR_BEGIN_CONTENT ";
const END: &[u8] = b"EVCXR_END_CONTENT";

/// What a block or a frame may hold before it is taken for text that never ends.
const MOST_BYTES: usize = 64 << 20;

/// A piece of what was printed.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// Plain text.
    Text(String),
    /// A value in several forms.
    Display(Bundle),
    /// Takes away what was shown.
    Clear {
        /// Whether to wait for the next output.
        wait: bool,
    },
}

/// Splits one stream, however its bytes arrive.
#[derive(Debug)]
pub struct Splitter {
    frame: Vec<u8>,
    buffer: Vec<u8>,
    /// How far an unfinished block has been searched for its end.
    searched: usize,
    text: Text,
    bundle: Option<Bundle>,
}

impl Splitter {
    /// A splitter for the session whose frames carry `secret`.
    pub fn new(secret: &str) -> Self {
        let frame = format!("\u{1e}tpulab {secret} ").into_bytes();
        Splitter { frame, buffer: Vec::new(), searched: 0, text: Text::default(), bundle: None }
    }

    /// The pieces that are complete with `bytes`.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Piece> {
        self.buffer.extend_from_slice(bytes);
        let mut pieces = Vec::new();
        while self.step(&mut pieces) {}
        pieces
    }

    /// The value that further blocks could still join.
    pub fn take_bundle(&mut self) -> Option<Bundle> {
        self.bundle.take()
    }

    /// Whether a value waits for further blocks.
    pub fn holds_a_bundle(&self) -> bool {
        self.bundle.is_some()
    }

    /// Everything that is left, when the cell has ended.
    pub fn finish(&mut self) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let rest = std::mem::take(&mut self.buffer);
        self.searched = 0;
        self.plain(&rest, &mut pieces);
        let last = self.text.finish();
        add_text(last, &mut pieces);
        pieces
    }

    /// Takes one piece off the buffer; false when more bytes are needed.
    fn step(&mut self, pieces: &mut Vec<Piece>) -> bool {
        let Some((start, mark)) = self.next_mark() else {
            let safe = self.buffer.len() - self.possible_mark();
            let plain: Vec<u8> = self.buffer.drain(..safe).collect();
            self.plain(&plain, pieces);
            return false;
        };
        if start > 0 {
            let plain: Vec<u8> = self.buffer.drain(..start).collect();
            self.plain(&plain, pieces);
        }
        let taken = match mark {
            Mark::Block => self.block(pieces),
            Mark::Frame => self.frame(pieces),
        };
        if !taken && self.buffer.len() > MOST_BYTES {
            let plain = std::mem::take(&mut self.buffer);
            self.searched = 0;
            self.plain(&plain, pieces);
        }
        taken
    }

    fn next_mark(&self) -> Option<(usize, Mark)> {
        let block = find(&self.buffer, BEGIN).map(|at| (at, Mark::Block));
        let frame = find(&self.buffer, &self.frame).map(|at| (at, Mark::Frame));
        match (block, frame) {
            (Some(block), Some(frame)) => Some(if block.0 < frame.0 { block } else { frame }),
            (one, other) => one.or(other),
        }
    }

    /// How many bytes at the end could begin a mark.
    fn possible_mark(&self) -> usize {
        let begins = |mark: &[u8]| {
            (1..mark.len().min(self.buffer.len() + 1)).rev().find(|count| self.buffer.ends_with(&mark[..*count]))
        };
        begins(BEGIN).max(begins(&self.frame)).unwrap_or(0)
    }

    fn block(&mut self, pieces: &mut Vec<Piece>) -> bool {
        let Some(head) = self.buffer.iter().position(|byte| *byte == b'\n') else { return false };
        let body = head + 1;
        // The end mark stands on a line of its own.
        let mut from = body.max(self.searched);
        let end = loop {
            let Some(at) = find(&self.buffer[from..], END).map(|at| at + from) else {
                self.searched = self.buffer.len().saturating_sub(END.len()).max(from);
                return false;
            };
            let line_begins = at == body || self.buffer[at - 1] == b'\n';
            match self.buffer.get(at + END.len()) {
                None => {
                    self.searched = at;
                    return false;
                }
                Some(b'\n' | b'\r') if line_begins => break at,
                Some(_) => from = at + 1,
            }
        };
        let mime = String::from_utf8_lossy(&self.buffer[BEGIN.len()..head]).trim().to_owned();
        let content = String::from_utf8_lossy(&self.buffer[body..end]).into_owned();
        let content = content.strip_suffix('\n').unwrap_or(&content);
        let line_end =
            self.buffer[end..].iter().position(|byte| *byte == b'\n').map_or(self.buffer.len(), |at| end + at + 1);
        match &mut self.bundle {
            Some(bundle) if !bundle.has(&mime) => bundle.add(&mime, content),
            bundle => pieces.extend(bundle.replace(Bundle::of(&mime, content)).map(Piece::Display)),
        }
        self.buffer.drain(..line_end);
        self.searched = 0;
        true
    }

    fn frame(&mut self, pieces: &mut Vec<Piece>) -> bool {
        let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') else { return false };
        let line: Vec<u8> = self.buffer.drain(..=end).collect();
        pieces.extend(self.bundle.take().map(Piece::Display));
        match serde_json::from_slice(&line[self.frame.len()..]).ok().and_then(piece) {
            Some(Piece::Display(bundle)) if !bundle.update && bundle.display_id.is_none() => self.bundle = Some(bundle),
            Some(piece) => pieces.push(piece),
            None => add_text(self.text.push(&line), pieces),
        }
        true
    }

    fn plain(&mut self, bytes: &[u8], pieces: &mut Vec<Piece>) {
        if bytes.is_empty() {
            return;
        }
        let text = self.text.push(bytes);
        if !text.is_empty() {
            pieces.extend(self.bundle.take().map(Piece::Display));
            add_text(text, pieces);
        }
    }
}

#[derive(Clone, Copy)]
enum Mark {
    Block,
    Frame,
}

/// A frame of the library: `{"data": …, "display_id": …, "update": …}` or `{"clear": {"wait": …}}`.
fn piece(frame: Value) -> Option<Piece> {
    if let Some(clear) = frame.get("clear") {
        return Some(Piece::Clear { wait: clear.get("wait").and_then(Value::as_bool).unwrap_or(false) });
    }
    let object = |name: &str| frame.get(name).and_then(Value::as_object).cloned();
    Some(Piece::Display(Bundle {
        data: object("data")?,
        metadata: object("metadata").unwrap_or_default(),
        display_id: frame.get("display_id").and_then(Value::as_str).map(str::to_owned),
        update: frame.get("update").and_then(Value::as_bool).unwrap_or(false),
    }))
}

fn add_text(text: String, pieces: &mut Vec<Piece>) {
    match pieces.last_mut() {
        _ if text.is_empty() => {}
        Some(Piece::Text(before)) => before.push_str(&text),
        _ => pieces.push(Piece::Text(text)),
    }
}

fn find(bytes: &[u8], part: &[u8]) -> Option<usize> {
    memchr::memmem::find(bytes, part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(input: &[u8], cuts: &[usize]) -> Vec<Piece> {
        let mut splitter = Splitter::new("secret");
        let mut pieces = Vec::new();
        let mut from = 0;
        for cut in cuts.iter().copied().chain([input.len()]) {
            for piece in splitter.push(&input[from..cut]) {
                match piece {
                    Piece::Text(text) => add_text(text, &mut pieces),
                    other => pieces.push(other),
                }
            }
            from = cut;
        }
        pieces.extend(splitter.take_bundle().map(Piece::Display));
        for piece in splitter.finish() {
            match piece {
                Piece::Text(text) => add_text(text, &mut pieces),
                other => pieces.push(other),
            }
        }
        pieces
    }

    const SAMPLE: &str = "one\nEVCXR_BEGIN_CONTENT text/html\n<p>é</p>\nEVCXR_END_CONTENT\n\
        EVCXR_BEGIN_CONTENT text/plain\np\nq\nEVCXR_END_CONTENT\ntwo EVCXR_BEGIN_CONTENT text/plain\n3\nEVCXR_END_CONTENT\n\
        \u{1e}tpulab secret {\"data\":{\"text/plain\":\"4\"},\"display_id\":\"d\"}\n\u{1e}tpulab other {}\nend";

    #[test]
    fn blocks_of_one_value_are_one_bundle_wherever_the_bytes_are_cut() {
        let mut first = Bundle::of("text/html", "<p>é</p>");
        first.add("text/plain", "p\nq");
        let expected = vec![
            Piece::Text("one\n".into()),
            Piece::Display(first),
            Piece::Text("two ".into()),
            Piece::Display(Bundle::of("text/plain", "3")),
            Piece::Display(Bundle { display_id: Some("d".into()), ..Bundle::of("text/plain", "4") }),
            Piece::Text("\u{1e}tpulab other {}\nend".into()),
        ];
        let input = SAMPLE.as_bytes();
        for cut in 0..=input.len() {
            assert_eq!(all(input, &[cut]), expected, "cut at {cut}");
        }
        let every: Vec<_> = (0..=input.len()).collect();
        assert_eq!(all(input, &every), expected);
    }

    #[test]
    fn two_values_of_one_type_are_two_bundles() {
        let block = "EVCXR_BEGIN_CONTENT image/svg+xml\n<svg/>\nEVCXR_END_CONTENT\n";
        let pieces = all(block.repeat(2).as_bytes(), &[]);
        assert_eq!(pieces, vec![Piece::Display(Bundle::of("image/svg+xml", "<svg/>")); 2]);
    }

    #[test]
    fn a_block_without_end_is_text() {
        let text = "EVCXR_BEGIN_CONTENT text/html\nno end";
        assert_eq!(all(text.as_bytes(), &[5]), vec![Piece::Text(text.into())]);
    }
}
