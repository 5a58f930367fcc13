//! What trainings and evaluations write for TensorBoard, against their own reports.

use tpulab as tf;
use tpulab::estimator::{RunConfig, SaveCheckpoints};
use tpulab::prelude::*;
use tpulab::summary::{EventLog, SessionStatus, What};

fn input(rows: usize) -> Result<Dataset> {
    let ((x, y), _) = tf::iris::load_data("Species")?;
    Ok(Dataset::from_tensor_slices((&x, &y))?.shuffle(1000).repeat().batch(rows, Remainder::Drop))
}

/// Logits and loss of a single layer.
fn layer(features: &Tensors, labels: &Tensor) -> Result<(Tensor, Tensor)> {
    let columns: Vec<FeatureColumn> = features.names().into_iter().map(tf::feature_column::numeric_column).collect();
    let logits = tf::layers::dense(&tf::feature_column::input_layer(features, &columns)?, 3, None)?;
    let loss = tf::losses::sparse_softmax_cross_entropy(labels, &logits)?;
    Ok((logits, loss))
}

/// The tutorial's model function with its summary: `scalar('accuracy', accuracy[1])`.
fn with_summary(features: &Tensors, labels: Option<&Tensor>, mode: ModeKeys, _: &Params) -> Result<EstimatorSpec> {
    let labels = labels.expect("it does not predict");
    let (logits, loss) = layer(features, labels)?;
    let predicted = tf::argmax(&logits, 1)?;
    let accuracy = tf::metrics::MetricOptions::new().name("acc_op").accuracy(labels, &predicted)?;
    tf::summary::scalar("accuracy", &accuracy.update)?;
    if mode == ModeKeys::Eval {
        return Ok(EstimatorSpec::eval(loss, Metrics::from([("accuracy", accuracy)])));
    }
    let optimizer = tf::train::AdagradOptimizer::new(0.1);
    let train_op = optimizer.minimize(&loss, Some(&features.graph().global_step()))?;
    Ok(EstimatorSpec::train(loss, train_op))
}

fn on_tpu(features: &Tensors, labels: Option<&Tensor>, mode: ModeKeys, params: &Params) -> Result<TpuEstimatorSpec> {
    let labels = labels.expect("it does not predict");
    let (logits, loss) = layer(features, labels)?;
    if params.get("summary")? {
        tf::summary::scalar("accuracy", &loss)?;
    }
    if mode == ModeKeys::Eval {
        let outputs = Tensors::from([("labels", labels), ("logits", &logits)]);
        let metric_fn = |outputs: &Tensors| {
            let predicted = tf::argmax(outputs.get("logits")?, 1)?;
            Ok(Metrics::from([("accuracy", tf::metrics::accuracy(outputs.get("labels")?, &predicted)?)]))
        };
        return Ok(TpuEstimatorSpec::eval(loss, metric_fn, outputs));
    }
    let optimizer = CrossShardOptimizer::new(tf::train::AdagradOptimizer::new(0.1));
    let train_op = optimizer.minimize(&loss, Some(&features.graph().global_step()))?;
    Ok(TpuEstimatorSpec::train(loss, train_op))
}

fn quiet() {
    tf::notebook::logging::set_verbosity(tf::notebook::logging::Level::Error);
}

fn steps(log: &EventLog, tag: &str) -> Vec<i64> {
    log.scalars(tag).into_iter().map(|(step, _)| step).collect()
}

#[test]
fn an_estimator_writes_loss_and_summaries_at_1_101_and_201() -> Result<()> {
    quiet();
    let estimator = Estimator::new(with_summary).config(RunConfig::new().tf_random_seed(3)).build()?;
    let report = estimator.train(|| input(50), Steps(250))?;
    let log = EventLog::read(estimator.model_dir())?;
    assert_eq!(log.tags(), ["loss", "accuracy", "global_step/sec"]);
    assert_eq!(steps(&log, "accuracy"), [1, 101, 201]);
    assert_eq!(steps(&log, "global_step/sec"), [101, 201]);
    let losses: Vec<(i64, f32)> = [1, 101, 201].map(|step| (step, report.losses()[step as usize - 1] as f32)).to_vec();
    assert_eq!(log.scalars("loss"), losses);
    Ok(())
}

#[test]
fn the_curve_of_a_metrics_update_is_cumulative_over_the_batches_written() -> Result<()> {
    quiet();
    let estimator = Estimator::new(with_summary).config(RunConfig::new().save_summary_steps(1)).build()?;
    estimator.train(|| input(50), Steps(30))?;
    let curve = EventLog::read(estimator.model_dir())?.scalars("accuracy");
    assert_eq!(curve.len(), 30);
    // After n batches of 50 it is a whole number of hits over 50 n.
    for (step, accuracy) in curve {
        let hits = f64::from(accuracy) * 50.0 * step as f64;
        assert!((hits - hits.round()).abs() < 1e-3, "step {step}: {accuracy}");
    }
    Ok(())
}

