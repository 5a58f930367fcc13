//! The penalties on large weights as a loss.

use crate::core::Result;
use crate::graph::ops::Op;
use crate::graph::{Graph, Tensor};
use crate::layers::REGULARIZATION_LOSSES;

/// The sum of all penalties that layers with a [`Regularizer`](crate::layers::Regularizer) added: one number, 0 without
/// any. It counts only where it is added to the loss that is minimized. TensorFlow:
/// `tf.losses.get_regularization_loss`.
///
/// # Errors
/// `GRAPH003` if layers of float32 and of float64 have penalties.
///
/// # Examples
/// ```
/// use tpulab as tf;
/// use tpulab::prelude::*;
/// let graph = Graph::new();
/// let x = graph.placeholder("x", DType::Float32, Shape::new(&[None, Some(4)]));
/// let labels = graph.placeholder("labels", DType::Int32, Shape::new(&[None]));
/// let penalty = tf::layers::l2_regularizer(0.01)?;
/// let logits = tf::layers::Dense::new(3).kernel_regularizer(penalty).apply(&x)?;
/// let loss = tf::losses::sparse_softmax_cross_entropy(&labels, &logits)?;
/// let total = tf::add(&loss, &tf::losses::get_regularization_loss(&graph)?)?;
/// # Ok::<(), Error>(())
/// ```
pub fn get_regularization_loss(graph: &Graph) -> Result<Tensor> {
    let penalties = graph.collection(REGULARIZATION_LOSSES);
    if penalties.is_empty() {
        return Ok(graph.constant(0.0f32));
    }
    let penalties: Vec<&Tensor> = penalties.iter().collect();
    graph.add(Op::AddN, "total_regularization_loss", &penalties)
}
