//! A saver keeps the last checkpoints, continues where another stopped, and survives interruptions.

use std::fs;
use tempfile::TempDir;
use tpulab::checkpoint::{Checkpoint, CheckpointState, Saver, latest_checkpoint, step_of};
use tpulab::core::{Array, Result};
use tpulab::storage::{Buckets, Location};

#[test]
fn five_checkpoints_are_kept_unless_told_otherwise() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let model_dir = model_dir(&folder);
    for step in 0..7 {
        Saver::new().save(&model_dir, step, &at(step))?;
    }
    assert_eq!(kept(&model_dir)?, [2, 3, 4, 5, 6]);
    let saver = Saver::new().max_to_keep(2);
    let prefix = saver.save(&model_dir, 7, &at(7))?;
    assert_eq!(prefix.to_string(), "gs://bucket-name/iris/model.ckpt-7");
    let files = [
        "checkpoint",
        "model.ckpt-6.data-00000-of-00001",
        "model.ckpt-6.index",
        "model.ckpt-7.data-00000-of-00001",
        "model.ckpt-7.index",
    ];
    assert_eq!(model_dir.list()?, files);
    for step in 8..20 {
        Saver::new().max_to_keep(0).save(&model_dir, step, &at(step))?;
    }
    assert_eq!(kept(&model_dir)?, (6..20).collect::<Vec<_>>());
    Ok(())
}

#[test]
fn saving_a_step_again_keeps_it_once_and_latest() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let model_dir = model_dir(&folder);
    for step in [0, 500, 1000, 500] {
        Saver::new().save(&model_dir, step, &at(step))?;
    }
    assert_eq!(kept(&model_dir)?, [0, 1000, 500]);
    Ok(())
}

#[test]
fn all_files_of_a_dropped_checkpoint_go_and_no_others() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let model_dir = model_dir(&folder);
    let saver = Saver::new().max_to_keep(1);
    saver.save(&model_dir, 1, &at(1))?;
    model_dir.join("model.ckpt-1.meta")?.write_atomic(b"graph")?;
    model_dir.join("model.ckpt-10.index")?.write_atomic(b"another's")?;
    model_dir.join("model.ckpt-1")?.write_atomic(b"another's")?;
    saver.save(&model_dir, 2, &at(2))?;
    let files =
        ["checkpoint", "model.ckpt-1", "model.ckpt-10.index", "model.ckpt-2.data-00000-of-00001", "model.ckpt-2.index"];
    assert_eq!(model_dir.list()?, files);
    Ok(())
}

#[test]
fn paths_that_another_program_left_are_understood_and_nothing_elsewhere_is_removed() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let model_dir = Location::local(folder.path().join("iris"));
    let elsewhere = Location::local(folder.path().join("elsewhere"));
    for step in [1, 2] {
        Saver::new().save(&model_dir, step, &at(step))?;
    }
    Saver::new().save(&elsewhere, 1, &at(1))?;
    let state = CheckpointState {
        model_checkpoint_path: format!("{model_dir}/model.ckpt-2"),
        all_model_checkpoint_paths: vec![
            format!("{elsewhere}/model.ckpt-1"),
            "../elsewhere/model.ckpt-1".to_owned(),
            format!("{model_dir}/model.ckpt-1"),
            "model.ckpt-1500".to_owned(),
            format!("{model_dir}/model.ckpt-2"),
        ],
    };
    state.write(&model_dir)?;
    assert_eq!(latest_checkpoint(&model_dir)?.unwrap().to_string(), format!("{model_dir}/model.ckpt-2"));
    Saver::new().max_to_keep(1).save(&model_dir, 3, &at(3))?;
    assert_eq!(model_dir.list()?, ["checkpoint", "model.ckpt-3.data-00000-of-00001", "model.ckpt-3.index"]);
    assert_eq!(elsewhere.list()?, ["checkpoint", "model.ckpt-1.data-00000-of-00001", "model.ckpt-1.index"]);
    Ok(())
}

#[test]
fn a_save_that_fails_leaves_the_latest_checkpoint_the_latest() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let model_dir = model_dir(&folder);
    Saver::new().save(&model_dir, 1, &at(1))?;
    // A folder where a file must go stops the save after none or one of its three files.
    for obstacle in ["model.ckpt-2.data-00000-of-00001", "model.ckpt-2.index"] {
        let obstacle = model_dir.join(obstacle)?;
        obstacle.join("occupied")?.write_atomic(b"")?;
        let error = Saver::new().save(&model_dir, 2, &at(2)).unwrap_err();
        assert_eq!(error.code(), "STOR002");
        let latest = latest_checkpoint(&model_dir)?.unwrap();
        assert_eq!(Checkpoint::read(&latest)?, at(1));
        obstacle.remove_all()?;
    }
    let state = model_dir.join("checkpoint")?;
    let text = state.read()?;
    fs::write(folder.path().join("bucket-name/iris/.checkpoint.tpulab-writing-1-0"), &text[..9]).unwrap();
    assert_eq!(kept(&model_dir)?, [1]);
    Saver::new().save(&model_dir, 2, &at(2))?;
    assert_eq!(kept(&model_dir)?, [1, 2]);
    Ok(())
}

#[test]
fn a_cut_file_is_an_error_that_names_it() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let prefix = Saver::new().save(&model_dir(&folder), 1, &at(1))?;
    let data = prefix.with_suffix(".data-00000-of-00001")?;
    let bytes = data.read()?;
    data.write_atomic(&bytes[..bytes.len() - 1])?;
    let expected = "CKPT005: gs://bucket-name/iris/model.ckpt-1.data-00000-of-00001: expected 20 bytes by the index, \
                    found 19; index and data are of two checkpoints, or the file was cut; use another checkpoint";
    assert_eq!(Checkpoint::read(&prefix).unwrap_err().to_string(), expected);
    data.remove()?;
    let expected = "STOR001: cannot read `gs://bucket-name/iris/model.ckpt-1.data-00000-of-00001`: \
                    there is no such file or folder";
    assert_eq!(Checkpoint::read(&prefix).unwrap_err().to_string(), expected);
    let index = prefix.with_suffix(".index")?;
    let mut bytes = index.read()?;
    bytes[10] ^= 1;
    index.write_atomic(&bytes)?;
    let expected = "CKPT002: gs://bucket-name/iris/model.ckpt-1.index: block at byte 0 does not match its checksum; \
                    the file was damaged or cut after it was written; use another checkpoint";
    assert_eq!(Checkpoint::read(&prefix).unwrap_err().to_string(), expected);
    Ok(())
}

fn model_dir(folder: &TempDir) -> Location {
    Buckets::below(folder.path()).location("gs://bucket-name/iris").unwrap()
}

fn at(step: u64) -> Checkpoint {
    Checkpoint::from_iter([
        ("dense/bias", Array::from(vec![0.5f32, -0.25, step as f32])),
        ("global_step", Array::from(step as i64)),
    ])
}

/// The steps that the state names, each checkpoint read and found whole, the latest last.
fn kept(model_dir: &Location) -> Result<Vec<u64>> {
    let state = CheckpointState::read(model_dir)?.unwrap();
    assert_eq!(state.all_model_checkpoint_paths.last(), Some(&state.model_checkpoint_path));
    let mut steps = Vec::new();
    for path in state.all_model_checkpoint_paths {
        let step = step_of(&path).unwrap();
        assert_eq!(Checkpoint::read(&model_dir.join(&path)?)?, at(step));
        steps.push(step);
    }
    Ok(steps)
}
