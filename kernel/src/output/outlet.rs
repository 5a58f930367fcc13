//! The thread that reads what the cells' process writes.

use std::io::Read;
use std::os::fd::AsFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::{Output, Piece, Splitter, Text};
use crate::runtime::streams::{Report, Stream};

/// How long text is gathered before it is sent, so that a thousand lines are not a thousand messages.
const GATHER: Duration = Duration::from_millis(40);

/// How long a value may turn out to be the cell's result.
const HOLD: Duration = Duration::from_millis(150);

/// How much text one message holds at most.
const MOST_TEXT: usize = 64 << 10;

/// Receives what cells put out, in order.
pub type Sink = Box<dyn FnMut(Output) + Send>;

/// Reads the streams of the process for the cells, of each one that takes the last one's place.
#[derive(Debug)]
pub struct Outlet {
    requests: Sender<Sender<()>>,
    wake: UnixStream,
}

impl Outlet {
    /// Listens on `socket` and gives what arrives to `sink`.
    pub fn open(socket: &Path, secret: &str, sink: Sink) -> std::io::Result<Self> {
        let listener = UnixListener::bind(socket)?;
        listener.set_nonblocking(true)?;
        let (wake, woken) = UnixStream::pair()?;
        woken.set_nonblocking(true)?;
        let (requests, asked) = channel();
        let reader = Reader {
            listener,
            woken,
            asked,
            connections: Vec::new(),
            secret: secret.to_owned(),
            splitter: Splitter::new(secret),
            errors: Text::default(),
            gathered: String::new(),
            gathered_is_error: false,
            since: None,
            shows_result: false,
            shows_nothing: false,
            sink,
        };
        std::thread::Builder::new().name("output".into()).spawn(move || reader.run())?;
        Ok(Outlet { requests, wake })
    }

    /// Waits until all that the cells have written so far was given to the sink.
    pub fn drain(&self) {
        let (done, wait) = channel();
        if self.requests.send(done).is_ok() && std::io::Write::write_all(&mut (&self.wake), b"!").is_ok() {
            let _ = wait.recv();
        }
    }
}

struct Connection {
    stream: UnixStream,
    kind: Option<Stream>,
    reports: Vec<u8>,
    open: bool,
}

struct Reader {
    listener: UnixListener,
    woken: UnixStream,
    asked: Receiver<Sender<()>>,
    connections: Vec<Connection>,
    secret: String,
    splitter: Splitter,
    errors: Text,
    gathered: String,
    gathered_is_error: bool,
    since: Option<Instant>,
    /// Whether the value that is held back is what the cell ended in.
    shows_result: bool,
    /// Whether the cell ended in something that shows nothing.
    shows_nothing: bool,
    sink: Sink,
}

impl Reader {
    fn run(mut self) {
        loop {
            if self.wait().is_err() {
                return;
            }
            let mut ignored = [0; 64];
            if let Ok(0) = (&self.woken).read(&mut ignored) {
                return;
            }
            self.read_all();
            let asked: Vec<_> = self.asked.try_iter().collect();
            if !asked.is_empty() {
                // What was written before the question may have come after the first look.
                self.read_all();
                self.finish();
                for done in asked {
                    let _ = done.send(());
                }
            } else if self.since.is_some_and(|since| since.elapsed() >= GATHER) {
                self.send_text();
                if !self.shows_result
                    && self.since.is_some_and(|since| since.elapsed() >= HOLD)
                    && let Some(bundle) = self.splitter.take_bundle()
                {
                    self.since = None;
                    (self.sink)(Output::Display(bundle));
                }
            }
        }
    }

