use std::sync::mpsc::channel;
use std::time::Duration;

use jupyter_protocol::{JupyterMessage, JupyterMessageContent};
use tokio::sync::mpsc;

/// How many messages wait at most; a cell that prints faster than front ends read waits too.
const MOST: usize = 1024;

/// What waits for its turn on iopub.
#[derive(Debug)]
pub enum Published {
    /// A message for all front ends.
    Message(Box<JupyterMessage>),
    /// Everything before this was sent.
    Mark(std::sync::mpsc::Sender<()>),
}

/// Sends to all front ends, in order. To be used from threads, not from tasks.
#[derive(Clone, Debug)]
pub struct Publisher {
    queue: mpsc::Sender<Published>,
}

impl Publisher {
    /// A publisher and the queue of what it publishes.
    pub fn new() -> (Self, mpsc::Receiver<Published>) {
        let (queue, published) = mpsc::channel(MOST);
        (Publisher { queue }, published)
    }

    /// Publishes what a request led to.
    pub fn send(&self, content: impl Into<JupyterMessageContent>, parent: Option<&JupyterMessage>) {
        let message = JupyterMessage::new(content, parent);
        let topic = message.header.msg_type.clone().into_bytes();
        let message = message.with_zmq_identities(vec![topic.into()]);
        let _ = self.queue.blocking_send(Published::Message(Box::new(message)));
    }

    /// Waits until all was sent, but not for ever.
    pub fn flush(&self) {
        let (mark, sent) = channel();
        if self.queue.try_send(Published::Mark(mark)).is_ok() {
            let _ = sent.recv_timeout(Duration::from_millis(500));
        }
    }
}
