use std::path::Path;
use std::time::Duration;

use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite};

use super::{Verdict, Verdicts};
use crate::error::{Context, Result};

/// What became of all notebooks, for tools that read JUnit's form.
pub struct Report {
    report: quick_junit::Report,
}

impl Report {
    /// A report on nothing.
    pub fn new() -> Self {
        Report { report: quick_junit::Report::new("tpulab run") }
    }

    /// Adds a notebook; whether all of its cells did what they should.
    pub fn add(&mut self, file: &Path, verdicts: Verdicts) -> bool {
        let name = file.display().to_string();
        let mut suite = TestSuite::new(name.clone());
        let mut good = true;
        for (id, time, verdict) in verdicts {
            let status = match verdict {
                Verdict::Passed => TestCaseStatus::success(),
                Verdict::Skipped => TestCaseStatus::skipped(),
                Verdict::Failed(why) => {
                    good = false;
                    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
                    status.set_message(why.lines().next().unwrap_or_default().to_owned()).set_description(why);
                    status
                }
            };
            let mut case = TestCase::new(id, status);
            case.set_classname(name.clone()).set_time(Duration::from_millis(time.as_millis() as u64));
            suite.add_test_case(case);
        }
        self.report.add_test_suite(suite);
        good
    }

    /// Writes the report.
    pub fn write(&self, path: &Path) -> Result<()> {
        let text = self.report.to_string().context("RUNNER006", "the report cannot be written")?;
        std::fs::write(path, text).context("RUNNER006", format!("{} cannot be written", path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_counted_and_escaped() {
        let mut report = Report::new();
        let second = Duration::from_secs(1);
        assert!(report.add(Path::new("a.ipynb"), vec![("one".into(), second, Verdict::Passed)]));
        let failed = Verdict::Failed("<&\"\nmore".into());
        let verdicts = vec![("two".into(), second, failed), ("three".into(), second, Verdict::Skipped)];
        assert!(!report.add(Path::new("b.ipynb"), verdicts));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("junit.xml");
        report.write(&path).unwrap();
        let text = std::fs::read_to_string(path).unwrap();
        assert!(text.contains("failures=\"1\"") && text.contains("&lt;&amp;"), "{text}");
    }
}
