//! What is asked for out of turn, and the end.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use jupyter_protocol::{InterruptReply, JupyterMessageContent, ReplyStatus, ShutdownReply, ShutdownRequest, Status};
use tokio::signal::unix::{SignalKind, signal};

use super::replies::{Replies, Requests};
use super::shell::Shell;
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

/// Answers what comes on the control channel, whatever the cells do.
pub fn serve(commands: &Requests, replies: &Replies, shell: &Shell) {
    loop {
        let message = commands.next();
        shell.publisher.send(Status::busy(), Some(&message));
        match &message.content {
            JupyterMessageContent::InterruptRequest(_) => {
                shell.interrupt();
                replies.send(InterruptReply::new(), &message);
            }
            JupyterMessageContent::ShutdownRequest(ShutdownRequest { restart }) => {
                shell.shut_down(*restart, replies, &message)
            }
            _ => shell.answer_at_once(&message, replies),
        }
        shell.publisher.send(Status::idle(), Some(&message));
    }
}

impl Shell {
    /// Answers and ends.
    pub fn shut_down(&self, restart: bool, replies: &Replies, request: &jupyter_protocol::JupyterMessage) -> ! {
        replies.send(ShutdownReply { restart, status: ReplyStatus::Ok, error: None }, request);
        // Other front ends are to know it too.
        self.publisher.send(ShutdownReply { restart, status: ReplyStatus::Ok, error: None }, Some(request));
        self.publisher.send(Status::idle(), Some(request));
        self.publisher.flush();
        // The sockets still write what they were given.
        std::thread::sleep(Duration::from_millis(50));
        self.ending.end()
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
