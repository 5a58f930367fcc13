//! What ends a training before its time.

use crate::common::{checkpoints, endless, in_time};
use crate::estimators::{
    LOSS, config, estimator, exploding, exploding_on_tpu, in_order, loss_of, panic_of, step_of_nan, tpu, tpu_config,
    tpu_of,
};
use tpulab as tf;
use tpulab::estimator::{NanTensorHook, OnNan};
use tpulab::prelude::*;

#[test]
fn a_nan_loss_names_its_step() -> Result<()> {
    let error = Estimator::new(exploding).config(config()).build()?.train(|| endless(64), Steps(20)).unwrap_err();
    let step = step_of_nan(&error);
    let on_tpu = tpu_of(exploding_on_tpu, tpu_config(20, config())).build()?;
    let error = on_tpu.train(|params| endless(params.batch_size()), Steps(20)).unwrap_err();
    assert_eq!(step_of_nan(&error), step);
    assert_eq!(checkpoints(on_tpu.model_dir()), [0], "nothing is saved after a NaN");
    Ok(())
}

#[test]
fn a_nan_hook_fails_or_stops() -> Result<()> {
    let train = |on_nan| -> Result<TrainReport> {
        let hooks: &mut [Box<dyn SessionRunHook>] = &mut [Box::new(NanTensorHook::new(LOSS, on_nan))];
        Estimator::new(exploding).config(config()).build()?.train_with_hooks(|| endless(64), Steps(20), hooks)
    };
    let step = step_of_nan(&train(OnNan::Fail).unwrap_err());
    let report = train(OnNan::Stop)?;
    assert_eq!(report.global_step(), step);
    assert!(report.loss().is_some_and(f64::is_nan));
    Ok(())
}

#[test]
fn a_nan_hook_stops_a_tpu_within_a_loop() -> Result<()> {
    in_time(|| {
        let hooks: &mut [Box<dyn SessionRunHook>] = &mut [Box::new(NanTensorHook::new(LOSS, OnNan::Stop))];
        // So long that the infeed has work left when the loop ends.
        let classifier = tpu_of(exploding_on_tpu, tpu_config(5000, config())).build()?;
        let report = classifier.train_with_hooks(|params| endless(params.batch_size()), Steps(5000), hooks)?;
        assert!(report.steps() < 20, "{report}");
        Ok(())
    })
}

#[test]
fn a_training_that_does_not_count_its_steps_is_refused() -> Result<()> {
    let uncounted = |features: &Tensors, labels: Option<&Tensor>, _: ModeKeys, _: &Params| {
        let loss = loss_of(features, labels)?;
        let train_op = tf::train::AdagradOptimizer::new(0.1).minimize(&loss, None)?;
        Ok(EstimatorSpec::train(loss, train_op))
    };
    let classifier = Estimator::new(uncounted).config(config()).build()?;
    let error = in_time(move || classifier.train(|| endless(64), Steps(5)).unwrap_err());
    let expected = "RUN011: train_op ran, and the global step stayed the same, so the training would never end; \
                    give `minimize` the global step: `minimize(&loss, Some(&features.graph().global_step()))`";
    assert_eq!((error.to_string().as_str(), error.exception().to_string().as_str()), (expected, "ValueError"));
    Ok(())
}

#[test]
fn a_dataset_without_a_batch_trains_and_evaluates_nothing() -> Result<()> {
    let classifier = estimator(config()).build()?;
    let none = || Ok(endless(64)?.take(0));
    let text = |verb: &str| {
        format!(
            "RUN005: the dataset had no batch to {verb}; \
             check that it holds at least one whole batch: `Remainder::Drop` drops a smaller one"
        )
    };
    for error in [classifier.train(none, Steps(5)).unwrap_err(), classifier.train(none, UntilEnd).unwrap_err()] {
        assert_eq!((error.to_string(), error.exception().to_string()), (text("train"), "OutOfRangeError".to_string()));
    }
    assert_eq!(classifier.evaluate(none, UntilEnd).unwrap_err().to_string(), text("evaluate"));
    assert_eq!(classifier.predict(none)?.count(), 0);
    Ok(())
}

