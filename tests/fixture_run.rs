//! A training that TensorFlow began goes on here: its checkpoints give TensorFlow's results, and can be trained further.

use serde_json::Value;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use tpulab as tf;
use tpulab::iris;
use tpulab::prelude::*;

/// TensorFlow's results are float32, computed in another order.
const TOLERANCE: f64 = 1e-5;

#[test]
fn an_evaluation_is_tensorflows() -> Result<()> {
    let run = TensorFlowRun::copy();
    assert_evaluation(&estimator(&run, params())?.evaluate(test_batch, UntilEnd)?);
    Ok(())
}

#[test]
fn predictions_are_tensorflows() -> Result<()> {
    let run = TensorFlowRun::copy();
    assert_predictions(estimator(&run, params())?.predict(flowers)?)
}

#[test]
fn training_goes_on_where_tensorflow_stopped() -> Result<()> {
    let run = TensorFlowRun::copy();
    let classifier = estimator(&run, params())?;
    let report = classifier.train(|| train_batches(128), Steps(10))?;
    assert_eq!((report.first_step(), report.global_step(), report.steps()), (1000, 1010, 10));
    // A training from the beginning starts near 1.
    assert!(report.losses().iter().all(|loss| *loss < 0.2), "{:?}", report.losses());
    let latest = classifier.latest_checkpoint()?.expect("training saved one").to_string();
    assert!(latest.ends_with("model.ckpt-1010"), "{latest}");
    // Adagrad's accumulators went on from TensorFlow's: they only grow.
    let accumulators = classifier.variable_value("dense/kernel/Adagrad")?.to_f64_vec()?;
    let before = numbers(&expected()["variables_at_1000"]["dense/kernel/Adagrad"]);
    assert!(accumulators.iter().zip(&before).all(|(after, before)| after >= before));
    assert!(accumulators.iter().zip(&before).any(|(after, before)| after > before));
    assert!(accumulators.iter().zip(&before).all(|(after, before)| after - before < 0.1 * before));
    Ok(())
}

#[test]
fn a_tpu_evaluates_the_same_checkpoint() -> Result<()> {
    let run = TensorFlowRun::copy();
    let (on_cores, on_cpu) = (tpu_estimator(&run, true)?, tpu_estimator(&run, false)?);
    // 24 of the 30 rows, since 30 cannot be shared by 8 cores.
    let found = on_cores.evaluate(|_| test_rows(24), Steps(1))?;
    let expected = on_cpu.evaluate(|_| test_rows(24), Steps(1))?;
    assert_eq!(found.get("accuracy")?, expected.get("accuracy")?);
    assert_eq!(found.global_step(), 1000);
    let (found, expected) = (found.get("loss")?, expected.get("loss")?);
    assert!((found - expected).abs() < 1e-6, "{found} is not {expected}");
    assert_evaluation(&on_cpu.evaluate(|_| test_batch(), UntilEnd)?);
    assert_predictions(on_cores.predict(|_| flowers())?)?;
    assert_predictions(on_cpu.predict(|_| flowers())?)
}

#[test]
fn training_goes_on_on_eight_cores() -> Result<()> {
    let run = TensorFlowRun::copy();
    let on_cores = tpu_estimator(&run, true)?.train(|params| train_batches(params.batch_size()), Steps(10))?;
    assert_eq!((on_cores.global_step(), on_cores.shards()), (1010, 8));
    let run = TensorFlowRun::copy();
    let plain = estimator(&run, params())?.train(|| train_batches(128), Steps(10))?;
    for (found, expected) in on_cores.losses().iter().zip(plain.losses()) {
        assert!((found - expected).abs() < TOLERANCE, "{found} is not {expected}");
    }
    Ok(())
}

#[test]
fn another_architecture_is_refused() -> Result<()> {
    let run = TensorFlowRun::copy();
    let wider = estimator(&run, params().set("hidden_units", [20, 10]))?;
    let prefix = run.path().join("model.ckpt-1000").display().to_string();
    let message = |name: &str, model: &str, found: &str| {
        format!(
            "RUN004: variable `{name}` is {model} in this model and {found} in checkpoint {prefix}; give this model a \
             model_dir of its own, or build the model that was saved"
        )
    };
    let error = wider.evaluate(test_batch, UntilEnd).unwrap_err();
    assert_eq!(error.to_string(), message("dense/kernel", "[4, 20]", "[4, 10]"));
    let error = wider.train(|| train_batches(128), Steps(1)).unwrap_err();
    assert_eq!(error.to_string(), message("dense/kernel", "[4, 20]", "[4, 10]"));
    Ok(())
}

#[test]
fn a_layer_that_tensorflow_did_not_save_is_refused() -> Result<()> {
    let run = TensorFlowRun::copy();
    let deeper = estimator(&run, params().set("hidden_units", [10, 10, 3]).set("n_classes", 3))?;
    let error = deeper.evaluate(test_batch, UntilEnd).unwrap_err();
    // `dense_2` has the shape [10, 3] in both; the fourth layer is the one that is not there.
    assert_eq!(error.code(), "RUN003", "{error}");
    assert!(error.message().contains("has no variable `dense_3/kernel`"), "{error}");
    Ok(())
}

/// A copy of a model_dir that TensorFlow filled.
struct TensorFlowRun(TempDir);

