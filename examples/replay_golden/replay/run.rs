//! Trains, evaluates and predicts, and tells the results in the form of the files.

use super::applied_gradients::FirstGradients;
use super::data::Data;
use super::trainer::Trainer;
use super::{Golden, Runner};
use serde_json::{Map, Value, json};
use std::sync::{Arc, mpsc};
use tpulab::losses::Reduction;
use tpulab::prelude::*;

/// One replay: a training and who makes it.
#[derive(Clone, Debug)]
pub struct Replay {
    golden: Arc<Golden>,
    runner: Runner,
    pub precision: Precision,
    /// How the gradients of eight cores become one.
    pub reduction: Reduction,
}

impl Replay {
    /// The training in float32, with the mean of the cores' gradients.
    pub fn new(golden: Golden, runner: Runner) -> Replay {
        Replay { golden: Arc::new(golden), runner, precision: Precision::Float32, reduction: Reduction::Mean }
    }

    /// Runs it, and gives what a golden file holds.
    pub fn run(&self) -> Result<Value> {
        let golden = &self.golden;
        let data = Data::load(self.precision)?;
        let trainer = Trainer::build(Arc::clone(golden), self.runner, self.precision, self.reduction)?;
        let (sender, gradients) = mpsc::channel();
        let report = trainer.train(&self.train_batches(&data)?, golden.steps, FirstGradients::new(sender))?;
        let shard_losses = report.shard_losses(0).filter(|_| self.runner == Runner::Tpu);
        let mut variables = Map::new();
        for name in trainer.variable_names()? {
            if name != "global_step" {
                variables.insert(name.clone(), to_json(&trainer.variable_value(&name)?)?);
            }
        }
        Ok(json!({
            "name": golden.name,
            "gradients_step0": gradients.try_recv().unwrap_or_default(),
            "shards": shard_losses.map(<[f64]>::len),
            "shard_losses_step0": shard_losses,
            "losses": report.losses(),
            "final_variables": variables,
            "evaluate": self.evaluate(&trainer, &data)?,
            "predict": predict(&trainer, &data)?,
        }))
    }

    /// The batches in the file's order, without end.
    fn train_batches(&self, data: &Data) -> Result<Dataset> {
        let (features, labels) = &data.train;
        let dataset = Dataset::from_tensor_slices((features, labels))?;
        let size = self.golden.batch_size;
        if !self.golden.batch_before_repeat {
            return Ok(dataset.repeat().batch(size, Remainder::Drop));
        }
        // Where nothing remains, dropping it lets a TPU know the batch's size.
        let whole = size > 0 && labels.len().is_multiple_of(size);
        Ok(dataset.batch(size, if whole { Remainder::Drop } else { Remainder::Keep }).repeat())
    }

    fn evaluate(&self, trainer: &Trainer, data: &Data) -> Result<Value> {
        let (features, labels) = &data.test;
        let size = self.golden.eval_batch_size.unwrap_or(labels.len());
        let batches = Dataset::from_tensor_slices((features, labels))?.batch(size, Remainder::Keep);
        let evaluation = trainer.evaluate(&batches)?;
        let mut result = json!({"loss": evaluation.get("loss")?, "accuracy": evaluation.get("accuracy")?});
        if self.golden.eval_batch_size.is_some() {
            let batch_loss = |batch| trainer.evaluate(&batches.clone().skip(batch).take(1))?.get("loss");
            result["batch_size"] = json!(size);
            result["batch_losses"] = json!((0..evaluation.steps()).map(batch_loss).collect::<Result<Vec<f64>>>()?);
        }
        Ok(result)
    }
}

/// The flowers' values, one list for each name.
fn predict(trainer: &Trainer, data: &Data) -> Result<Value> {
    let dataset = Dataset::from_tensor_slices(&data.flowers)?.batch(data.flowers.len(), Remainder::Keep);
    let predictions = trainer.predict(&dataset)?.collect::<Result<Vec<Prediction>>>()?;
    let mut lists = Map::new();
    for name in ["logits", "probabilities", "class_ids"] {
        let rows =
            predictions.iter().map(|prediction| to_json(prediction.get(name)?)).collect::<Result<Vec<Value>>>()?;
        lists.insert(name.to_string(), Value::Array(rows));
    }
    Ok(Value::Object(lists))
}

/// An array as nested lists of numbers.
pub fn to_json(array: &Array) -> Result<Value> {
    if !array.shape().is_empty() {
        let rows = (0..array.shape()[0]).map(|row| to_json(&array.row(row)?)).collect::<Result<Vec<Value>>>()?;
        return Ok(Value::Array(rows));
    }
    Ok(if array.dtype().is_integer() { json!(array.to_scalar::<i64>()?) } else { json!(array.to_f64_vec()?[0]) })
}
