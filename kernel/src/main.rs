//! The `tpulab` program: a Jupyter kernel in which tpulab is already loaded, and a runner of notebooks.
//!
//! One executable plays four parts. Started by evcxr it is the process that runs the cells ([`runtime`]); under the
//! names of cargo's and rustc's stand-ins it compiles them ([`compiler`]); else it does what its arguments say.

mod command_line;
mod compiler;
mod doctor;
mod error;
mod kernelspec;
mod output;
mod runner;
mod runtime;
mod server;
mod session;
mod template;

use std::path::Path;
use std::process::ExitCode;

/// Inference makes and drops trees of small nodes all the time, which the system's allocator is slow at.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    if std::env::var_os(runtime::streams::SOCKET).is_some() && std::env::var_os("EVCXR_IS_RUNTIME").is_some() {
        runtime::run();
    }
    let mut arguments = std::env::args_os();
    let name = arguments.next().unwrap_or_default();
    match Path::new(&name).file_name().and_then(|name| name.to_str()) {
        Some(compiler::CARGO) => return compiler::cargo(arguments.collect()),
        Some(compiler::ANALYSIS_CARGO) => return compiler::analysis_cargo(&arguments.collect::<Vec<_>>()),
        Some(compiler::RUSTC) => return compiler::rustc(arguments.collect()),
        _ => {}
    }
    command_line::run()
}
