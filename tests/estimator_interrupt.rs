//! A user's interrupt ends a training well. The flag belongs to the process, and so this story has one of its own.
#![allow(unsafe_code, reason = "a kernel knows the flag by its symbol alone")]

mod common;

use common::{checkpoints, endless, in_time, model, plain_model};
use tpulab as tf;
use tpulab::estimator::{RunContext, RunValues};
use tpulab::notebook::StopFlag;
use tpulab::prelude::*;

unsafe extern "C" {
    fn tpulab_set_stop(requested: bool);
}

/// Interrupts at a step, as a user would.
struct Interrupt(u64);

impl SessionRunHook for Interrupt {
    fn after_run(&mut self, context: &mut RunContext, _values: &RunValues<'_>) -> Result<()> {
        if context.global_step >= self.0 {
            StopFlag::process().request_stop();
        }
        Ok(())
    }
}

#[test]
fn an_interrupt_ends_a_training_and_leaves_a_checkpoint() -> Result<()> {
    in_time(|| {
        let classifier = Estimator::new(plain_model).build()?;
        let stopped = classifier.train_with_hooks(|| endless(64), Steps(1000), &mut [Box::new(Interrupt(7))]);
        let error = stopped.unwrap_err();
        assert_eq!((error.code(), error.exception()), ("RUN013", Exception::KeyboardInterrupt));
        assert!(error.to_string().contains("train was interrupted after step 7"), "{error}");
        assert_eq!(checkpoints(classifier.model_dir()), [0, 7]);
        let error = classifier.evaluate(|| endless(64), Steps(100)).unwrap_err();
        assert!(error.to_string().contains("evaluate was interrupted after step 1"), "{error}");
        let mut predictions = classifier.predict(|| endless(64))?;
        assert_eq!(predictions.next().map(|first| first.unwrap_err().code()), Some("RUN013"));
        assert!(predictions.next().is_none());
        StopFlag::process().clear();
        assert_eq!(classifier.train(|| endless(64), Steps(3))?.global_step(), 10, "and it can go on");

        let config = tf::tpu::RunConfig::new().tpu_config(TpuConfig::new().iterations_per_loop(5));
        let on_tpu = TpuEstimator::new(model).config(config).train_batch_size(64).eval_batch_size(64).build()?;
        let input_fn = |params: &Params| endless(params.batch_size());
        let stopped = on_tpu.train_with_hooks(input_fn, Steps(1000), &mut [Box::new(Interrupt(7))]);
        assert!(stopped.unwrap_err().to_string().contains("train was interrupted after step 10"));
        assert_eq!(checkpoints(on_tpu.model_dir()), [0, 10]);

        // Raised before it begins: no step.
        assert!(on_tpu.train(input_fn, Steps(1000)).unwrap_err().to_string().contains("after step 10"));
        assert!(on_tpu.evaluate(input_fn, Steps(9)).unwrap_err().to_string().contains("evaluate was interrupted"));
        StopFlag::process().clear();
        assert_eq!(on_tpu.train(input_fn, Steps(5))?.global_step(), 15, "and it can go on");

        // As a kernel does it, which finds the symbol in the library.
        unsafe { tpulab_set_stop(true) };
        assert_eq!(on_tpu.train(input_fn, Steps(5)).unwrap_err().code(), "RUN013");
        unsafe { tpulab_set_stop(false) };
        assert_eq!(on_tpu.train(input_fn, Steps(5))?.steps(), 5);
        Ok(())
    })
}
