//! Steps, checkpoints, and going on from them.

use crate::common::{checkpoints, endless, minimize, newest_bytes};
use crate::estimators::{config, estimator, seed_of, tpu, tpu_config};
use tempfile::TempDir;
use tpulab as tf;
use tpulab::estimator::RunConfig;
use tpulab::prelude::*;

#[test]
fn steps_are_more_steps_and_max_steps_is_where_to_stop() -> Result<()> {
    let classifier = estimator(config()).build()?;
    assert_eq!(classifier.train(|| endless(64), Steps(10))?.global_step(), 10);
    let report = classifier.train(|| endless(64), Steps(10))?;
    assert_eq!((report.first_step(), report.steps(), report.global_step()), (10, 10, 20));
    let report = classifier.train(|| endless(64), MaxSteps(25))?;
    assert_eq!((report.first_step(), report.steps(), report.global_step()), (20, 5, 25));
    Ok(())
}

#[test]
fn a_training_that_has_reached_max_steps_calls_nobody() -> Result<()> {
    let classifier = estimator(config()).build()?;
    classifier.train(|| endless(64), MaxSteps(10))?;
    for last in [10, 5] {
        let report = classifier.train(|| panic!("the input is not asked for"), MaxSteps(last))?;
        assert_eq!((report.first_step(), report.steps(), report.global_step(), report.loss()), (10, 0, 10, None));
        assert_eq!(report.to_string(), "no step was made; global step 10");
    }
    Ok(())
}

#[test]
fn a_training_leaves_checkpoints_of_its_start_and_end() -> Result<()> {
    let classifier = estimator(config()).build()?;
    classifier.train(|| endless(64), Steps(1000))?;
    assert_eq!(checkpoints(classifier.model_dir()), [0, 1000]);
    Ok(())
}

#[test]
fn checkpoints_come_every_so_many_steps() -> Result<()> {
    let classifier = estimator(config().save_checkpoints(SaveCheckpoints::Steps(30))).build()?;
    classifier.train(|| endless(64), Steps(100))?;
    assert_eq!(checkpoints(classifier.model_dir()), [0, 30, 60, 90, 100]);
    Ok(())
}

#[test]
fn checkpoints_of_a_tpu_wait_for_the_end_of_a_loop() -> Result<()> {
    let config = tpu_config(40, config().save_checkpoints(SaveCheckpoints::Steps(30)));
    let classifier = tpu(config).build()?;
    classifier.train(|params| endless(params.batch_size()), Steps(100))?;
    assert_eq!(checkpoints(classifier.model_dir()), [0, 40, 80, 100]);
    Ok(())
}

#[test]
fn older_checkpoints_go() -> Result<()> {
    for (kept, expected) in [(2, vec![90, 100]), (0, (0..=100).step_by(10).collect())] {
        let config = config().save_checkpoints(SaveCheckpoints::Steps(10)).keep_checkpoint_max(kept);
        let classifier = estimator(config).build()?;
        classifier.train(|| endless(64), Steps(100))?;
        assert_eq!(checkpoints(classifier.model_dir()), expected);
    }
    Ok(())
}

#[test]
fn training_in_two_parts_ends_in_the_same_bits() -> Result<()> {
    // Without a seed of its own the second part takes the model's.
    for seeded in [true, false] {
        let (once, twice) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let at = |folder: &TempDir| config().model_dir(folder.path().display().to_string());
        let one = estimator(at(&once)).build()?;
        one.train(|| endless(64), Steps(100))?;
        let seed = seed_of(&once, 100);
        for part in 0..2 {
            // A new estimator each time: all that goes on lies in the folder.
            let config = if seeded || part == 0 {
                at(&twice)
            } else {
                RunConfig::new().model_dir(twice.path().display().to_string())
            };
            estimator(config).build()?.train(|| endless(64), Steps(50))?;
        }
        assert_eq!(seed_of(&twice, 100), seed);
        assert!(newest_bytes(one.model_dir()) == newest_bytes(&Location::local(twice.path())), "seeded: {seeded}");
    }
    Ok(())
}

#[test]
fn training_in_two_parts_ends_in_the_same_bits_on_a_tpu() -> Result<()> {
    let (once, twice) = (tpu(tpu_config(20, config())).build()?, tpu(tpu_config(20, config())).build()?);
    once.train(|params| endless(params.batch_size()), Steps(100))?;
    twice.train(|params| endless(params.batch_size()), Steps(50))?;
    twice.train(|params| endless(params.batch_size()), MaxSteps(100))?;
    assert!(newest_bytes(once.model_dir()) == newest_bytes(twice.model_dir()));
    Ok(())
}

#[test]
fn a_faithful_training_starts_its_input_again() -> Result<()> {
    let faithful = || config().fidelity(Fidelity::Faithful);
    let (once, twice) = (estimator(faithful()).build()?, estimator(faithful()).build()?);
    once.train(|| endless(64), Steps(100))?;
    twice.train(|| endless(64), Steps(50))?;
    twice.train(|| endless(64), Steps(50))?;
    assert!(newest_bytes(once.model_dir()) != newest_bytes(twice.model_dir()));
    Ok(())
}

#[test]
fn a_seed_is_drawn_once_and_stays_with_the_model() -> Result<()> {
    let folder = TempDir::new().unwrap();
    let unseeded = || RunConfig::new().model_dir(folder.path().display().to_string());
    estimator(unseeded()).build()?.train(|| endless(64), Steps(1))?;
    let seed = seed_of(&folder, 1);
    estimator(unseeded()).build()?.train(|| endless(64), Steps(1))?;
    assert_eq!(seed_of(&folder, 2), seed);
    Ok(())
}

#[test]
fn a_temporary_folder_goes_with_its_last_handle() -> Result<()> {
    let classifier = estimator(config()).build()?;
    classifier.train(|| endless(64), Steps(1))?;
    let folder = classifier.model_dir().clone();
    let copy = classifier.clone();
    drop(classifier);
    assert_eq!(checkpoints(&folder), [0, 1]);
    drop(copy);
    assert!(folder.list().is_err(), "{folder} is still there");
    Ok(())
}

#[test]
fn another_model_in_the_folder_is_named() -> Result<()> {
    let folder = TempDir::new().unwrap();
    let at = || config().model_dir(folder.path().display().to_string());
    estimator(at()).build()?.train(|| endless(64), Steps(1))?;
    let wider = |features: &Tensors, labels: Option<&Tensor>, _: ModeKeys, params: &Params| {
        let net = tf::feature_column::input_layer(features, &["x", "y"].map(tf::feature_column::numeric_column))?;
        let logits = tf::layers::dense(&tf::layers::dense(&net, 5, None)?, 2, None)?;
        let loss = tf::losses::sparse_softmax_cross_entropy(labels.expect("labels"), &logits)?;
        let train_op = minimize(&loss, params)?;
        Ok(EstimatorSpec::train(loss, train_op))
    };
    let error = Estimator::new(wider).config(at()).build()?.train(|| endless(64), Steps(1)).unwrap_err();
    assert_eq!(error.code(), "RUN004");
    assert!(error.message().contains("is [2, 5] in this model and [2, 4] in checkpoint"), "{error}");
    Ok(())
}