impl TensorFlowRun {
    fn copy() -> TensorFlowRun {
        let folder = TempDir::new().expect("a temporary folder");
        for entry in std::fs::read_dir(fixtures().join("tensorflow_estimator_run")).expect("the run") {
            let path = entry.expect("a file").path();
            std::fs::copy(&path, folder.path().join(path.file_name().expect("a name"))).expect("a copy");
        }
        TensorFlowRun(folder)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

/// What TensorFlow found with the run.
fn expected() -> Value {
    let text = std::fs::read_to_string(fixtures().join("tensorflow_estimator_run.json")).expect("the results");
    serde_json::from_str(&text).expect("JSON")
}

fn assert_evaluation(found: &Evaluation) {
    for name in ["accuracy", "loss", "global_step"] {
        let (found, expected) = (found.get(name).expect(name), expected()["evaluate"][name].as_f64().expect(name));
        assert!((found - expected).abs() < TOLERANCE, "{name}: {found} is not {expected}");
    }
}

fn assert_predictions(found: Predictions) -> Result<()> {
    let found = found.collect::<Result<Vec<Prediction>>>()?;
    let expected = expected();
    let expected = expected["predict"].as_array().expect("a list");
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!(found.get("class_ids")?.to_f64_vec()?, numbers(&expected["class_ids"]));
        for name in ["probabilities", "logits"] {
            let (found, expected) = (found.get(name)?.to_f64_vec()?, numbers(&expected[name]));
            for (found, expected) in found.iter().zip(&expected) {
                // Logits reach 15, so their rounding is relative.
                let tolerance = TOLERANCE * expected.abs().max(1.0);
                assert!((found - expected).abs() < tolerance, "{name}: {found} is not {expected}");
            }
        }
    }
    Ok(())
}

/// All numbers of nested lists, in their order.
fn numbers(value: &Value) -> Vec<f64> {
    match value.as_array() {
        Some(list) => list.iter().flat_map(numbers).collect(),
        None => vec![value.as_f64().expect("a number")],
    }
}

fn test_batch() -> Result<Dataset> {
    test_rows(30)
}

fn test_rows(rows: usize) -> Result<Dataset> {
    let (_, (features, labels)) = iris::load_data("Species")?;
    Ok(Dataset::from_tensor_slices((&features, &labels))?.batch(rows, Remainder::Drop))
}

fn train_batches(batch_size: usize) -> Result<Dataset> {
    let ((features, labels), _) = iris::load_data("Species")?;
    Ok(Dataset::from_tensor_slices((&features, &labels))?.repeat().batch(batch_size, Remainder::Drop))
}

fn flowers() -> Result<Dataset> {
    Ok(Dataset::from_tensor_slices(iris::prediction_input_data())?.batch(8, Remainder::Keep))
}

fn params() -> Params {
    Params::new().set("hidden_units", [10, 10]).set("n_classes", 3)
}

fn estimator(run: &TensorFlowRun, params: Params) -> Result<Estimator> {
    let model_fn = |features: &Tensors, labels: Option<&Tensor>, mode, params: &Params| {
        my_model(features, labels, mode, params, false)?.as_estimator_spec()
    };
    Estimator::new(model_fn).model_dir(run.path().display().to_string()).params(params).build()
}

fn tpu_estimator(run: &TensorFlowRun, use_tpu: bool) -> Result<TpuEstimator> {
    let model_fn = |features: &Tensors, labels: Option<&Tensor>, mode, params: &Params| {
        my_model(features, labels, mode, params, params.use_tpu())
    };
    TpuEstimator::new(model_fn)
        .use_tpu(use_tpu)
        .train_batch_size(128)
        .eval_batch_size(24)
        .predict_batch_size(8)
        .model_dir(run.path().display().to_string())
        .params(params())
        .build()
}

/// The tutorial's model.
fn my_model(
    features: &Tensors,
    labels: Option<&Tensor>,
    mode: ModeKeys,
    params: &Params,
    use_tpu: bool,
) -> Result<TpuEstimatorSpec> {
    let columns: Vec<FeatureColumn> = features.names().into_iter().map(tf::feature_column::numeric_column).collect();
    let mut net = tf::feature_column::input_layer(features, &columns)?;
    for units in params.get::<Vec<usize>>("hidden_units")? {
        net = tf::layers::dense(&net, units, Some(tf::nn::relu))?;
    }
    let logits = tf::layers::dense(&net, params.get("n_classes")?, None)?;
    let Some(labels) = labels else {
        return Ok(TpuEstimatorSpec::predict(Tensors::from([
            ("class_ids", tf::expand_dims(&tf::argmax(&logits, 1)?, -1)?),
            ("probabilities", tf::nn::softmax(&logits)?),
            ("logits", logits),
        ])));
    };
    let loss = tf::losses::sparse_softmax_cross_entropy(labels, &logits)?;
    if mode == ModeKeys::Eval {
        let outputs = Tensors::from([("labels", labels), ("logits", &logits)]);
        return Ok(TpuEstimatorSpec::eval(loss, metric_fn, outputs));
    }
    let optimizer = tf::train::AdagradOptimizer::new(0.1);
    let step = features.graph().global_step();
    let train_op = if use_tpu {
        CrossShardOptimizer::new(optimizer).minimize(&loss, Some(&step))?
    } else {
        optimizer.minimize(&loss, Some(&step))?
    };
    Ok(TpuEstimatorSpec::train(loss, train_op))
}

fn metric_fn(outputs: &Tensors) -> Result<Metrics> {
    let predicted_classes = tf::argmax(outputs.get("logits")?, 1)?;
    let accuracy = tf::metrics::accuracy(outputs.get("labels")?, &predicted_classes)?;
    Ok(Metrics::from([("accuracy", accuracy)]))
}
