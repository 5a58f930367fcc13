use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Mutex, PoisonError};

use jupyter_protocol::{
    CodeMirrorMode, CommInfoReply, HelpLink, HistoryReply, JupyterMessage, JupyterMessageContent, KernelInfoReply,
    LanguageInfo, ReplyStatus, ShutdownRequest, Status,
};
use serde_json::json;

use super::completeness;
use super::ending::Ending;
use super::history::History;
use super::publisher::Publisher;
use super::replies::Replies;

/// What arrives on the shell channel, on its way to an answer.
pub struct Shell {
    pub publisher: Publisher,
    pub replies: Replies,
    pub ending: Ending,
    /// The version of Rust; empty if no session is prepared.
    language: String,
    history: Mutex<History>,
    /// How many requests have arrived.
    received: AtomicU64,
    /// Executions up to this one are not run.
    aborted: AtomicU64,
    /// How many requests the worker has not answered yet.
    waiting: AtomicUsize,
}

/// A request that the worker answers.
pub struct Job {
    /// Its place in the order of arrival, from 1.
    pub arrival: u64,
    /// What is asked.
    pub request: JupyterMessage,
}

impl Shell {
    /// A shell on which nothing has arrived.
    pub fn new(publisher: Publisher, replies: Replies, ending: Ending, language: String) -> Self {
        Shell {
            publisher,
            replies,
            ending,
            language,
            history: Mutex::default(),
            received: AtomicU64::new(0),
            aborted: AtomicU64::new(0),
            waiting: AtomicUsize::new(0),
        }
    }

    /// Answers a request, or leaves it to the worker if it needs the session or others came before.
    pub fn take(&self, request: JupyterMessage, queue: &Sender<Job>) {
        let arrival = self.received.fetch_add(1, Ordering::SeqCst) + 1;
        if let JupyterMessageContent::ShutdownRequest(ShutdownRequest { restart }) = request.content {
            self.shut_down(restart, &self.replies, &request);
        }
        let needs_session = matches!(
            request.content,
            JupyterMessageContent::ExecuteRequest(_)
                | JupyterMessageContent::CompleteRequest(_)
                | JupyterMessageContent::InspectRequest(_)
        );
        if !needs_session && self.waiting.load(Ordering::SeqCst) == 0 {
            self.publisher.send(Status::busy(), Some(&request));
            self.answer_at_once(&request, &self.replies);
            self.publisher.send(Status::idle(), Some(&request));
        } else {
            self.waiting.fetch_add(1, Ordering::SeqCst);
            let _ = queue.send(Job { arrival, request });
        }
    }

    /// The worker has answered a request.
    pub fn done(&self) {
        self.waiting.fetch_sub(1, Ordering::SeqCst);
    }

    /// Whether requests wait for the worker.
    pub fn is_waited_for(&self) -> bool {
        self.waiting.load(Ordering::SeqCst) > 0
    }

    /// No execution that has arrived so far will run.
    pub fn abort(&self) {
        self.aborted.fetch_max(self.received.load(Ordering::SeqCst), Ordering::SeqCst);
    }

    /// Whether a job was aborted before its turn.
    pub fn has_aborted(&self, job: &Job) -> bool {
        job.arrival <= self.aborted.load(Ordering::SeqCst)
    }

    /// Interrupts what runs, and whatever waits while the session still starts.
    pub fn interrupt(&self) {
        if self.ending.has_session() {
            self.ending.interrupt();
        } else {
            self.abort();
        }
    }

    /// Changes or asks the history.
    pub fn with_history<T>(&self, what: impl FnOnce(&mut History) -> T) -> T {
        what(&mut self.history.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Answers what needs no session. Requests of an unknown kind get no answer; those whose content makes no sense get
    /// an error.
    pub fn answer_at_once(&self, request: &JupyterMessage, replies: &Replies) {
        match &request.content {
            JupyterMessageContent::KernelInfoRequest(_) => replies.send(kernel_info(&self.language), request),
            JupyterMessageContent::IsCompleteRequest(asked) => replies.send(completeness::check(&asked.code), request),
            JupyterMessageContent::HistoryRequest(asked) => {
                replies.send(HistoryReply::new(self.with_history(|history| history.find(asked))), request);
            }
            JupyterMessageContent::CommInfoRequest(_) => {
                let none = CommInfoReply { status: ReplyStatus::Ok, comms: HashMap::new(), error: None };
                replies.send(none, request);
            }
            JupyterMessageContent::UnknownMessage(unknown) if REQUESTS.contains(&unknown.msg_type.as_str()) => {
                let evalue = format!("the content of this {} cannot be read", unknown.msg_type);
                let error = json!({ "status": "error", "ename": "KERNEL046", "evalue": evalue,
                                    "traceback": [format!("KERNEL046: {evalue}")] });
                replies.send(unknown.reply(error), request);
            }
            _ => {}
        }
    }
}

/// The requests that the kernel understands.
const REQUESTS: [&str; 9] = [
    "execute_request",
    "complete_request",
    "inspect_request",
    "is_complete_request",
    "history_request",
    "comm_info_request",
    "kernel_info_request",
    "interrupt_request",
    "shutdown_request",
];

fn kernel_info(language: &str) -> KernelInfoReply {
    let link = |text: &str, url: &str| HelpLink { text: text.to_owned(), url: url.to_owned() };
    KernelInfoReply {
        status: ReplyStatus::Ok,
        protocol_version: "5.4".to_owned(),
        implementation: "tpulab".to_owned(),
        implementation_version: env!("CARGO_PKG_VERSION").to_owned(),
        language_info: LanguageInfo {
            name: "rust".to_owned(),
            version: language.to_owned(),
            // The type under which JupyterLab knows how to colour Rust.
            mimetype: Some("text/x-rustsrc".to_owned()),
            file_extension: Some(".rs".to_owned()),
            pygments_lexer: Some("rust".to_owned()),
            codemirror_mode: Some(CodeMirrorMode::Simple("rust".to_owned())),
            nbconvert_exporter: Some("script".to_owned()),
        },
        banner: concat!(
            "tpulab ",
            env!("CARGO_PKG_VERSION"),
            ": Rust, with tpulab loaded as `tf`. `?name` shows what a name means, `:help` lists commands."
        )
        .to_owned(),
        help_links: vec![
            link("The Rust book", "https://doc.rust-lang.org/book/"),
            link("What evcxr allows in cells", "https://github.com/evcxr/evcxr/blob/main/COMMON.md"),
        ],
        debugger: false,
        error: None,
    }
}
