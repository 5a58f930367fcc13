//! What the process for the cells and the kernel have agreed on.

use std::os::fd::RawFd;

/// The variable that makes this executable the process for the cells; it names the kernel's socket.
pub const SOCKET: &str = "TPULAB_KERNEL_SOCKET";

/// Where evcxr's lines are read.
pub const COMMANDS: RawFd = 199;

/// Where lines for evcxr are written.
pub const ANSWERS: RawFd = 200;

/// Where the library and the generated code report to the kernel: see [`Report`].
pub const REPORTS: RawFd = 201;

/// One of the connections that the process opens, told by its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// What cells print.
    Stdout,
    /// What cells print as errors.
    Stderr,
    /// What the kernel must know about the cell.
    Reports,
}

impl Stream {
    /// The byte by which a connection introduces itself.
    pub const fn tag(self) -> u8 {
        match self {
            Stream::Stdout => b'o',
            Stream::Stderr => b'e',
            Stream::Reports => b'r',
        }
    }

    /// The stream that introduces itself by `tag`.
    pub fn from_tag(tag: u8) -> Option<Self> {
        [Stream::Stdout, Stream::Stderr, Stream::Reports].into_iter().find(|stream| stream.tag() == tag)
    }
}

/// What is reported about a running cell. On the wire: a word, the number of bytes, a line feed, the bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// The main thread panicked: line and column of the generated source, then the message.
    Panic {
        /// `file:line:column`.
        place: String,
        /// What the panic said.
        message: String,
    },
    /// The cell left through `?`; the text of the error.
    Error(String),
    /// The cell ended in the panic reported last.
    Panicked,
    /// The cell's own code begins to run.
    Begin,
    /// The value that is to be shown has no form.
    Nothing,
    /// The value of the last expression was shown.
    Result,
    /// A variable was lost because its type was defined again.
    Lost(String),
}

impl Report {
    /// Takes the first whole report off `buffer`; unknown ones are skipped.
    pub fn take(buffer: &mut Vec<u8>) -> Option<Report> {
        loop {
            let end = buffer.iter().position(|byte| *byte == b'\n')?;
            let header = String::from_utf8_lossy(&buffer[..end]).into_owned();
            let (word, length) = header.split_once(' ').unwrap_or((&header, "0"));
            let length: usize = length.parse().unwrap_or(0);
            let rest = end + 1 + length;
            if buffer.len() < rest {
                return None;
            }
            let body = String::from_utf8_lossy(&buffer[end + 1..rest]).into_owned();
            let report = match word {
                "panic" => {
                    let (place, message) = body.split_once('\n').unwrap_or((&body, ""));
                    Some(Report::Panic { place: place.to_owned(), message: message.to_owned() })
                }
                "error" => Some(Report::Error(body)),
                "panicked" => Some(Report::Panicked),
                "begin" => Some(Report::Begin),
                "nothing" => Some(Report::Nothing),
                "result" => Some(Report::Result),
                "lost" => Some(Report::Lost(body)),
                _ => None,
            };
            buffer.drain(..rest);
            if report.is_some() {
                return report;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_taken_one_by_one_and_only_whole() {
        let mut buffer = b"panic 23\nsrc/lib.rs:1:2\nno\nluck!news 2\nhi".to_vec();
        buffer.extend(b"result 0\nerror 5\nab");
        let panic = Report::Panic { place: "src/lib.rs:1:2".into(), message: "no\nluck!".into() };
        assert_eq!(Report::take(&mut buffer), Some(panic));
        assert_eq!(Report::take(&mut buffer), Some(Report::Result));
        assert_eq!(Report::take(&mut buffer), None);
        buffer.extend(b"cde");
        assert_eq!(Report::take(&mut buffer), Some(Report::Error("abcde".into())));
        assert!(buffer.is_empty());
    }
}
