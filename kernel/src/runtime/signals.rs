//! An interrupt raises the library's stop flag, so that loops end at their next step.

use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};

static RUNS: AtomicBool = AtomicBool::new(false);
static SET_STOP: AtomicPtr<()> = AtomicPtr::new(std::ptr::null_mut());

/// Says whether a cell runs.
pub fn cell_runs(runs: bool) {
    RUNS.store(runs, Ordering::SeqCst);
}

/// Whether a cell runs.
pub fn a_cell_runs() -> bool {
    RUNS.load(Ordering::SeqCst)
}

/// Takes SIGINT as a wish to stop, not as the end.
pub fn listen() -> nix::Result<()> {
    let action = SigAction::new(SigHandler::Handler(raise), SaFlags::SA_RESTART, SigSet::empty());
    // SAFETY: the handler only reads atomics and stores one.
    unsafe { sigaction(Signal::SIGINT, &action) }.map(drop)
}

/// Tells where the loaded library's `tpulab_set_stop` is.
pub fn stop_with(set_stop: extern "C" fn(bool)) {
    SET_STOP.store(set_stop as *mut (), Ordering::SeqCst);
}

/// Every cell begins with the flag down.
pub fn lower_the_stop_flag() {
    set_stop(false);
}

extern "C" fn raise(_signal: i32) {
    if a_cell_runs() {
        set_stop(true);
    }
}

fn set_stop(requested: bool) {
    let function = SET_STOP.load(Ordering::SeqCst);
    if !function.is_null() {
        // SAFETY: only `stop_with` stores here, and libraries are never unloaded.
        let function: extern "C" fn(bool) = unsafe { std::mem::transmute(function) };
        function(requested);
    }
}
