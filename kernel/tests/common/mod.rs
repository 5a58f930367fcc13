//! A front end in few lines: it sends requests and gathers what they lead to.

use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use jupyter_protocol::connection_info::Transport;
use jupyter_protocol::{
    ConnectionInfo, ExecuteReply, ExecuteRequest, ExecutionState, InputReply, JupyterMessage, JupyterMessageContent,
    KernelInfoRequest, ReplyStatus,
};
use jupyter_zmq_client as zmq;
use serde_json::Value;
use tokio::runtime::Runtime;
use tokio::time::timeout;

/// How long anything may take here.
const LIMIT: Duration = Duration::from_secs(600);

pub struct FrontEnd {
    pub info: ConnectionInfo,
    kernel: Child,
    runtime: Runtime,
    shell: zmq::ClientShellConnection,
    stdin: zmq::ClientStdinConnection,
    control: zmq::ClientControlConnection,
    iopub: zmq::ClientIoPubConnection,
    folder: tempfile::TempDir,
}

/// What came of an execution.
#[derive(Debug)]
pub struct Execution {
    pub reply: ExecuteReply,
    /// Type and content of each message, and when it came.
    pub messages: Vec<(String, Value, Instant)>,
}

impl Execution {
    /// The text of a stream, in one piece.
    pub fn text(&self, stream: &str) -> String {
        let streams = self.messages.iter().filter(|(kind, content, _)| kind == "stream" && content["name"] == stream);
        streams.filter_map(|(_, content, _)| content["text"].as_str()).collect()
    }

    /// The contents of all messages of a kind.
    pub fn of(&self, kind: &str) -> Vec<&Value> {
        self.messages.iter().filter(|(name, ..)| name == kind).map(|(_, content, _)| content).collect()
    }

    /// Name and text of its error; it must have exactly one, told twice.
    pub fn error(&self) -> (String, String) {
        let errors = self.of("error");
        assert_eq!(errors.len(), 1, "{self:?}");
        assert_eq!(self.reply.status, ReplyStatus::Error, "{self:?}");
        let said = self.reply.error.as_ref().expect("the reply holds the error");
        assert_eq!(errors[0]["ename"], said.ename.as_str());
        (said.ename.clone(), said.traceback.join("\n"))
    }

    pub fn is_ok(&self) -> bool {
        self.reply.status == ReplyStatus::Ok && self.of("error").is_empty()
    }
}

/// The prepared session that all tests use.
fn prepared() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let notebook = tempfile::NamedTempFile::with_suffix(".ipynb").expect("a file");
        let empty = r#"{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}"#;
        std::fs::write(notebook.path(), empty).expect("a notebook");
        // Running a notebook without cells prepares what is missing.
        let status = Command::new(env!("CARGO_BIN_EXE_tpulab")).arg("run").arg(notebook.path()).status();
        assert!(status.expect("the program runs").success());
    });
}

impl FrontEnd {
    pub fn start() -> Self {
        Self::start_over(Transport::TCP)
    }

    pub fn start_over(transport: Transport) -> Self {
        prepared();
        let folder = tempfile::tempdir().expect("a folder");
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.expect("threads");
        let ports = runtime.block_on(zmq::peek_ports(IpAddr::V4(Ipv4Addr::LOCALHOST), 5)).expect("ports");
        let path = folder.path().join("ipc").display().to_string();
        let info = ConnectionInfo {
            ip: if transport == Transport::IPC { path } else { "127.0.0.1".to_owned() },
            transport,
            shell_port: ports[0],
            iopub_port: ports[1],
            stdin_port: ports[2],
            control_port: ports[3],
            hb_port: ports[4],
            key: "a secret".to_owned(),
            signature_scheme: "hmac-sha256".to_owned(),
            kernel_name: None,
        };
        let file = folder.path().join("connection.json");
        std::fs::write(&file, serde_json::to_string(&info).expect("text")).expect("a connection file");
        // Another build of the library, as `cargo run` puts before all others.
        std::fs::write(folder.path().join("libtpulab.so"), "no library").expect("a file");
        let inherited = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
        let places = std::iter::once(folder.path().to_owned()).chain(std::env::split_paths(&inherited));
        let kernel = Command::new(env!("CARGO_BIN_EXE_tpulab"))
            .env("LD_LIBRARY_PATH", std::env::join_paths(places).expect("a path"))
            .args(["kernel", "run", "--connection-file"])
            .arg(&file)
            .current_dir(folder.path())
            // Private folders of this kernel alone.
            .env("TMPDIR", folder.path())
            .stdin(Stdio::null())
            .spawn()
            .expect("the kernel starts");
        let (shell, stdin, control, iopub) = runtime.block_on(async {
            let session = "tests";
            let identity = zmq::peer_identity_for_session(session).expect("an identity");
            let shell = loop {
                match zmq::create_client_shell_connection_with_identity(&info, session, identity.clone()).await {
                    Ok(shell) => break shell,
                    Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
                }
            };
            let stdin = zmq::create_client_stdin_connection_with_identity(&info, session, identity).await;
            let control = zmq::create_client_control_connection(&info, session).await;
            let iopub = zmq::create_client_iopub_connection(&info, "", session).await;
            (shell, stdin.expect("stdin"), control.expect("control"), iopub.expect("iopub"))
        });
        let mut front_end = FrontEnd { info, kernel, runtime, shell, stdin, control, iopub, folder };
        let welcome = front_end.next_published();
        assert_eq!(welcome.header.msg_type, "iopub_welcome");
        front_end.ask(KernelInfoRequest {}.into());
        front_end
    }

