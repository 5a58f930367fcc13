//! Asks the person at the notebook or terminal.

use std::io::Write;

use super::host::{self, Question};
use crate::core::{Exception, Explain, Explanation, Result};

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InputError {
    /// Nobody can be asked, or nobody answered.
    NoAnswer {
        /// The reason.
        reason: String,
    },
}

impl Explain for InputError {
    fn explain(&self) -> Explanation {
        let InputError::NoAnswer { reason } = self;
        Explanation::new("INPUT001", Exception::RuntimeError, format!("no input: {reason}"))
            .help("run the cell in a front end that can ask, or write the value into the cell")
    }
}

/// Asks for one line and returns it without its end. Python: `input`.
///
/// In a notebook the front end asks; a program asks in its terminal.
///
/// # Errors
/// `INPUT001` where nobody can be asked, as in a notebook that runs without a person, at once.
pub fn input(prompt: &str) -> Result<String> {
    ask(prompt, false)
}

/// Asks as [`input`] does, for something that the front end does not show. Python: `getpass.getpass`.
///
/// # Errors
/// As [`input`].
pub fn getpass(prompt: &str) -> Result<String> {
    ask(prompt, true)
}

fn ask(prompt: &str, secret: bool) -> Result<String> {
    // The prompt travels on one line, of which evcxr takes the part up to a colon.
    let prompt = super::printable(prompt).replace(':', "\u{a789}");
    let question = Question { prompt: &prompt, secret };
    let answer = if host::is_attached() {
        host::ask_kernel(&question)
    } else if host::under_evcxr() {
        host::ask_evcxr(&question)
    } else {
        ask_terminal(&prompt)
    };
    answer.map_err(|reason| InputError::NoAnswer { reason }.into())
}

fn ask_terminal(prompt: &str) -> Result<String, String> {
    let mut output = std::io::stdout().lock();
    output.write_all(prompt.as_bytes()).and_then(|()| output.flush()).map_err(|error| error.to_string())?;
    host::line_of_standard_input()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::Error;

    #[test]
    fn the_reason_is_told() {
        let error: Error = InputError::NoAnswer { reason: "the input has ended".into() }.into();
        assert_eq!(error.code(), "INPUT001");
        assert!(error.to_string().contains("the input has ended"), "{error}");
    }
}
