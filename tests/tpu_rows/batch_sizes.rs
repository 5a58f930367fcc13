//! Batch sizes and numbers of steps.

use crate::row::{Row, finite};
use tpulab::prelude::*;

#[test]
fn train_batch_of_100_over_8_cores_is_refused() {
    Row::new().classifier(|classifier| classifier.train_batch_size(100)).train(Steps(2)).is_refused(
        "ValueError",
        "TPU012: train_batch_size 100 cannot be split over 8 cores; use a multiple of 8, such as 96 or 104",
    );
}

#[test]
fn eval_batch_of_100_over_8_cores_is_refused() {
    Row::new().classifier(|classifier| classifier.eval_batch_size(100)).evaluate(Steps(2)).is_refused(
        "ValueError",
        "TPU012: eval_batch_size 100 cannot be split over 8 cores; use a multiple of 8, such as 96 or 104",
    );
}

#[test]
fn predict_batch_of_100_over_8_cores_is_refused() {
    Row::new().classifier(|classifier| classifier.predict_batch_size(100)).predict().is_refused(
        "ValueError",
        "TPU012: predict_batch_size 100 cannot be split over 8 cores; use a multiple of 8, such as 96 or 104",
    );
}

#[test]
fn training_without_a_batch_size_is_refused() {
    Row::without_batch_sizes().train(Steps(2)).is_refused(
        "ValueError",
        "TPU006: train_batch_size is not set, and `train` needs it; \
         give `TpuEstimator` the global batch size, such as `.train_batch_size(128)`",
    );
}

#[test]
fn evaluating_without_a_batch_size_is_refused() {
    let row = Row::without_batch_sizes().classifier(|classifier| classifier.train_batch_size(16));
    row.evaluate(Steps(2)).is_refused(
        "ValueError",
        "TPU006: eval_batch_size is not set, and `evaluate` needs it; \
         give `TpuEstimator` the global batch size, such as `.eval_batch_size(128)`",
    );
}

#[test]
fn predicting_without_a_batch_size_is_refused() {
    let row = Row::without_batch_sizes().classifier(|classifier| classifier.train_batch_size(16));
    row.predict().is_refused(
        "ValueError",
        "TPU006: predict_batch_size is not set, and `predict` needs it; \
         give `TpuEstimator` the global batch size, such as `.predict_batch_size(128)`",
    );
}

#[test]
fn a_faithful_estimator_wants_a_train_batch_size_even_to_predict() {
    let row = Row::without_batch_sizes().classifier(|classifier| classifier.predict_batch_size(16));
    row.predict().is_refused_faithfully_alone(
        "ValueError",
        "TPU006: train_batch_size is not set, and `train` needs it; \
         give `TpuEstimator` the global batch size, such as `.train_batch_size(128)`",
    );
}

#[test]
fn a_batch_size_of_0_is_refused() {
    Row::new().classifier(|classifier| classifier.eval_batch_size(0)).train(Steps(2)).is_refused(
        "ValueError",
        "TPU007: eval_batch_size is 0; expected 1 or more; give the global batch size, such as 128",
    );
}

#[test]
fn training_without_a_number_of_steps_is_refused() {
    Row::new().train(UntilEnd).is_refused(
        "ValueError",
        "TPU027: a TPU cannot train to the end of the input: its loops have a fixed length; \
         give `MaxSteps(n)` or `Steps(n)`",
    );
}

#[test]
fn evaluating_without_a_number_of_steps_is_refused() {
    Row::new().evaluate(UntilEnd).is_refused(
        "ValueError",
        "TPU027: a TPU cannot evaluate to the end of the input: its loops have a fixed length; give `Steps(n)`",
    );
    Row::new().input(|params| finite(64, params.batch_size(), Remainder::Drop)).evaluate(UntilEnd).is_refused(
        "ValueError",
        "TPU027: a TPU cannot evaluate to the end of the input: its loops have a fixed length; \
         give `Steps(n)`; the input has 4 batches",
    );
}

#[test]
fn no_steps_are_refused() {
    let help = "leave the call out where there is nothing to do";
    let steps = format!("RUN001: steps must be positive, found 0; {help}");
    Row::new().train(Steps(0)).is_refused("ValueError", &steps);
    Row::new().evaluate(Steps(0)).is_refused("ValueError", &steps);
    let max_steps = format!("RUN001: max_steps must be positive, found 0; {help}");
    Row::new().train(MaxSteps(0)).is_refused("ValueError", &max_steps);
}
