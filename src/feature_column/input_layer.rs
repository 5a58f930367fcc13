//! The layer that joins features to one matrix.

use super::{FeatureColumn, FeatureColumnError};
use crate::core::{DType, Result};
use crate::graph::{Tensor, Tensors, ops};

/// All columns side by side, float32: `[batch, numbers of all columns]`. TensorFlow: `tf.feature_column.input_layer`.
///
/// Columns stand in the order of their names, however they are listed: `PetalLength` before `SepalLength`. A column's
/// normalizer sees the raw values, `[batch, 1]` where the feature is `[batch]`.
///
/// # Errors
/// `FEATURE001` to `FEATURE007` if columns and features do not go together.
///
/// # Examples
/// ```
/// use tpulab as tf;
/// use tpulab::prelude::*;
/// let graph = Graph::new();
/// let batch = Shape::new(&[None]);
/// let width = graph.placeholder("width", DType::Float32, batch.clone());
/// let length = graph.placeholder("length", DType::Int64, batch);
/// let features = Tensors::from([("width", width), ("length", length)]);
/// let columns = [tf::feature_column::numeric_column("width"), tf::feature_column::numeric_column("length")];
/// let net = tf::feature_column::input_layer(&features, &columns)?;
/// assert_eq!((net.name().as_str(), net.shape().to_string().as_str()), ("input_layer/concat:0", "[?, 2]"));
/// # Ok::<(), Error>(())
/// ```
pub fn input_layer(features: &Tensors, columns: &[FeatureColumn]) -> Result<Tensor> {
    let mut columns: Vec<&FeatureColumn> = columns.iter().collect();
    columns.sort_by(|left, right| left.key.cmp(&right.key));
    if columns.is_empty() {
        return Err(FeatureColumnError::NoColumns.into());
    }
    if let Some(pair) = columns.windows(2).find(|pair| pair[0].key == pair[1].key) {
        return Err(FeatureColumnError::Duplicate { key: pair[0].key.clone() }.into());
    }
    features.graph().name_scope("input_layer", || {
        let tensors = columns.iter().map(|column| column.to_matrix(features)).collect::<Result<Vec<Tensor>>>()?;
        check_batches(&columns, &tensors)?;
        ops::concat(&tensors, 1)
    })
}

impl FeatureColumn {
    /// The feature as the model sees it: float32 `[batch, elements of one example]`.
    fn to_matrix(&self, features: &Tensors) -> Result<Tensor> {
        if self.shape.contains(&0) {
            return Err(FeatureColumnError::EmptyShape { key: self.key.clone(), found: self.shape.clone() }.into());
        }
        let feature = features.get(&self.key).map_err(|_| {
            let known = features.names().into_iter().map(str::to_string).collect();
            FeatureColumnError::Missing { key: self.key.clone(), known }
        })?;
        if let Some(&found) = [self.dtype, feature.dtype()].iter().find(|dtype| !is_number(**dtype)) {
            return Err(FeatureColumnError::DType { key: self.key.clone(), found }.into());
        }
        let graph = feature.graph();
        graph.name_scope(&scope_name(&self.key), || {
            let mut tensor = match feature.shape().rank() {
                0 => return Err(self.wrong_shape(feature)),
                1 => ops::expand_dims(feature, -1)?,
                _ => feature.clone(),
            };
            if let Some(normalizer) = &self.normalizer {
                tensor = normalizer(&tensor)?;
            }
            self.flatten(&ops::cast(&tensor, DType::Float32)?)
        })
    }

    fn flatten(&self, tensor: &Tensor) -> Result<Tensor> {
        let elements: usize = self.shape.iter().product();
        let shape = tensor.shape();
        let found = shape.sizes().get(1..).and_then(|sizes| sizes.iter().copied().product::<Option<usize>>());
        if found != Some(elements) {
            return Err(self.wrong_shape(tensor));
        }
        match shape.rank() {
            2 => Ok(tensor.clone()),
            _ => ops::reshape(tensor, &[-1, elements as isize]),
        }
    }

    fn wrong_shape(&self, tensor: &Tensor) -> crate::core::Error {
        let (expected, found) = (self.shape.clone(), tensor.shape());
        FeatureColumnError::Shape { key: self.key.clone(), expected, found }.into()
    }
}

/// What can become float32.
fn is_number(dtype: DType) -> bool {
    dtype == DType::Bool || dtype.is_floating() || dtype.is_integer()
}

/// A key as a part of nodes' names, where TensorFlow allows few characters.
fn scope_name(key: &str) -> String {
    let allowed = |letter: char| letter.is_ascii_alphanumeric() || "_.-/".contains(letter);
    key.chars().map(|letter| if allowed(letter) { letter } else { '_' }).collect()
}

