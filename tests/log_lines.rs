//! What trainings log, and when: TensorFlow's words at TensorFlow's cadence.
//!
//! Lines go to standard error, so each story runs in a process of its own, which is this test program again.

use std::process::Command;
use tpulab as tf;
use tpulab::prelude::*;

/// The variable that names the story to a child process.
const STORY: &str = "TPULAB_LOG_STORY";

fn model(features: &Tensors, labels: Option<&Tensor>, mode: ModeKeys, params: &Params) -> Result<TpuEstimatorSpec> {
    let columns: Vec<FeatureColumn> = features.names().into_iter().map(tf::feature_column::numeric_column).collect();
    let logits = tf::layers::dense(&tf::feature_column::input_layer(features, &columns)?, 3, None)?;
    let labels = labels.expect("it does not predict");
    let loss = tf::losses::sparse_softmax_cross_entropy(labels, &logits)?;
    if mode == ModeKeys::Eval {
        let outputs = Tensors::from([("labels", labels), ("logits", &logits)]);
        return Ok(TpuEstimatorSpec::eval(loss, |_| Ok(Metrics::new()), outputs));
    }
    let optimizer = tf::train::AdagradOptimizer::new(0.1);
    let step = features.graph().global_step();
    let train_op = match params.use_tpu() {
        true => CrossShardOptimizer::new(optimizer).minimize(&loss, Some(&step))?,
        false => optimizer.minimize(&loss, Some(&step))?,
    };
    Ok(TpuEstimatorSpec::train(loss, train_op))
}

/// Trains as the story has it, and evaluates once.
fn tell(story: &str) -> Result<()> {
    let fidelity = if story.contains("faithful") { Fidelity::Faithful } else { Fidelity::Friendly };
    let ((x, y), _) = tf::iris::load_data("Species")?;
    let config = tf::tpu::RunConfig::new()
        .model_dir(format!("gs://log-lines-{}/{story}", std::process::id()))
        .fidelity(fidelity)
        .tpu_config(TpuConfig::new().iterations_per_loop(150));
    let use_tpu = story.starts_with("tpu");
    let estimator =
        TpuEstimator::new(model).use_tpu(use_tpu).train_batch_size(64).eval_batch_size(64).config(config).build()?;
    if story == "quiet" {
        tf::notebook::logging::set_verbosity(tf::notebook::logging::Level::Error);
    }
    let steps = if story.contains("few") { 3 } else { 310 };
    estimator.train(|params| tf::iris::train_input_fn(&x, &y, params.batch_size()), Steps(steps))?;
    estimator.evaluate(|params| tf::iris::eval_input_fn(&x, &y, params.batch_size()), Steps(2))?;
    estimator.model_dir().remove_all()
}

/// The lines on loss and speed of a story, without their numbers and times.
fn lines(story: &str) -> Vec<String> {
    let program = std::env::current_exe().expect("this program has a path");
    let output = Command::new(program)
        .args(["--exact", "a_child_tells_its_story", "--nocapture"])
        .env(STORY, story)
        .output()
        .expect("this program starts again");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let log = String::from_utf8_lossy(&output.stderr);
    log.lines().filter_map(|line| line.strip_prefix("INFO:tensorflow:")).filter_map(outline).collect()
}

fn outline(line: &str) -> Option<String> {
    let ends =
        |line: &str| line.split_once(", step = ").map(|(_, step)| step.split(' ').next().unwrap_or("").to_string());
    if line.starts_with("loss = ") {
        let timed = if line.ends_with(" sec)") { ", timed" } else { "" };
        return Some(format!("loss at {}{timed}", ends(line)?));
    }
    let known = ["global_step/sec", "examples/sec", "Loss for final step", "Saving dict for global step"];
    known.into_iter().find(|known| line.starts_with(known)).map(str::to_string)
}

#[test]
fn a_child_tells_its_story() -> Result<()> {
    std::env::var(STORY).map_or(Ok(()), |story| tell(&story))
}

#[test]
fn an_estimator_logs_the_loss_at_1_101_201_and_301() {
    let speed = "global_step/sec";
    let end = ["Loss for final step", "Saving dict for global step"];
    let friendly = [
        "loss at 1",
        speed,
        "examples/sec",
        "loss at 101, timed",
        speed,
        "examples/sec",
        "loss at 201, timed",
        speed,
        "examples/sec",
        "loss at 301, timed",
        end[0],
        end[1],
    ];
    assert_eq!(lines("cpu"), friendly);
}

#[test]
fn without_its_tpu_the_original_logs_the_speed_of_every_step_and_no_loss() {
    let steps = ["global_step/sec", "examples/sec"].repeat(2);
    let expected = [&steps[..], &["Loss for final step", "Saving dict for global step"]].concat();
    assert_eq!(lines("cpu, few, faithful"), expected);
}

#[test]
fn a_tpu_logs_after_every_loop() {
    let expected = [
        "loss at 150",
        "global_step/sec",
        "examples/sec",
        "loss at 300, timed",
        "Loss for final step",
        "Saving dict for global step",
    ];
    assert_eq!(lines("tpu"), expected);
}

#[test]
fn a_quiet_program_logs_nothing() {
    assert_eq!(lines("quiet"), [""; 0]);
}
