//! The end of a kernel, and what brings it about beside a request.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};

use crate::session::{Folder, Interrupter};

/// Ends the kernel with all that its cells have started, and leaves nothing behind.
#[derive(Clone, Debug)]
pub struct Ending {
    folder: Folder,
    interrupter: Arc<OnceLock<Interrupter>>,
}

impl Ending {
    /// The end of the session in this folder.
    pub fn new(folder: Folder) -> Self {
        Ending { folder, interrupter: Arc::default() }
    }

    /// From here on there are cells to end.
    pub fn session_started(&self, interrupter: Interrupter) {
        let _ = self.interrupter.set(interrupter);
    }

    /// Whether cells can run already.
    pub fn has_session(&self) -> bool {
        self.interrupter.get().is_some()
    }

    /// Interrupts the cell that runs, if one does.
    pub fn interrupt(&self) {
        if let Some(interrupter) = self.interrupter.get() {
            interrupter.interrupt();
        }
    }

    /// Whether the cell that runs was interrupted.
    pub fn interrupted(&self) -> bool {
        self.interrupter.get().is_some_and(Interrupter::interrupted)
    }

    /// Ends the kernel.
    pub fn end(&self) -> ! {
        if let Some(interrupter) = self.interrupter.get() {
            interrupter.kill();
        }
        self.folder.remove();
        std::process::exit(0)
    }
}

/// Ends the kernel when the program that started it is gone.
pub async fn watch_parent(ending: Ending) {
    let parent = nix::unistd::getppid();
    while nix::unistd::getppid() == parent {
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    ending.end()
}

/// Takes SIGINT for an interrupt and SIGTERM for the end.
pub async fn listen_to_signals(ending: Ending) {
    let (Ok(mut interrupt), Ok(mut terminate)) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        return;
    };
    loop {
        tokio::select! {
            _ = interrupt.recv() => ending.interrupt(),
            _ = terminate.recv() => ending.end(),
        }
    }
}
