//! Why a cell failed, in the words that a learner sees.

use evcxr::CompilationError;

use super::Cell;
use super::place::place;
use crate::error::Error;
use crate::runtime::streams::Report;

/// The one error of a failed cell, as the protocol wants it.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// Its kind: the compiler's code, `panic`, or the code of the library's error.
    pub ename: String,
    /// What happened, on one line where it can be.
    pub evalue: String,
    /// All that is known, line by line.
    pub traceback: Vec<String>,
}

/// The name that clients know an interrupt by.
const INTERRUPT: &str = "KeyboardInterrupt";

impl Failure {
    fn new(ename: impl Into<String>, evalue: impl Into<String>, more: impl IntoIterator<Item = String>) -> Self {
        let (ename, evalue) = (ename.into(), evalue.into());
        let mut traceback = vec![format!("{ename}: {evalue}")];
        traceback.extend(more);
        Failure { ename, evalue, traceback }
    }

    /// What the kernel itself does not do.
    pub fn refused(error: &Error) -> Self {
        let text = error.text();
        let (first, rest) = text.split_once('\n').unwrap_or((&text, ""));
        Failure::new(error.code(), first, rest.lines().map(str::to_owned))
    }

    /// Something in the compiler's helpers broke.
    pub fn broken() -> Self {
        Failure::new(
            "KERNEL020",
            "the kernel could not work on this cell",
            ["variables and functions are still there; the cell may be more than the kernel understands".to_owned()],
        )
    }

    /// What the cells' process said about a cell that evcxr takes for good.
    pub fn reported(reports: &[Report], source: &str, cells: &[Cell], interrupted: bool) -> Option<Self> {
        let error = reports.iter().rev().find_map(|report| match report {
            Report::Error(text) => Some(text),
            _ => None,
        });
        if interrupted && (error.is_some() || reports.contains(&Report::Panicked)) {
            let said = error.cloned().unwrap_or_else(|| "the cell was stopped".to_owned());
            return Some(Failure::new(INTERRUPT, said, ["variables of earlier cells are still there".to_owned()]));
        }
        if reports.contains(&Report::Panicked) {
            let panic = reports.iter().rev().find_map(|report| match report {
                Report::Panic { place, message } => Some((place.as_str(), message.as_str())),
                _ => None,
            });
            let (at, message) = panic.unwrap_or(("", "the cell panicked"));
            return Some(Failure::panicked(at, message, source, cells));
        }
        error.map(|text| Failure::returned(text))
    }

    fn panicked(at: &str, message: &str, source: &str, cells: &[Cell]) -> Self {
        let mut parts = at.rsplitn(3, ':');
        let _column = parts.next();
        let line = parts.next().and_then(|line| line.parse().ok()).unwrap_or(0);
        let file = parts.next().unwrap_or("");
        let found = file.ends_with("src/lib.rs").then(|| place(source, line, cells)).flatten();
        let more = match found {
            Some((cell, line)) => {
                let text = cell.code.lines().nth(line - 1).unwrap_or("").to_owned();
                vec![format!("  in {}, line {line}", cell.name()), format!("{line:4} | {text}")]
            }
            // A panic of a library: the place in its sources helps only its author.
            None => {
                at.rsplit('/').next().filter(|at| !at.is_empty()).map(|at| format!("  in {at}")).into_iter().collect()
            }
        };
        let first = message.lines().next().unwrap_or("").to_owned();
        let rest = message.lines().skip(1).map(str::to_owned);
        Failure::new("panic", first, rest.chain(more))
    }

    /// A cell left through `?`.
    fn returned(text: &str) -> Self {
        let (code, rest) = text.split_once(": ").unwrap_or(("", text));
        let coded = code.len() >= 4
            && code.starts_with(|first: char| first.is_ascii_uppercase())
            && code.chars().all(|letter| letter.is_ascii_uppercase() || letter.is_ascii_digit())
            && code.ends_with(|last: char| last.is_ascii_digit());
        let (ename, text) = if coded { (code, rest) } else { ("Error", text) };
        let (happened, help) = text.split_once("; ").unwrap_or((text, ""));
        let help = (coded && !help.is_empty()).then(|| format!("the way out: {help}"));
        Failure::new(ename, if coded { happened } else { text }, help)
    }

