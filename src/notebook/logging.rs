//! Log lines in TensorFlow's form, on standard error. TensorFlow: `tf.logging`.

use std::fmt;
use std::io::Write;
use std::sync::atomic::{AtomicU8, Ordering};

/// How serious a log line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Level {
    /// Details for the search for a mistake.
    Debug,
    /// What the program does, such as the loss every 100 steps.
    Info,
    /// Something that may surprise.
    Warn,
    /// Something went wrong.
    Error,
    /// The program cannot go on.
    Fatal,
}

impl Level {
    const ALL: [Level; 5] = [Level::Debug, Level::Info, Level::Warn, Level::Error, Level::Fatal];

    /// The word that Python's logging prints.
    fn label(self) -> &'static str {
        match self {
            Level::Debug => "DEBUG",
            Level::Info => "INFO",
            Level::Warn => "WARNING",
            Level::Error => "ERROR",
            Level::Fatal => "CRITICAL",
        }
    }
}

static VERBOSITY: AtomicU8 = AtomicU8::new(Level::Info as u8);

/// Prints only lines of this level and above; [`Level::Info`] at the start, for the whole process.
///
/// # Examples
/// ```
/// use tpulab::notebook::logging::{self, Level};
/// logging::set_verbosity(Level::Error);
/// logging::info("not printed");
/// # assert_eq!(logging::verbosity(), Level::Error);
/// ```
pub fn set_verbosity(level: Level) {
    VERBOSITY.store(level as u8, Ordering::Relaxed);
}

/// The level from which lines are printed.
pub fn verbosity() -> Level {
    Level::ALL[usize::from(VERBOSITY.load(Ordering::Relaxed)).min(Level::ALL.len() - 1)]
}

/// Prints `message` as `INFO:tensorflow:message`, with the level's word, if the verbosity lets it through.
pub fn log(level: Level, message: impl fmt::Display) {
    if level >= verbosity() {
        let line = line(level, message);
        // Nobody listens: nothing to be done, and no reason to end.
        let _ = super::progress::beside(|| std::io::stderr().lock().write_all(line.as_bytes()));
    }
}

fn line(level: Level, message: impl fmt::Display) -> String {
    format!("{}:tensorflow:{message}\n", level.label())
}

/// Logs at [`Level::Debug`].
pub fn debug(message: impl fmt::Display) {
    log(Level::Debug, message);
}

/// Logs at [`Level::Info`].
pub fn info(message: impl fmt::Display) {
    log(Level::Info, message);
}

/// Logs at [`Level::Warn`].
#[doc(alias = "warning")]
pub fn warn(message: impl fmt::Display) {
    log(Level::Warn, message);
}

/// Logs at [`Level::Error`].
pub fn error(message: impl fmt::Display) {
    log(Level::Error, message);
}

/// Logs at [`Level::Fatal`].
pub fn fatal(message: impl fmt::Display) {
    log(Level::Fatal, message);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_read_as_tensorflow_writes_them() {
        assert_eq!(line(Level::Info, "loss = 1.5, step = 1"), "INFO:tensorflow:loss = 1.5, step = 1\n");
        assert_eq!(line(Level::Warn, "old"), "WARNING:tensorflow:old\n");
        assert_eq!(line(Level::Fatal, "end"), "CRITICAL:tensorflow:end\n");
    }

    #[test]
    fn levels_are_ordered_and_survive_the_atomic() {
        assert!(Level::ALL.is_sorted());
        for level in Level::ALL {
            assert_eq!(Level::ALL[usize::from(level as u8)], level);
        }
    }
}
