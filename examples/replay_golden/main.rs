//! Replays a training that TensorFlow computed through the public estimators, and prints what came out in the file's form.
//!
//! `cargo run --release --example replay_golden -- tests/golden/adagrad_128.json --runner tpu`

mod replay;

use replay::{Golden, GoldenError, Replay, Runner};
use std::io::Write;
use tpulab::notebook::logging::{self, Level};
use tpulab::prelude::*;

fn main() -> Result<()> {
    logging::set_verbosity(Level::Error);
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (path, runner) = read_arguments(&arguments)?;
    let replayed = Replay::new(Golden::read(&path)?, runner).run()?;
    // Who closes the pipe has seen enough.
    let _ = writeln!(std::io::stdout(), "{replayed:#}");
    Ok(())
}

/// The file's path, and the runner that `--runner NAME` or `--runner=NAME` asks for.
fn read_arguments(arguments: &[String]) -> Result<(String, Runner)> {
    let (mut path, mut runner) = (None, Runner::Estimator);
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let name = match argument.as_str() {
            "--runner" => arguments.next().map(String::as_str),
            other => other.strip_prefix("--runner="),
        };
        match name {
            Some(name) => runner = Runner::from_name(name)?,
            None if path.is_none() && !argument.starts_with("--") => path = Some(argument.clone()),
            None => return Err(GoldenError::Usage { found: argument.clone() }.into()),
        }
    }
    match path {
        Some(path) => Ok((path, runner)),
        None => Err(GoldenError::Usage { found: "no file".to_string() }.into()),
    }
}