    /// The cells' process is gone.
    pub fn died(error: &evcxr::Error, interrupted: bool, cells: &[Cell]) -> Self {
        let text = error.to_string();
        let reason = ["SIGABRT", "SIGSEGV", "SIGKILL", "SIGBUS", "SIGILL", "SIGFPE", "exit status"]
            .into_iter()
            .find_map(|word| text.find(word).map(|at| text[at..].lines().next().unwrap_or(word)))
            .map(|reason| reason.trim_end_matches(')').to_owned())
            .unwrap_or_else(|| text.lines().last().unwrap_or("it ended").to_owned());
        let good = cells.iter().filter(|cell| cell.good && !cell.only_asks()).count();
        let more = [
            "all variables are lost; functions and imports are kept".to_owned(),
            format!("`:again` runs the {good} cells again that were good"),
        ];
        if interrupted {
            Failure::new(INTERRUPT, "the cell did not stop by itself, so its process was ended", more)
        } else {
            Failure::new("process ended", format!("the process that held the variables ended: {reason}"), more)
        }
    }

    /// What evcxr says about a cell that did not run.
    pub fn of(error: evcxr::Error, interrupted: bool, cells: &[Cell]) -> Self {
        match error {
            _ if interrupted => Failure::new(
                INTERRUPT,
                "stopped while the cell was compiled",
                ["nothing of the cell has run; all variables are still there".to_owned()],
            ),
            evcxr::Error::CompilationErrors(errors) => Failure::compiler(&errors, cells),
            evcxr::Error::TypeRedefinedVariablesLost(names) => Failure::new(
                "variables lost",
                format!("the type of {} was defined again, so the values are lost", names.join(", ")),
                [],
            ),
            other => {
                let text = other.to_string();
                let mut lines = text.lines().map(str::to_owned);
                let first = lines.next().unwrap_or_default();
                Failure::new("Error", first, lines)
            }
        }
    }

    /// The cell is right, but not what evcxr adds to it in order to keep its variables.
    fn unnameable(errors: &[&CompilationError]) -> Self {
        let said = errors.iter().map(|error| format!("  the compiler said: {}", error.message()));
        let help =
            ["the way out: import the types that it names, say the type (`let x: … = …;`), or put the code into a \
             function or a block `{ … }`, so that the variable ends with it"
                .to_owned()];
        let happened = "a variable of this cell cannot be kept for the next cells: its type has no name here";
        Failure::new("KERNEL021", happened, said.chain(help))
    }

    fn compiler(errors: &[CompilationError], cells: &[Cell]) -> Self {
        let serious: Vec<_> = errors.iter().filter(|error| error.level() == "error").collect();
        if serious.is_empty() || serious.iter().all(|error| !error.is_from_user_code()) {
            return Failure::unnameable(&serious);
        }
        let name = |error: &CompilationError| error.code().map_or("error".to_owned(), |code| format!("error[{code}]"));
        let mut traceback = Vec::new();
        for error in &serious {
            traceback.push(format!("{}: {}", name(error), error.message()));
            traceback.extend(cells.last().map(|cell| excerpt(error, cell)).unwrap_or_default());
            traceback.extend(
                error
                    .help()
                    .iter()
                    .flat_map(|help| format!("help: {help}").lines().map(str::to_owned).collect::<Vec<_>>()),
            );
            traceback.extend(error.evcxr_extra_hint().map(|hint| format!("hint: {hint}")));
        }
        let first = serious.first();
        Failure {
            ename: first.and_then(|error| error.code()).unwrap_or("error").to_owned(),
            evalue: first.map(|error| error.message()).unwrap_or_default(),
            traceback,
        }
    }
}

/// The lines of the cell that an error is about, marked.
fn excerpt(error: &CompilationError, cell: &Cell) -> Vec<String> {
    let mut text = Vec::new();
    for message in error.spanned_messages() {
        let Some(span) = message.span else { continue };
        if text.is_empty() {
            text.push(format!("  in {}, line {}", cell.name(), span.start_line));
        }
        let Some(line) = cell.code.lines().nth(span.start_line - 1) else { continue };
        text.push(format!("{:4} | {line}", span.start_line));
        let end = if span.end_line == span.start_line { span.end_column } else { line.chars().count() + 1 };
        let marks = "^".repeat(end.saturating_sub(span.start_column).max(1));
        let label = if message.label.starts_with("error: ") { "" } else { &message.label };
        text.push(format!("     | {}{marks} {label}", " ".repeat(span.start_column - 1)).trim_end().to_owned());
    }
    text
}
