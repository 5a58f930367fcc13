//! One line that tells how far a long loop has come.

use std::fmt;
use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{DisplayHandle, host};

/// What takes less time than this shows nothing.
const PATIENCE: Duration = Duration::from_millis(500);

/// The time between two changes of a bar.
const PERIOD: Duration = Duration::from_millis(200);

/// The time between two lines where lines cannot be changed.
const LINE_PERIOD: Duration = Duration::from_secs(10);

/// How far a loop has come: steps done and to do, a number that it reports, speed, and the time left.
///
/// In the notebook kernel of this project it is a bar that changes in its place; in a terminal a line that does, on
/// standard error; in evcxr's own kernel a new line every ten seconds; elsewhere nothing. Nothing is shown in the first
/// half second, and nothing is left at the end.
///
/// # Examples
/// ```
/// use tpulab::notebook::Progress;
///
/// let mut progress = Progress::new("train", Some(1000));
/// for step in 1..=1000 {
///     progress.update(step, Some(("loss", 0.5)));
/// }
/// ```
pub struct Progress {
    label: &'static str,
    total: Option<u64>,
    face: Face,
    started: Instant,
    due: Instant,
    first: Option<u64>,
}

/// Where it is shown.
enum Face {
    Cell(Option<DisplayHandle>),
    Terminal(Option<ProgressBar>),
    Lines,
    Hidden,
}

/// The bar that stands in the terminal, so that log lines can pass it.
static IN_TERMINAL: Mutex<Option<ProgressBar>> = Mutex::new(None);

impl Progress {
    /// Progress of what `label` names, through `total` steps if their number is known.
    pub fn new(label: &'static str, total: Option<u64>) -> Self {
        let face = if host::is_attached() {
            Face::Cell(None)
        } else if host::under_evcxr() {
            Face::Lines
        } else if std::io::stderr().is_terminal() {
            Face::Terminal(None)
        } else {
            Face::Hidden
        };
        let started = Instant::now();
        let wait = if matches!(face, Face::Lines) { LINE_PERIOD } else { PATIENCE };
        Progress {
            label,
            total: total.filter(|total| *total < u64::MAX),
            face,
            started,
            due: started + wait,
            first: None,
        }
    }

    /// Says that `step` steps are done, counted from wherever the loop counts from, and a number to show with them.
    /// Cheap enough to be called after each step.
    pub fn update(&mut self, step: u64, value: Option<(&str, f64)>) {
        if matches!(self.face, Face::Hidden) {
            return;
        }
        let first = *self.first.get_or_insert(step.saturating_sub(1));
        let now = Instant::now();
        if now < self.due {
            return;
        }
        let seconds = (now - self.started).as_secs_f64();
        let state = State { label: self.label, step, first, total: self.total, seconds, value };
        self.due = now + PERIOD;
        match &mut self.face {
            Face::Cell(handle) => {
                let (text, html) = (state.to_string(), state.to_html());
                let forms = [("text/html", html.as_str()), ("text/plain", text.as_str())];
                match handle {
                    Some(handle) => handle.update(&forms),
                    None => *handle = Some(DisplayHandle::passing(&forms)),
                }
            }
            Face::Terminal(bar) => {
                let bar = bar.get_or_insert_with(terminal_bar);
                bar.set_message(state.to_string());
                bar.tick();
            }
            Face::Lines => {
                println!("{state}");
                self.due = now + LINE_PERIOD;
            }
            Face::Hidden => {}
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        match &self.face {
            Face::Cell(Some(handle)) => handle.update(&[("text/plain", "")]),
            Face::Terminal(Some(bar)) => {
                bar.finish_and_clear();
                *IN_TERMINAL.lock().unwrap_or_else(PoisonError::into_inner) = None;
            }
            _ => {}
        }
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Progress({:?}, {:?})", self.label, self.total)
    }
}

fn terminal_bar() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    bar.set_style(
        ProgressStyle::default_spinner().template("{msg}").unwrap_or_else(|_| ProgressStyle::default_spinner()),
    );
    *IN_TERMINAL.lock().unwrap_or_else(PoisonError::into_inner) = Some(bar.clone());
    bar
}

/// Does what prints while no bar stands in the terminal.
pub(super) fn beside<T>(print: impl FnOnce() -> T) -> T {
    let bar = IN_TERMINAL.lock().unwrap_or_else(PoisonError::into_inner).clone();
    match bar {
        Some(bar) => bar.suspend(print),
        None => print(),
    }
}

/// What one line says.
struct State<'a> {
    label: &'a str,
    step: u64,
    first: u64,
    total: Option<u64>,
    seconds: f64,
    value: Option<(&'a str, f64)>,
}

impl State<'_> {
    fn to_html(&self) -> String {
        let bar = match self.total {
            Some(total) => format!("<progress value=\"{}\" max=\"{total}\"></progress> ", self.step),
            None => "<progress></progress> ".to_owned(),
        };
        format!("{bar}{}", super::escape_html(&self.to_string()))
    }
}

impl fmt::Display for State<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: step {}", self.label, self.step)?;
        if let Some(total) = self.total {
            write!(f, " of {total}")?;
        }
        if let Some((name, value)) = self.value {
            write!(f, ", {name} {value:.4}")?;
        }
        let speed = self.step.saturating_sub(self.first) as f64 / self.seconds.max(1e-9);
        write!(f, ", {speed:.0} steps/s")?;
        match self.total {
            Some(total) if speed > 0.0 => {
                write!(f, ", {:.0} s left", total.saturating_sub(self.step) as f64 / speed)
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_step_value_speed_and_time_left() {
        let state = State {
            label: "train",
            step: 1500,
            first: 500,
            total: Some(3500),
            seconds: 2.0,
            value: Some(("loss", 0.25)),
        };
        assert_eq!(state.to_string(), "train: step 1500 of 3500, loss 0.2500, 500 steps/s, 4 s left");
        assert!(state.to_html().starts_with("<progress value=\"1500\" max=\"3500\"></progress> train: "));
        let endless = State { total: None, value: None, first: 1500, ..state };
        assert_eq!(endless.to_string(), "train: step 1500, 0 steps/s");
    }

    #[test]
    fn without_a_reader_nothing_is_shown() {
        let mut progress = Progress::new("load", Some(u64::MAX));
        progress.due = Instant::now();
        progress.update(3, None);
        assert!(progress.total.is_none());
    }
}
