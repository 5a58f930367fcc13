//! What input functions give.

use crate::common::rows;
use crate::row::{Row, finite};
use tpulab::prelude::*;

#[test]
fn batches_of_unknown_size_are_refused_to_train_and_to_evaluate() {
    let keep = || Row::new().input(|params| finite(64, params.batch_size(), Remainder::Keep));
    let text = |verb: &str| {
        format!(
            "TPU022: the input_fn to {verb} gives batches of unknown size (`x` [?], `y` [?], `labels` [?]), \
             and a TPU program has fixed shapes; use `.batch(params.batch_size(), Remainder::Drop)`"
        )
    };
    keep().train(Steps(2)).is_refused("ValueError", &text("train"));
    keep().evaluate(Steps(2)).is_refused("ValueError", &text("evaluate"));
    keep().predict().is_accepted();
}

#[test]
fn rows_that_were_never_batched_are_refused() {
    let unbatched = || {
        Row::new().input(|_| {
            let (features, labels) = rows(64);
            Ok(Dataset::from_tensor_slices((&features, &labels))?.repeat())
        })
    };
    unbatched().train(Steps(2)).is_refused(
        "ValueError",
        "TPU022: the input_fn to train gives batches of unknown size (`x` [], `y` [], `labels` []), \
         and a TPU program has fixed shapes; use `.batch(params.batch_size(), Remainder::Drop)`",
    );
}

#[test]
fn an_input_fn_that_ignores_params_is_refused() {
    let ignoring = || Row::new().input(|_| finite(400, 100, Remainder::Drop));
    let text = "TPU024: column `x` has 100 rows, which cannot be sharded 8 ways along dimension 0; \
                batch the dataset with `params.batch_size()`";
    ignoring().train(Steps(2)).is_refused("ValueError", text);
    ignoring().evaluate(Steps(2)).is_refused("ValueError", text);
}

#[test]
fn float64_features_are_refused() {
    let float64 = |params: &Params| {
        let features = Frame::new([("x", Column::from(vec![0.5f64; 64])), ("y", Column::from(vec![0.5f32; 64]))])?;
        let labels = Column::from(vec![0i32; 64]);
        Ok(Dataset::from_tensor_slices((&features, &labels))?.batch(params.batch_size(), Remainder::Drop))
    };
    let text = "TPU025: the infeed carries float32, int32, complex64, int64, bool, bfloat16 and uint32; \
                `x` is float64; load numbers as float32 and labels as int32, or `cast` the columns in the input_fn";
    Row::new().input(float64).train(Steps(2)).is_refused("TypeError", text);
    Row::new().input(float64).evaluate(Steps(2)).is_refused("TypeError", text);
    Row::new().input(float64).predict().is_refused("TypeError", text);
}

#[test]
fn string_features_are_refused() {
    let strings = |params: &Params| {
        let names = vec!["Setosa".to_string(); 64];
        let features = Frame::new([("x", Column::from(names)), ("y", Column::from(vec![0.5f64; 64]))])?;
        let labels = Column::from(vec![0i32; 64]);
        Ok(Dataset::from_tensor_slices((&features, &labels))?.batch(params.batch_size(), Remainder::Drop))
    };
    Row::new().input(strings).train(Steps(2)).is_refused(
        "TypeError",
        "TPU025: the infeed carries float32, int32, complex64, int64, bool, bfloat16 and uint32; \
         `x` is string, `y` is float64; \
         load numbers as float32 and labels as int32, or `cast` the columns in the input_fn",
    );
}

#[test]
fn a_batch_larger_than_predict_batch_size_is_refused() {
    Row::new().input(|_| finite(64, 32, Remainder::Keep)).predict().is_refused(
        "InvalidArgumentError",
        "TPU021: a batch of 32 rows is larger than predict_batch_size 16; \
         batch the dataset with `params.batch_size()`",
    );
}

#[test]
fn an_input_that_ends_within_a_loop_is_an_error() {
    let short = || Row::new().input(|params| finite(48, params.batch_size(), Remainder::Drop));
    short().train(Steps(4)).fails(
        "OutOfRangeError",
        "TPU020: the dataset ended after 3 batches of a loop that needed 4; \
         add `.repeat()` to the dataset, or ask for fewer steps",
    );
    short().evaluate(Steps(4)).fails(
        "OutOfRangeError",
        "TPU020: the dataset ended after 3 batches of a loop that needed 4; \
         add `.repeat()` to the dataset, or ask for fewer steps",
    );
    short().train(Steps(3)).is_accepted();
    short().evaluate(Steps(3)).is_accepted();
}

#[test]
fn a_dataset_without_a_whole_batch_is_an_error() {
    let empty = || Row::new().input(|params| finite(15, params.batch_size(), Remainder::Drop));
    let text = "TPU020: the dataset ended after 0 batches of a loop that needed 2; \
                add `.repeat()` to the dataset, or ask for fewer steps";
    empty().train(Steps(2)).fails("OutOfRangeError", text);
    empty().evaluate(Steps(2)).fails("OutOfRangeError", text);
    empty().predict().is_accepted();
}
