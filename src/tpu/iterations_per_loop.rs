//! How long one training loop on the TPU runs.

use super::TpuError;
use crate::core::{Error, Result};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// How long one training loop on the TPU runs before the host looks in: a number of steps, or a time.
///
/// As text, `500` is a number of steps; `300s`, `5m` and `1h` are times.
///
/// # Examples
/// ```
/// use std::time::Duration;
/// use tpulab::prelude::*;
/// use tpulab::tpu::IterationsPerLoop;
/// assert_eq!("500".parse::<IterationsPerLoop>()?, IterationsPerLoop::Count(500));
/// assert_eq!("5m".parse::<IterationsPerLoop>()?, IterationsPerLoop::Time(Duration::from_secs(300)));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IterationsPerLoop {
    /// So many steps, 1 or more.
    Count(u64),
    /// As many steps as fit into this time, which is estimated from the speed of earlier loops.
    Time(Duration),
}

impl IterationsPerLoop {
    /// # Errors
    /// `TPU002` for no steps or no time.
    pub(super) fn validate(&self) -> Result<()> {
        match self {
            IterationsPerLoop::Count(0) | IterationsPerLoop::Time(Duration::ZERO) => {
                Err(TpuError::IterationsPerLoop { found: self.to_string() }.into())
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Display for IterationsPerLoop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IterationsPerLoop::Count(steps) => write!(f, "{steps}"),
            IterationsPerLoop::Time(time) => write!(f, "{}s", time.as_secs_f64()),
        }
    }
}

impl FromStr for IterationsPerLoop {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let refused = || TpuError::IterationsPerLoop { found: format!("\"{text}\"") };
        let (digits, seconds_per_unit) = match text.as_bytes().last() {
            Some(b's') => (&text[..text.len() - 1], Some(1)),
            Some(b'm') => (&text[..text.len() - 1], Some(60)),
            Some(b'h') => (&text[..text.len() - 1], Some(3600)),
            _ => (text, None),
        };
        // Rust would read `+5` as well, TensorFlow does not.
        if !digits.starts_with(|first: char| ('1'..='9').contains(&first)) {
            return Err(refused().into());
        }
        let value: u64 = digits.parse().map_err(|_| refused())?;
        Ok(match seconds_per_unit {
            None => IterationsPerLoop::Count(value),
            Some(seconds) => {
                IterationsPerLoop::Time(Duration::from_secs(value.checked_mul(seconds).ok_or_else(refused)?))
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_and_times_are_read() -> Result<()> {
        let seconds = |seconds| IterationsPerLoop::Time(Duration::from_secs(seconds));
        for (text, expected) in [
            ("1", IterationsPerLoop::Count(1)),
            ("500", IterationsPerLoop::Count(500)),
            ("300s", seconds(300)),
            ("60m", seconds(3600)),
            ("1h", seconds(3600)),
        ] {
            assert_eq!(text.parse::<IterationsPerLoop>()?, expected, "{text}");
        }
        Ok(())
    }

    #[test]
    fn anything_else_is_refused() {
        // TensorFlow refuses each of these with a ValueError.
        for text in ["", "0", "-1", "2.5", "None", "True", "abc", "0s", "-3m", "s", "1d", " 5", "+5", "05", "1 h", "é"]
        {
            let error = text.parse::<IterationsPerLoop>().unwrap_err();
            assert_eq!(
                error.to_string(),
                format!(
                    "TPU002: iterations_per_loop is \"{text}\"; expected a number of steps, 1 or more, or a time; \
                     write it as `500`, `300s`, `5m` or `1h`"
                )
            );
            assert_eq!(error.exception().to_string(), "ValueError");
        }
    }

    #[test]
    fn a_time_beyond_all_measure_is_refused() {
        assert_eq!("18446744073709551615h".parse::<IterationsPerLoop>().unwrap_err().code(), "TPU002");
    }
}
