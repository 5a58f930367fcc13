//! The last call of rustc for a cell, repeated without cargo.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

use serde::{Deserialize, Serialize};

use crate::session::Folder;

/// The variable by which cargo's call passes the key of what is compiled on to rustc's.
pub const KEY: &str = "TPULAB_REPLAY_KEY";

/// Stands for the session's folder in what is remembered, so that a copy of it can use it too.
const HERE: &str = "{session}";

/// How many calls are remembered: without and with the library, and what a learner added lately.
const MOST_CALLS: usize = 6;

/// One call of rustc.
#[derive(Debug, Serialize, Deserialize)]
pub struct Replay {
    key: String,
    program: String,
    arguments: Vec<String>,
    environment: BTreeMap<String, String>,
    folder: String,
}

/// What must be the same for a call to be repeated: the manifest and the flags. Nothing is repeated while a
/// dependency lies in a folder that its author may be editing.
pub fn key(folder: &Folder) -> Option<String> {
    let manifest = std::fs::read_to_string(folder.manifest()).ok()?;
    let here = folder.path().to_string_lossy().into_owned();
    let foreign = manifest.lines().any(|line| line.contains("path = \"/") && !line.contains(&here));
    let flags = std::env::var("RUSTFLAGS").unwrap_or_default();
    let key = format!("{}\n{flags}", manifest.replace(&here, HERE));
    (!foreign && std::env::var_os("EVCXR_CACHE_ENABLED").is_none()).then_some(key)
}

fn remembered(folder: &Folder) -> Vec<Replay> {
    std::fs::read_to_string(folder.replay()).ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

/// The call in one piece: a cell is small and differs from the last one, so that keeping its parts for the next time
/// takes longer than it saves.
fn for_one_cell(arguments: impl Iterator<Item = String>) -> Vec<String> {
    let mut kept = Vec::new();
    for argument in arguments {
        let setting = ["incremental=", "codegen-units="].iter().any(|name| argument.starts_with(name));
        if setting && kept.last().is_some_and(|last| last == "-C") {
            kept.pop();
        } else {
            kept.push(argument);
        }
    }
    kept.extend(["-C", "codegen-units=1"].map(str::to_owned));
    kept
}

impl Replay {
    /// The call to repeat, if the last one was for the same manifest and flags.
    pub fn of(folder: &Folder) -> Option<Self> {
        let here = folder.path().to_string_lossy().into_owned();
        let key = key(folder)?;
        let replay = remembered(folder).into_iter().find(|replay| replay.key == key)?;
        Some(replay.with(|text| text.replace(HERE, &here)))
    }

    /// Writes down a call that compiled a cell.
    pub fn remember(folder: &Folder, program: &OsString, arguments: &[OsString]) {
        let Some(key) = std::env::var(KEY).ok() else { return };
        let cell = arguments.windows(2).any(|pair| pair[0] == "--crate-name" && pair[1] == "ctx");
        let links = arguments.iter().any(|argument| argument.to_string_lossy().contains("emit=dep-info,link"));
        if !cell || !links {
            return;
        }
        let text = |text: &OsString| text.to_string_lossy().into_owned();
        let wanted = |name: &str| name.starts_with("CARGO") || name == "LD_LIBRARY_PATH";
        let replay = Replay {
            key,
            program: text(program),
            arguments: for_one_cell(arguments.iter().map(text)),
            environment: std::env::vars().filter(|(name, _)| wanted(name)).collect(),
            folder: std::env::current_dir().unwrap_or_default().to_string_lossy().into_owned(),
        };
        let here = folder.path().to_string_lossy().into_owned();
        let replay = replay.with(|text| text.replace(&here, HERE));
        let mut all = remembered(folder);
        all.retain(|other| other.key != replay.key);
        all.insert(0, replay);
        all.truncate(MOST_CALLS);
        if let Ok(text) = serde_json::to_string_pretty(&all) {
            // Without it the next cell goes through cargo.
            let _ = std::fs::write(folder.replay(), text);
        }
    }

    fn with(self, change: impl Fn(&str) -> String) -> Self {
        Replay {
            key: self.key,
            program: change(&self.program),
            arguments: self.arguments.iter().map(|text| change(text)).collect(),
            environment: self.environment.into_iter().map(|(name, value)| (name, change(&value))).collect(),
            folder: change(&self.folder),
        }
    }

    /// Compiles and links the cell; tells evcxr where the library is.
    pub fn build(self) -> std::io::Result<ExitCode> {
        let library = self.output().map(|folder| folder.join("libctx.so"));
        let status = self.command().status()?;
        if let (true, Some(library)) = (status.success(), library) {
            let artifact = serde_json::json!({
                "reason": "compiler-artifact", "target": {"name": "ctx"}, "filenames": [library],
            });
            println!("{artifact}");
        }
        Ok(super::code(Ok(status)))
    }

    /// Only looks for errors.
    pub fn check(mut self) -> std::io::Result<ExitCode> {
        for argument in &mut self.arguments {
            *argument = argument.replace("emit=dep-info,link", "emit=metadata");
        }
        Ok(super::code(self.command().status()))
    }

    fn output(&self) -> Option<PathBuf> {
        self.arguments.windows(2).find(|pair| pair[0] == "--out-dir").map(|pair| PathBuf::from(&pair[1]))
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).envs(&self.environment).current_dir(&self.folder).stdin(Stdio::null());
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_compiled_in_one_piece() {
        let given =
            ["-C", "rpath", "-C", "incremental=/a", "--edition=2024", "-C", "codegen-units=16", "-Cprefer-dynamic"];
        let kept = for_one_cell(given.into_iter().map(str::to_owned));
        assert_eq!(kept, ["-C", "rpath", "--edition=2024", "-Cprefer-dynamic", "-C", "codegen-units=1"]);
    }
}
