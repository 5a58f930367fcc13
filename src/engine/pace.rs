//! Whether helpers are worth their while.

use std::time::{Duration, Instant};

/// Learns for one phase of a plan whether it ends sooner with helpers or without: small phases end before a helper is
/// awake. Results are the same either way.
#[derive(Clone, Debug, Default)]
pub(super) struct Pace {
    runs: u32,
    /// The time of all trials without helpers, and with them.
    alone: Duration,
    together: Duration,
}

/// One run that is about to start.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trial {
    /// Whether helpers take part.
    pub together: bool,
    /// When it started, if it is measured.
    start: Option<Instant>,
}

/// Each way is tried so often, and all its runs count: on a busy machine a helper that comes late now and then costs
/// more than it saves.
const TRIES: u32 = 8;
/// After so many runs both ways are tried again: other programs come and go.
const PERIOD: u32 = 1 << 13;

impl Pace {
    /// Which way the next run takes.
    pub fn next(&mut self) -> Trial {
        let turn = self.runs % PERIOD;
        self.runs = self.runs.wrapping_add(1);
        if turn == 0 {
            (self.alone, self.together) = (Duration::ZERO, Duration::ZERO);
        }
        if turn < 2 * TRIES {
            return Trial { together: turn >= TRIES, start: Some(Instant::now()) };
        }
        Trial { together: self.together < self.alone, start: None }
    }

    /// Notes how long it took.
    pub fn record(&mut self, trial: Trial) {
        if let Some(start) = trial.start {
            self.add(trial.together, start.elapsed());
        }
    }

    fn add(&mut self, together: bool, elapsed: Duration) {
        let total = if together { &mut self.together } else { &mut self.alone };
        *total += elapsed;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which way is taken in the end, if a run takes so many microseconds.
    fn settles_on_together(alone: u64, together: u64) -> bool {
        let mut pace = Pace::default();
        for _ in 0..2 * TRIES {
            let trial = pace.next();
            pace.add(trial.together, Duration::from_micros(if trial.together { together } else { alone }));
        }
        pace.next().together
    }

    #[test]
    fn the_quicker_way_is_taken_after_both_were_tried() {
        assert!(settles_on_together(100, 60));
        assert!(!settles_on_together(100, 160));
    }
}
