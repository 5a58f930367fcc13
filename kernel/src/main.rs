//! The `tpulab` program: a Jupyter kernel in which tpulab is already loaded, and a runner of notebooks.
//!
//! One executable plays four parts. Started by evcxr it is the process that runs the cells ([`runtime`]); under the
//! names of cargo's and rustc's stand-ins it compiles them ([`compiler`]); else it does what its arguments say.

mod compiler;
mod error;
mod output;
mod runtime;
mod session;
mod template;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    if std::env::var_os(runtime::streams::SOCKET).is_some() && std::env::var_os("EVCXR_IS_RUNTIME").is_some() {
        runtime::run();
    }
    let mut arguments = std::env::args_os();
    let name = arguments.next().unwrap_or_default();
    match Path::new(&name).file_name().and_then(|name| name.to_str()) {
        Some(compiler::CARGO) => return compiler::cargo(arguments.collect()),
        Some(compiler::RUSTC) => return compiler::rustc(arguments.collect()),
        _ => {}
    }
    match spike() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn spike() -> error::Result<()> {
    use session::{Cell, PrivateFolder, Session};
    let start = std::time::Instant::now();
    let template = template::Template::ensure(&mut |text| eprintln!("{text}"))?;
    eprintln!("{:?} template {}", start.elapsed(), template.path().display());
    let start = std::time::Instant::now();
    let private = PrivateFolder::create().unwrap();
    template.copy_to(&private)?;
    eprintln!("{:?} copied", start.elapsed());
    session::enter(&private, &template.standard_library(), &template.description().toolchain)?;
    let notebook = std::env::temp_dir();
    let mut session = Session::start(private, &template, &notebook, Box::new(|output| println!("   {output:?}")))?;
    eprintln!("{:?} started", start.elapsed());
    for (number, code) in
        std::fs::read_to_string(std::env::args().nth(1).unwrap()).unwrap().split("\n---\n").enumerate()
    {
        let begun = std::time::Instant::now();
        let result = session.execute(Cell::new(Some(number + 1), code));
        println!("{:?} [{}] {result:?}", begun.elapsed(), number + 1);
        eprintln!("{:?}", start.elapsed());
    }
    Ok(())
}
