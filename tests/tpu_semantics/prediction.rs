//! Predictions over the cores.

use crate::common::{bucket_folder, endless, in_time};
use crate::estimators::{close, config, in_order, in_order_once, predicted, tpu};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tpulab::prelude::*;

#[test]
fn three_rows_are_padded_to_128_and_give_three_predictions() -> Result<()> {
    let folder = bucket_folder();
    let classifier = tpu(config().model_dir(&folder)).build()?;
    classifier.train(|params| endless(params.batch_size()), Steps(5))?;
    let cpu = tpu(config().model_dir(&folder)).use_tpu(false).build()?;
    for count in [1, 3, 128, 129, 300] {
        let predictions = predicted(&classifier, count)?;
        assert_eq!(predictions.len(), count);
        assert_eq!(predictions, predicted(&classifier, count)?, "twice the same");
        for (on_tpu, on_cpu) in predictions.iter().zip(predicted(&cpu, count)?) {
            assert_eq!(on_tpu.get("class")?, on_cpu.get("class")?);
            // Float32: a matrix of 16 rows may be multiplied in another order than one of 128.
            close(&on_tpu.get("logits")?.to_f64_vec()?, &on_cpu.get("logits")?.to_f64_vec()?, 1e-6);
        }
    }
    Ok(())
}

#[test]
fn no_rows_give_no_predictions() -> Result<()> {
    let classifier = tpu(config()).build()?;
    let none = classifier.predict(|params| Ok(in_order(512, params.batch_size())?.take(0)))?;
    assert_eq!(none.count(), 0);
    Ok(())
}

#[test]
fn batches_come_whole_without_their_padding() -> Result<()> {
    let options = PredictOptions::new().predict_keys(["logits"]).yield_single_examples(false);
    for (use_tpu, place) in [(true, "on the TPU"), (false, "on the CPU")] {
        let classifier = tpu(config()).use_tpu(use_tpu).build()?;
        let input_fn = |params: &Params| in_order_once(131, params.batch_size());
        let batches: Vec<Prediction> = classifier.predict_with(input_fn, &options)?.collect::<Result<_>>()?;
        let shape = |batch: &Prediction| Ok(batch.get("logits")?.shape().to_vec());
        let shapes: Vec<Vec<usize>> = batches.iter().map(shape).collect::<Result<_>>()?;
        assert_eq!(shapes, [[128, 2], [3, 2]], "{place}");
        assert_eq!(batches[0].get("class").unwrap_err().code(), "RUN007", "{place}: only what was asked for");
        let none = PredictOptions::new().predict_keys(["logit"]);
        let error = classifier.predict_with(input_fn, &none).unwrap_err();
        assert_eq!((error.code(), error.exception()), ("RUN012", Exception::ValueError), "{place}");
    }
    Ok(())
}

#[test]
fn nothing_is_read_before_the_first_prediction_is_taken() -> Result<()> {
    let classifier = tpu(config()).build()?;
    let batches = Arc::new(AtomicUsize::new(0));
    let counting = || {
        let batches = Arc::clone(&batches);
        move |params: &Params| {
            let batches = Arc::clone(&batches);
            Ok(in_order(512, params.batch_size())?.map(move |batch| {
                batches.fetch_add(1, Ordering::Relaxed);
                Ok(batch)
            }))
        }
    };
    let mut predictions = classifier.predict(counting())?;
    let before = batches.load(Ordering::Relaxed);
    predictions.next().expect("512 rows")?;
    predictions.next().expect("512 rows")?;
    assert_eq!(batches.load(Ordering::Relaxed), before + 1, "two examples of one batch");
    Ok(())
}

#[test]
fn half_read_predictions_can_be_dropped() -> Result<()> {
    let classifier = tpu(config()).build()?;
    in_time(move || {
        for _ in 0..3 {
            let mut predictions = classifier.predict(|params| endless(params.batch_size()))?;
            predictions.next().expect("endless rows")?;
        }
        classifier.train(|params| endless(params.batch_size()), Steps(2)).map(|_| ())
    })
}
