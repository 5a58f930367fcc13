use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use jupyter_protocol::connection_info::Transport;
use jupyter_protocol::{
    ConnectionInfo, ExecuteRequest, ExecutionState, InterruptRequest, JupyterMessage, JupyterMessageContent,
    KernelInfoRequest, ReplyStatus, ShutdownRequest,
};
use jupyter_zmq_client::{
    ClientControlConnection, ClientIoPubConnection, ClientShellConnection, create_client_control_connection,
    create_client_iopub_connection, create_client_shell_connection_with_identity, peek_ports_with_listeners,
    peer_identity_for_session,
};
use nbformat::v4::Output;
use tokio::process::{Child, Command};
use tokio::time::{Instant as Deadline, timeout, timeout_at};

use super::collector::Collector;
use crate::error::{Context, Error, Result};
use crate::template::{self, Template};

/// How long a kernel may take until it answers at all.
const START: Duration = Duration::from_secs(120);

/// How long a cell may take to stop when it is told to.
const STOP: Duration = Duration::from_secs(10);

/// A kernel of its own, spoken to as a front end does.
pub struct Client {
    kernel: Child,
    shell: ClientShellConnection,
    iopub: ClientIoPubConnection,
    control: ClientControlConnection,
    gone: bool,
    // The connection file, removed at the end.
    _folder: tempfile::TempDir,
}

/// How a cell ended.
pub struct Ended {
    /// What it put out.
    pub outputs: Vec<Output>,
    /// Why it failed, if it did.
    pub failure: Option<String>,
    /// Whether it took too long.
    pub timed_out: bool,
}

impl Client {
    /// Starts a kernel in a folder: the installed one of this name, or this program's own.
    pub async fn start(name: Option<&str>, folder: &Path) -> Result<Self> {
        let failed = "the kernel cannot be spoken to";
        let private = tempfile::tempdir().context("RUNNER002", "no folder for the connection")?;
        let (ports, listeners) = peek_ports_with_listeners(IpAddr::V4(Ipv4Addr::LOCALHOST), 5)
            .await
            .context("RUNNER002", "no free ports")?;
        let session = uuid::Uuid::new_v4().to_string();
        let info = ConnectionInfo {
            ip: "127.0.0.1".to_owned(),
            transport: Transport::TCP,
            shell_port: ports[0],
            iopub_port: ports[1],
            stdin_port: ports[2],
            control_port: ports[3],
            hb_port: ports[4],
            key: uuid::Uuid::new_v4().to_string(),
            signature_scheme: "hmac-sha256".to_owned(),
            kernel_name: name.map(str::to_owned),
        };
        let file = private.path().join("connection.json");
        let text = serde_json::to_string(&info).context("RUNNER002", "no connection file")?;
        std::fs::write(&file, text).context("RUNNER002", "no connection file")?;
        let mut command = match name {
            Some(name) => installed(name, &file).await?,
            None => own(&file)?,
        };
        command.current_dir(folder).stdin(Stdio::null()).kill_on_drop(true);
        drop(listeners);
        let kernel = command.spawn().context("RUNNER002", "the kernel does not start")?;

        let identity = peer_identity_for_session(&session).context("RUNNER002", failed)?;
        let connect = async {
            let shell = loop {
                // It listens when it has started.
                match create_client_shell_connection_with_identity(&info, &session, identity.clone()).await {
                    Ok(shell) => break shell,
                    Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
                }
            };
            let iopub = create_client_iopub_connection(&info, "", &session).await?;
            let control = create_client_control_connection(&info, &session).await?;
            Ok::<_, jupyter_zmq_client::RuntimeError>((shell, iopub, control))
        };
        let late = || Error::new("RUNNER002", format!("the kernel did not answer in {} s", START.as_secs()));
        let (shell, iopub, control) =
            timeout(START, connect).await.map_err(|_| late())?.context("RUNNER002", failed)?;
        let mut client = Client { kernel, shell, iopub, control, gone: false, _folder: private };
        let begun = Instant::now();
        loop {
            let request: JupyterMessage = KernelInfoRequest {}.into();
            let id = request.header.msg_id.clone();
            client.shell.send(request).await.context("RUNNER002", failed)?;
            if timeout(Duration::from_secs(5), client.reply(&id)).await.is_ok_and(|reply| reply.is_ok())
                && client.idle(&id, Duration::from_secs(1)).await
            {
                return Ok(client);
            }
            if begun.elapsed() > START || client.has_ended() {
                return Err(late().help("`tpulab doctor` looks for the reason"));
            }
        }
    }

