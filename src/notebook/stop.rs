//! The flag by which a notebook interrupts a running loop.

use std::sync::atomic::{AtomicBool, Ordering};

/// Asks running loops to stop at their next step. TensorFlow: `SessionRunContext.request_stop`.
///
/// The process has one, [`StopFlag::process`], which a kernel raises on interrupt, by [`tpulab_set_stop`] where it
/// cannot name Rust's types; raising it is safe in a signal handler. A loop looks at it between steps, saves what it has,
/// and returns.
#[derive(Debug, Default)]
pub struct StopFlag {
    requested: AtomicBool,
}

static PROCESS: StopFlag = StopFlag::new();

impl StopFlag {
    /// A flag that is down.
    pub const fn new() -> Self {
        StopFlag { requested: AtomicBool::new(false) }
    }

    /// The flag of this process.
    pub fn process() -> &'static StopFlag {
        &PROCESS
    }

    /// Raises the flag.
    pub fn request_stop(&self) {
        self.requested.store(true, Ordering::SeqCst);
    }

    /// Whether the flag is up.
    pub fn stop_requested(&self) -> bool {
        self.requested.load(Ordering::Relaxed)
    }

    /// Takes the flag down.
    pub fn clear(&self) {
        self.requested.store(false, Ordering::SeqCst);
    }
}

/// Raises the flag of this process, or takes it down, for a kernel that only finds this library loaded: it looks the
/// symbol up (`dlsym`), calls it with `true` on SIGINT, and with `false` before the next cell. Safe in a signal handler.
#[allow(unsafe_code, reason = "no other symbol has this name")]
#[unsafe(no_mangle)]
pub extern "C" fn tpulab_set_stop(requested: bool) {
    PROCESS.requested.store(requested, Ordering::SeqCst);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_stays_until_it_is_cleared() {
        let flag = StopFlag::new();
        assert!(!flag.stop_requested());
        flag.request_stop();
        assert!(flag.stop_requested() && flag.stop_requested());
        flag.clear();
        assert!(!flag.stop_requested());
    }
}
