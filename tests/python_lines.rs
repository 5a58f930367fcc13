//! The right-hand column of `docs/from_python.md`, compiled: each of its cells stands in this file.

use tpulab as tf;
use tpulab::data::CsvReader;
use tpulab::iris;
use tpulab::metrics::MetricOptions;
use tpulab::prelude::*;

#[test]
fn flags_are_defined_parsed_and_read() -> Result<()> {
    let mut flags = Flags::new();
    flags.define_integer("batch_size", 50, "Batch size.");
    flags.define_integer("train_steps", 1000, "Total number of training steps.");
    flags.define_string("tpu", None, "The Cloud TPU to use for training.");
    flags.define_string("model_dir", Some(""), "Where checkpoints go.");
    flags.define_integer("eval_steps", 4, "Total number of evaluation steps.");
    flags.define_bool("use_tpu", true, "Run on the TPU.");
    flags.define_integer("iterations", 500, "Iterations per TPU training loop.");
    if false {
        flags.parse(std::env::args().skip(1))?;
    }
    flags.parse([""; 0])?;
    let batch_size: usize = flags.get("batch_size")?;
    assert_eq!(batch_size, 50);
    Ok(())
}

#[test]
fn data_are_loaded_without_types_and_with_them() -> Result<()> {
    let folder = tempfile::tempdir().expect("a folder for the file");
    let train_path = folder.path().join("iris_training.csv");
    std::fs::write(&train_path, iris::TRAIN_CSV).expect("the folder takes files");
    let reader = CsvReader::new().names(iris::CSV_COLUMN_NAMES);
    let mut train_x = reader.read_path(&train_path)?.into_frame();
    let y_name = "Species";
    let train_y = train_x.pop(y_name)?;
    assert_eq!(train_y.dtype(), DType::Int64);
    let float32 = ["SepalLength", "SepalWidth", "PetalLength", "PetalWidth"].map(|name| (name, DType::Float32));
    let reader = reader.dtypes(float32).dtypes([("Species", DType::Int32)]);
    assert_eq!(reader.read_path(&train_path)?.into_frame().pop(y_name)?.dtype(), DType::Int32);
    let ((train_x, train_y), (test_x, test_y)) = iris::load_data("Species")?;
    assert_eq!((train_x.len(), train_y.len(), test_x.len(), test_y.len()), (120, 120, 30, 30));
    Ok(())
}

fn train_input_fn(features: &Frame, labels: &Column, batch_size: usize) -> Result<Dataset> {
    let dataset = Dataset::from_tensor_slices((features, labels))?;
    let dataset = dataset.shuffle(1000).repeat().batch(batch_size, Remainder::Keep);
    Ok(dataset)
}

fn eval_input_fn(features: &Frame, labels: Option<&Column>, batch_size: usize) -> Result<Dataset> {
    let dataset = match labels {
        None => Dataset::from_tensor_slices(features)?,
        Some(labels) => Dataset::from_tensor_slices((features, labels))?,
    };
    let dataset = dataset.batch(batch_size, Remainder::Keep);
    Ok(dataset)
}

fn train_input_fn_tpu(features: &Frame, labels: &Column, batch_size: usize) -> Result<Dataset> {
    let dataset = Dataset::from_tensor_slices((features, labels))?.shuffle(1000).repeat();
    let dataset = dataset.batch(batch_size, Remainder::Drop);
    Ok(dataset)
}

fn predict_input_fn(features: &Frame, batch_size: usize) -> Result<Dataset> {
    let dataset = Dataset::from_tensor_slices(features)?;
    Ok(dataset.batch(batch_size, Remainder::Keep))
}

