//! Training through the estimators follows TensorFlow's trajectories: gradients, losses, variables, slots, evaluation,
//! predictions.
//!
//! Each file of `golden` holds one run, and is replayed by an `Estimator`, by a `TpuEstimator` without a TPU, and on
//! eight cores where they can share its batches. Tolerances come from replays of the same runs in NumPy, in float32 and
//! float64 and in several orders of summation.

#[path = "../examples/replay_golden/replay/mod.rs"]
mod replay;

use replay::{Golden, Replay, Runner};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use tpulab::losses::Reduction;
use tpulab::notebook::logging::{self, Level};
use tpulab::prelude::*;

/// One test for each file, and the list of these files.
macro_rules! follows {
    ($($name:ident),* $(,)?) => {
        const FOLLOWED: &[&str] = &[$(stringify!($name)),*];

        $(#[test]
        fn $name() -> Result<()> {
            follow(stringify!($name))
        })*
    };
}

follows!(
    adagrad_128,
    adagrad_50_short_batches,
    adagrad_50_tail,
    adam_128_tanh,
    ftrl_128,
    momentum_64,
    rmsprop_32,
    sgd_128,
);

#[test]
fn every_file_is_followed() {
    let followed: BTreeSet<String> =
        FOLLOWED.iter().chain(&["iris_f64_full_vs_8x16"]).map(|name| format!("{name}.json")).collect();
    let names = std::fs::read_dir(path("")).expect("the folder").map(|entry| {
        let name = entry.expect("a file").file_name();
        name.to_string_lossy().into_owned()
    });
    assert_eq!(names.filter(|name| name.ends_with(".json")).collect::<BTreeSet<String>>(), followed);
}

#[test]
fn float64_on_one_core_is_exact() -> Result<()> {
    follow_float64("full_float64", Runner::Estimator, Reduction::Mean)
}

#[test]
fn float64_mean_over_eight_cores_is_exact() -> Result<()> {
    follow_float64("mean_float64", Runner::Tpu, Reduction::Mean)
}

#[test]
fn float64_sum_over_eight_cores_is_exact() -> Result<()> {
    follow_float64("sum_float64", Runner::Tpu, Reduction::Sum)
}

#[test]
fn float32_stays_near_float64() -> Result<()> {
    let cases = [
        ("full_float32", Runner::Estimator, Reduction::Mean),
        ("mean_float32", Runner::Tpu, Reduction::Mean),
        ("sum_float32", Runner::Tpu, Reduction::Sum),
    ];
    for (column, runner, reduction) in cases {
        let golden = &read("iris_f64_full_vs_8x16")[column];
        let replayed = sine_run(runner, Precision::Float32, reduction)?;
        for step in [1usize, 2, 10, 100, 500, 1000] {
            let (found, expected) = (&replayed["losses"][step - 1], &golden["loss"][step.to_string()]);
            let tolerance = if step <= 100 { 2e-6 } else { 1e-5 };
            assert_close(&format!("{column}, step {step}"), found, expected, |_| tolerance);
        }
    }
    Ok(())
}

#[test]
fn what_is_no_golden_file_is_refused() {
    let refusal = |path: &str| Golden::read(path).unwrap_err().to_string();
    assert!(refusal("nowhere.json").starts_with("GOLD002: nowhere.json: "));
    assert!(refusal(&path("README.md")).contains("README.md: no JSON: "));
    assert!(
        refusal(&path("iris_f64_full_vs_8x16.json")).contains("no field `feature_order`; expected a list of names")
    );
}

#[test]
fn fields_that_make_no_sense_are_refused() {
    let cases = [
        ("/shuffle", json!(true), "GOLD005: unknown field `shuffle`"),
        (
            "/optimizer/warmup",
            json!(5),
            "GOLD005: unknown field `optimizer.warmup`; known here are name, learning_rate",
        ),
        ("/optimizer/name", json!("Lion"), "GOLD004: field `optimizer.name` is Lion; expected GradientDescent"),
        ("/optimizer/learning_rate", json!("fast"), "GOLD004: field `optimizer.learning_rate` is \"fast\"; expected a"),
        ("/activation", json!("step"), "GOLD004: field `activation` is \"step\"; expected relu, tanh"),
        ("/batch_size", json!(-1), "GOLD004: field `batch_size` is -1; expected a whole number"),
        ("/steps", Value::Null, "GOLD003: no field `steps`; expected a whole number"),
        ("/initial", json!({}), "GOLD003: no field `initial.dense/kernel`; expected numbers of shape [4, 10]"),
        ("/initial/dense_3", json!(1), "GOLD005: unknown field `initial.dense_3`"),
        ("/hidden_units", json!([10, 20]), "GOLD004: field `initial.dense_1/kernel` is [[-0.4779"),
        ("/evaluate/batch_size", json!(0), "GOLD004: field `evaluate.batch_size` is 0; expected 1 or more"),
    ];
    for (place, value, expected) in cases {
        let mut golden = read("sgd_128");
        let (parent, field) = place.rsplit_once('/').expect("a path");
        golden.pointer_mut(parent).expect(parent)[field] = value;
        let error = Golden::from_json(golden).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{place}: {error}");
    }
}

