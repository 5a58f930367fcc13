//! The process that holds the learner's variables and runs the cells.
//!
//! evcxr starts it and speaks to it over its standard streams, line by line. Cells must not reach that
//! conversation, so the first thing done here is to move it to private descriptors: what a cell prints goes to
//! the kernel as bytes, on sockets of their own, and a cell that reads finds the end of its input at once.

mod descriptors;
mod library;
mod signals;

pub mod streams;

use std::io::{BufRead, BufReader, Write};
use std::time::Duration;

use descriptors::Descriptors;
use library::Libraries;

/// Runs cells until evcxr closes the conversation; never returns.
pub fn run() -> ! {
    let code = match serve() {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("the process for the cells ends: {error}");
            99
        }
    };
    std::process::exit(code)
}

fn serve() -> Result<(), Box<dyn std::error::Error>> {
    let Descriptors { commands, mut answers } = descriptors::separate()?;
    let mut libraries = Libraries::default();
    std::thread::spawn(flush_while_running);
    for line in BufReader::new(commands).lines() {
        let line = line?;
        let (path, function) = line
            .strip_prefix("LOAD_AND_RUN ")
            .and_then(|rest| rest.rsplit_once(' '))
            .ok_or_else(|| format!("not a command: {line}"))?;
        libraries.load(path)?;
        signals::lower_the_stop_flag();
        signals::cell_runs(true);
        descriptors::report("begin")?;
        let ran = libraries.call(function);
        signals::cell_runs(false);
        library::flush();
        ran?;
        answers.write_all(b"EVCXR_EXECUTION_COMPLETE\n")?;
    }
    Ok(())
}

/// Rust keeps an unfinished line to itself; a progress bar made of dots should be seen as it grows.
fn flush_while_running() {
    loop {
        std::thread::sleep(Duration::from_millis(100));
        if signals::a_cell_runs() {
            library::flush();
        }
    }
}
