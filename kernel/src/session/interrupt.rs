//! Ends what a cell does, as gently as it allows.

use std::process::Child;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;

use super::Folder;

/// How long a cell may take to stop by itself.
const GRACE: Duration = Duration::from_secs(2);

/// Interrupts the cell that runs, whether it is being compiled or is running.
#[derive(Clone, Debug)]
pub struct Interrupter {
    state: Arc<State>,
}

#[derive(Debug)]
struct State {
    folder: Folder,
    child: Mutex<Option<Arc<Mutex<Child>>>>,
    /// Even while nothing is executed, odd while a cell is.
    executions: AtomicU64,
    runs: AtomicBool,
    interrupted: AtomicBool,
}

impl Interrupter {
    pub(super) fn new(folder: Folder) -> Self {
        Interrupter {
            state: Arc::new(State {
                folder,
                child: Mutex::new(None),
                executions: AtomicU64::new(0),
                runs: AtomicBool::new(false),
                interrupted: AtomicBool::new(false),
            }),
        }
    }

    pub(super) fn watch(&self, child: Arc<Mutex<Child>>) {
        *self.state.child.lock().unwrap_or_else(PoisonError::into_inner) = Some(child);
    }

    pub(super) fn execution_begins(&self) {
        self.state.runs.store(false, Ordering::SeqCst);
        self.state.interrupted.store(false, Ordering::SeqCst);
        self.state.executions.fetch_add(1, Ordering::SeqCst);
    }

    pub(super) fn cell_begins(&self) {
        self.state.runs.store(true, Ordering::SeqCst);
    }

    /// Whether the execution that ends was interrupted.
    pub(super) fn execution_ends(&self) -> bool {
        self.state.executions.fetch_add(1, Ordering::SeqCst);
        self.state.runs.store(false, Ordering::SeqCst);
        self.state.interrupted.load(Ordering::SeqCst)
    }

    /// Whether the execution that goes on, or the last one, was interrupted.
    pub fn interrupted(&self) -> bool {
        self.state.interrupted.load(Ordering::SeqCst)
    }

    /// Ends what is compiled and the cells' process with all that it started, at once.
    pub fn kill(&self) {
        if let Some(group) = self.state.compiles() {
            let _ = killpg(group, Signal::SIGKILL);
        }
        self.state.signal_cells(true);
    }

    /// Interrupts the execution that goes on; returns at once.
    ///
    /// A compilation is ended at once. A running cell is asked to stop, and its process ended if it does not.
    pub fn interrupt(&self) {
        let state = self.state.clone();
        let execution = state.executions.load(Ordering::SeqCst);
        if execution.is_multiple_of(2) || state.interrupted.swap(true, Ordering::SeqCst) {
            return;
        }
        std::thread::spawn(move || {
            let mut asked: Option<Instant> = None;
            while state.executions.load(Ordering::SeqCst) == execution {
                if state.runs.load(Ordering::SeqCst) {
                    match asked {
                        None => {
                            state.signal_cells(false);
                            asked = Some(Instant::now());
                        }
                        Some(since) if since.elapsed() > GRACE => state.signal_cells(true),
                        Some(_) => {}
                    }
                } else if let Some(group) = state.compiles() {
                    let _ = killpg(group, Signal::SIGKILL);
                }
                std::thread::sleep(Duration::from_millis(20));
            }
        });
    }
}

impl State {
    fn compiles(&self) -> Option<Pid> {
        let text = std::fs::read_to_string(self.folder.compile_group()).ok()?;
        text.parse().ok().filter(|group| *group > 1).map(Pid::from_raw)
    }

    /// Asks the cells' process to stop, or ends it with all that it started.
    fn signal_cells(&self, end: bool) {
        let child = self.child.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(child) = child else { return };
        // While evcxr holds it, the process is already ending.
        if let Ok(child) = child.try_lock() {
            let process = Pid::from_raw(child.id() as i32);
            let _ = if end { killpg(process, Signal::SIGKILL) } else { kill(process, Signal::SIGINT) };
        }
    }
}