fn check_batches(columns: &[&FeatureColumn], tensors: &[Tensor]) -> Result<()> {
    let mut known = columns.iter().zip(tensors).filter_map(|(column, tensor)| Some((column, tensor.shape().size(0)?)));
    let Some((left, left_size)) = known.next() else { return Ok(()) };
    match known.find(|(_, size)| *size != left_size) {
        None => Ok(()),
        Some((right, right_size)) => {
            let (left, right) = (left.key.clone(), right.key.clone());
            Err(FeatureColumnError::Batch { left, left_size, right, right_size }.into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::numeric_column;
    use super::*;
    use crate::core::Shape;
    use crate::graph::Graph;

    fn features(entries: &[(&str, DType, &[Option<usize>])]) -> Tensors {
        let graph = Graph::new();
        let mut features = Tensors::empty(&graph);
        for (name, dtype, sizes) in entries {
            features.insert(*name, graph.placeholder(name, *dtype, Shape::new(sizes)));
        }
        features
    }

    fn refusal(features: &Tensors, columns: &[FeatureColumn]) -> String {
        input_layer(features, columns).unwrap_err().to_string()
    }

    #[test]
    fn columns_stand_in_the_order_of_their_names() {
        let batch: &[Option<usize>] = &[None];
        let features = features(&[
            ("SepalLength", DType::Float32, batch),
            ("PetalWidth", DType::Float32, batch),
            ("PetalLength", DType::Float32, batch),
        ]);
        let columns: Vec<FeatureColumn> = features.names().into_iter().map(numeric_column).collect();
        let net = input_layer(&features, &columns).unwrap();
        let graph = features.graph();
        let nodes = graph.nodes();
        let concat = nodes.iter().find(|node| node.name == "input_layer/concat").unwrap();
        let inputs: Vec<&str> = concat.inputs.iter().map(|&(input, _)| nodes[input].name.as_str()).collect();
        assert_eq!(
            inputs,
            [
                "input_layer/PetalLength/ExpandDims",
                "input_layer/PetalWidth/ExpandDims",
                "input_layer/SepalLength/ExpandDims"
            ]
        );
        assert_eq!(net.shape().to_string(), "[?, 3]");
    }

    #[test]
    fn normalizers_see_raw_values_with_a_column() {
        let features = features(&[("age", DType::Int64, &[Some(8)])]);
        let column = numeric_column("age").normalizer(|raw| {
            assert_eq!((raw.dtype(), raw.shape().to_string().as_str()), (DType::Int64, "[8, 1]"));
            ops::square(raw)
        });
        assert_eq!(input_layer(&features, &[column]).unwrap().dtype(), DType::Float32);
    }

    #[test]
    fn inner_shapes_become_columns() {
        let features = features(&[("pixels", DType::Float32, &[None, Some(28), Some(28)])]);
        let net = input_layer(&features, &[numeric_column("pixels").shape(&[28, 28])]).unwrap();
        assert_eq!(net.shape().to_string(), "[?, 784]");
        assert_eq!(
            refusal(&features, &[numeric_column("pixels")]),
            "FEATURE005: feature `pixels`: the column expects examples of shape [1], found batches of shape [?, 28, \
             28]; give the column the shape of one example: `numeric_column(…).shape(&[…])`"
        );
    }

    #[test]
    fn keys_may_hold_what_node_names_may_not() {
        let features = features(&[("Petal Length (cm)", DType::Float32, &[None])]);
        input_layer(&features, &[numeric_column("Petal Length (cm)")]).unwrap();
        assert!(features.graph().tensor("input_layer/Petal_Length__cm_/ExpandDims").is_ok());
    }

    #[test]
    fn columns_that_do_not_suit_the_features_are_refused() {
        let features = features(&[
            ("PetalLength", DType::Float32, &[Some(8)]),
            ("PetalWidth", DType::Float32, &[Some(4)]),
            ("Species", DType::String, &[Some(8)]),
            ("total", DType::Float32, &[]),
        ]);
        assert_eq!(
            refusal(&features, &[]),
            "FEATURE001: there are no feature columns; give one for each feature that the model shall see, such as \
             `numeric_column(\"PetalLength\")`"
        );
        assert_eq!(
            refusal(&features, &[numeric_column("PetalLength"), numeric_column("PetalLength")]),
            "FEATURE002: two feature columns read `PetalLength`; list it once"
        );
        assert_eq!(
            refusal(&features, &[numeric_column("PetalLenght")]),
            "FEATURE003: feature `PetalLenght` is not among the features; there are `PetalLength`, `PetalWidth`, \
             `Species`, `total`; did you mean `PetalLength`?"
        );
        assert_eq!(
            refusal(&features, &[numeric_column("Species")]),
            "FEATURE004: feature `Species`: expected numbers, found string; turn texts into numbers in the input \
             function"
        );
        assert_eq!(
            refusal(&features, &[numeric_column("PetalLength").dtype(DType::String)]).split(';').next(),
            Some("FEATURE004: feature `PetalLength`: expected numbers, found string")
        );
        assert!(refusal(&features, &[numeric_column("total")]).starts_with("FEATURE005: feature `total`: "));
        assert_eq!(
            refusal(&features, &[numeric_column("PetalLength").shape(&[2, 0])]),
            "FEATURE006: feature `PetalLength`: the column's shape [2, 0] has no elements; use sizes of 1 or more"
        );
        assert_eq!(
            refusal(&features, &[numeric_column("PetalWidth"), numeric_column("PetalLength")]),
            "FEATURE007: feature `PetalLength` has batches of 8, `PetalWidth` of 4; give every feature the same number \
             of rows"
        );
    }
}
