use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jupyter_protocol::{Header, JupyterMessage, JupyterMessageContent, UnknownMessage};
use jupyter_zmq_client::{Connection, RawMessage, RouterRecvConnection, RouterSendConnection};
use serde_json::{Value, json};
use tokio::runtime::Handle;
use zeromq::{RouterSocket, SocketRecv};

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
    /// The next request that is signed; what is not, or is no message at all, is dropped.
    pub fn next(&self) -> JupyterMessage {
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match self.handle.block_on(connection.socket.recv()) {
                Ok(parts) => {
                    let raw = RawMessage::from_multipart(parts, &connection.mac).ok();
                    if let Some(message) = raw.and_then(message) {
                        return message;
                    }
                }
                // One front end went away; others may come.
                Err(_) => std::thread::sleep(Duration::from_millis(5)),
            }
        }
    }
}

/// The message, with what its kind leaves out filled in; of an unknown kind if its content still makes no sense.
fn message(raw: RawMessage) -> Option<JupyterMessage> {
    let RawMessage { zmq_identities, mut jparts } = raw;
    let header: Header = serde_json::from_slice(jparts.first()?).ok()?;
    let given: Value = serde_json::from_slice(jparts.get(3)?).ok()?;
    let mut content = defaults(&header.msg_type);
    match (&mut content, given.clone()) {
        (Value::Object(content), Value::Object(given)) => content.extend(given),
        _ => content = given.clone(),
    }
    let content = JupyterMessageContent::from_type_and_content(&header.msg_type, content).unwrap_or_else(|_| {
        JupyterMessageContent::UnknownMessage(UnknownMessage { msg_type: header.msg_type.clone(), content: given })
    });
    Some(JupyterMessage {
        zmq_identities,
        parent_header: serde_json::from_slice(jparts.get(1)?).ok(),
        metadata: serde_json::from_slice(jparts.get(2)?).unwrap_or_default(),
        header,
        content,
        buffers: jparts.split_off(4),
        channel: None,
    })
}

/// What a front end may leave out of a request.
fn defaults(kind: &str) -> Value {
    match kind {
        "execute_request" => json!({ "silent": false, "store_history": true, "user_expressions": {} }),
        "history_request" => json!({
            "hist_access_type": "tail", "session": 0, "start": 0, "stop": 0, "n": -1, "unique": false, "output": false,
            "raw": true, "pattern": "*",
        }),
        _ => json!({}),
    }
}
