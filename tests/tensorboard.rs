//! TensorBoard reads what we write.
//!
//! `TPULAB_PYTHON` names a Python with the package `tensorboard`; without it there is nothing to compare with.

use std::process::Command;
use tpulab::prelude::*;
use tpulab::summary::EventWriter;

/// Prints a line `tag step value` for each number, as TensorBoard has it.
const READ: &str = "
import sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
events = EventAccumulator(sys.argv[1])
events.Reload()
for tag in events.Tags()['scalars']:
    for event in events.Scalars(tag):
        print(tag, event.step, event.value)
for tag in events.Tags()['tensors']:
    for event in events.Tensors(tag):
        print(tag, event.step, event.tensor_proto.string_val[0].decode())
";

#[test]
fn tensorboard_reads_numbers_texts_and_steps() -> Result<()> {
    let Some(python) = std::env::var_os("TPULAB_PYTHON") else {
        assert!(std::env::var_os("CI").is_none(), "CI names a Python in TPULAB_PYTHON");
        eprintln!("skipped: TPULAB_PYTHON names no Python");
        return Ok(());
    };
    let folder = tempfile::tempdir().expect("a folder for the file");
    let mut events = EventWriter::create(&Location::local(folder.path()))?;
    events.scalars(&[("loss", 1.5), ("global_step/sec", 1e9)], 1)?;
    events.scalars(&[("loss", 0.1)], 101)?;
    events.text("checkpoint_path", "gs://bücket/model.ckpt-101", 101)?;
    let output = Command::new(python).args(["-c", READ]).arg(folder.path()).output().expect("Python starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut lines: Vec<_> = String::from_utf8_lossy(&output.stdout).lines().map(str::to_string).collect();
    lines.sort();
    let expected = [
        "checkpoint_path 101 gs://bücket/model.ckpt-101".to_string(),
        "global_step/sec 1 1000000000.0".to_string(),
        "loss 1 1.5".to_string(),
        format!("loss 101 {}", f64::from(0.1f32)),
    ];
    assert_eq!(lines, expected);
    Ok(())
}
