//! What the program does from the command line.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

fn tpulab(arguments: &[&str], folder: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tpulab"));
    command.args(arguments).current_dir(folder).env("JUPYTER_DATA_DIR", folder.join("jupyter"));
    for name in ["JUPYTER_PATH", "CONDA_PREFIX", "VIRTUAL_ENV", "TPULAB_TEMPLATE"] {
        command.env_remove(name);
    }
    command.output().expect("the program runs")
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn notebook(folder: &Path, name: &str, cells: &[(&str, &[&str])]) {
    let cells: Vec<_> = cells
        .iter()
        .enumerate()
        .map(|(index, (code, tags))| {
            json!({ "cell_type": "code", "id": format!("cell-{index}"), "metadata": { "tags": tags }, "outputs": [],
                    "execution_count": null, "source": code })
        })
        .collect();
    let notebook = json!({ "nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells });
    std::fs::write(folder.join(name), notebook.to_string()).expect("a notebook");
}

#[test]
fn notebooks_are_judged_cell_by_cell() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    notebook(
        here,
        "good.ipynb",
        &[
            ("let steps: u64 = 3;", &["parameters"]),
            ("println!(\"{steps} steps\"); steps * 2", &[]),
            ("panic!(\"promised\");", &["raises-exception"]),
            ("std::process::exit(9);", &["skip-execution"]),
        ],
    );
    let run =
        tpulab(&["run", "good.ipynb", "--output", "out.ipynb", "--param", "steps=5", "--report", "junit.xml"], here);
    assert!(run.status.success(), "{}", text(&run));
    let out: Value = serde_json::from_str(&std::fs::read_to_string(here.join("out.ipynb")).unwrap()).unwrap();
    let outputs = &out["cells"][2]["outputs"];
    assert_eq!((&outputs[0]["text"], &outputs[1]["data"]["text/plain"]), (&json!(["5 steps\n"]), &json!(["10"])));
    assert_eq!(out["cells"][3]["outputs"][0]["evalue"], "promised");
    assert!(std::fs::read_to_string(here.join("junit.xml")).unwrap().contains("tests=\"5\" skipped=\"1\""));

    // What was put out is put out again, and what was not is told.
    assert!(tpulab(&["run", "out.ipynb", "--check"], here).status.success());
    let changed = std::fs::read_to_string(here.join("out.ipynb")).unwrap().replace("5 steps", "6 steps");
    std::fs::write(here.join("changed.ipynb"), changed).unwrap();
    let check = tpulab(&["run", "changed.ipynb", "--check"], here);
    assert!(!check.status.success() && text(&check).contains("saved: 6 steps"), "{}", text(&check));

    notebook(here, "bad.ipynb", &[("let x = 1;", &[]), ("x +", &[]), ("println!(\"after\");", &[])]);
    let bad = tpulab(&["run", "bad.ipynb"], here);
    let said = text(&bad);
    assert!(
        !bad.status.success() && said.contains("cell-1 ... FAILED") && said.contains("cell-2 ... skipped"),
        "{said}"
    );
    let all = tpulab(&["run", "bad.ipynb", "--allow-errors"], here);
    assert!(!all.status.success() && text(&all).contains("cell-2 ... ok"), "{}", text(&all));
    notebook(here, "slow.ipynb", &[("std::thread::sleep(std::time::Duration::from_secs(60));", &[])]);
    let slow = tpulab(&["run", "slow.ipynb", "--timeout-per-cell", "1"], here);
    assert!(!slow.status.success() && text(&slow).contains("took longer than 1 s"), "{}", text(&slow));

    for (arguments, code) in [
        (vec!["run", "nowhere.ipynb"], "RUNNER003"),
        (vec!["run", "good.ipynb", "--param", "epochs=1"], "RUNNER005"),
        (vec!["run", "good.ipynb", "bad.ipynb", "--output", "one.ipynb"], "RUNNER001"),
        (vec!["run", "good.ipynb", "--kernel", "no-such-kernel"], "RUNNER008"),
    ] {
        let refused = tpulab(&arguments, here);
        assert!(!refused.status.success() && text(&refused).contains(code), "{arguments:?}: {}", text(&refused));
    }
}

#[test]
fn the_kernel_is_installed_found_and_removed() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    assert!(text(&tpulab(&["kernel", "list"], here)).contains("not installed"));
    let install = tpulab(&["kernel", "install", "--name", "lab"], here);
    assert!(install.status.success(), "{}", text(&install));
    let kernel = here.join("jupyter/kernels/lab");
    let description: Value =
        serde_json::from_str(&std::fs::read_to_string(kernel.join("kernel.json")).unwrap()).unwrap();
    assert_eq!(
        (&description["display_name"], &description["interrupt_mode"]),
        (&json!("Rust (tpulab)"), &json!("message"))
    );
    assert!(kernel.join("logo-64x64.png").exists());
    assert!(text(&tpulab(&["kernel", "list"], here)).contains("kernels/lab"));
    assert!(text(&tpulab(&["kernel", "install", "--name", "rust"], here)).contains("KERNEL050"));
    assert!(text(&tpulab(&["kernel", "install", "--sys-prefix"], here)).contains("KERNEL051"));

    let doctor = tpulab(&["doctor"], here);
    assert!(doctor.status.success(), "{}", text(&doctor));
    assert!(text(&doctor).contains("for your teacher: tpulab "), "{}", text(&doctor));

    let run = tpulab(&["run", "--kernel", "lab", "one.ipynb"], here);
    assert!(text(&run).contains("RUNNER003"), "{}", text(&run));
    notebook(here, "one.ipynb", &[("tf::iris::SPECIES.len()", &[])]);
    let mut named = Command::new(env!("CARGO_BIN_EXE_tpulab"));
    named.args(["run", "--kernel", "lab", "one.ipynb"]).current_dir(here).env("JUPYTER_PATH", here.join("jupyter"));
    let run = named.output().unwrap();
    assert!(run.status.success(), "{}", text(&run));

    assert!(tpulab(&["kernel", "uninstall", "--name", "lab"], here).status.success());
    assert!(!kernel.exists());
    let twice = tpulab(&["kernel", "uninstall", "--name", "lab"], here);
    assert!(text(&twice).contains("KERNEL053"), "{}", text(&twice));
}
