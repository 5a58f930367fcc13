//! Looks for what keeps the kernel from working, and says what to type.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use nix::sys::statvfs::statvfs;

use crate::kernelspec;
use crate::runner::try_cells;
use crate::template::{Description, Template, Toolchain};

/// The oldest compiler whose types inference understands.
const OLDEST_RUST: (u32, u32) = (1, 95);

/// What a session and its template need.
const LEAST_DISK: u64 = 1 << 30;
const LEAST_MEMORY: u64 = 1 << 30;

/// One thing that was looked at: in a few words for the teacher, and what to type if it is at fault.
struct Finding {
    name: &'static str,
    said: String,
    fix: Option<String>,
}

impl Finding {
    fn good(name: &'static str, said: impl Into<String>) -> Self {
        Finding { name, said: said.into(), fix: None }
    }

    fn fault(name: &'static str, said: impl Into<String>, fix: impl Into<String>) -> Self {
        Finding { name, said: said.into(), fix: Some(fix.into()) }
    }
}

/// Looks at everything, runs a cell, and prints what was found; whether all is well. The last line is one to send to
/// a teacher.
pub fn run() -> bool {
    let mut findings = vec![rustc(), cargo(), linker()];
    let (template, finding) = template();
    findings.push(finding);
    findings.push(disk(&std::env::temp_dir(), "temporary files"));
    if let Some(data) = dirs::data_dir() {
        findings.push(disk(&data, "data"));
    }
    findings.push(memory());
    findings.push(jupyter());
    findings.push(match template {
        Some(_) => cell(),
        None => Finding::fault("a cell", "not tried", "`tpulab kernel install`"),
    });
    for Finding { name, said, fix } in &findings {
        match fix {
            None => println!("ok     {name}: {said}"),
            Some(fix) => println!("FAULT  {name}: {said}\n       what to do: {fix}"),
        }
    }
    let all_well = findings.iter().all(|finding| finding.fix.is_none());
    let words = |finding: &Finding| {
        format!("{}{} {}", if finding.fix.is_some() { "FAULT " } else { "" }, finding.name, finding.said)
    };
    let summary: Vec<_> = findings.iter().map(words).collect();
    println!("\nfor your teacher: tpulab {}; {}", env!("CARGO_PKG_VERSION"), summary.join("; "));
    all_well
}

fn rustc() -> Finding {
    let name = "rustc";
    let toolchain = match Toolchain::find() {
        Ok(toolchain) => toolchain,
        Err(error) => return Finding::fault(name, error.to_string(), "install Rust as https://rustup.rs says"),
    };
    let version = toolchain.version.trim_start_matches("rustc ").to_owned();
    let mut numbers = version.split([' ', '.', '-']).filter_map(|part| part.parse::<u32>().ok());
    let number = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    if number < OLDEST_RUST {
        let (major, minor) = OLDEST_RUST;
        return Finding::fault(name, format!("{version}, {major}.{minor} or later is needed"), "`rustup update`");
    }
    let sources = toolchain.sysroot.join("lib/rustlib/src/rust/library/core");
    match sources.exists() {
        true => Finding::good(name, version),
        false => Finding::fault(name, format!("{version}, without its sources"), "`rustup component add rust-src`"),
    }
}

fn cargo() -> Finding {
    match said(Command::new("cargo").arg("--version").current_dir("/")) {
        Some(version) => Finding::good("cargo", version.trim_start_matches("cargo ")),
        None => Finding::fault("cargo", "it cannot be run", "install Rust as https://rustup.rs says"),
    }
}

fn linker() -> Finding {
    match said(Command::new("cc").arg("--version")) {
        Some(version) => Finding::good("linker", version.lines().next().unwrap_or_default()),
        None => Finding::fault("linker", "there is no `cc`", "`sudo apt install build-essential`, or Xcode's tools"),
    }
}

fn template() -> (Option<Template>, Finding) {
    let name = "prepared session";
    let prepare = "`tpulab kernel install`";
    match (Template::find(), Description::wanted()) {
        (Ok(template), Ok(wanted)) if template.description() == &wanted => {
            let place = template.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
            (Some(template), Finding::good(name, place))
        }
        (Ok(template), Ok(_)) => {
            let said = "it was made of other sources or by another compiler";
            (Some(template), Finding::fault(name, said, prepare))
        }
        (Err(error), _) => (None, Finding::fault(name, format!("none ({})", error.code()), prepare)),
        (_, Err(error)) => (None, Finding::fault(name, error.to_string(), prepare)),
    }
}

fn disk(place: &Path, what: &'static str) -> Finding {
    let there: PathBuf = place.ancestors().find(|place| place.exists()).unwrap_or(Path::new("/")).to_owned();
    let free = statvfs(&there).map(|state| state.blocks_available() * state.fragment_size());
    match free {
        Ok(free) if free >= LEAST_DISK => Finding::good("disk", format!("{} free for {what}", size(free))),
        Ok(free) => Finding::fault(
            "disk",
            format!("{} free for {what} in {}", size(free), there.display()),
            "remove what is not needed there, or point TMPDIR elsewhere",
        ),
        Err(error) => Finding::fault("disk", format!("{}: {error}", there.display()), "look at that folder"),
    }
}

fn memory() -> Finding {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let free = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok()).map(|kilo| kilo << 10);
    match free {
        Some(free) if free < LEAST_MEMORY => {
            Finding::fault("memory", format!("{} free", size(free)), "close other programs; a session needs 1 GB")
        }
        Some(free) => Finding::good("memory", format!("{} free", size(free))),
        None => Finding::good("memory", "unknown"),
    }
}

fn jupyter() -> Finding {
    match kernelspec::list() {
        found if found.is_empty() => {
            Finding::fault("Jupyter", "the kernel is not installed", "`tpulab kernel install`")
        }
        found => Finding::good("Jupyter", format!("{} installed", if found.len() == 1 { "kernel" } else { "kernels" })),
    }
}

fn cell() -> Finding {
    let begun = Instant::now();
    let cells = ["tf::iris::SPECIES.len() + 4", "let data = tf::iris::load_data(\"Species\")?;"];
    match try_cells(&cells, Duration::from_secs(120)) {
        Ok(()) => Finding::good("a cell", format!("{:.1} s", begun.elapsed().as_secs_f64())),
        Err(why) => {
            Finding::fault("a cell", why, "`tpulab kernel install`; if that does not help, show this to a teacher")
        }
    }
}

fn said(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn size(bytes: u64) -> String {
    format!("{:.1} GB", bytes as f64 / f64::from(1 << 30))
}
