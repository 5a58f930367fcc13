//! Losses and metrics over the cores.

use crate::common::{bucket_folder, endless, rows};
use crate::estimators::{classes, config, in_order, tpu};
use tpulab::prelude::*;

#[test]
fn the_loss_is_the_mean_over_the_shards() -> Result<()> {
    let report = tpu(config()).build()?.train(|params| endless(params.batch_size()), Steps(5))?;
    assert_eq!(report.shards(), 8);
    for step in 0..5 {
        let shards = report.shard_losses(step).expect("five steps");
        assert_eq!(report.losses()[step], shards.iter().sum::<f64>() / 8.0);
        assert!(shards.iter().any(|loss| *loss != shards[0]), "{shards:?}");
    }
    Ok(())
}

#[test]
fn a_faithful_evaluation_swaps_the_loss_and_that_of_shard_0() -> Result<()> {
    let folder = bucket_folder();
    let run = |fidelity| tpu(config().fidelity(fidelity).model_dir(&folder)).build();
    let (friendly, faithful) = (run(Fidelity::Friendly)?, run(Fidelity::Faithful)?);
    friendly.train(|params| endless(params.batch_size()), Steps(5))?;
    let friendly = friendly.evaluate(|params| in_order(512, params.batch_size()), Steps(4))?;
    let faithful = faithful.evaluate(|params| in_order(512, params.batch_size()), Steps(4))?;
    assert_eq!(friendly.get("loss")?, faithful.get("loss_all_shards")?);
    assert_eq!(friendly.get("loss_shard_0")?, faithful.get("loss")?);
    assert_ne!(friendly.get("loss")?, faithful.get("loss")?);
    assert_eq!(friendly.get("accuracy")?, faithful.get("accuracy")?);
    Ok(())
}

#[test]
fn metrics_are_exact_over_the_rows_of_all_cores() -> Result<()> {
    let classifier = tpu(config()).build()?;
    classifier.train(|params| endless(params.batch_size()), Steps(20))?;
    let evaluation = classifier.evaluate(|params| in_order(512, params.batch_size()), Steps(4))?;
    let sides = rows(512).1;
    let predicted = classes(&classifier, 512)?;
    let right = sides.values::<i32>()?.iter().zip(&predicted).filter(|(side, class)| i64::from(**side) == **class);
    // A quotient of 512 is exact in float32.
    assert_eq!(evaluation.get("accuracy")?, right.count() as f64 / 512.0);
    assert_eq!((evaluation.steps(), evaluation.global_step()), (4, 20));
    Ok(())
}
