//! What an error teaches.

use crate::core::Error;
use crate::notebook::Table;
use std::fmt;

/// An error laid out for reading: its code, what TensorFlow raises in its place, what happened, the smallest fix, and
/// the section of the tutorial that deals with it.
///
/// [`Checks::refused`](super::Checks::refused) makes one of what a call answers.
///
/// # Examples
/// ```
/// use tpulab::lab::Lesson;
/// use tpulab::prelude::*;
/// let error = TpuClusterResolver::new(Some("my tpu")).unwrap_err();
/// let lesson = Lesson::of(&error);
/// assert!(lesson.to_string().starts_with("TPU004, a ValueError in TensorFlow\n"));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Lesson {
    /// The code, if there is an error.
    code: Option<&'static str>,
    /// What TensorFlow raises, or that there is nothing.
    heading: String,
    lines: Vec<(&'static str, String)>,
}

impl Lesson {
    /// What `error` teaches.
    pub fn of(error: &Error) -> Self {
        let exception = error.exception().to_string();
        let article = if exception.starts_with(['A', 'E', 'I', 'O', 'U']) { "an" } else { "a" };
        let mut lines = vec![("what happened", error.message().to_string())];
        lines.extend(error.help().map(|help| ("the way out", help.to_string())));
        lines.extend(error.section().map(|section| ("in the tutorial", section.to_string())));
        Lesson { code: Some(error.code()), heading: format!("{article} {exception} in TensorFlow"), lines }
    }

    /// Said where an error was expected and none came.
    pub(super) fn none() -> Self {
        Lesson { code: None, heading: "nothing was refused".to_string(), lines: Vec::new() }
    }

    /// Shows it in a notebook.
    pub fn evcxr_display(&self) {
        let table = Table::new([self.code.unwrap_or_default(), &self.heading]);
        let row = |table: Table, (title, text): &(&'static str, String)| table.row([*title, text.as_str()]);
        let table = self.lines.iter().fold(table, row);
        crate::notebook::display(&[("text/html", &table.to_html()), ("text/plain", &self.to_string())]);
    }
}

/// The heading, then a line for each part.
impl fmt::Display for Lesson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.code {
            Some(code) => write!(f, "{code}, {}", self.heading)?,
            None => f.write_str(&self.heading)?,
        }
        self.lines.iter().try_for_each(|(title, text)| write!(f, "\n{title}: {text}"))
    }
}

/// The text form: some kernels show a value by `Debug` alone.
impl fmt::Debug for Lesson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{Exception, Explain, Explanation};

    #[derive(Debug)]
    struct Uneven(bool);

    impl Explain for Uneven {
        fn explain(&self) -> Explanation {
            let explanation = Explanation::new("LAB999", Exception::OsError, "100 rows over 8 cores");
            if self.0 { explanation.help("take 104").section("Train input function") } else { explanation }
        }
    }

    #[test]
    fn a_lesson_has_as_many_lines_as_the_error_has_parts() {
        assert_eq!(
            Lesson::of(&Uneven(true).into()).to_string(),
            "LAB999, an OSError in TensorFlow\nwhat happened: 100 rows over 8 cores\nthe way out: take 104\n\
             in the tutorial: Train input function"
        );
        assert_eq!(
            Lesson::of(&Uneven(false).into()).to_string(),
            "LAB999, an OSError in TensorFlow\nwhat happened: 100 rows over 8 cores"
        );
    }
}
