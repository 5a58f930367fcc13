//! Checkpoints that TensorFlow 2.15 wrote are read, and written again byte for byte.
//!
//! `tensorflow_estimator_run` is the model directory of an Estimator after 1000 steps, and the JSON file beside it
//! what TensorFlow itself read from it. In `tensorflow_save`, `mixed` has all dtypes and more names than one restart
//! interval (`tf.raw_ops.SaveV2`), `sharded` two data files (`tf.raw_ops.MergeV2Checkpoints`), `partitioned` one variable
//! in two slices, and `object` is an object-based checkpoint (`tf.train.Checkpoint`).

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use tpulab::checkpoint::{Checkpoint, CheckpointState, latest_checkpoint};
use tpulab::core::{Array, DType, Result};
use tpulab::storage::Location;

#[test]
fn the_values_of_an_estimator_run_are_read_to_the_last_bit() -> Result<()> {
    let model_dir = Location::local(fixtures().join("tensorflow_estimator_run"));
    let prefix = latest_checkpoint(&model_dir)?.expect("the run has checkpoints");
    assert!(prefix.to_string().ends_with("/model.ckpt-1000"));
    let checkpoint = Checkpoint::read(&prefix)?;
    let json = fs::read_to_string(fixtures().join("tensorflow_estimator_run.json")).unwrap();
    let json: Value = serde_json::from_str(&json).unwrap();
    let expected = json["variables_at_1000"].as_object().unwrap();
    assert_eq!(checkpoint.names(), expected.keys().cloned().collect::<Vec<_>>());
    for (name, value) in &checkpoint {
        let (mut shape, mut numbers) = (Vec::new(), Vec::new());
        flatten(&expected[name], 0, &mut shape, &mut numbers);
        assert_eq!(value.shape(), shape, "{name}");
        let found: Vec<u64> = value.to_f64_vec()?.iter().map(|number| number.to_bits()).collect();
        let numbers: Vec<u64> = numbers.iter().map(|number| number.to_bits()).collect();
        assert_eq!(found, numbers, "{name}");
    }
    assert_eq!(checkpoint.get("dense/kernel")?.dtype(), DType::Float32);
    assert_eq!(checkpoint.get("global_step")?.to_scalar::<i64>()?, 1000);
    Ok(())
}

#[test]
fn all_dtypes_and_odd_names_are_read() -> Result<()> {
    let checkpoint = Checkpoint::read(&Location::local(fixtures().join("tensorflow_save/mixed")))?;
    assert_eq!(checkpoint.len(), 40);
    assert!(checkpoint.skipped().is_empty());
    assert_eq!(checkpoint.get("global_step")?, &Array::from(-(1i64 << 40)));
    assert_eq!(checkpoint.get("scalar")?, &Array::from(0.5f32));
    assert_eq!(checkpoint.get("café")?, &Array::from_vec(&[1, 2, 2], vec![1i64, 2, 3, 4])?);
    assert_eq!(checkpoint.get("😀")?, &Array::from(1e300f64));
    assert_eq!(checkpoint.get("layer_3/bias")?, &Array::from_vec(&[0], Vec::<f32>::new())?);
    assert_eq!(checkpoint.get("layer_4/count")?, &Array::from(-4i32));
    assert_eq!(checkpoint.get("layer_4/mask")?, &Array::from(vec![true, false, true]));
    Ok(())
}

#[test]
fn what_was_read_is_written_byte_for_byte() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    for name in
        ["tensorflow_estimator_run/model.ckpt-0", "tensorflow_estimator_run/model.ckpt-1000", "tensorflow_save/mixed"]
    {
        let original = Location::local(fixtures().join(name));
        let copy = Location::local(folder.path()).join(name)?;
        Checkpoint::read(&original)?.write(&copy)?;
        for suffix in [".index", ".data-00000-of-00001"] {
            assert_eq!(copy.with_suffix(suffix)?.read()?, original.with_suffix(suffix)?.read()?, "{name}{suffix}");
        }
    }
    Ok(())
}

#[test]
fn the_state_file_is_written_byte_for_byte() -> Result<()> {
    let text = fs::read_to_string(fixtures().join("tensorflow_estimator_run/checkpoint")).unwrap();
    let state = CheckpointState::parse(&text)?;
    assert_eq!(state.model_checkpoint_path, "model.ckpt-1000");
    assert_eq!(state.all_model_checkpoint_paths, ["model.ckpt-0", "model.ckpt-1000"]);
    assert_eq!(state.to_string(), text);
    Ok(())
}

#[test]
fn strings_are_passed_over_by_name() -> Result<()> {
    let checkpoint = Checkpoint::read(&Location::local(fixtures().join("tensorflow_save/object")))?;
    assert_eq!(checkpoint.names(), ["v/.ATTRIBUTES/VARIABLE_VALUE"]);
    assert_eq!(checkpoint.get("v/.ATTRIBUTES/VARIABLE_VALUE")?, &Array::from(vec![1.0f32, 2.0]));
    assert_eq!(checkpoint.skipped(), ["_CHECKPOINTABLE_OBJECT_GRAPH"]);
    Ok(())
}

#[test]
fn several_data_files_are_read() -> Result<()> {
    let checkpoint = Checkpoint::read(&Location::local(fixtures().join("tensorflow_save/sharded")))?;
    assert_eq!(checkpoint.names(), ["dense/bias", "dense/kernel", "global_step"]);
    assert_eq!(checkpoint.get("dense/bias")?, &Array::from(vec![0.5f32, -0.5]));
    assert_eq!(checkpoint.get("dense/kernel")?, &Array::from_vec(&[2, 2], vec![1.0f32, 2.0, 3.0, 4.0])?);
    assert_eq!(checkpoint.get("global_step")?, &Array::from(7i64));
    Ok(())
}

#[test]
fn partitioned_variables_are_refused_by_name() {
    let prefix = Location::local(fixtures().join("tensorflow_save/partitioned"));
    let error = Checkpoint::read(&prefix).unwrap_err();
    let expected = format!("{prefix}.index: the checkpoint has partitioned variables, which cannot be read here");
    assert_eq!((error.code(), error.message()), ("CKPT006", expected.as_str()));
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

/// Shape and numbers of nested lists.
fn flatten(value: &Value, axis: usize, shape: &mut Vec<usize>, numbers: &mut Vec<f64>) {
    match value.as_array() {
        Some(items) => {
            if shape.len() == axis {
                shape.push(items.len());
            }
            items.iter().for_each(|item| flatten(item, axis + 1, shape, numbers));
        }
        None => numbers.push(value.as_f64().unwrap()),
    }
}
