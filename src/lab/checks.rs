//! The checks of a notebook, counted.

use super::{LabError, Lesson};
use crate::core::Result;
use crate::notebook::display;
use std::fmt;

/// Collects the claims that a notebook makes, and says at its end how many held.
///
/// A stock kernel answers "ok" to a cell that panicked, so a failed `assert!` is easily missed. Checks are counted
/// instead: [`Checks::expecting`] fixes their number in the first cell, and one whose cell never came to its end is
/// missing from the sum. Each check prints a line where it is made. A cell that runs again replaces its checks, since
/// a check is known by its name.
///
/// # Examples
/// ```
/// use tpulab::prelude::*;
///
/// let mut checks = Checks::expecting(2);
/// checks.check("8 cores share a batch of 128", 128 % 8 == 0);
/// checks.close("a core's share", 128.0 / 8.0, 16.0, 0.0);
/// assert_eq!(checks.to_string(), "2 of 2 checks passed");
/// checks.finish()?;
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checks {
    expected: Option<usize>,
    made: Vec<Check>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Check {
    name: String,
    /// What was found against what was expected, if it failed.
    failure: Option<String>,
}

impl Checks {
    /// No checks yet, and any number of them to come.
    pub fn new() -> Self {
        Checks::default()
    }

    /// No checks yet, and `count` of them to come; those never made count as not passed.
    pub fn expecting(count: usize) -> Self {
        Checks { expected: Some(count), ..Checks::default() }
    }

    /// Notes whether the claim `name` holds.
    pub fn check(&mut self, name: &str, holds: bool) {
        self.note(name, (!holds).then(|| "does not hold".to_string()));
    }

    /// Notes whether `found` is within `tolerance` of `expected`; NaN is close to nothing.
    pub fn close(&mut self, name: &str, found: impl Into<f64>, expected: impl Into<f64>, tolerance: f64) {
        let (found, expected) = (found.into(), expected.into());
        let holds = found == expected || (found - expected).abs() <= tolerance;
        self.note(name, (!holds).then(|| format!("found {found}, expected {expected} within {tolerance}")));
    }

    /// Notes whether `result` is an error with this code, and gives what the error teaches.
    ///
    /// # Examples
    /// ```
    /// use tpulab::prelude::*;
    /// let mut checks = Checks::new();
    /// let lesson = checks.refused("TPU004", TpuClusterResolver::new(Some("my tpu")));
    /// assert_eq!(checks.passed(), 1);
    /// println!("{lesson}");
    /// ```
    pub fn refused<T>(&mut self, code: &str, result: Result<T>) -> Lesson {
        let (found, lesson) = match &result {
            Ok(_) => ("no error".to_string(), Lesson::none()),
            Err(error) => (error.code().to_string(), Lesson::of(error)),
        };
        self.note(&format!("refused with {code}"), (found != code).then(|| format!("found {found}")));
        lesson
    }

    /// How many of the checks made so far passed.
    pub fn passed(&self) -> usize {
        self.made.iter().filter(|check| check.failure.is_none()).count()
    }

    /// How many checks there should be: the number expected, or as many as were made.
    pub fn expected(&self) -> usize {
        self.expected.unwrap_or(self.made.len())
    }

    /// Prints the sum, for a notebook's last cell.
    ///
    /// # Errors
    /// `LAB001` if a check failed, or if not as many were made as expected.
    pub fn finish(&self) -> Result<()> {
        println!("{self}");
        if self.passed() == self.expected() && self.made.len() == self.expected() {
            return Ok(());
        }
        let failed = self.made.iter().filter(|check| check.failure.is_some()).map(|check| check.name.clone());
        Err(LabError::Checks {
            passed: self.passed(),
            expected: self.expected(),
            made: self.made.len(),
            failed: failed.collect(),
        }
        .into())
    }

    /// Shows the sum in a notebook.
    pub fn evcxr_display(&self) {
        display(&[("text/plain", &self.to_string())]);
    }

    fn note(&mut self, name: &str, failure: Option<String>) {
        let check = Check { name: name.to_string(), failure };
        println!("{check}");
        match self.made.iter_mut().find(|made| made.name == name) {
            Some(made) => *made = check,
            None => self.made.push(check),
        }
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.failure {
            None => write!(f, "passed: {}", self.name),
            Some(failure) => write!(f, "failed: {}: {failure}", self.name),
        }
    }
}

/// `2 of 3 checks passed`, then a line for each check that failed.
impl fmt::Display for Checks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} checks passed", self.passed(), self.expected())?;
        self.made.iter().filter(|check| check.failure.is_some()).try_for_each(|check| write!(f, "\n{check}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_checks_are_none_of_none() {
        assert_eq!(Checks::new().to_string(), "0 of 0 checks passed");
        assert!(Checks::new().finish().is_ok());
    }

    #[test]
    fn a_check_that_was_never_made_is_missing_from_the_sum() {
        let mut checks = Checks::expecting(2);
        checks.check("one", true);
        assert_eq!(checks.to_string(), "1 of 2 checks passed");
        assert_eq!(
            checks.finish().unwrap_err().to_string(),
            "LAB001: 1 of 2 checks passed, 1 made; run every cell above, and expect as many checks as there are"
        );
    }

    #[test]
    fn more_checks_than_expected_are_refused() {
        let mut checks = Checks::expecting(1);
        checks.check("one", true);
        checks.check("two", true);
        assert_eq!(checks.to_string(), "2 of 1 checks passed");
        assert!(checks.finish().is_err());
        // Nor may a second check make good for one that failed.
        checks.check("one", false);
        assert!(checks.finish().is_err());
    }

    #[test]
    fn failed_checks_are_listed_by_name() {
        let mut checks = Checks::new();
        checks.check("accuracy is at least 0.93", false);
        checks.close("loss", 0.5f32, 0.25, 0.125);
        checks.close("exact", f64::INFINITY, f64::INFINITY, 0.0);
        assert_eq!(
            checks.to_string(),
            "1 of 3 checks passed\nfailed: accuracy is at least 0.93: does not hold\n\
             failed: loss: found 0.5, expected 0.25 within 0.125"
        );
        assert_eq!(
            checks.finish().unwrap_err().to_string(),
            "LAB001: 1 of 3 checks passed, 3 made; failed: \"accuracy is at least 0.93\", \"loss\"; \
             look at the cell that makes the first of them"
        );
    }

    #[test]
    fn what_is_not_refused_fails() {
        let mut checks = Checks::new();
        assert_eq!(checks.refused("LAB001", Ok(1)).to_string(), "nothing was refused");
        checks.refused("LAB001", Checks::expecting(1).finish());
        assert_eq!(checks.to_string(), "1 of 1 checks passed", "the same name: the last one counts");
        checks.refused("CORE001", Checks::expecting(1).finish());
        assert_eq!(checks.to_string(), "1 of 2 checks passed\nfailed: refused with CORE001: found LAB001");
    }

    #[test]
    fn a_number_on_the_edge_of_the_tolerance_is_close_and_nan_never_is() {
        let mut checks = Checks::new();
        checks.close("edge", 1.5, 1.0, 0.5);
        assert_eq!(checks.passed(), 1);
        checks.close("nan", f64::NAN, f64::NAN, 1.0);
        assert_eq!(checks.passed(), 1);
    }

    #[test]
    fn a_cell_that_runs_again_replaces_its_checks() {
        let mut checks = Checks::expecting(1);
        checks.check("one", false);
        checks.check("one", true);
        assert_eq!(checks.to_string(), "1 of 1 checks passed");
        assert!(checks.finish().is_ok());
    }
}
