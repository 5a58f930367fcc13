use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use jupyter_protocol::{
    CompleteReply, ErrorOutput, ExecuteInput, ExecuteReply, ExecuteRequest, ExecutionCount, ExpressionResult,
    InspectReply, JupyterMessage, JupyterMessageContent, Media, MediaType, Payload, ReplyError, ReplyStatus, Status,
    UnknownMessage,
};
use serde_json::json;

use super::channels::Questions;
use super::compile_bar::CompileBar;
use super::documentation;
use super::screen::Screen;
use super::shell::{Job, Shell};
use super::text::{bytes_before, characters_before, name_at};
use crate::error::{Context, Error, Result};
use crate::output::Output;
use crate::session::{Cell, Done, Failure, PrivateFolder, Session};
use crate::template::Template;

/// How deep the compiler's helpers may nest.
const STACK: usize = 256 << 20;

/// Owns the session and answers, one by one, what needs it.
pub struct Worker {
    shell: Arc<Shell>,
    screen: Screen,
    questions: Questions,
    /// The count of the last cell that was counted.
    count: usize,
}

/// The command that runs all good cells again.
const AGAIN: &str = ":again";

impl Worker {
    /// A worker without a session.
    pub fn new(shell: Arc<Shell>, questions: Questions) -> Self {
        let screen = Screen::new(shell.publisher.clone());
        Worker { shell, screen, questions, count: 0 }
    }

    /// Starts the session on its own thread, and answers what is put into the queue.
    pub fn start(
        mut self,
        template: Result<Template>,
        private: PrivateFolder,
        notebook: PathBuf,
    ) -> Result<Sender<Job>> {
        let (queue, jobs) = channel();
        std::thread::Builder::new()
            .name("cells".into())
            .stack_size(STACK)
            .spawn(move || {
                let screen = self.screen.clone();
                let session = template.and_then(|template| {
                    template.copy_to(&private)?;
                    Session::start(private, &template, &notebook, Box::new(move |output| screen.show(output)))
                });
                if let Ok(session) = &session {
                    self.shell.ending.session_started(session.interrupter());
                }
                self.work(session, &jobs);
            })
            .context("KERNEL040", "no thread for the cells")?;
        Ok(queue)
    }

    fn work(&mut self, mut session: Result<Session>, jobs: &Receiver<Job>) {
        if let Ok(session) = &mut session
            && !self.shell.is_waited_for()
        {
            session.warm_up();
        }
        while let Ok(job) = jobs.recv() {
            let aborted = self.shell.has_aborted(&job);
            let request = Arc::new(job.request);
            self.shell.publisher.send(Status::busy(), Some(&request));
            match &request.content {
                JupyterMessageContent::ExecuteRequest(_) if aborted => self.answer_aborted(&request),
                JupyterMessageContent::ExecuteRequest(asked) => self.execute(asked, &request, &mut session),
                JupyterMessageContent::CompleteRequest(asked) => {
                    let reply = complete(&asked.code, asked.cursor_pos, session.as_mut().ok());
                    self.shell.replies.send(reply, &request);
                }
                JupyterMessageContent::InspectRequest(asked) => {
                    let reply = inspect(&asked.code, asked.cursor_pos, session.as_ref().ok());
                    self.shell.replies.send(reply, &request);
                }
                _ => self.shell.answer_at_once(&request, &self.shell.replies),
            }
            self.shell.publisher.send(Status::idle(), Some(&request));
            self.shell.done();
        }
    }

    fn answer_aborted(&self, request: &JupyterMessage) {
        // No count: the cell was not run.
        let reply = UnknownMessage { msg_type: "execute_reply".to_owned(), content: json!({ "status": "aborted" }) };
        self.shell.replies.send(reply, request);
    }

    fn execute(&mut self, asked: &ExecuteRequest, request: &Arc<JupyterMessage>, session: &mut Result<Session>) {
        let stored = asked.store_history && !asked.silent;
        if stored {
            self.count += 1;
            self.shell.with_history(|history| history.add(self.count, &asked.code));
        }
        self.screen.begin(request.clone(), self.count.max(1), asked.silent);
        if !asked.silent {
            let input = ExecuteInput { code: asked.code.clone(), execution_count: ExecutionCount::new(self.count) };
            self.shell.publisher.send(input, Some(request));
        }
        let number = stored.then_some(self.count);
        let (result, payload) = match asked.code.trim().strip_prefix('?') {
            Some(name) => match explain(name.trim(), session.as_ref().ok()) {
                Some(text) => (Ok(()), vec![Payload::Page { data: plain(text), start: 0 }]),
                None => (Err(unknown(name.trim())), Vec::new()),
            },
            None => (self.run(asked, number, request, session), Vec::new()),
        };
        if stored && let Some(text) = self.screen.take_result() {
            self.shell.with_history(|history| history.add_output(&text));
        }
        let user_expressions =
            asked.user_expressions.iter().flatten().map(|(name, _)| (name.clone(), no_expression())).collect();
        let mut reply = ExecuteReply {
            execution_count: ExecutionCount::new(self.count),
            payload,
            user_expressions: Some(user_expressions),
            ..ExecuteReply::default()
        };
        if let Err(failure) = result {
            let Failure { ename, evalue, traceback } = failure;
            if !asked.silent {
                let error = ErrorOutput { ename: ename.clone(), evalue: evalue.clone(), traceback: traceback.clone() };
                self.shell.publisher.send(error, Some(request));
                if asked.stop_on_error {
                    self.shell.abort();
                }
            }
            reply.status = ReplyStatus::Error;
            reply.user_expressions = None;
            reply.error = Some(Box::new(ReplyError { ename, evalue, traceback }));
        }
        self.shell.replies.send(reply, request);
    }

