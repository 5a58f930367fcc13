//! What the program can be told to do.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use crate::error::Result;
use crate::kernelspec::{self, Place};
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
    /// Serves a connection; Jupyter calls this
    Run {
        /// The file that describes the connection
        #[arg(long)]
        connection_file: PathBuf,
    },
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
        Command::Kernel(Kernel::Install { place, name }) => {
            kernelspec::check_name(&name)?;
            let folder = kernelspec::folder(&place.into(), &name)?;
            let template = Template::ensure(&mut |text| println!("{text}"))?;
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
        Command::Kernel(Kernel::Run { connection_file }) => match server::run(&connection_file)? {},
    }
    Ok(ExitCode::SUCCESS)
}
