//! The tensors that stand for a dataset's elements in a graph.

use crate::core::{DType, Shape};
use crate::data::ElementSpec;
use crate::graph::{Graph, Tensor, Tensors};

/// The tensors that stand for a dataset's elements, in the order in which batches feed them.
#[derive(Clone, Debug)]
pub(crate) struct InputTensors {
    pub features: Tensors,
    pub labels: Option<Tensor>,
    /// Features in their order, then the labels.
    pub feeds: Vec<Tensor>,
}

impl InputTensors {
    /// Placeholders in `graph` for elements of `spec`.
    pub fn new(graph: &Graph, spec: &ElementSpec) -> Self {
        let placeholder = |name: &str, dtype: DType, shape: &Shape| {
            graph.placeholder(&format!("IteratorGetNext/{name}"), dtype, shape.clone())
        };
        let mut features = Tensors::empty(graph);
        for (name, dtype, shape) in &spec.features {
            features.insert(name.clone(), placeholder(name, *dtype, shape));
        }
        let labels = spec.labels.as_ref().map(|(dtype, shape)| placeholder("labels", *dtype, shape));
        let feeds = features.entries().iter().map(|(_, tensor)| tensor.clone()).chain(labels.clone()).collect();
        InputTensors { features, labels, feeds }
    }
}
