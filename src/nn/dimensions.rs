//! How labels, predictions and weights are brought to shapes that go together.

use crate::core::{Result, Shape};
use crate::graph::{GraphError, Tensor, ops};

/// Refuses labels that could not have the shape of what they are compared with.
pub(crate) fn require_same_shape(place: &str, labels: &Tensor, others: &Tensor) -> Result<()> {
    let (left, right) = (labels.shape(), others.shape());
    if left.is_compatible(&right) {
        return Ok(());
    }
    let rule = "both must have one shape".to_string();
    Err(GraphError::Shapes { op: place.to_string(), left, right, rule }.into())
}

/// Takes a last dimension of size 1 away from labels or from predictions if that makes
/// `rank(predictions) - rank(labels)` what is expected. TensorFlow: `remove_squeezable_dimensions`.
pub(crate) fn squeeze_to_rank_difference(
    labels: &Tensor,
    predictions: &Tensor,
    expected: isize,
) -> Result<(Tensor, Tensor)> {
    let difference = predictions.shape().rank() as isize - labels.shape().rank() as isize;
    if difference == expected + 1 && may_squeeze(&predictions.shape()) {
        return Ok((labels.clone(), squeeze_last(predictions)?));
    }
    if difference == expected - 1 && may_squeeze(&labels.shape()) {
        return Ok((squeeze_last(labels)?, predictions.clone()));
    }
    Ok((labels.clone(), predictions.clone()))
}

fn may_squeeze(shape: &Shape) -> bool {
    shape.sizes().last().is_some_and(|size| size.is_none_or(|size| size == 1))
}

/// Without the last dimension, which must have size 1.
pub(crate) fn squeeze_last(x: &Tensor) -> Result<Tensor> {
    x.graph().name_scope("remove_squeezable_dimensions", || ops::squeeze(x, &[-1]))
}

/// Refuses weights that do not stretch to `values`: one number, or the same rank with each size equal or 1.
pub(crate) fn check_broadcast_of_weights(place: &str, weights: &Tensor, values: &Tensor) -> Result<()> {
    let (left, right) = (weights.shape(), values.shape());
    let stretches = |(own, target): (&Option<usize>, &Option<usize>)| {
        own.is_none_or(|own| own == 1 || target.is_none_or(|target| target == own))
    };
    let fits = left.rank() == 0 || left.rank() == right.rank() && left.sizes().iter().zip(right.sizes()).all(stretches);
    if fits {
        return Ok(());
    }
    let rule = "weights must be one number, or have the rank of the values and each size equal to theirs or 1";
    Err(GraphError::Shapes { op: format!("{place} weights"), left, right, rule: rule.to_string() }.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::DType;
    use crate::graph::Graph;

    fn of_shape(graph: &Graph, sizes: &[Option<usize>]) -> Tensor {
        graph.placeholder("x", DType::Float32, Shape::new(sizes))
    }

    #[test]
    fn only_a_last_size_that_may_be_one_is_squeezed() {
        let graph = Graph::new();
        let rows = of_shape(&graph, &[None]);
        let column = of_shape(&graph, &[None, Some(1)]);
        let table = of_shape(&graph, &[None, Some(3)]);
        let shapes = |pair: (Tensor, Tensor)| (pair.0.shape().to_string(), pair.1.shape().to_string());
        let of =
            |labels, predictions, expected| shapes(squeeze_to_rank_difference(labels, predictions, expected).unwrap());
        assert_eq!(of(&column, &rows, 0), ("[?]".to_string(), "[?]".to_string()));
        assert_eq!(of(&rows, &column, 0), ("[?]".to_string(), "[?]".to_string()));
        assert_eq!(of(&column, &table, 1), ("[?]".to_string(), "[?, 3]".to_string()));
        assert_eq!(of(&rows, &table, 0), ("[?]".to_string(), "[?, 3]".to_string()));
    }

    #[test]
    fn weights_of_another_rank_or_size_are_refused() {
        let graph = Graph::new();
        let values = of_shape(&graph, &[Some(4), Some(2)]);
        for fitting in [&[][..], &[Some(4), Some(1)], &[Some(1), Some(2)], &[None, Some(2)]] {
            check_broadcast_of_weights("mean", &of_shape(&graph, fitting), &values).unwrap();
        }
        assert!(check_broadcast_of_weights("mean", &of_shape(&graph, &[Some(2)]), &values).is_err());
        assert_eq!(
            check_broadcast_of_weights("mean", &of_shape(&graph, &[Some(3), Some(1)]), &values)
                .unwrap_err()
                .to_string(),
            "GRAPH001: mean weights: left is [3, 1], right is [4, 2]; weights must be one number, or have the rank of \
             the values and each size equal to theirs or 1"
        );
    }
}
