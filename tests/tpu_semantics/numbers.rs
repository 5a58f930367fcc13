//! To which numbers a training leads.

use crate::common::{bucket_folder, endless, newest_bytes};
use crate::estimators::{close, config, descending, estimator, in_order, in_order_once, predicted, tpu};
use tpulab::losses::Reduction;
use tpulab::prelude::*;

#[test]
fn eight_cores_walk_the_path_of_one() -> Result<()> {
    // Float64: what is left is the order of sums. Float32: the same with 24 bits, over 50 steps.
    for (precision, tolerance) in [(Precision::Float64, 1e-12), (Precision::Float32, 2e-6)] {
        let on_tpu = tpu(config().precision(precision)).build()?;
        let on_cpu = estimator(config().precision(precision).base).build()?;
        let report = on_tpu.train(|params| in_order(512, params.batch_size()), Steps(50))?;
        let plain = on_cpu.train(|| in_order(512, 128), Steps(50))?;
        close(report.losses(), plain.losses(), tolerance);
        assert_eq!(on_tpu.variable_names()?, on_cpu.variable_names()?);
        if precision == Precision::Float32 {
            for name in on_tpu.variable_names()? {
                let (found, expected) = (on_tpu.variable_value(&name)?, on_cpu.variable_value(&name)?);
                close(&found.to_f64_vec()?, &expected.to_f64_vec()?, 1e-5);
            }
        }
    }
    Ok(())
}

#[test]
fn a_sum_over_8_cores_is_a_mean_with_an_eightfold_rate() -> Result<()> {
    let trained = |reduction, rate| -> Result<TrainReport> {
        let classifier = TpuEstimator::new(descending(reduction, None, rate)).config(config()).train_batch_size(128);
        classifier.build()?.train(|params| in_order(512, params.batch_size()), Steps(10))
    };
    let sum = trained(Reduction::Sum, 0.1)?;
    // Float32 losses near 0.7, over ten steps.
    close(sum.losses(), trained(Reduction::Mean, 0.8)?.losses(), 2e-6);
    let mean = trained(Reduction::Mean, 0.1)?;
    assert_eq!(sum.losses()[0], mean.losses()[0]);
    assert!((sum.losses()[9] - mean.losses()[9]).abs() > 1e-3);
    Ok(())
}

#[test]
fn groups_drift_apart_and_the_first_core_is_saved() -> Result<()> {
    let halves = vec![vec![0, 1, 2, 3], vec![4, 5, 6, 7]];
    let drifting = descending(Reduction::Mean, Some(halves), 0.1);
    let classifier = TpuEstimator::new(drifting).config(config()).train_batch_size(128).build()?;
    classifier.train(|params| in_order(128, params.batch_size()), Steps(10))?;
    // The first group sees the first 64 of the 128 rows, in each step.
    let alone =
        TpuEstimator::new(descending(Reduction::Mean, None, 0.1)).config(config()).train_batch_size(64).build()?;
    alone.train(|params| in_order(64, params.batch_size()), Steps(10))?;
    let together =
        TpuEstimator::new(descending(Reduction::Mean, None, 0.1)).config(config()).train_batch_size(128).build()?;
    together.train(|params| in_order(128, params.batch_size()), Steps(10))?;
    let kernel = |classifier: &TpuEstimator| classifier.variable_value("dense/kernel")?.to_f64_vec();
    // Float32 weights below 1, summed in groups of another size.
    close(&kernel(&classifier)?, &kernel(&alone)?, 1e-6);
    assert!(kernel(&classifier)?.iter().zip(kernel(&together)?).any(|(own, all)| (own - all).abs() > 1e-4));
    Ok(())
}

#[test]
fn any_number_of_threads_gives_the_same_bits() -> Result<()> {
    let trained = |threads| -> Result<Vec<u8>> {
        let classifier = tpu(config().worker_threads(threads)).build()?;
        classifier.train(|params| endless(params.batch_size()), Steps(30))?;
        Ok(newest_bytes(classifier.model_dir()))
    };
    let alone = trained(1)?;
    for threads in [2, 4, 8] {
        assert!(trained(threads)? == alone, "{threads} threads");
    }
    Ok(())
}

#[test]
fn without_a_tpu_it_is_an_estimator_to_the_bit() -> Result<()> {
    let folders = (bucket_folder(), bucket_folder());
    let cpu = tpu(config().model_dir(&folders.0)).use_tpu(false).build()?;
    let plain = estimator(config().model_dir(&folders.1).base).build()?;
    let found = cpu.train(|params| endless(params.batch_size()), Steps(30))?;
    let expected = plain.train(|| endless(128), Steps(30))?;
    assert_eq!(found, expected);
    assert!(newest_bytes(cpu.model_dir()) == newest_bytes(plain.model_dir()));
    let found = cpu.evaluate(|params| in_order_once(512, params.batch_size()), UntilEnd)?;
    assert_eq!(found, plain.evaluate(|| in_order_once(512, 128), UntilEnd)?);
    assert_eq!(predicted(&cpu, 3)?, plain.predict(|| in_order_once(3, 128))?.collect::<Result<Vec<_>>>()?);
    Ok(())
}

#[test]
fn a_resumed_training_on_four_hosts_ends_in_the_same_bits() -> Result<()> {
    let pod = || -> Result<TpuEstimator> {
        let cluster = TpuClusterResolver::new(Some("tpu-name"))?.accelerator_type("v3-32")?;
        tpu(config().cluster(cluster).model_dir(bucket_folder())).build()
    };
    let (once, twice) = (pod()?, pod()?);
    once.train(|params| endless(params.batch_size()), Steps(10))?;
    twice.train(|params| endless(params.batch_size()), Steps(5))?;
    twice.train(|params| endless(params.batch_size()), Steps(5))?;
    assert!(newest_bytes(once.model_dir()) == newest_bytes(twice.model_dir()));
    Ok(())
}