fn my_model(features: &Tensors, labels: Option<&Tensor>, mode: ModeKeys, params: &Params) -> Result<EstimatorSpec> {
    let columns: Vec<FeatureColumn> = params.get("feature_columns")?;
    let mut net = tf::feature_column::input_layer(features, &columns)?;
    for units in params.get::<Vec<usize>>("hidden_units")? {
        net = tf::layers::dense(&net, units, Some(tf::nn::relu))?;
    }
    let logits = tf::layers::dense(&net, params.get("n_classes")?, None)?;
    let predicted_classes = tf::argmax(&logits, 1)?;
    if mode == ModeKeys::Predict {
        let predictions = Tensors::from([
            ("class_ids", tf::expand_dims(&predicted_classes, -1)?),
            ("probabilities", tf::nn::softmax(&logits)?),
            ("logits", logits.clone()),
        ]);
        return Ok(EstimatorSpec::predict(predictions));
    }
    let labels = labels.expect("all but predictions have labels");
    let loss = tf::losses::sparse_softmax_cross_entropy(labels, &logits)?;
    let accuracy = MetricOptions::new().name("acc_op").accuracy(labels, &predicted_classes)?;
    tf::summary::scalar("accuracy", &accuracy.update)?;
    if mode == ModeKeys::Eval {
        let metrics = Metrics::from([("accuracy", accuracy)]);
        return Ok(EstimatorSpec::eval(loss, metrics));
    }
    let optimizer = tf::train::AdagradOptimizer::new(0.1);
    let train_op = optimizer.minimize(&loss, Some(&features.graph().global_step()))?;
    Ok(EstimatorSpec::train(loss, train_op))
}

fn metric_fn(outputs: &Tensors) -> Result<Metrics> {
    let predicted_classes = tf::argmax(outputs.get("logits")?, 1)?;
    let accuracy = MetricOptions::new().name("acc_op").accuracy(outputs.get("labels")?, &predicted_classes)?;
    Ok(Metrics::from([("accuracy", accuracy)]))
}

fn my_model_tpu(
    features: &Tensors,
    labels: Option<&Tensor>,
    mode: ModeKeys,
    params: &Params,
) -> Result<TpuEstimatorSpec> {
    let columns: Vec<FeatureColumn> = params.get("feature_columns")?;
    let net = tf::feature_column::input_layer(features, &columns)?;
    let logits = tf::layers::dense(&net, params.get("n_classes")?, None)?;
    let Some(labels) = labels else {
        let predictions = Tensors::from([
            ("class_ids", tf::expand_dims(&tf::argmax(&logits, 1)?, -1)?),
            ("probabilities", tf::nn::softmax(&logits)?),
        ]);
        return Ok(TpuEstimatorSpec::predict(predictions));
    };
    let loss = tf::losses::sparse_softmax_cross_entropy(labels, &logits)?;
    if mode == ModeKeys::Eval {
        let outputs = Tensors::from([("labels", labels), ("logits", &logits)]);
        return Ok(TpuEstimatorSpec::eval(loss, metric_fn, outputs));
    }
    let optimizer = tf::train::AdagradOptimizer::new(0.1);
    let global_step = features.graph().global_step();
    let train_op = if params.use_tpu() {
        CrossShardOptimizer::new(optimizer).minimize(&loss, Some(&global_step))?
    } else {
        optimizer.minimize(&loss, Some(&global_step))?
    };
    Ok(TpuEstimatorSpec::train(loss, train_op))
}

/// What both main programs start with.
fn main_flags() -> Result<Flags> {
    let mut flags = Flags::new();
    flags.define_string("tpu", None, "");
    flags.define_string("model_dir", Some(""), "");
    flags.define_integer("batch_size", 64, "");
    flags.define_integer("train_steps", 300, "");
    flags.define_integer("eval_steps", 4, "");
    flags.define_bool("use_tpu", true, "");
    flags.define_integer("iterations", 100, "");
    flags.parse([""; 0])?;
    tf::notebook::logging::set_verbosity(tf::notebook::logging::Level::Error);
    Ok(flags)
}

