//! The five sockets of the protocol.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use jupyter_protocol::{ConnectionInfo, InputReply, InputRequest, IoPubWelcome, JupyterMessage, JupyterMessageContent};
use jupyter_zmq_client::{
    KernelControlConnection, KernelHeartbeatConnection, KernelIoPubXPubConnection, KernelShellConnection,
    KernelStdinConnection, SubscriptionEvent,
};
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use zeromq::{SocketRecv, SocketSend};

use super::publisher::Published;
use super::replies::Replies;
use crate::error::{Context, Result};

/// How long a front end that does not read may hold up the others.
const PATIENCE: Duration = Duration::from_secs(10);

/// The bound sockets.
pub struct Channels {
    pub shell: KernelShellConnection,
    pub control: KernelControlConnection,
    pub stdin: KernelStdinConnection,
    pub iopub: KernelIoPubXPubConnection,
    pub heartbeat: KernelHeartbeatConnection,
}

impl Channels {
    /// Binds them where the connection file says.
    pub async fn bind(info: &ConnectionInfo) -> Result<Self> {
        let session = uuid::Uuid::new_v4().to_string();
        let failed = |name: &str| format!("the channel {name} cannot be opened");
        Ok(Channels {
            shell: jupyter_zmq_client::create_kernel_shell_connection(info, &session)
                .await
                .context("KERNEL043", failed("shell"))?,
            control: jupyter_zmq_client::create_kernel_control_connection(info, &session)
                .await
                .context("KERNEL043", failed("control"))?,
            stdin: jupyter_zmq_client::create_kernel_stdin_connection(info, &session)
                .await
                .context("KERNEL043", failed("stdin"))?,
            iopub: jupyter_zmq_client::create_kernel_iopub_xpub_connection(info, &session)
                .await
                .context("KERNEL043", failed("iopub"))?,
            heartbeat: jupyter_zmq_client::create_kernel_heartbeat_connection(info)
                .await
                .context("KERNEL043", failed("heartbeat"))?,
        })
    }
}

/// Sends what is published and welcomes who subscribes.
pub async fn publish(mut iopub: KernelIoPubXPubConnection, mut published: mpsc::Receiver<Published>) {
    loop {
        tokio::select! {
            next = published.recv() => match next {
                Some(Published::Message(message)) => {
                    let _ = tokio::time::timeout(PATIENCE, iopub.send(*message)).await;
                }
                Some(Published::Mark(mark)) => {
                    let _ = mark.send(());
                }
                None => return,
            },
            event = iopub.recv_subscription() => match event {
                Ok(SubscriptionEvent::Subscribe(topic)) => {
                    let welcome = JupyterMessage::new(IoPubWelcome::new(topic.clone()), None)
                        .with_zmq_identities(vec![topic.into_bytes().into()]);
                    let _ = tokio::time::timeout(PATIENCE, iopub.send(welcome)).await;
                }
                Ok(SubscriptionEvent::Unsubscribe(_)) => {}
                // Without subscribers there is nothing to hear; messages are still taken.
                Err(_) => tokio::time::sleep(Duration::from_millis(1)).await,
            },
        }
    }
}

/// Sends every heartbeat back.
pub async fn beat(mut heartbeat: KernelHeartbeatConnection) {
    loop {
        match heartbeat.socket.recv().await {
            Ok(message) => {
                let _ = heartbeat.socket.send(message).await;
            }
            Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    }
}

/// Asks the person at the front end, one question at a time.
pub struct Questions {
    replies: Replies,
    answers: Receiver<InputReply>,
}

impl Questions {
    /// Asks on the stdin channel.
    pub fn new(stdin: KernelStdinConnection, handle: Handle) -> Self {
        let (replies, requests) = Replies::new(stdin, handle);
        let (answer, answers) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            loop {
                if let JupyterMessageContent::InputReply(reply) = requests.next().content
                    && answer.send(reply).is_err()
                {
                    return;
                }
            }
        });
        Questions { replies, answers }
    }

    /// What the person typed; none if `given_up` before the answer came.
    pub fn ask(
        &self,
        prompt: &str,
        password: bool,
        parent: &JupyterMessage,
        given_up: impl Fn() -> bool,
    ) -> Option<String> {
        // What was meant for an earlier question is no answer to this one.
        while self.answers.try_recv().is_ok() {}
        self.replies.send(InputRequest { prompt: prompt.to_owned(), password }, parent);
        loop {
            match self.answers.recv_timeout(Duration::from_millis(50)) {
                Ok(reply) => return Some(reply.value),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) if given_up() => return None,
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}
