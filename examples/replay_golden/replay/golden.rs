//! A training as a file describes it.

use super::GoldenError;
use super::fields::Fields;
use super::model::activation;
use super::optimizer::optimizer;
use serde_json::Value;
use tpulab::nn::Activation;
use tpulab::prelude::*;

/// A training as a file describes it: the network with its initial values, the optimizer, the batches.
#[derive(Clone, Debug)]
pub struct Golden {
    pub(super) name: String,
    pub(super) feature_order: Vec<String>,
    pub(super) activation: Activation,
    pub(super) optimizer: Value,
    pub(super) batch_size: usize,
    pub(super) batch_before_repeat: bool,
    pub(super) steps: u64,
    /// Kernel and bias of each layer.
    pub(super) layers: Vec<(Array, Array)>,
    /// Rows of an evaluation batch; all rows at once unless given.
    pub(super) eval_batch_size: Option<usize>,
}

impl Golden {
    /// Reads a file.
    ///
    /// # Errors
    /// `GOLD002` if it cannot be read, else those of [`from_json`](Golden::from_json).
    pub fn read(path: &str) -> Result<Golden> {
        let unreadable = |problem: String| GoldenError::Unreadable { path: path.to_string(), problem };
        let text = std::fs::read_to_string(path).map_err(|error| unreadable(error.to_string()))?;
        let value = serde_json::from_str(&text).map_err(|error| unreadable(format!("no JSON: {error}")))?;
        Golden::from_json(value).map_err(|error| error.at(path))
    }

    /// Reads the file's content. Its results are not needed, and not read.
    ///
    /// # Errors
    /// `GOLD003` to `GOLD005` for fields that are missing, wrong or unknown.
    pub fn from_json(value: Value) -> Result<Golden> {
        let mut fields = Fields::new("", value)?;
        fields.skip(&["source", "data", "gradients_step0", "shards", "shard_losses_step0", "losses"]);
        fields.skip(&["final_variables", "predict"]);
        let text = |value: &Value| value.as_str().map(str::to_string);
        let texts = |value: &Value| value.as_array()?.iter().map(text).collect::<Option<Vec<String>>>();
        let counts = |value: &Value| value.as_array()?.iter().map(count).collect::<Option<Vec<usize>>>();
        let feature_order = fields.required("feature_order", "a list of names", texts)?;
        let mut units = fields.required("hidden_units", "a list of whole numbers", counts)?;
        units.push(fields.required("n_classes", "a whole number", count)?);
        let initial = fields.required("initial", "variables by name", |value| Some(value.clone()))?;
        let golden = Golden {
            name: fields.optional(&["name"], "a name", text)?.unwrap_or_default(),
            activation: fields
                .required("activation", "relu, tanh, sigmoid, elu or softplus", |value| activation(value.as_str()?))?,
            optimizer: fields.required("optimizer", "an object", |value| Some(value.clone()))?,
            batch_size: fields.required("batch_size", "a whole number", count)?,
            batch_before_repeat: fields
                .optional(&["batch_before_repeat"], "true or false", Value::as_bool)?
                .unwrap_or(false),
            steps: fields.required("steps", "a whole number", Value::as_u64)?,
            layers: layers(initial, feature_order.len(), &units)?,
            eval_batch_size: match fields.optional(&["evaluate"], "an object", |value| Some(value.clone()))? {
                Some(value) => eval_batch_size(value)?,
                None => None,
            },
            feature_order,
        };
        fields.finish()?;
        optimizer(&golden.optimizer)?;
        Ok(golden)
    }
}

fn eval_batch_size(value: Value) -> Result<Option<usize>> {
    let mut fields = Fields::new("evaluate", value)?;
    fields.skip(&["data", "batch_losses", "loss", "accuracy"]);
    let size = fields.optional(&["batch_size"], "1 or more", |value| count(value).filter(|&size| size > 0))?;
    fields.finish()?;
    Ok(size)
}

/// Kernel and bias of each layer, with the sizes that the network asks for.
fn layers(initial: Value, inputs: usize, units: &[usize]) -> Result<Vec<(Array, Array)>> {
    let mut fields = Fields::new("initial", initial)?;
    let mut layers = Vec::new();
    let mut inputs = inputs;
    for (layer, &outputs) in units.iter().enumerate() {
        let scope = if layer == 0 { "dense".to_string() } else { format!("dense_{layer}") };
        let mut variable = |name: &str, shape: &[usize]| {
            let expected = format!("numbers of shape {shape:?}, as the units and features ask for");
            fields.required(&format!("{scope}/{name}"), &expected, |value| array(value, shape))
        };
        layers.push((variable("kernel", &[inputs, outputs])?, variable("bias", &[outputs])?));
        inputs = outputs;
    }
    fields.finish()?;
    Ok(layers)
}

/// Nested lists of numbers as an array, if they have this shape.
fn array(value: &Value, shape: &[usize]) -> Option<Array> {
    fn collect(value: &Value, shape: &[usize], elements: &mut Vec<f64>) -> Option<()> {
        let Some((&size, inner)) = shape.split_first() else {
            elements.push(value.as_f64()?);
            return Some(());
        };
        let list = value.as_array().filter(|list| list.len() == size)?;
        list.iter().try_for_each(|item| collect(item, inner, elements))
    }
    let mut elements = Vec::new();
    collect(value, shape, &mut elements)?;
    Array::from_vec(shape, elements).ok()
}

fn count(value: &Value) -> Option<usize> {
    usize::try_from(value.as_u64()?).ok()
}
