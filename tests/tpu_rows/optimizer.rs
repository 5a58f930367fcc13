//! Gradients that the cores share.

use crate::common::minimize;
use crate::row::{Model, Row, grouped, loss_of};
use tpulab as tf;
use tpulab::losses::Reduction;
use tpulab::prelude::*;

#[test]
fn training_without_a_cross_shard_optimizer_is_refused() {
    let alone = |features: &Tensors, labels: Option<&Tensor>, _: ModeKeys, params: &Params| {
        let loss = loss_of(features, labels)?;
        let train_op = minimize(&loss, &params.clone().set("use_tpu", false))?;
        Ok(TpuEstimatorSpec::train(loss, train_op).into())
    };
    Row::new().model(alone).train(Steps(2)).is_refused(
        "ValueError",
        "TPU026: nothing is summed over the 8 cores, so their models would drift apart; \
         wrap the optimizer: `CrossShardOptimizer::new(optimizer)`",
    );
    Row::new()
        .model(alone)
        .config(|config| config.tpu_config(TpuConfig::new().num_shards(1)))
        .train(Steps(2))
        .is_accepted();
}

#[test]
fn a_cross_shard_optimizer_on_the_cpu_is_refused() {
    let always = |features: &Tensors, labels: Option<&Tensor>, _: ModeKeys, params: &Params| {
        let loss = loss_of(features, labels)?;
        let train_op = minimize(&loss, &params.clone().set("use_tpu", true))?;
        Ok(TpuEstimatorSpec::train(loss, train_op).into())
    };
    Row::new().model(always).classifier(|classifier| classifier.use_tpu(false)).train(Steps(2)).is_refused(
        "InvalidArgumentError",
        "TPU018: `CrossShardOptimizer` was used where no TPU is involved: CPUs have no kernel for CrossReplicaSum; \
         wrap the optimizer only where `params.use_tpu()` is true",
    );
}

#[test]
fn a_reduction_other_than_mean_and_sum_is_refused() {
    let reduced = |features: &Tensors, labels: Option<&Tensor>, _: ModeKeys, _: &Params| {
        let loss = loss_of(features, labels)?;
        let optimizer = CrossShardOptimizer::new(tf::train::AdagradOptimizer::new(0.1));
        let train_op =
            optimizer.reduction(Reduction::SumByNonzeroWeights).minimize(&loss, Some(&loss.graph().global_step()))?;
        Ok(TpuEstimatorSpec::train(loss, train_op).into())
    };
    Row::new().model(reduced).train(Steps(2)).is_refused(
        "ValueError",
        "TPU019: `CrossShardOptimizer` cannot reduce by SumByNonzeroWeights; use `Reduction::Mean` or `Reduction::Sum`",
    );
}

#[test]
fn groups_of_cores_that_make_no_sense_are_refused() {
    let text = |groups: &str| {
        format!(
            "GRAPH006: CrossReplicaSum: group_assignment {groups} must hold each of the 8 replicas once, in equal \
             groups; list 0 to 7 in groups of one size"
        )
    };
    let missing: Model = |features, labels, _, _| grouped(&[&[0, 1, 2, 3]], features, labels);
    Row::new().model(missing).train(Steps(2)).is_refused("ValueError", &text("[[0, 1, 2, 3]]"));
    let twice: Model = |features, labels, _, _| grouped(&[&[0, 1, 2, 3], &[3, 4, 5, 6, 7]], features, labels);
    Row::new().model(twice).train(Steps(2)).is_refused("ValueError", &text("[[0, 1, 2, 3], [3, 4, 5, 6, 7]]"));
    let unequal: Model = |features, labels, _, _| grouped(&[&[0, 1, 2], &[3, 4, 5, 6, 7]], features, labels);
    Row::new().model(unequal).train(Steps(2)).is_refused("ValueError", &text("[[0, 1, 2], [3, 4, 5, 6, 7]]"));
    let unknown: Model = |features, labels, _, _| grouped(&[&[1, 2, 3, 4, 5, 6, 7, 8]], features, labels);
    Row::new().model(unknown).train(Steps(2)).is_refused("ValueError", &text("[[1, 2, 3, 4, 5, 6, 7, 8]]"));
    let none: Model = |features, labels, _, _| grouped(&[], features, labels);
    Row::new().model(none).train(Steps(2)).is_refused("ValueError", &text("[]"));
    let halves: Model = |features, labels, _, _| grouped(&[&[0, 2, 4, 6], &[1, 3, 5, 7]], features, labels);
    Row::new().model(halves).train(Steps(2)).is_accepted();
}
