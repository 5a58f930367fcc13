//! The layer that makes one row of each example.

use crate::core::Result;
use crate::graph::{GraphError, Tensor, ops};

/// `[batch, …]` as `[batch, elements of one example]`. TensorFlow: `tf.layers.flatten`.
///
/// # Errors
/// `GRAPH002` if `x` has no batch dimension, or a size after it is unknown.
pub fn flatten(x: &Tensor) -> Result<Tensor> {
    let shape = x.shape();
    let refuse = |expected: &str| {
        let (op, expected) = ("flatten".to_string(), expected.to_string());
        crate::core::Error::from(GraphError::Shape { op, found: shape.clone(), expected })
    };
    let Some((_, inner)) = shape.sizes().split_first() else {
        return Err(refuse("a batch dimension"));
    };
    let Some(inner) = inner.iter().copied().collect::<Option<Vec<usize>>>() else {
        return Err(refuse("known sizes after the batch dimension"));
    };
    let elements: usize = inner.iter().product();
    x.graph().name_scope("flatten", || ops::reshape(x, &[-1, elements as isize]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{DType, Shape};
    use crate::graph::Graph;

    #[test]
    fn examples_become_rows() {
        let graph = Graph::new();
        let of = |sizes: &[Option<usize>]| graph.placeholder("x", DType::Float32, Shape::new(sizes));
        let flat = flatten(&of(&[None, Some(28), Some(28)])).unwrap();
        assert_eq!((flat.name(), flat.shape().to_string()), ("flatten/Reshape:0".to_string(), "[?, 784]".to_string()));
        assert_eq!(flatten(&of(&[Some(8)])).unwrap().shape().to_string(), "[8, 1]");
        assert_eq!(
            flatten(&of(&[None, None])).unwrap_err().to_string(),
            "GRAPH002: flatten: expected known sizes after the batch dimension, found shape [?, ?]"
        );
        assert_eq!(
            flatten(&of(&[])).unwrap_err().to_string(),
            "GRAPH002: flatten: expected a batch dimension, found shape []"
        );
    }
}