#[test]
fn the_estimators_main_program_runs() -> Result<()> {
    let flags = main_flags()?;
    let batch_size: usize = flags.get("batch_size")?;
    let ((train_x, train_y), (test_x, test_y)) = iris::load_data("Species")?;
    let columns: Vec<FeatureColumn> = train_x.names().into_iter().map(tf::feature_column::numeric_column).collect();
    let params = Params::new().set_shared("feature_columns", columns).set("hidden_units", [10, 10]).set("n_classes", 3);
    let classifier = Estimator::new(my_model).params(params).build()?;
    classifier.train(|| train_input_fn(&train_x, &train_y, batch_size), Steps(flags.get("train_steps")?))?;
    let eval_result = classifier.evaluate(|| eval_input_fn(&test_x, Some(&test_y), batch_size), UntilEnd)?;
    println!("\nTest set accuracy: {:.3}\n", eval_result.get("accuracy")?);
    let flowers = iris::prediction_input_data();
    let predictions = classifier.predict(|| eval_input_fn(&flowers, None, batch_size))?;
    assert_eq!(predictions.count(), 3);
    Ok(())
}

#[test]
fn the_tpu_estimators_main_program_runs() -> Result<()> {
    let flags = main_flags()?;
    let batch_size: usize = flags.get("batch_size")?;
    let ((train_x, train_y), (test_x, test_y)) = iris::load_data("Species")?;
    let columns: Vec<FeatureColumn> = train_x.names().into_iter().map(tf::feature_column::numeric_column).collect();
    let params = Params::new().set_shared("feature_columns", columns).set("hidden_units", [10, 10]).set("n_classes", 3);
    let resolver = TpuClusterResolver::new(flags.get::<Option<String>>("tpu")?.as_deref())?;
    let config = tf::tpu::RunConfig::new()
        .model_dir(flags.get::<String>("model_dir")?)
        .cluster(resolver)
        .session_config(ConfigProto::new().allow_soft_placement(true).log_device_placement(true))
        .tpu_config(TpuConfig::new().iterations_per_loop(flags.get("iterations")?));
    let classifier = TpuEstimator::new(my_model_tpu)
        .use_tpu(flags.get("use_tpu")?)
        .train_batch_size(batch_size)
        .eval_batch_size(batch_size)
        .predict_batch_size(batch_size)
        .config(config)
        .params(params)
        .build()?;
    classifier.train(
        |params| train_input_fn_tpu(&train_x, &train_y, params.batch_size()),
        MaxSteps(flags.get("train_steps")?),
    )?;
    let eval_result = classifier.evaluate(
        |params| train_input_fn_tpu(&test_x, &test_y, params.batch_size()),
        Steps(flags.get("eval_steps")?),
    )?;
    assert!(eval_result.get("accuracy")? > 0.5);
    let flowers = iris::prediction_input_data();
    let predictions = classifier.predict(|params| predict_input_fn(&flowers, params.batch_size()))?;
    for (prediction, expected) in predictions.zip(iris::PREDICTION_OUTPUT_DATA) {
        let prediction = prediction?;
        let class_id = prediction.get("class_ids")?.as_slice::<i64>()?[0] as usize;
        let probability = prediction.get("probabilities")?.as_slice::<f32>()?[class_id];
        let species = iris::SPECIES[class_id];
        println!("\nPrediction is \"{species}\" ({:.1}%), expected \"{expected}\"", 100.0 * probability);
    }
    Ok(())
}

/// The code in the last cell of each row.
fn right_hand_column(page: &str) -> Vec<String> {
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    let cell = |row: &str| {
        let cell = row.trim_end_matches(" |").rsplit(" | ").next().expect("a row has cells");
        // A bar inside a cell is escaped.
        cell.trim_matches('`').replace("\\|", "|")
    };
    rows.map(cell).collect()
}

fn without_blanks(text: &str) -> String {
    text.chars().filter(|character| !character.is_whitespace()).collect()
}

#[test]
fn each_line_of_the_page_stands_in_this_file() {
    let cells = right_hand_column(include_str!("../docs/from_python.md"));
    assert!(cells.len() > 60, "{} rows", cells.len());
    let source = without_blanks(include_str!("python_lines.rs"));
    for cell in cells {
        assert!(source.contains(&without_blanks(&cell)), "`{cell}` is compiled nowhere");
    }
}
