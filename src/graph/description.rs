//! What a graph consists of, in numbers.

use super::Graph;
use crate::core::DType;
use crate::notebook::Table;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt;

/// The variables and the ops of a model.
///
/// # Examples
/// ```
/// use tpulab as tf;
/// use tpulab::prelude::*;
/// let graph = Graph::new();
/// let x = graph.placeholder("x", DType::Float32, Shape::new(&[None, Some(4)]));
/// let hidden = tf::layers::dense(&x, 10, Some(tf::nn::relu))?;
/// tf::layers::dense(&hidden, 3, None)?;
/// let description = graph.describe();
/// assert_eq!(description.parameters(), 4 * 10 + 10 + 10 * 3 + 3);
/// assert_eq!(description.ops()["MatMul"], 2);
/// println!("{description}");
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ModelDescription {
    variables: Vec<VariableDescription>,
    ops: BTreeMap<String, usize>,
}

/// One variable of a model.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct VariableDescription {
    /// Its name, such as `dense/kernel`.
    pub name: String,
    /// Its shape.
    pub shape: Vec<usize>,
    /// The type of its elements.
    pub dtype: DType,
    /// Whether optimizers change it.
    pub trainable: bool,
}

impl Graph {
    /// The variables and the ops that were built so far.
    pub fn describe(&self) -> ModelDescription {
        let variables = self.variables();
        let describe = |variable: &super::Variable| VariableDescription {
            name: variable.name(),
            shape: variable.shape(),
            dtype: variable.dtype(),
            trainable: variable.is_trainable(),
        };
        let mut ops = BTreeMap::new();
        for node in self.nodes() {
            *ops.entry(node.op.type_name().to_string()).or_insert(0) += 1;
        }
        ModelDescription { variables: variables.iter().map(describe).collect(), ops }
    }
}

impl ModelDescription {
    /// The variables, in the order in which they were made.
    pub fn variables(&self) -> &[VariableDescription] {
        &self.variables
    }

    /// How many ops of each of TensorFlow's types there are.
    pub fn ops(&self) -> &BTreeMap<String, usize> {
        &self.ops
    }

    /// How many numbers are trained.
    pub fn parameters(&self) -> usize {
        let trained = self.variables.iter().filter(|variable| variable.trainable);
        trained.map(|variable| variable.shape.iter().product::<usize>()).sum()
    }

    /// The description as JSON: `parameters`, `variables` and `ops`.
    pub fn to_json(&self) -> Value {
        let variables: Vec<Value> = self
            .variables
            .iter()
            .map(|VariableDescription { name, shape, dtype, trainable }| {
                json!({"name": name, "shape": shape, "dtype": dtype.to_string(), "trainable": trainable})
            })
            .collect();
        json!({"parameters": self.parameters(), "variables": variables, "ops": self.ops})
    }

    fn table(&self) -> Table {
        let row = |table: Table, variable: &VariableDescription| {
            let elements: usize = variable.shape.iter().product();
            let trained = if variable.trainable { "yes" } else { "no" };
            let shape = format!("{:?}", variable.shape);
            table.row([variable.name.as_str(), &shape, &variable.dtype.to_string(), &elements.to_string(), trained])
        };
        let table = self.variables.iter().fold(Table::new(["variable", "shape", "dtype", "numbers", "trained"]), row);
        let ops: usize = self.ops.values().sum();
        table.caption(format!("{} numbers are trained; {ops} ops", self.parameters()))
    }

    /// Shows the variables in a notebook.
    pub fn evcxr_display(&self) {
        self.table().evcxr_display();
    }
}

impl fmt::Display for ModelDescription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.table().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{Result, Shape};

    #[test]
    fn the_tutorials_network_has_193_parameters() -> Result<()> {
        let graph = Graph::new();
        graph.global_step();
        let mut net = graph.placeholder("x", DType::Float32, Shape::new(&[None, Some(4)]));
        for units in [10, 10, 3] {
            net = crate::layers::dense(&net, units, None)?;
        }
        let description = graph.describe();
        assert_eq!(description.parameters(), 193);
        let json = description.to_json();
        assert_eq!((&json["parameters"], &json["variables"][1]["name"]), (&json!(193), &json!("dense/kernel")));
        assert_eq!(json["variables"][1]["shape"], json!([4, 10]));
        assert!(description.to_string().ends_with(&format!("193 numbers are trained; {} ops", graph.nodes().len())));
        Ok(())
    }
}