    /// Runs a cell.
    pub async fn execute(&mut self, code: &str, limit: Duration) -> Result<Ended> {
        let request: JupyterMessage = ExecuteRequest::new(code.to_owned()).into();
        let id = request.header.msg_id.clone();
        self.shell.send(request).await.context("RUNNER007", "the cell cannot be sent")?;
        let mut collector = Collector::default();
        let mut deadline = Deadline::now() + limit;
        let mut timed_out = false;
        loop {
            let message =
                match timeout_at(deadline.min(Deadline::now() + Duration::from_secs(1)), self.iopub.read()).await {
                    Ok(Ok(message)) => message,
                    Ok(Err(_)) => continue,
                    Err(_) if self.has_ended() => return Ok(self.lost(collector, "the kernel ended")),
                    Err(_) if Deadline::now() < deadline => continue,
                    Err(_) if timed_out => {
                        let _ = self.kernel.start_kill();
                        return Ok(self.lost(collector, "the cell took too long and did not stop when it was told to"));
                    }
                    Err(_) => {
                        timed_out = true;
                        deadline = Deadline::now() + STOP;
                        let _ = self.control.send(InterruptRequest {}.into()).await;
                        continue;
                    }
                };
            if message.parent_header.as_ref().is_none_or(|parent| parent.msg_id != id) {
                continue;
            }
            match &message.content {
                JupyterMessageContent::Status(status) if status.execution_state == ExecutionState::Idle => break,
                content => collector.take(content),
            }
        }
        let reply = timeout(STOP, self.reply(&id)).await;
        let outputs = collector.finish();
        let mut failure = match reply {
            Ok(Ok(JupyterMessageContent::ExecuteReply(reply))) if reply.status == ReplyStatus::Ok => None,
            Ok(Ok(JupyterMessageContent::ExecuteReply(reply))) => Some(match reply.error {
                Some(error) => format!("{}: {}", error.ename, error.evalue),
                None => "the kernel did not run the cell".to_owned(),
            }),
            _ => Some("the kernel gave no answer".to_owned()),
        };
        // A kernel that says "ok" to a cell that shows an error is not believed.
        if failure.is_none()
            && let Some(Output::Error(error)) = outputs.iter().find(|output| matches!(output, Output::Error(_)))
        {
            failure = Some(format!("{}: {}", error.ename, error.evalue));
        }
        if timed_out {
            failure = Some(format!("the cell took longer than {} s", limit.as_secs_f64()));
        }
        Ok(Ended { outputs, failure, timed_out })
    }

    /// Whether the kernel has ended by itself.
    pub fn is_gone(&self) -> bool {
        self.gone
    }

    /// Ends the kernel.
    pub async fn shut_down(mut self) {
        let _ = self.control.send(ShutdownRequest { restart: false }.into()).await;
        let _ = timeout(Duration::from_secs(5), self.kernel.wait()).await;
        let _ = self.kernel.start_kill();
    }

    fn lost(&mut self, collector: Collector, why: &str) -> Ended {
        self.gone = true;
        Ended { outputs: collector.finish(), failure: Some(why.to_owned()), timed_out: true }
    }

    fn has_ended(&mut self) -> bool {
        !matches!(self.kernel.try_wait(), Ok(None))
    }

    /// The answer to a request.
    async fn reply(&mut self, id: &str) -> Result<JupyterMessageContent> {
        loop {
            let message = self.shell.read().await.context("RUNNER007", "the kernel cannot be heard")?;
            if message.parent_header.is_some_and(|parent| parent.msg_id == id) {
                return Ok(message.content);
            }
        }
    }

    /// Waits until a request is done; whether that was heard.
    async fn idle(&mut self, id: &str, limit: Duration) -> bool {
        let heard = async {
            loop {
                let Ok(message) = self.iopub.read().await else { continue };
                let own = message.parent_header.is_some_and(|parent| parent.msg_id == id);
                if own
                    && matches!(&message.content, JupyterMessageContent::Status(status)
                        if status.execution_state == ExecutionState::Idle)
                {
                    return;
                }
            }
        };
        timeout(limit, heard).await.is_ok()
    }
}

/// This program as a kernel, with a template of its own making.
fn own(file: &Path) -> Result<Command> {
    let program = std::env::current_exe().context("RUNNER002", "this program cannot be found")?;
    let template = Template::find()?;
    let mut command = Command::new(program);
    command.args(["kernel", "run", "--connection-file"]).arg(file).env(template::VARIABLE, template.path());
    Ok(command)
}

async fn installed(name: &str, file: &Path) -> Result<Command> {
    let found = jupyter_zmq_client::find_kernelspec_with_jupyter_paths(name).await;
    let spec = found.map_err(|_| {
        Error::new("RUNNER008", format!("no kernel is installed under the name {name:?}"))
            .help("`jupyter kernelspec list` shows those that are; without --kernel the program's own is used")
    })?;
    // What the kernel itself says is seen.
    let command = spec
        .command(file, Some(Stdio::inherit()), Some(Stdio::null()))
        .context("RUNNER008", "the kernel has no command")?;
    Ok(command)
}
