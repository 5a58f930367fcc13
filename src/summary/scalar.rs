//! Numbers that a model function asks to be written.

use crate::core::Result;
use crate::graph::ops::Op;
use crate::graph::{Graph, Tensor};

/// The collection of a graph's summaries. TensorFlow: `tf.GraphKeys.SUMMARIES`.
const SUMMARIES: &str = "summaries";

/// Asks for `value`, a number `[]`, to be written to the event file under `name` while an
/// [`Estimator`](crate::estimator::Estimator) trains, every `save_summary_steps`. TensorFlow: `tf.summary.scalar`.
///
/// The tag is the name of the node, so a second summary called `accuracy` becomes `accuracy_1`, and so does one whose
/// name a metric took first. A metric's `update` gives a cumulative curve: it counts in the batch at hand whenever the
/// summary is written, and starts anew with each call of `train`. A TPU writes no summaries.
///
/// # Errors
/// `GRAPH003` for what is no number, `GRAPH002` for a tensor with dimensions.
///
/// # Examples
/// ```
/// use tpulab as tf;
/// use tpulab::prelude::*;
/// let graph = Graph::new();
/// let labels = graph.constant(vec![0i64, 1]);
/// let accuracy = tf::metrics::accuracy(&labels, &labels)?;
/// let summary = tf::summary::scalar("share", &accuracy.update)?;
/// assert_eq!(summary.name(), "share:0");
/// assert!(tf::summary::scalar("labels", &labels).is_err());
/// # Ok::<(), Error>(())
/// ```
pub fn scalar(name: &str, value: &Tensor) -> Result<Tensor> {
    let graph = value.graph();
    let summary = graph.add(Op::ScalarSummary, name, &[value])?;
    graph.add_to_collection(SUMMARIES, &summary);
    Ok(summary)
}

/// The tags of a graph's summaries, each with the number that it shows.
pub fn scalars(graph: &Graph) -> Vec<(String, Tensor)> {
    let node_of = |summary: &Tensor| graph.node(summary.node);
    let value_of = |summary: Tensor| {
        let (node, output) = node_of(&summary).inputs[0];
        (node_of(&summary).name, Tensor { graph: graph.clone(), node, output })
    };
    graph.collection(SUMMARIES).into_iter().map(value_of).collect()
}
