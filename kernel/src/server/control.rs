//! What is asked for out of turn.

use std::time::Duration;

use jupyter_protocol::{
    InterruptReply, JupyterMessage, JupyterMessageContent, ReplyStatus, ShutdownReply, ShutdownRequest, Status,
};

use super::replies::{Replies, Requests};
use super::shell::Shell;

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
    pub fn shut_down(&self, restart: bool, replies: &Replies, request: &JupyterMessage) -> ! {
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
