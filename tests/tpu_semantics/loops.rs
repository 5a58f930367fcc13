//! Loops, and who looks in between.

use crate::common::{checkpoints, endless};
use crate::estimators::{config, tpu};
use crate::program::Seen;
use std::time::Duration;
use tpulab::estimator::StopAtStepHook;
use tpulab::prelude::*;

#[test]
fn a_thousand_steps_in_loops_of_500_are_two_loops() -> Result<()> {
    let classifier = tpu(config().tpu_config(TpuConfig::new().iterations_per_loop(500))).build()?;
    let report = classifier.train(|params| endless(params.batch_size()), MaxSteps(1000))?;
    assert_eq!((report.loops(), report.steps(), report.global_step()), (2, 1000, 1000));
    assert_eq!(checkpoints(classifier.model_dir()), [0, 1000]);
    Ok(())
}

#[test]
fn hooks_see_ends_of_loops_and_the_last_loop_is_shorter() -> Result<()> {
    let classifier = tpu(config().tpu_config(TpuConfig::new().iterations_per_loop(4))).build()?;
    let seen = Seen::default();
    classifier.train_with_hooks(|params| endless(params.batch_size()), Steps(10), &mut [Box::new(seen.clone())])?;
    assert_eq!(seen.take(), [(4, 4), (8, 4), (10, 2)]);
    // From where the model stands, not from a multiple of the loop's length.
    classifier.train_with_hooks(|params| endless(params.batch_size()), MaxSteps(15), &mut [Box::new(seen.clone())])?;
    assert_eq!(seen.take(), [(14, 4), (15, 1)]);
    Ok(())
}

#[test]
fn a_stop_at_step_120_comes_at_the_end_of_its_loop() -> Result<()> {
    let classifier = tpu(config().tpu_config(TpuConfig::new().iterations_per_loop(100))).build()?;
    let hooks: &mut [Box<dyn SessionRunHook>] = &mut [Box::new(StopAtStepHook::at(120))];
    let report = classifier.train_with_hooks(|params| endless(params.batch_size()), Steps(1000), hooks)?;
    assert_eq!((report.global_step(), report.loops()), (200, 2));
    Ok(())
}

#[test]
fn loops_that_last_a_time_make_all_steps() -> Result<()> {
    let tpu_config = TpuConfig::new().time_per_loop(Duration::from_millis(1));
    let classifier = tpu(config().tpu_config(tpu_config)).build()?;
    let seen = Seen::default();
    let hooks: &mut [Box<dyn SessionRunHook>] = &mut [Box::new(seen.clone())];
    let report = classifier.train_with_hooks(|params| endless(params.batch_size()), Steps(50), hooks)?;
    assert_eq!((report.steps(), report.global_step()), (50, 50));
    let first = seen.take()[0];
    assert_eq!(first, (1, 1), "the speed is not known before the first loop");
    Ok(())
}