#[test]
fn what_the_estimators_refuse_is_an_error() -> Result<()> {
    let cases = [
        ("batch_size", json!(50), Runner::Tpu, "TPU012"),
        ("batch_size", json!(0), Runner::Estimator, "DATA004"),
        ("steps", json!(0), Runner::Estimator, "RUN001"),
        ("feature_order", json!(["Petals", "PetalWidth", "SepalLength", "SepalWidth"]), Runner::TpuCpu, "FEATURE003"),
    ];
    for (field, value, runner, code) in cases {
        let mut golden = read("sgd_128");
        golden[field] = value;
        let error = Replay::new(Golden::from_json(golden)?, runner).run().unwrap_err();
        assert_eq!(error.code(), code, "{field}: {error}");
    }
    assert_eq!(Runner::from_name("gpu").unwrap_err().code(), "GOLD001");
    Ok(())
}

/// Replays the file as every runner that can, and compares all that it holds.
fn follow(name: &str) -> Result<()> {
    logging::set_verbosity(Level::Error);
    let golden = read(name);
    let shared = golden["shards"].is_u64();
    let runners = [Runner::Estimator, Runner::TpuCpu, Runner::Tpu];
    for runner in runners.into_iter().filter(|runner| shared || *runner != Runner::Tpu) {
        let replayed = Replay::new(Golden::read(&path(&format!("{name}.json")))?, runner).run()?;
        let place = |what: &str| format!("{name} as {runner:?}, {what}");
        for (variable, gradient) in object(&golden["gradients_step0"]) {
            let found = &replayed["gradients_step0"][variable];
            assert_close(&place(variable), found, gradient, |largest| 3e-6 * largest);
        }
        let (found, expected) = (list(&replayed["losses"]), list(&golden["losses"]));
        assert_eq!(found.len(), expected.len(), "{}", place("losses"));
        for (step, (found, expected)) in found.iter().zip(expected).enumerate() {
            let tolerance = if step < 50 { 2e-6 } else { 2e-4 };
            assert_close(&place(&format!("step {step}")), found, expected, |loss| tolerance * loss);
        }
        if runner == Runner::Tpu {
            let (found, expected) = (&replayed["shard_losses_step0"], &golden["shard_losses_step0"]);
            assert_close(&place("shard losses"), found, expected, |loss| 2e-6 * loss);
        }
        let (found, expected) = (object(&replayed["final_variables"]), object(&golden["final_variables"]));
        assert!(found.keys().eq(expected.keys()), "{}: {:?}", place("variables"), found.keys());
        // Adam's default epsilon amplifies the rounding of gradients near 0, in variables and what they give.
        let adam = name == "adam_128_tanh";
        for (variable, value) in expected {
            let tolerance = if adam && !variable.contains("Adam") { 4e-3 } else { 1e-5 };
            assert_close(&place(variable), &found[variable], value, |largest| tolerance * largest.max(1.0));
        }
        for part in ["evaluate", "predict"] {
            let results = golden[part].as_object().into_iter().flatten();
            for (key, expected) in results.filter(|(_, value)| value.is_number() || value.is_array()) {
                let found = &replayed[part][key];
                assert_close(&place(key), found, expected, |largest| 1e-3 * largest.max(1.0));
            }
        }
    }
    Ok(())
}

