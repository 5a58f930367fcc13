//! The optimizer that a file names.

use super::GoldenError;
use super::fields::Fields;
use serde_json::Value;
use tpulab::prelude::*;
use tpulab::train::{
    AdagradOptimizer, AdamOptimizer, FtrlOptimizer, GradientDescentOptimizer, MomentumOptimizer, RmsPropOptimizer,
};

/// The optimizer called `name`, with the options given beside it under the names of TensorFlow 1 or of Keras. What is
/// not given has TensorFlow 1's default.
pub fn optimizer(options: &Value) -> Result<Box<dyn Optimizer>> {
    let mut fields = Fields::new("optimizer", options.clone())?;
    let name = fields.required("name", "a name", |value| value.as_str().map(str::to_string))?;
    let learning_rate = fields.required("learning_rate", "a number", Value::as_f64)?;
    let plain_name = name.to_lowercase().replace('_', "");
    let optimizer: Box<dyn Optimizer> = match plain_name.strip_suffix("optimizer").unwrap_or(&plain_name) {
        "gradientdescent" => Box::new(GradientDescentOptimizer::new(learning_rate)),
        // Keras has one name for both.
        "sgd" | "momentum" => match fields.number(&["momentum"])? {
            Some(momentum) => {
                let nesterov = fields.optional(&["use_nesterov", "nesterov"], "true or false", Value::as_bool)?;
                Box::new(MomentumOptimizer::new(learning_rate, momentum).use_nesterov(nesterov.unwrap_or(false)))
            }
            None if plain_name.starts_with("sgd") => Box::new(GradientDescentOptimizer::new(learning_rate)),
            None => {
                let (field, expected) = ("optimizer.momentum".to_string(), "a number".to_string());
                return Err(GoldenError::Missing { field, expected }.into());
            }
        },
        "adagrad" => {
            let optimizer = AdagradOptimizer::new(learning_rate);
            let accumulator = fields.number(&["initial_accumulator_value"])?;
            Box::new(set(optimizer, accumulator, AdagradOptimizer::initial_accumulator_value))
        }
        "adam" => {
            let optimizer = AdamOptimizer::new(learning_rate);
            let optimizer = set(optimizer, fields.number(&["beta1", "beta_1"])?, AdamOptimizer::beta1);
            let optimizer = set(optimizer, fields.number(&["beta2", "beta_2"])?, AdamOptimizer::beta2);
            Box::new(set(optimizer, fields.number(&["epsilon"])?, AdamOptimizer::epsilon))
        }
        "rmsprop" => {
            let optimizer = RmsPropOptimizer::new(learning_rate);
            let optimizer = set(optimizer, fields.number(&["decay", "rho"])?, RmsPropOptimizer::decay);
            let optimizer = set(optimizer, fields.number(&["momentum"])?, RmsPropOptimizer::momentum);
            let optimizer = set(optimizer, fields.number(&["epsilon"])?, RmsPropOptimizer::epsilon);
            let centered = fields.optional(&["centered"], "true or false", Value::as_bool)?;
            Box::new(set(optimizer, centered, RmsPropOptimizer::centered))
        }
        "ftrl" => {
            let optimizer = FtrlOptimizer::new(learning_rate);
            let power = fields.number(&["learning_rate_power"])?;
            let optimizer = set(optimizer, power, FtrlOptimizer::learning_rate_power);
            let accumulator = fields.number(&["initial_accumulator_value"])?;
            let optimizer = set(optimizer, accumulator, FtrlOptimizer::initial_accumulator_value);
            let l1 = fields.number(&["l1_regularization_strength", "l1"])?;
            let optimizer = set(optimizer, l1, FtrlOptimizer::l1_regularization_strength);
            let l2 = fields.number(&["l2_regularization_strength", "l2"])?;
            Box::new(set(optimizer, l2, FtrlOptimizer::l2_regularization_strength))
        }
        _ => {
            let expected = "GradientDescent, Momentum, Adagrad, Adam, RMSProp or Ftrl".to_string();
            return Err(GoldenError::Value { field: "optimizer.name".to_string(), found: name, expected }.into());
        }
    };
    fields.finish()?;
    Ok(optimizer)
}

/// The optimizer with an option, if that is given.
fn set<O, T>(optimizer: O, value: Option<T>, setter: fn(O, T) -> O) -> O {
    match value {
        Some(value) => setter(optimizer, value),
        None => optimizer,
    }
}
