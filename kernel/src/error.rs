//! What can go wrong, with the way out.

use std::fmt;

/// The result of what can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What happened, why, and the smallest fix. `Display` gives `CODE: what happened; the way out`.
pub struct Error {
    code: &'static str,
    message: String,
    help: Option<String>,
}

impl Error {
    /// An error with its stable code.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Error { code, message: message.into(), help: None }
    }

    /// Adds the smallest fix.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The stable code, such as `KERNEL001`.
    pub fn code(&self) -> &'static str {
        self.code
    }

    /// What happened, and the way out on a line of its own.
    pub fn text(&self) -> String {
        match &self.help {
            Some(help) => format!("{}\nthe way out: {help}", self.message),
            None => self.message.clone(),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)?;
        self.help.iter().try_for_each(|help| write!(f, "; {help}"))
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {}

/// Says what was being done when the system refused.
pub trait Context<T> {
    /// The error with a code and what was being done.
    fn context(self, code: &'static str, what: impl fmt::Display) -> Result<T>;
}

impl<T, E: fmt::Display> Context<T> for std::result::Result<T, E> {
    fn context(self, code: &'static str, what: impl fmt::Display) -> Result<T> {
        self.map_err(|error| Error::new(code, format!("{what}: {error}")))
    }
}
