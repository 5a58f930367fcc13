//! What the program can be told to do.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};

use crate::doctor;
use crate::error::Result;
use crate::kernelspec::{self, Place};
use crate::runner;
use crate::server;
use crate::template::Template;

/// tpulab in Jupyter and in the terminal: a kernel in which the library is loaded, and a runner of notebooks.
#[derive(Debug, Parser)]
#[command(name = "tpulab", version, propagate_version = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Runs notebooks from top to bottom
    ///
    /// The exit status is 0 only if every cell did what it should: no error, or one where the cell has the tag
    /// `raises-exception`. Cells with the tag `skip-execution` do not run. Nothing is written unless --output or
    /// --report says so.
    Run(RunArguments),
    /// Looks for what keeps the kernel from working, and says what to type
    Doctor,
    /// The kernel "Rust (tpulab)" of Jupyter
    #[command(subcommand)]
    Kernel(Kernel),
}

#[derive(Debug, Subcommand)]
enum Kernel {
    /// Prepares a session and tells Jupyter about the kernel
    Install {
        #[command(flatten)]
        place: PlaceArguments,
        /// The name by which Jupyter's commands know it
        #[arg(long, default_value = kernelspec::NAME)]
        name: String,
    },
    /// Takes the kernel out of Jupyter's list; prepared sessions stay
    Uninstall {
        #[command(flatten)]
        place: PlaceArguments,
        /// The name under which it was installed
        #[arg(long, default_value = kernelspec::NAME)]
        name: String,
    },
    /// Lists where the kernel is installed
    List,
    /// Compiles the library for notebooks; `install` and `run` call this
    #[command(hide = true)]
    Prepare,
    /// Serves a connection; Jupyter calls this
    Run {
        /// The file that describes the connection
        #[arg(long)]
        connection_file: PathBuf,
    },
}

#[derive(Args, Debug)]
struct RunArguments {
    /// The notebooks
    #[arg(required = true, value_name = "NOTEBOOK")]
    notebooks: Vec<PathBuf>,
    /// An installed kernel, by its name [default: this program's own]
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// Sets a parameter of the cell with the tag `parameters`
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = parameter)]
    parameters: Vec<(String, String)>,
    /// How long a cell may take, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 600.0, value_parser = seconds)]
    timeout_per_cell: f64,
    /// Goes on after a cell that failed; the exit status still tells
    #[arg(long)]
    allow_errors: bool,
    /// Writes the notebook with its outputs: a file, or a folder for several notebooks
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Fails where the outputs are not those that the notebook holds; numbers may differ by a thousandth
    #[arg(long)]
    check: bool,
    /// Writes a report in JUnit's form
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

fn parameter(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write NAME=VALUE")?;
    let fits = |letter: char| letter.is_alphanumeric() || letter == '_';
    match name.is_empty() || !name.chars().all(fits) {
        true => Err(format!("{name:?} is no name of a variable")),
        false => Ok((name.to_owned(), value.to_owned())),
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if seconds > 0.0 && seconds < 1e9 => Ok(seconds),
        _ => Err("a number of seconds above 0 is needed".to_owned()),
    }
}

#[derive(Args, Debug)]
#[group(multiple = false)]
struct PlaceArguments {
    /// For this user (the default)
    #[arg(long)]
    user: bool,
    /// Into the active Python environment
    #[arg(long)]
    sys_prefix: bool,
    /// Below this folder, in share/jupyter/kernels
    #[arg(long)]
    prefix: Option<PathBuf>,
}

impl From<PlaceArguments> for Place {
    fn from(arguments: PlaceArguments) -> Place {
        match arguments {
            PlaceArguments { prefix: Some(prefix), .. } => Place::Prefix(prefix),
            PlaceArguments { sys_prefix: true, .. } => Place::Environment,
            _ => Place::User,
        }
    }
}

/// Does what the arguments say.
pub fn run() -> ExitCode {
    match obey(Arguments::parse().command) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("{}: {}", error.code(), error.text());
            ExitCode::FAILURE
        }
    }
}

fn obey(command: Command) -> Result<ExitCode> {
    match command {
        Command::Run(arguments) => {
            if arguments.kernel.is_none() {
                Template::ensure()?;
            }
            let options = runner::Options {
                kernel: arguments.kernel,
                parameters: arguments.parameters,
                timeout: Duration::from_secs_f64(arguments.timeout_per_cell),
                allow_errors: arguments.allow_errors,
                output: arguments.output,
                check: arguments.check,
                report: arguments.report,
            };
            if !runner::run(&arguments.notebooks, &options)? {
                return Ok(ExitCode::FAILURE);
            }
        }
        Command::Doctor => {
            if !doctor::run() {
                return Ok(ExitCode::FAILURE);
            }
        }
        Command::Kernel(Kernel::Install { place, name }) => {
            kernelspec::check_name(&name)?;
            let folder = kernelspec::folder(&place.into(), &name)?;
            let template = Template::ensure()?;
            kernelspec::install(&folder, &template)?;
            println!("the kernel \"{}\" is installed in {}", kernelspec::DISPLAY_NAME, folder.display());
        }
        Command::Kernel(Kernel::Uninstall { place, name }) => {
            let folder = kernelspec::folder(&place.into(), &name)?;
            kernelspec::uninstall(&folder)?;
            println!("{} is removed", folder.display());
        }
        Command::Kernel(Kernel::List) => {
            let found = kernelspec::list();
            if found.is_empty() {
                println!("not installed; `tpulab kernel install` does it");
            }
            for folder in found {
                println!("{}", folder.display());
            }
        }
        Command::Kernel(Kernel::Prepare) => {
            Template::prepare_here()?;
        }
        Command::Kernel(Kernel::Run { connection_file }) => match server::run(&connection_file)? {},
    }
    Ok(ExitCode::SUCCESS)
}