/// Compares a run in float64 with the part of the float64 file called `column`.
fn follow_float64(column: &str, runner: Runner, reduction: Reduction) -> Result<()> {
    let golden = &read("iris_f64_full_vs_8x16")[column];
    let replayed = sine_run(runner, Precision::Float64, reduction)?;
    let exact = |what: &str, found: &Value, expected: &Value| {
        assert_close(&format!("{column}, {what}"), found, expected, |_| 1e-12);
    };
    for step in [1usize, 2, 10, 100, 500, 1000] {
        exact(&format!("step {step}"), &replayed["losses"][step - 1], &golden["loss"][step.to_string()]);
    }
    if runner == Runner::Tpu {
        exact("shard losses", &replayed["shard_losses_step0"], &golden["shard_losses_step1"]);
    }
    let norms: Vec<f64> = variable_names().map(|name| norm(&replayed["gradients_step0"][name])).collect();
    exact("gradients", &json!(norms), &golden["grad_l2_step1"]);
    exact("gradient", &replayed["gradients_step0"]["dense_2/bias"], &golden["grad_bias_logits_step1"]);
    let norms: Vec<f64> = variable_names().map(|name| norm(&replayed["final_variables"][name])).collect();
    exact("variables", &json!(norms), &golden["final_w_l2"]);
    exact("accuracy", &replayed["evaluate"]["accuracy"], &golden["test_accuracy"]);
    exact("test loss", &replayed["evaluate"]["loss"], &golden["test_loss"]);
    exact("probabilities", &replayed["predict"]["probabilities"], &golden["pred_probs"]);
    Ok(())
}

/// A thousand steps of Adagrad from kernels made of sines.
fn sine_run(runner: Runner, precision: Precision, reduction: Reduction) -> Result<Value> {
    logging::set_verbosity(Level::Error);
    let mut initial = json!({});
    for (layer, (inputs, outputs)) in [(4, 10), (10, 10), (10, 3)].into_iter().enumerate() {
        let limit = (6.0 / (inputs + outputs) as f64).sqrt();
        let element = |row: usize, column: usize| limit * ((1 + 7 * row + 3 * column + 11 * layer) as f64).sin();
        let row = |row| (0..outputs).map(|column| element(row, column)).collect::<Vec<f64>>();
        let scope = if layer == 0 { "dense".to_string() } else { format!("dense_{layer}") };
        initial[format!("{scope}/kernel")] = json!((0..inputs).map(row).collect::<Vec<_>>());
        initial[format!("{scope}/bias")] = json!(vec![0.0; outputs]);
    }
    let golden = json!({
        "feature_order": ["PetalLength", "PetalWidth", "SepalLength", "SepalWidth"],
        "hidden_units": [10, 10],
        "activation": "relu",
        "n_classes": 3,
        "optimizer": {"name": "Adagrad", "learning_rate": 0.1},
        "batch_size": 128,
        "steps": 1000,
        "initial": initial,
    });
    let mut replay = Replay::new(Golden::from_json(golden)?, runner);
    (replay.precision, replay.reduction) = (precision, reduction);
    replay.run()
}

/// The trained variables, from the first layer to the last.
fn variable_names() -> impl Iterator<Item = &'static str> {
    ["dense/kernel", "dense/bias", "dense_1/kernel", "dense_1/bias", "dense_2/kernel", "dense_2/bias"].into_iter()
}

fn norm(value: &Value) -> f64 {
    numbers(value).iter().map(|number| number * number).sum::<f64>().sqrt()
}

/// Compares numbers one by one; `tolerance` is told the largest expected one.
fn assert_close(name: &str, found: &Value, expected: &Value, tolerance: impl Fn(f64) -> f64) {
    assert_eq!(shape(found), shape(expected), "{name}");
    let (found, expected) = (numbers(found), numbers(expected));
    let tolerance = tolerance(expected.iter().fold(0.0, |largest, value| value.abs().max(largest)));
    for (found, expected) in found.iter().zip(&expected) {
        assert!((found - expected).abs() <= tolerance, "{name}: {found} is not {expected}");
    }
}

/// The sizes of nested lists.
fn shape(value: &Value) -> Vec<usize> {
    match value.as_array() {
        Some(list) => std::iter::once(list.len()).chain(list.first().map(shape).unwrap_or_default()).collect(),
        None => Vec::new(),
    }
}

/// All numbers of nested lists, in their order.
fn numbers(value: &Value) -> Vec<f64> {
    match value.as_array() {
        Some(list) => list.iter().flat_map(numbers).collect(),
        None => vec![value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))],
    }
}

fn object(value: &Value) -> &serde_json::Map<String, Value> {
    value.as_object().expect("an object")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

fn read(name: &str) -> Value {
    let text = std::fs::read_to_string(path(&format!("{name}.json"))).expect("a golden file");
    serde_json::from_str(&text).expect("JSON")
}

fn path(name: &str) -> String {
    format!("{}/tests/golden/{name}", env!("CARGO_MANIFEST_DIR"))
}
