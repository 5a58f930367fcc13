//! What inference is told of the crates that a session is made of.

use std::collections::HashSet;
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

use serde_json::Value;

/// The variable that names the real cargo.
pub const REAL_CARGO: &str = "TPULAB_CARGO";

/// The variable that keeps cargo's own folder, if the learner has chosen one.
pub const REAL_HOME: &str = "TPULAB_CARGO_HOME";

/// The library, and those of its dependencies whose types a cell can meet. Every crate that inference does not read
/// makes each cell quicker.
const LIBRARY: &str = "tpulab";
const MET_IN_CELLS: [&str; 3] = ["linfa", "ndarray", "serde_json"];

/// Answers as cargo would; of the library's dependencies only those that matter are told.
pub fn cargo(arguments: &[OsString]) -> std::io::Result<ExitCode> {
    let cargo = std::env::var_os(REAL_CARGO).map_or_else(|| PathBuf::from("cargo"), PathBuf::from);
    let mut command = Command::new(cargo);
    command.args(arguments);
    restore_home(&mut command);
    let told = |word: &str| arguments.iter().any(|argument| argument == word);
    if !told("metadata") || told("--no-deps") {
        return Ok(super::code(command.status()));
    }
    let output = command.stderr(Stdio::inherit()).output()?;
    let mut text = output.stdout;
    if let Ok(mut metadata) = serde_json::from_slice::<Value>(&text) {
        prune(&mut metadata);
        text = serde_json::to_vec(&metadata)?;
        text.push(b'\n');
    }
    std::io::stdout().write_all(&text)?;
    Ok(super::code(Ok(output.status)))
}

/// Gives a command cargo's own folder back.
pub fn restore_home(command: &mut Command) {
    match std::env::var_os(REAL_HOME) {
        Some(home) => command.env("CARGO_HOME", home),
        None => command.env_remove("CARGO_HOME"),
    };
}

/// Takes the crates out that only the library itself can meet.
fn prune(metadata: &mut Value) {
    let name_of = |package: &Value| package["name"].as_str().map(str::to_owned);
    let packages = metadata["packages"].as_array().cloned().unwrap_or_default();
    let names: std::collections::HashMap<String, String> =
        packages.iter().filter_map(|package| Some((package["id"].as_str()?.to_owned(), name_of(package)?))).collect();
    let members: Vec<String> = metadata["workspace_members"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|id| id.as_str().map(str::to_owned))
        .collect();
    let Some(nodes) = metadata["resolve"]["nodes"].as_array_mut() else { return };
    let met = |id: &str| names.get(id).is_some_and(|name| MET_IN_CELLS.contains(&name.as_str()));
    for node in nodes.iter_mut() {
        let of_library = node["id"].as_str().and_then(|id| names.get(id)).is_some_and(|name| name == LIBRARY);
        if of_library {
            if let Some(ids) = node["dependencies"].as_array_mut() {
                ids.retain(|id| id.as_str().is_some_and(met));
            }
            if let Some(edges) = node["deps"].as_array_mut() {
                edges.retain(|edge| edge["pkg"].as_str().is_some_and(met));
            }
        }
    }
    let mut reached: HashSet<String> = HashSet::new();
    let mut waiting = members;
    while let Some(id) = waiting.pop() {
        if reached.insert(id.clone()) {
            let node = nodes.iter().find(|node| node["id"] == id.as_str());
            let next = node.and_then(|node| node["dependencies"].as_array());
            waiting.extend(next.into_iter().flatten().filter_map(|id| id.as_str().map(str::to_owned)));
        }
    }
    let stays = |value: &Value| value["id"].as_str().is_some_and(|id| reached.contains(id));
    nodes.retain(stays);
    if let Some(packages) = metadata["packages"].as_array_mut() {
        packages.retain(stays);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_library_alone_loses_what_cells_do_not_meet() {
        let node = |id: &str, dependencies: &[&str]| {
            let deps: Vec<_> = dependencies.iter().map(|id| json!({ "pkg": id })).collect();
            json!({ "id": id, "dependencies": dependencies, "deps": deps })
        };
        let package = |name: &str| json!({ "id": name, "name": name });
        let all = ["ctx", "tpulab", "ndarray", "num", "plotters", "chrono", "csv", "memchr"];
        let mut metadata = json!({
            "packages": all.map(package),
            "workspace_members": ["ctx"],
            "resolve": { "nodes": [
                node("ctx", &["tpulab", "csv"]),
                node("tpulab", &["ndarray", "plotters", "csv"]),
                node("ndarray", &["num"]), node("num", &[]), node("plotters", &["chrono"]), node("chrono", &[]),
                node("csv", &["memchr"]), node("memchr", &[]),
            ] },
        });
        prune(&mut metadata);
        let left: Vec<_> =
            metadata["packages"].as_array().unwrap().iter().map(|package| package["name"].as_str().unwrap()).collect();
        assert_eq!(left, ["ctx", "tpulab", "ndarray", "num", "csv", "memchr"]);
        let nodes = metadata["resolve"]["nodes"].as_array().unwrap();
        assert_eq!(nodes[1], node("tpulab", &["ndarray"]));
        let mut odd = json!({ "packages": 3 });
        prune(&mut odd);
    }
}
