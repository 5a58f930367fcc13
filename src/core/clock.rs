//! The time, as a value that a test can hold in its hand.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Tells the time since 1970. Real by default; a manual clock stands still until it is advanced.
///
/// # Examples
/// ```
/// use std::time::Duration;
/// use tpulab::core::Clock;
/// let clock = Clock::manual(Duration::from_secs(100));
/// clock.advance(Duration::from_secs(600));
/// assert_eq!(clock.now(), Duration::from_secs(700));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Clock {
    manual: Option<Arc<AtomicU64>>,
}

impl Clock {
    /// The machine's clock.
    pub fn system() -> Self {
        Clock::default()
    }

    /// A clock that shows `start` until [`Clock::advance`] moves it. Clones share their time.
    pub fn manual(start: Duration) -> Self {
        Clock { manual: Some(Arc::new(AtomicU64::new(start.as_nanos() as u64))) }
    }

    /// The time since 1970-01-01 UTC.
    pub fn now(&self) -> Duration {
        match &self.manual {
            Some(nanoseconds) => Duration::from_nanos(nanoseconds.load(Ordering::SeqCst)),
            None => SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default(),
        }
    }

    /// Moves a manual clock forward; the machine's clock takes no notice.
    pub fn advance(&self, by: Duration) {
        if let Some(nanoseconds) = &self.manual {
            nanoseconds.fetch_add(by.as_nanos() as u64, Ordering::SeqCst);
        }
    }
}
