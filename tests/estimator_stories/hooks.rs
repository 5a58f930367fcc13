//! Who is called when.

use crate::common::{checkpoints, endless, newest_bytes};
use crate::estimators::{config, estimator, tpu, tpu_config};
use crate::notes::{Notes, Spy};
use tempfile::TempDir;
use tpulab::estimator::{CheckpointSaverHook, LoggingTensorHook, StopAtStepHook};
use tpulab::prelude::*;

#[test]
fn hooks_are_called_in_their_order_around_each_step() -> Result<()> {
    let notes = Notes::default();
    let hooks: &mut [Box<dyn SessionRunHook>] = &mut [Box::new(notes.spy("a")), Box::new(notes.spy("b"))];
    estimator(config()).build()?.train_with_hooks(|| endless(64), Steps(2), hooks)?;
    notes.are(
        "a begin, b begin, a session 0, b session 0, \
         a before 0, b before 0, a after 1, b after 1, \
         a before 1, b before 1, a after 2, b after 2, a end 2, b end 2",
    );
    Ok(())
}

#[test]
fn hooks_are_called_around_each_loop_of_a_tpu() -> Result<()> {
    let notes = Notes::default();
    let hooks: &mut [Box<dyn SessionRunHook>] = &mut [Box::new(notes.spy("a"))];
    let classifier = tpu(tpu_config(4, config())).build()?;
    classifier.train_with_hooks(|params| endless(params.batch_size()), Steps(6), hooks)?;
    notes.are("a begin, a session 0, a before 0, a after 4, a before 4, a after 6, a end 6");
    Ok(())
}

#[test]
fn a_hook_that_fails_ends_the_training_without_its_end() -> Result<()> {
    let notes = Notes::default();
    let failing = Spy { fails_after: Some(2), ..notes.spy("a") };
    let classifier = estimator(config()).build()?;
    let error = classifier.train_with_hooks(|| endless(64), Steps(5), &mut [Box::new(failing)]).unwrap_err();
    assert_eq!(error.code(), "RUN007");
    notes.are("a begin, a session 0, a before 0, a after 1, a before 1, a after 2");
    assert_eq!(checkpoints(classifier.model_dir()), [0]);
    Ok(())
}

#[test]
fn a_hook_changes_no_number() -> Result<()> {
    let (alone, watched) = (estimator(config()).build()?, estimator(config()).build()?);
    let expected = alone.train(|| endless(64), Steps(20))?;
    let hook = LoggingTensorHook::new(["dense/BiasAdd:0", "dense_1/BiasAdd:0"], 3)?;
    let found = watched.train_with_hooks(|| endless(64), Steps(20), &mut [Box::new(hook)])?;
    // A fetched tensor undoes a fusion: float32 sums may round in another order.
    for (found, expected) in found.losses().iter().zip(expected.losses()) {
        assert!((found - expected).abs() < 1e-6, "{found} against {expected}");
    }
    Ok(())
}

#[test]
fn a_stop_at_step_stops_an_estimator_at_that_step() -> Result<()> {
    let classifier = estimator(config()).build()?;
    let report = classifier.train_with_hooks(|| endless(64), UntilEnd, &mut [Box::new(StopAtStepHook::at(7))])?;
    assert_eq!(report.global_step(), 7);
    let report = classifier.train_with_hooks(|| endless(64), Steps(50), &mut [Box::new(StopAtStepHook::after(5))])?;
    assert_eq!(report.global_step(), 12);
    assert_eq!(checkpoints(classifier.model_dir()), [0, 7, 12]);
    Ok(())
}

#[test]
fn a_tensor_that_is_not_there_cannot_be_logged() -> Result<()> {
    let hook = LoggingTensorHook::new(["dense_7/BiasAdd:0"], 1)?;
    let classifier = estimator(config()).build()?;
    let error = classifier.train_with_hooks(|| endless(64), Steps(1), &mut [Box::new(hook)]).unwrap_err();
    assert!(error.to_string().contains("dense_7/BiasAdd:0"), "{error}");
    assert!(checkpoints(classifier.model_dir()).is_empty());
    assert_eq!(LoggingTensorHook::new(["loss"], 0).unwrap_err().code(), "RUN008");
    Ok(())
}

#[test]
fn a_saver_hook_saves_into_a_folder_of_its_own() -> Result<()> {
    let folder = TempDir::new().unwrap();
    let path = folder.path().display().to_string();
    let hook = CheckpointSaverHook::new(&path, SaveCheckpoints::Steps(4))?;
    let classifier = estimator(config()).build()?;
    classifier.train_with_hooks(|| endless(64), Steps(10), &mut [Box::new(hook)])?;
    assert_eq!(checkpoints(&Location::local(folder.path())), [0, 4, 8, 10]);
    assert_eq!(checkpoints(classifier.model_dir()), [0, 10]);
    assert!(newest_bytes(&Location::local(folder.path())) == newest_bytes(classifier.model_dir()));
    Ok(())
}