    pub fn folder(&self) -> PathBuf {
        self.folder.path().to_owned()
    }

    /// The folders that the kernel's sessions hold.
    pub fn sessions(&self) -> usize {
        let entries = std::fs::read_dir(self.folder.path()).expect("a folder").flatten();
        entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("tpulab-session-")).count()
    }

    pub fn send(&mut self, request: JupyterMessage) -> String {
        let id = request.header.msg_id.clone();
        self.runtime.block_on(self.shell.send(request)).expect("sent");
        id
    }

    pub fn send_control(&mut self, request: JupyterMessage) {
        self.runtime.block_on(self.control.send(request)).expect("sent");
    }

    pub fn control_reply(&mut self) -> JupyterMessageContent {
        let reply = self.runtime.block_on(async { timeout(LIMIT, self.control.read()).await });
        reply.expect("in time").expect("a message").content
    }

    pub fn next_published(&mut self) -> JupyterMessage {
        let message = self.runtime.block_on(async { timeout(LIMIT, self.iopub.read()).await });
        message.expect("in time").expect("a message")
    }

    fn reply(&mut self, id: &str) -> JupyterMessageContent {
        loop {
            let reply = self.runtime.block_on(async { timeout(LIMIT, self.shell.read()).await });
            let reply = reply.expect("in time").expect("a message");
            if reply.parent_header.as_ref().is_some_and(|parent| parent.msg_id == id) {
                return reply.content;
            }
        }
    }

    /// The answer to a request that runs nothing.
    pub fn ask(&mut self, request: JupyterMessage) -> JupyterMessageContent {
        let id = self.send(request);
        let reply = self.reply(&id);
        self.messages_of(&id, |_, _| {});
        reply
    }

    /// What a request led to, until it is done.
    fn messages_of(&mut self, id: &str, mut seen: impl FnMut(&mut Self, &Value)) -> Vec<(String, Value, Instant)> {
        let mut messages = Vec::new();
        loop {
            let message = self.next_published();
            if message.parent_header.as_ref().is_none_or(|parent| parent.msg_id != id) {
                continue;
            }
            let content = serde_json::to_value(&message.content).expect("JSON");
            match &message.content {
                JupyterMessageContent::Status(status) if status.execution_state == ExecutionState::Idle => {
                    return messages;
                }
                JupyterMessageContent::Status(_) => {}
                _ => {
                    seen(self, &content);
                    messages.push((message.header.msg_type.clone(), content, Instant::now()));
                }
            }
        }
    }

    pub fn run(&mut self, code: &str) -> Execution {
        self.execute(ExecuteRequest::new(code.to_owned()), |_, _| {})
    }

    /// Runs a cell and calls `seen` with each message as it comes.
    pub fn execute(&mut self, request: ExecuteRequest, seen: impl FnMut(&mut Self, &Value)) -> Execution {
        let id = self.send(request.into());
        self.finish(&id, seen)
    }

    /// What an execution that was sent before came to.
    pub fn finish(&mut self, id: &str, seen: impl FnMut(&mut Self, &Value)) -> Execution {
        let messages = self.messages_of(id, seen);
        match self.reply(id) {
            JupyterMessageContent::ExecuteReply(reply) => Execution { reply, messages },
            other => panic!("no answer to an execution: {other:?}"),
        }
    }

    /// The prompt of the next question.
    pub fn question(&mut self) -> String {
        let question = self.runtime.block_on(async { timeout(LIMIT, self.stdin.read()).await });
        let question = question.expect("in time").expect("a message");
        let JupyterMessageContent::InputRequest(asked) = question.content else { panic!("no question: {question:?}") };
        asked.prompt
    }

    /// Answers a question.
    pub fn answer(&mut self, text: &str) {
        let reply = InputReply { value: text.to_owned(), status: ReplyStatus::Ok, error: None };
        self.runtime.block_on(self.stdin.send(reply.into())).expect("sent");
    }

    /// Whether the kernel has ended, waiting for it.
    pub fn ends(&mut self) -> bool {
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(10) {
            if matches!(self.kernel.try_wait(), Ok(Some(_))) {
                return true;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        false
    }

    pub fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }
}

impl Drop for FrontEnd {
    fn drop(&mut self) {
        let _ = self.kernel.kill();
        let _ = self.kernel.wait();
    }
}
