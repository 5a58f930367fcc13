//! Runs notebooks from top to bottom, without a front end.

mod check;
mod client;
mod collector;
mod notebook;
mod report;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nbformat::v4::Output;

use crate::error::{Context, Error, Result};
use client::{Client, Ended};
use notebook::{CodeCell, Notebook};
use report::Report;

/// How notebooks are run.
#[derive(Clone, Debug)]
pub struct Options {
    /// An installed kernel; none for this program's own.
    pub kernel: Option<String>,
    /// Names and values for the cell with the tag `parameters`.
    pub parameters: Vec<(String, String)>,
    /// How long a cell may take.
    pub timeout: Duration,
    /// Whether to go on after a cell that failed.
    pub allow_errors: bool,
    /// Where the notebook is written with its outputs: a file, or a folder for several.
    pub output: Option<PathBuf>,
    /// Whether the outputs must be those that the notebook holds.
    pub check: bool,
    /// Where a report in JUnit's form is written.
    pub report: Option<PathBuf>,
}

/// What became of a cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// It did what it should.
    Passed,
    /// Its tag says that it does not run, or a cell before it failed.
    Skipped,
    /// Why it did not do what it should.
    Failed(String),
}

/// Runs the notebooks one after the other and says on standard output what happens; whether every cell of all of them
/// did what it should.
pub fn run(files: &[PathBuf], options: &Options) -> Result<bool> {
    if let Some(output) = &options.output
        && files.len() > 1
        && !output.is_dir()
    {
        return Err(Error::new(
            "RUNNER001",
            format!("{} is no folder for {} notebooks", output.display(), files.len()),
        )
        .help("make the folder, or run one notebook at a time"));
    }
    for target in options.output.iter().chain(&options.report) {
        let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
            return Err(
                Error::new("RUNNER001", format!("there is no folder {}", folder.display())).help("make it first")
            );
        }
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .context("RUNNER002", "no threads for the connection")?;
    let mut report = Report::new();
    let mut good = 0;
    for file in files {
        let verdicts = runtime.block_on(run_one(file, options));
        good += usize::from(report.add(file, verdicts?));
    }
    if let Some(path) = &options.report {
        report.write(path)?;
    }
    if files.len() > 1 {
        println!("{good} of {} notebooks did what they should", files.len());
    }
    Ok(good == files.len())
}

/// Runs cells on this program's own kernel; what went wrong with the first that failed.
pub fn try_cells(cells: &[&str], limit: Duration) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    runtime.block_on(async {
        let folder = std::env::temp_dir();
        let mut client = Client::start(None, &folder).await.map_err(|error| error.to_string())?;
        let mut result = Ok(());
        for code in cells {
            let ended = client.execute(code, limit).await.map_err(|error| error.to_string())?;
            if let Some(failure) = ended.failure {
                result = Err(failure);
                break;
            }
        }
        client.shut_down().await;
        result
    })
}

/// What became of the cells of one notebook, with the time that each took.
type Verdicts = Vec<(String, Duration, Verdict)>;

async fn run_one(file: &Path, options: &Options) -> Result<Verdicts> {
    let mut notebook = Notebook::read(file)?;
    notebook.set_parameters(&options.parameters)?;
    println!("{}", file.display());
    let mut client = Client::start(options.kernel.as_deref(), &notebook.folder()).await?;
    let total = notebook.code_cells().count();
    let mut verdicts = Verdicts::new();
    let mut stopped = false;
    let mut number = 0;
    for (index, mut cell) in notebook.code_cells_mut().enumerate() {
        let before = cell.outputs.clone();
        let started = Instant::now();
        let verdict = if stopped || cell.is_skipped() {
            Verdict::Skipped
        } else {
            number += 1;
            let ended = client.execute(&cell.code(), options.timeout).await?;
            cell.set_outputs(number, &ended);
            judge(&cell, &ended, &before, options)
        };
        let seconds = started.elapsed();
        let mark = match &verdict {
            Verdict::Passed => "ok",
            Verdict::Skipped => "skipped",
            Verdict::Failed(_) => "FAILED",
        };
        println!("  [{}/{total}] {} ... {mark} ({:.1} s)", index + 1, cell.id(), seconds.as_secs_f64());
        if let Verdict::Failed(why) = &verdict {
            print!("{}", failure(&cell, why));
            stopped = !options.allow_errors || client.is_gone();
        }
        verdicts.push((cell.id().to_owned(), seconds, verdict));
    }
    client.shut_down().await;
    if let Some(output) = &options.output {
        let target = match (output.is_dir(), file.file_name()) {
            (true, Some(name)) => output.join(name),
            _ => output.clone(),
        };
        notebook.write(&target)?;
    }
    let passed = verdicts.iter().filter(|(_, _, verdict)| *verdict == Verdict::Passed).count();
    println!("  {passed} of {total} cells did what they should");
    Ok(verdicts)
}

fn judge(cell: &CodeCell<'_>, ended: &Ended, before: &[Output], options: &Options) -> Verdict {
    let failed = |why: String| Verdict::Failed(why);
    match (&ended.failure, cell.raises_exception()) {
        (Some(failure), promised) if ended.timed_out || !promised => return failed(failure.to_owned()),
        (None, true) => return failed("the tag `raises-exception` promises an error, and there was none".to_owned()),
        _ => {}
    }
    if options.check
        && let Some(difference) = check::difference(before, cell.outputs)
    {
        return failed(difference);
    }
    Verdict::Passed
}

/// The cell, what it put out, and why it failed.
fn failure(cell: &CodeCell<'_>, why: &str) -> String {
    let rule = "-".repeat(60);
    let outputs: String = cell.outputs.iter().map(check::text_of).collect();
    // The error that it shows says it already.
    let why = if outputs.contains(why) { "" } else { why.trim_end() };
    format!("{rule}\n{}\n{rule}\n{outputs}{why}\n\n", cell.code().trim_end())
}