    fn run(
        &self,
        asked: &ExecuteRequest,
        number: Option<usize>,
        request: &Arc<JupyterMessage>,
        session: &mut Result<Session>,
    ) -> Result<(), Failure> {
        let session = match session {
            Ok(session) => session,
            Err(error) => return Err(Failure::refused(error)),
        };
        let input = |prompt: &str, password| {
            if !asked.allow_stdin {
                return Err("this front end cannot ask for input".to_owned());
            }
            let ending = &self.shell.ending;
            let answer = self.questions.ask(prompt, password, request, || ending.interrupted());
            answer.ok_or_else(|| "interrupted while waiting for input".to_owned())
        };
        let _bar = CompileBar::watch(session.progress_file(), self.screen.clone());
        if asked.code.trim() != AGAIN {
            return session.execute(Cell::new(number, &asked.code), &input).map(|done| self.show(done));
        }
        let mut cells = session.take_good_cells().into_iter();
        while let Some(cell) = cells.next() {
            let name = cell.name();
            if let Err(mut failure) = session.execute(cell, &input).map(|done| self.show(done)) {
                failure.evalue = format!("{name}: {}", failure.evalue);
                session.keep_cells(cells);
                return Err(failure);
            }
        }
        Ok(())
    }

    fn show(&self, done: Done) {
        for text in done.caught {
            self.screen.show(Output::Stderr(text));
        }
        if let Some(said) = done.said {
            self.screen.show(Output::Display(said));
        }
    }
}

fn plain(text: String) -> Media {
    Media::new(vec![MediaType::Plain(text)])
}

/// Rust has no expressions to evaluate beside a cell.
fn no_expression() -> ExpressionResult {
    let evalue = "expressions beside a cell are not evaluated".to_owned();
    ExpressionResult::Error { ename: "KERNEL044".to_owned(), traceback: vec![format!("KERNEL044: {evalue}")], evalue }
}

fn unknown(name: &str) -> Failure {
    let error = Error::new("KERNEL045", format!("nothing is known about `{name}`"))
        .help("`?` explains variables and what tpulab exports, for example `?Estimator`");
    Failure::refused(&error)
}

/// What a name means: a variable's type, or the library's documentation.
fn explain(name: &str, session: Option<&Session>) -> Option<String> {
    let variable = session.and_then(|session| {
        session
            .variables()
            .into_iter()
            .find(|(variable, _)| variable == name)
            .map(|(name, kind)| format!("{name}: {kind}"))
    });
    variable.or_else(|| documentation::find(name))
}

fn inspect(code: &str, cursor: usize, session: Option<&Session>) -> InspectReply {
    let text = name_at(code, bytes_before(code, cursor)).and_then(|name| explain(name, session));
    InspectReply {
        found: text.is_some(),
        data: text.map(plain).unwrap_or_default(),
        metadata: serde_json::Map::new(),
        status: ReplyStatus::Ok,
        error: None,
    }
}

fn complete(code: &str, cursor: usize, session: Option<&mut Session>) -> CompleteReply {
    let position = bytes_before(code, cursor);
    let found = session.and_then(|session| session.complete(code, position));
    let (start, end) = match &found {
        Some(found) => (characters_before(code, found.start_offset), characters_before(code, found.end_offset)),
        None => (cursor, cursor),
    };
    let mut matches = Vec::new();
    let mut types = Vec::new();
    for completion in found.into_iter().flat_map(|found| found.completions) {
        if !matches.contains(&completion.code) {
            types.push(json!({ "text": completion.code, "type": completion.kind, "signature": completion.label,
                               "start": start, "end": end }));
            matches.push(completion.code);
        }
    }
    let mut metadata = serde_json::Map::new();
    metadata.insert("_jupyter_types_experimental".to_owned(), types.into());
    CompleteReply { matches, cursor_start: start, cursor_end: end, metadata, status: ReplyStatus::Ok, error: None }
}
