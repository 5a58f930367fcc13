//! Reverse-mode differentiation: gradients as further nodes.

use super::ops::{self, Backward, Op, StateOp};
use super::{Graph, GraphError, NodeId, Tensor, Variable};
use crate::core::{Result, Shape};

/// The gradient of the scalar `loss` with respect to each variable, `None` where the loss does not depend on it.
/// TensorFlow: `tf.gradients`.
///
/// The gradients are nodes of the same graph, under `gradients/`.
///
/// # Errors
/// `GRAPH002` if `loss` is not one number, `GRAPH009` if an op on the way has no gradient.
pub fn gradients(loss: &Tensor, variables: &[Variable]) -> Result<Vec<Option<Tensor>>> {
    let targets: Vec<NodeId> = variables.iter().map(|variable| variable.handle().node).collect();
    if loss.shape() != Shape::scalar() {
        let expected = "a loss of shape []".to_string();
        return Err(GraphError::Shape { op: "gradients".to_string(), found: loss.shape(), expected }.into());
    }
    let graph = loss.graph();
    graph.name_scope("gradients", || Backpropagation::new(&graph, loss, &targets)?.run(loss, &targets))
}

struct Backpropagation<'a> {
    graph: &'a Graph,
    /// The name scope of this differentiation.
    scope: String,
    /// Whether a node lies on a way from a target to the loss.
    on_path: Vec<bool>,
    /// For each node and output, what has flowed in so far.
    arrived: Vec<Vec<Vec<Tensor>>>,
}

impl<'a> Backpropagation<'a> {
    fn new(graph: &'a Graph, loss: &Tensor, targets: &[NodeId]) -> Result<Self> {
        let nodes = graph.nodes();
        let mut on_path = vec![false; loss.node + 1];
        for &target in targets {
            if let Some(mark) = on_path.get_mut(target) {
                *mark = true;
            }
        }
        // Inputs have smaller numbers, so one pass forward finds all that depends on a target.
        for id in 0..=loss.node {
            on_path[id] = on_path[id] || nodes[id].inputs.iter().any(|&(input, _)| on_path[input]);
        }
        let arrived = nodes[..=loss.node].iter().map(|node| vec![Vec::new(); node.outputs.len()]).collect();
        Ok(Backpropagation { graph, scope: graph.scope(), on_path, arrived })
    }

    fn run(mut self, loss: &Tensor, targets: &[NodeId]) -> Result<Vec<Option<Tensor>>> {
        let seed = self.graph.number_like("grad_ys_0", 1.0, loss)?;
        self.arrived[loss.node][loss.output].push(seed);
        let mut found: Vec<Option<Tensor>> = vec![None; targets.len()];
        for id in (0..=loss.node).rev() {
            if !self.on_path[id] || self.arrived[id].iter().all(Vec::is_empty) {
                continue;
            }
            let node = self.graph.node(id);
            let scope = format!("{}/{}_grad", self.scope, node.name);
            let gradients = self.graph.in_scope(scope, || {
                self.arrived[id].iter().map(|parts| sum(parts)).collect::<Result<Vec<Option<Tensor>>>>()
            })?;
            for (target, result) in targets.iter().zip(&mut found) {
                if *target == id {
                    *result = gradients[0].clone();
                }
            }
            // A read passes its gradient to the variable.
            if let Op::State(StateOp::ReadVariableOp { .. }) = node.op {
                self.arrived[node.inputs[0].0][0].extend(gradients.into_iter().flatten());
                continue;
            }
            if !node.inputs.iter().any(|&(input, _)| self.on_path[input]) {
                continue;
            }
            let scope = format!("{}/{}_grad", self.scope, node.name);
            let backward = Backward { graph: self.graph, id, node: &node, gradients: &gradients };
            let flows = self.graph.in_scope(scope, || node.op.gradient(&backward))?;
            for (&(input, output), flow) in node.inputs.iter().zip(flows) {
                if let Some(flow) = flow
                    && self.on_path[input]
                {
                    self.arrived[input][output].push(flow);
                }
            }
        }
        Ok(found)
    }
}

fn sum(parts: &[Tensor]) -> Result<Option<Tensor>> {
    match parts {
        [] => Ok(None),
        [one] => Ok(Some(one.clone())),
        several => ops::add_n(several).map(Some),
    }
}
