use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jupyter_protocol::{JupyterMessage, JupyterMessageContent};
use jupyter_zmq_client::{Connection, RouterRecvConnection, RouterSendConnection, RuntimeError};
use tokio::runtime::Handle;
use zeromq::RouterSocket;

/// The sending half of a channel on which requests are answered. To be used from threads, not from tasks.
pub struct Replies {
    connection: Mutex<RouterSendConnection>,
    handle: Handle,
}

/// The receiving half.
pub struct Requests {
    connection: Mutex<RouterRecvConnection>,
    handle: Handle,
}

impl Replies {
    /// Both halves of a channel.
    pub fn new(channel: Connection<RouterSocket>, handle: Handle) -> (Self, Requests) {
        let (send, receive) = channel.split();
        let replies = Replies { connection: Mutex::new(send), handle: handle.clone() };
        (replies, Requests { connection: Mutex::new(receive), handle })
    }

    /// Answers `parent`. A front end that is gone gets no answer.
    pub fn send(&self, content: impl Into<JupyterMessageContent>, parent: &JupyterMessage) {
        let message = JupyterMessage::new(content, Some(parent));
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = self.handle.block_on(connection.send(message));
    }
}

impl Requests {
    /// The next request that is well-formed and signed; whatever else arrives is dropped.
    pub fn next(&self) -> JupyterMessage {
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match self.handle.block_on(connection.read()) {
                Ok(message) => return message,
                // One front end went away; others may come.
                Err(RuntimeError::ZmqError(_)) => std::thread::sleep(Duration::from_millis(5)),
                Err(_) => {}
            }
        }
    }
}