#[test]
fn the_end_of_the_input_ends_a_training() -> Result<()> {
    let classifier = estimator(config()).build()?;
    let report = classifier.train(|| in_order(100, 10), UntilEnd)?;
    assert_eq!((report.steps(), report.global_step()), (10, 10));
    assert_eq!(classifier.train(|| in_order(105, 10), Steps(100))?.global_step(), 21);
    assert_eq!(checkpoints(classifier.model_dir()), [0, 10, 21]);
    Ok(())
}

#[test]
fn an_error_of_the_model_function_ends_the_call() -> Result<()> {
    let failing = |_: &Tensors, _: Option<&Tensor>, _: ModeKeys, params: &Params| -> Result<EstimatorSpec> {
        Err(params.get::<usize>("hidden_units").unwrap_err())
    };
    let classifier = Estimator::new(failing).config(config()).build()?;
    let expected = "EST001: no parameter `hidden_units`; there are none";
    assert_eq!(classifier.train(|| endless(64), Steps(1)).unwrap_err().to_string(), expected);
    assert_eq!(classifier.evaluate(|| endless(64), Steps(1)).unwrap_err().to_string(), expected);
    assert_eq!(classifier.predict(|| endless(64)).unwrap_err().to_string(), expected);
    assert!(checkpoints(classifier.model_dir()).is_empty());
    Ok(())
}

#[test]
fn a_panic_of_the_model_function_reaches_the_caller() -> Result<()> {
    let panicking = |_: &Tensors, _: Option<&Tensor>, _: ModeKeys, _: &Params| -> Result<EstimatorSpec> {
        panic!("the model fell over")
    };
    let classifier = Estimator::new(panicking).config(config()).build()?;
    assert_eq!(panic_of(move || classifier.train(|| endless(64), Steps(1))), "the model fell over");
    Ok(())
}

#[test]
fn an_error_in_the_input_ends_the_call() -> Result<()> {
    let failing = |batch_size: usize| {
        let batches = std::sync::atomic::AtomicU64::new(0);
        endless(batch_size).map(|dataset| {
            dataset.map(move |batch| match batches.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
                0..10 => Ok(batch),
                _ => Err(Params::new().get::<usize>("tenth batch").unwrap_err()),
            })
        })
    };
    in_time(move || {
        let expected = "EST001: no parameter `tenth batch`; there are none";
        let classifier = estimator(config()).build()?;
        assert_eq!(classifier.train(|| failing(64), Steps(50)).unwrap_err().to_string(), expected);
        let on_tpu = tpu(tpu_config(50, config())).build()?;
        let error = on_tpu.train(|params| failing(params.batch_size()), Steps(50)).unwrap_err();
        assert_eq!(error.to_string(), expected);
        let error = on_tpu.evaluate(|params| failing(params.batch_size()), Steps(50)).unwrap_err();
        assert_eq!(error.to_string(), expected);
        Ok(())
    })
}

#[test]
fn a_panic_in_the_input_ends_the_call() -> Result<()> {
    let panicking = |batch_size: usize| {
        let batches = std::sync::atomic::AtomicU64::new(0);
        endless(batch_size).map(|dataset| {
            dataset.map(move |batch| {
                let number = batches.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                assert!(number < 10, "the input fell over");
                Ok(batch)
            })
        })
    };
    let classifier = estimator(config()).build()?;
    assert_eq!(panic_of(move || classifier.train(|| panicking(64), Steps(50))), "the input fell over");
    in_time(move || {
        let on_tpu = tpu(tpu_config(50, config())).build()?;
        let error = on_tpu.train(|params| panicking(params.batch_size()), Steps(50)).unwrap_err();
        assert!(error.to_string().contains("the input fell over"), "{error}");
        let error = on_tpu.evaluate(|params| panicking(params.batch_size()), Steps(50)).unwrap_err();
        assert!(error.to_string().contains("the input fell over"), "{error}");
        Ok(())
    })
}