#[test]
fn summaries_do_not_change_a_training() -> Result<()> {
    quiet();
    let train = |every| {
        let config = RunConfig::new().tf_random_seed(5).save_summary_steps(every);
        let estimator = Estimator::new(with_summary).config(config).build()?;
        Ok(estimator.train(|| input(50), Steps(120))?.losses().to_vec())
    };
    let without: Result<Vec<f64>> = train(0);
    assert_eq!(without?, train(7)?);
    Ok(())
}

#[test]
fn no_summaries_are_written_where_they_are_switched_off() -> Result<()> {
    quiet();
    let config = RunConfig::new().save_summary_steps(0).log_step_count_steps(None);
    let estimator = Estimator::new(with_summary).config(config).build()?;
    estimator.train(|| input(50), Steps(120))?;
    assert!(EventLog::read(estimator.model_dir())?.tags().is_empty());
    Ok(())
}

#[test]
fn start_and_checkpoints_are_noted() -> Result<()> {
    quiet();
    let config = RunConfig::new().save_checkpoints(SaveCheckpoints::Steps(100));
    let estimator = Estimator::new(with_summary).config(config).build()?;
    estimator.train(|| input(50), Steps(150))?;
    let log = EventLog::read(estimator.model_dir())?;
    let sessions: Vec<_> = log
        .events()
        .iter()
        .filter_map(|event| match &event.what {
            What::Session(status, checkpoint) => Some((event.step, *status, checkpoint.clone())),
            _ => None,
        })
        .collect();
    let saved = |step: i64| {
        (
            step,
            SessionStatus::Checkpoint,
            estimator.model_dir().join(&format!("model.ckpt-{step}")).unwrap().to_string(),
        )
    };
    assert_eq!(sessions, [(0, SessionStatus::Start, String::new()), saved(0), saved(100), saved(150)]);
    Ok(())
}

#[test]
fn evaluations_are_written_at_their_global_step() -> Result<()> {
    quiet();
    let estimator = Estimator::new(with_summary).build()?;
    estimator.train(|| input(50), Steps(20))?;
    let evaluation = estimator.evaluate(|| input(30), Steps(2))?;
    let log = EventLog::read(&estimator.model_dir().join("eval")?)?;
    assert_eq!(log.scalars("accuracy"), [(20, evaluation.get("accuracy")? as f32)]);
    assert_eq!(log.scalars("loss"), [(20, evaluation.get("loss")? as f32)]);
    let checkpoint = estimator.latest_checkpoint()?.expect("one was saved").to_string();
    assert!(log.events().iter().any(|event| event.what == What::Text("checkpoint_path".into(), checkpoint.clone())));
    Ok(())
}

#[test]
fn a_tpu_writes_loss_and_speed_between_loops() -> Result<()> {
    quiet();
    let config = tf::tpu::RunConfig::new().tpu_config(TpuConfig::new().iterations_per_loop(150));
    let params = Params::new().set("summary", false);
    let estimator =
        TpuEstimator::new(on_tpu).train_batch_size(64).eval_batch_size(64).config(config).params(params).build()?;
    let report = estimator.train(|params| input(params.batch_size()), Steps(400))?;
    let log = EventLog::read(estimator.model_dir())?;
    let losses: Vec<(i64, f32)> =
        [150, 300, 400].map(|step| (step, report.losses()[step as usize - 1] as f32)).to_vec();
    assert_eq!(log.scalars("loss"), losses);
    assert_eq!(steps(&log, "global_step/sec"), steps(&log, "examples/sec"));
    assert_eq!(steps(&log, "examples/sec"), [300, 400]);
    let evaluation = estimator.evaluate(|params| input(params.batch_size()), Steps(2))?;
    let log = EventLog::read(&estimator.model_dir().join("eval")?)?;
    assert_eq!(log.scalars("accuracy"), [(400, evaluation.get("accuracy")? as f32)]);
    Ok(())
}

#[test]
fn summaries_on_a_tpu_are_refused_by_friends_and_dropped_faithfully() -> Result<()> {
    quiet();
    let estimator = |fidelity| {
        let model_dir = format!("gs://summary-stories-{}/{fidelity:?}", std::process::id());
        let config = tf::tpu::RunConfig::new().fidelity(fidelity).model_dir(model_dir);
        let params = Params::new().set("summary", true);
        TpuEstimator::new(on_tpu).train_batch_size(64).config(config).params(params).build()
    };
    let friendly = estimator(Fidelity::Friendly)?;
    let refused = friendly.train(|params| input(params.batch_size()), Steps(2)).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "TPU030: the model function has summaries that no TPU can write: `accuracy`; remove `tf::summary::scalar` where \
         `params.use_tpu()` is true; loss and speed are written all the same, and what `metric_fn` counts when you \
         evaluate"
    );
    let faithful = estimator(Fidelity::Faithful)?;
    faithful.train(|params| input(params.batch_size()), Steps(2))?;
    assert_eq!(EventLog::read(faithful.model_dir())?.tags(), ["loss"]);
    faithful.model_dir().remove_all()
}
