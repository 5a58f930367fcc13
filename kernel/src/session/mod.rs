//! One learner's session: evcxr's state, the process for the cells, and what they put out.

mod cell;
mod dependency;
mod environment;
mod failure;
mod folder;
mod interrupt;
mod place;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use evcxr::{CommandContext, EvalCallbacks, EvalContext};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::error::{Context, Result};
use crate::output::{Bundle, Outlet, Output, Sink};
use crate::runtime::streams::Report;
use crate::template::{FEATURES, Sources, Template};

pub use cell::Cell;
pub use environment::enter;
pub use failure::Failure;
pub use folder::{Folder, PrivateFolder, copy};
pub use interrupt::Interrupter;

/// What every session begins with.
const PRELUDE: &str = "use tpulab as tf; use tpulab::prelude::*;";

/// A session in which the library is loaded.
pub struct Session {
    context: CommandContext,
    outlet: Outlet,
    heard: Arc<Mutex<Heard>>,
    interrupter: Interrupter,
    cells: Vec<Cell>,
    notebook: PathBuf,
    /// The digest of the library's sources that are loaded.
    sources: String,
    // Removed last: evcxr writes below it.
    private: PrivateFolder,
}

/// What arrived from the cells' process and is not shown at once.
#[derive(Default)]
struct Heard {
    muted: bool,
    reports: Vec<Report>,
}

/// Asks a person: the prompt, and whether the answer is secret. An error says why there is no answer.
pub type Input<'a> = dyn Fn(&str, bool) -> Result<String, String> + 'a;

/// What a cell ended in.
#[derive(Debug, Default)]
pub struct Done {
    /// What a `:command` said.
    pub said: Option<Bundle>,
    /// Panics that the cell itself caught.
    pub caught: Vec<String>,
}

impl Session {
    /// Starts a session on a copy of the template: cells run in the folder `notebook`, and what they put out goes to
    /// `sink`.
    pub fn start(private: PrivateFolder, template: &Template, notebook: &Path, sink: Sink) -> Result<Self> {
        Self::begin(private, notebook, template.description().sources.clone(), sink)
    }

    /// Starts a session that compiles what it needs, in order to be kept as template.
    pub fn warm(private: PrivateFolder) -> Result<Self> {
        let notebook = std::env::temp_dir();
        Self::begin(private, &notebook, String::new(), Box::new(|_| {}))
    }

    fn begin(private: PrivateFolder, notebook: &Path, sources: String, mut sink: Sink) -> Result<Self> {
        let folder = private.folder();
        let heard = Arc::new(Mutex::new(Heard { muted: true, ..Heard::default() }));
        let interrupter = Interrupter::new(folder.clone());
        let secret = environment::secret();
        let outlet = {
            let (heard, interrupter) = (heard.clone(), interrupter.clone());
            let sink = Box::new(move |output| {
                let mut heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
                match output {
                    Output::Report(Report::Begin) => interrupter.cell_begins(),
                    Output::Report(report) => heard.reports.push(report),
                    other if !heard.muted => {
                        drop(heard);
                        sink(other);
                    }
                    _ => {}
                }
            });
            Outlet::open(&folder.socket(), &secret, sink).context("KERNEL010", "no socket for the cells' output")?
        };
        let command = environment::cells_process(&folder, notebook, &secret)?;
        let (context, _) =
            EvalContext::with_subprocess_command(command).context("KERNEL011", "evcxr does not start")?;
        let context = CommandContext::with_eval_context(context);
        interrupter.watch(context.process_handle());
        let mut session = Session {
            context,
            outlet,
            heard,
            interrupter,
            cells: Vec::new(),
            notebook: notebook.to_owned(),
            sources,
            private,
        };
        environment::use_standard_library(&folder).context("KERNEL012", "no sources of the standard library")?;
        session.load_library()?;
        Ok(session)
    }

    /// Loads the library and what every session begins with.
    fn load_library(&mut self) -> Result<()> {
        let features = FEATURES.map(|feature| format!("{feature:?}")).join(", ");
        let library = self.private.folder().library();
        let code = format!(
            // Cells call what is compiled well; they themselves should be ready soon.
            ":opt 0\n:dep tpulab = {{ path = {:?}, features = [{features}] }}\n{PRELUDE}\ntf::notebook::logging::set_verbosity(\
             tf::notebook::logging::verbosity());",
            library.display().to_string()
        );
        self.mute(true);
        let result = self.context.execute(&code);
        self.outlet.drain();
        self.take_reports();
        self.mute(false);
        result.map(drop).map_err(|error| {
            crate::error::Error::new("KERNEL013", format!("the library does not load: {error}"))
                .help("run `tpulab doctor`")
        })
    }

    /// Prepares inference, so that the first cell does not wait for it.
    pub fn warm_up(&mut self) {
        let code = "let warm = tf::iris::TRAIN_URL; warm.";
        let _ = self.context.completions(code, code.len());
    }

