//! What the stories on estimators share: rows, a model, folders, and a guard against waiting for ever.
#![allow(dead_code, reason = "each story uses a part of it")]
#![allow(unsafe_code, reason = "buckets lie where an environment variable says")]

use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;
use tpulab as tf;
use tpulab::prelude::*;

/// `count` points of a square, and on which side of its diagonal each lies.
pub fn rows(count: usize) -> (Frame, Column) {
    let spread = |row: usize, factor: usize, prime: usize| (row * factor % prime) as f32 / prime as f32 - 0.5;
    let x: Vec<f32> = (0..count).map(|row| spread(row, 37, 101)).collect();
    let y: Vec<f32> = (0..count).map(|row| spread(row, 53, 97)).collect();
    let side: Vec<i32> = x.iter().zip(&y).map(|(x, y)| i32::from(x + y > 0.0)).collect();
    (Frame::new([("x", Column::from(x)), ("y", Column::from(y))]).unwrap(), Column::from(side))
}

/// Batches of 512 shuffled points, without end.
pub fn endless(batch_size: usize) -> Result<Dataset> {
    let (features, labels) = rows(512);
    Ok(Dataset::from_tensor_slices((&features, &labels))?.shuffle(512).repeat().batch(batch_size, Remainder::Drop))
}

/// Two dense layers: the logits of two classes.
pub fn logits(features: &Tensors) -> Result<Tensor> {
    let columns = ["x", "y"].map(tf::feature_column::numeric_column);
    let net = tf::feature_column::input_layer(features, &columns)?;
    let net = tf::layers::dense(&net, 4, Some(tf::nn::relu))?;
    tf::layers::dense(&net, 2, None)
}

/// The share of points whose class is found.
pub fn metric_fn(outputs: &Tensors) -> Result<Metrics> {
    let predicted = tf::argmax(outputs.get("logits")?, 1)?;
    Ok(Metrics::from([("accuracy", tf::metrics::accuracy(outputs.get("labels")?, &predicted)?)]))
}

/// Minimizes the loss with Adagrad at 0.1, over all cores where there are some.
pub fn minimize(loss: &Tensor, params: &Params) -> Result<Operation> {
    let optimizer = tf::train::AdagradOptimizer::new(0.1);
    let step = loss.graph().global_step();
    if params.use_tpu() {
        return CrossShardOptimizer::new(optimizer).minimize(loss, Some(&step));
    }
    optimizer.minimize(loss, Some(&step))
}

/// A model that runs everywhere.
pub fn model(features: &Tensors, labels: Option<&Tensor>, mode: ModeKeys, params: &Params) -> Result<TpuEstimatorSpec> {
    let logits = logits(features)?;
    let Some(labels) = labels else {
        let class = tf::argmax(&logits, 1)?;
        return Ok(TpuEstimatorSpec::predict(Tensors::from([("class", class), ("logits", logits)])));
    };
    let loss = tf::losses::sparse_softmax_cross_entropy(labels, &logits)?;
    if mode == ModeKeys::Eval {
        return Ok(TpuEstimatorSpec::eval(loss, metric_fn, Tensors::from([("labels", labels), ("logits", &logits)])));
    }
    let train_op = minimize(&loss, params)?;
    Ok(TpuEstimatorSpec::train(loss, train_op))
}

/// The same for an `Estimator`.
pub fn plain_model(
    features: &Tensors,
    labels: Option<&Tensor>,
    mode: ModeKeys,
    params: &Params,
) -> Result<EstimatorSpec> {
    model(features, labels, mode, params)?.as_estimator_spec()
}

/// A model_dir that nobody has used, in a bucket: workers of a TPU write there, and nowhere else.
pub fn bucket_folder() -> String {
    static HOME: OnceLock<PathBuf> = OnceLock::new();
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    HOME.get_or_init(|| {
        let home = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("buckets-{}", env!("CARGO_CRATE_NAME")));
        let _ = std::fs::remove_dir_all(&home);
        // SAFETY: all tests of this program come here before any of them reads the environment.
        unsafe { std::env::set_var("TPULAB_HOME", &home) };
        home
    });
    format!("gs://bucket-name/model-{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

/// The steps of the checkpoints in a model_dir, in order.
pub fn checkpoints(model_dir: &Location) -> Vec<u64> {
    let names = model_dir.list().unwrap_or_default();
    let step = |name: &String| name.strip_prefix("model.ckpt-")?.strip_suffix(".index")?.parse().ok();
    let mut steps: Vec<u64> = names.iter().filter_map(step).collect();
    steps.sort_unstable();
    steps
}

/// The bytes of the newest checkpoint's variables.
pub fn newest_bytes(model_dir: &Location) -> Vec<u8> {
    let prefix = latest_checkpoint(model_dir).unwrap().expect("a checkpoint");
    prefix.with_suffix(".data-00000-of-00001").unwrap().read().unwrap()
}

/// Runs `story`, which fails rather than wait for ever.
pub fn in_time<T: Send + 'static>(story: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, answer) = channel();
    let thread = std::thread::spawn(move || {
        let _ = done.send(story());
    });
    match answer.recv_timeout(Duration::from_secs(60)) {
        Ok(value) => value,
        Err(RecvTimeoutError::Disconnected) => match thread.join() {
            Err(panic) => std::panic::resume_unwind(panic),
            Ok(()) => unreachable!("the story has sent its value"),
        },
        Err(RecvTimeoutError::Timeout) => panic!("still running after a minute"),
    }
}