    fn wait(&self) -> nix::Result<()> {
        let mut watched = vec![
            PollFd::new(self.listener.as_fd(), PollFlags::POLLIN),
            PollFd::new(self.woken.as_fd(), PollFlags::POLLIN),
        ];
        watched.extend(self.connections.iter().map(|one| PollFd::new(one.stream.as_fd(), PollFlags::POLLIN)));
        let timeout = if self.since.is_some() { PollTimeout::from(20u8) } else { PollTimeout::NONE };
        match poll(&mut watched, timeout) {
            Ok(_) | Err(nix::errno::Errno::EINTR) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Reads whatever is there, streams in the order in which they were opened, until nothing is.
    fn read_all(&mut self) {
        while let Ok((stream, _)) = self.listener.accept() {
            if stream.set_nonblocking(true).is_ok() {
                self.connections.push(Connection { stream, kind: None, reports: Vec::new(), open: true });
            }
        }
        let mut bytes = vec![0; 64 << 10];
        for index in 0..self.connections.len() {
            loop {
                let connection = &mut self.connections[index];
                match connection.stream.read(&mut bytes) {
                    Ok(0) => {
                        connection.open = false;
                        break;
                    }
                    Ok(count) => self.take(index, &bytes[..count]),
                    Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                    Err(error) => {
                        connection.open = error.kind() == std::io::ErrorKind::WouldBlock;
                        break;
                    }
                }
            }
        }
        self.connections.retain(|connection| connection.open);
    }

    fn take(&mut self, index: usize, mut bytes: &[u8]) {
        let connection = &mut self.connections[index];
        if connection.kind.is_none() {
            connection.kind = Stream::from_tag(bytes[0]);
            connection.open = connection.kind.is_some();
            bytes = &bytes[1..];
        }
        match connection.kind {
            Some(Stream::Stdout) => {
                for piece in self.splitter.push(bytes) {
                    self.piece(piece);
                }
                if self.splitter.holds_a_bundle() {
                    self.since.get_or_insert_with(Instant::now);
                }
            }
            Some(Stream::Stderr) => {
                let text = self.errors.push(bytes);
                self.gather(text, true);
            }
            Some(Stream::Reports) => {
                connection.reports.extend_from_slice(bytes);
                let mut reports = Vec::new();
                while let Some(report) = Report::take(&mut connection.reports) {
                    reports.push(report);
                }
                for report in reports {
                    match report {
                        Report::Nothing => self.shows_nothing = true,
                        Report::Result => self.shows_result = !std::mem::take(&mut self.shows_nothing),
                        report => (self.sink)(Output::Report(report)),
                    }
                }
            }
            None => {}
        }
    }

    fn piece(&mut self, piece: Piece) {
        match piece {
            Piece::Text(text) => self.gather(text, false),
            Piece::Display(bundle) => {
                self.send_text();
                (self.sink)(Output::Display(bundle));
            }
            Piece::Clear { wait } => {
                self.send_text();
                (self.sink)(Output::Clear { wait });
            }
        }
    }

    fn gather(&mut self, text: String, is_error: bool) {
        if text.is_empty() {
            return;
        }
        if self.gathered_is_error != is_error || self.gathered.len() > MOST_TEXT {
            self.send_text();
        }
        self.gathered_is_error = is_error;
        self.gathered.push_str(&text);
        self.since.get_or_insert_with(Instant::now);
    }

    fn send_text(&mut self) {
        if !self.gathered.is_empty() {
            let text = std::mem::take(&mut self.gathered);
            (self.sink)(if self.gathered_is_error { Output::Stderr(text) } else { Output::Stdout(text) });
        }
        if !self.splitter.holds_a_bundle() {
            self.since = None;
        }
    }

    /// The cell has ended: nothing is held back.
    fn finish(&mut self) {
        let text = self.errors.finish();
        let bundle = self.splitter.take_bundle();
        let pieces = self.splitter.finish();
        self.send_text();
        if let Some(bundle) = bundle {
            let result = std::mem::take(&mut self.shows_result);
            (self.sink)(if result { Output::Result(bundle) } else { Output::Display(bundle) });
        }
        for piece in pieces {
            self.piece(piece);
        }
        self.gather(text, true);
        self.send_text();
        self.splitter = Splitter::new(&self.secret);
        self.since = None;
        self.shows_result = false;
        self.shows_nothing = false;
    }
}