    /// Runs a cell; what it asks a person for, `input` answers.
    pub fn execute(&mut self, cell: Cell, input: &Input) -> Result<Done, Failure> {
        self.interrupter.execution_begins();
        let code = match self.prepared(&cell) {
            Ok(code) => code,
            Err(error) => {
                self.interrupter.execution_ends();
                return Err(Failure::refused(&error));
            }
        };
        self.take_reports();
        let group = self.context.process_handle().lock().map(|child| child.id()).ok();
        let context = &mut self.context;
        let result = catch_unwind(AssertUnwindSafe(|| {
            let mut callbacks =
                EvalCallbacks { input_reader: &|request| answer_line(input(&request.prompt, request.is_password)) };
            context.execute_with_callbacks(&code, &mut callbacks)
        }));
        let interrupted = self.interrupter.execution_ends();
        self.outlet.drain();
        let reports = self.take_reports();
        self.cells.push(cell);
        let source = std::fs::read_to_string(self.private.folder().source()).unwrap_or_default();
        let cells = &self.cells;
        let result = match result {
            Ok(Ok(outputs)) => match Failure::reported(&reports, &source, cells, interrupted) {
                Some(failure) => Err(failure),
                None => Ok(Done { said: said(outputs.content_by_mime_type), caught: caught(&reports) }),
            },
            Ok(Err(error)) => {
                if matches!(error, evcxr::Error::SubprocessTerminated(_)) {
                    // What the cells left behind ends with them.
                    let _ = group.map(|group| killpg(Pid::from_raw(group as i32), Signal::SIGKILL));
                    let failure = Failure::died(&error, interrupted, cells);
                    return Err(match self.load_library() {
                        Ok(()) => failure,
                        Err(error) => Failure::refused(&error),
                    });
                }
                Err(Failure::of(error, interrupted, cells))
            }
            Err(_) => Err(Failure::broken()),
        };
        if let Some(cell) = self.cells.last_mut() {
            cell.good = result.is_ok();
        }
        result
    }

    /// The cell as evcxr gets it, line for line, with the library loaded that it asks for.
    fn prepared(&mut self, cell: &Cell) -> Result<String> {
        let resolved = dependency::resolved(&cell.code, &self.notebook, &self.sources)?;
        if let Some(sources) = resolved.library {
            self.rebuild(&sources)?;
        }
        Ok(crate::compiler::without_marks(&resolved.code))
    }

    /// Builds the library from other sources and begins anew with it.
    fn rebuild(&mut self, sources: &Sources) -> Result<()> {
        let folder = self.private.folder();
        let failed = "the library's sources cannot be replaced";
        // What is compiled may be the template's own file; a new one takes its place.
        folder::forget_library(folder.path()).context("KERNEL002", failed)?;
        let _ = std::fs::remove_file(folder.replay());
        sources.write(&folder.library()).context("KERNEL002", failed)?;
        self.cells.clear();
        self.sources.clear();
        self.context.execute(":clear").context("KERNEL013", "the session does not begin anew")?;
        self.load_library()?;
        self.sources = sources.digest();
        Ok(())
    }

    /// What cargo compiles now, line by line.
    pub fn progress_file(&self) -> PathBuf {
        self.private.folder().progress()
    }

    /// The cells that were good, in their order. From here on they count as not run, and those that run again are
    /// good again.
    pub fn take_good_cells(&mut self) -> Vec<Cell> {
        let good = self.cells.iter().filter(|cell| cell.good && !cell.only_asks()).cloned().collect();
        self.cells.clear();
        good
    }

    /// Puts cells back that did not run again.
    pub fn keep_cells(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.cells.extend(cells);
    }

    /// What could stand at `position`, in bytes.
    pub fn complete(&mut self, code: &str, position: usize) -> Option<evcxr::Completions> {
        let context = &mut self.context;
        catch_unwind(AssertUnwindSafe(|| context.completions(code, position))).ok()?.ok()
    }

    /// The names and types of the variables.
    pub fn variables(&self) -> Vec<(String, String)> {
        self.context.variables_and_types().map(|(name, kind)| (name.to_owned(), kind.to_owned())).collect()
    }

    /// What interrupts this session's cells, from any thread.
    pub fn interrupter(&self) -> Interrupter {
        self.interrupter.clone()
    }

    /// Keeps the compiled crate in the folder `to` and ends the session.
    pub fn keep_crate_in(self, to: &Path) -> Result<()> {
        let folder = self.private.folder();
        folder::copy(folder.path(), to).context("KERNEL002", format!("{} cannot be written", to.display()))?;
        folder::forget_cells(to).context("KERNEL002", format!("{} cannot be tidied", to.display()))
    }

    fn mute(&self, muted: bool) {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).muted = muted;
    }

    fn take_reports(&self) -> Vec<Report> {
        std::mem::take(&mut self.heard.lock().unwrap_or_else(PoisonError::into_inner).reports)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // evcxr waits for the process to end; a cell may never do so by itself.
        if let Ok(child) = self.context.process_handle().lock() {
            let _ = killpg(Pid::from_raw(child.id() as i32), Signal::SIGKILL);
        }
    }
}

fn said(contents: std::collections::HashMap<String, String>) -> Option<Bundle> {
    let mut bundle = Bundle::default();
    for (mime, content) in contents {
        bundle.add(&mime, &content);
    }
    (!bundle.data.is_empty()).then_some(bundle)
}

/// An answer as the library reads it: one line, whose first character tells text from a reason why there is none.
fn answer_line(answer: Result<String, String>) -> String {
    let (mark, text) = match answer {
        Ok(text) => ('=', text),
        Err(reason) => ('!', reason),
    };
    format!("{mark}{}", text.replace(['\n', '\r'], " "))
}

fn caught(reports: &[Report]) -> Vec<String> {
    let text = |report: &Report| match report {
        Report::Panic { message, .. } => Some(format!("a panic that was caught: {message}\n")),
        _ => None,
    };
    reports.iter().filter_map(text).collect()
}
