//! Which ops run together as one step.

use super::compile::{Compiler, Edge};
use super::plan::{Activation, Kernel};
use crate::graph::NodeId;
use crate::graph::ops::{Binary, Entropy, Op, StateOp, Unary};
use std::collections::HashMap;

/// A step before it has its place: kernel, and edges of the graph.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub kernel: Kernel,
    /// The node whose name the step carries.
    pub node: NodeId,
    /// All nodes that it stands for.
    pub nodes: Vec<NodeId>,
    pub inputs: Vec<Edge>,
    pub outputs: Vec<Edge>,
}

/// Who reads each edge, apart from the graph's own `inputs`: after activations' gradients were turned to outputs.
struct Readers {
    inputs: HashMap<NodeId, Vec<Edge>>,
    of: HashMap<Edge, Vec<NodeId>>,
}

/// One draft for each step: one op, or several that belong together.
pub(super) fn draft(compiler: &Compiler<'_>, fetched: &[Edge], unfused: bool) -> Vec<Draft> {
    let readers = Readers::new(compiler, fetched, unfused);
    let steps = compiler.nodes.iter().enumerate().map(|(id, node)| {
        (compiler.needed[id] && is_step(compiler, id)).then(|| Draft {
            kernel: Kernel::Op(node.op.clone()),
            node: id,
            nodes: vec![id],
            inputs: readers.inputs[&id].clone(),
            outputs: (0..node.outputs.len()).map(|output| (id, output)).collect(),
        })
    });
    let mut drafts: Vec<Option<Draft>> = steps.collect();
    if !unfused {
        for id in 0..compiler.nodes.len() {
            if drafts[id].is_some() {
                fuse_bias(compiler, &readers, &mut drafts, id);
                fuse_activation(compiler, &readers, &mut drafts, id);
                fuse_activation_gradient(compiler, &readers, &mut drafts, id);
                fuse_parameter_gradients(compiler, &mut drafts, id);
                fuse_cross_entropy(compiler, &readers, &mut drafts, id);
            }
        }
    }
    drafts.into_iter().flatten().collect()
}

fn is_step(compiler: &Compiler<'_>, id: NodeId) -> bool {
    let op = &compiler.nodes[id].op;
    let source = matches!(
        op,
        Op::Const { .. }
            | Op::Placeholder { .. }
            | Op::NoOp
            | Op::State(StateOp::VarHandleOp { .. } | StateOp::ReadVariableOp { .. })
    );
    !source && compiler.alias_of(id).is_none()
}

impl Readers {
    fn new(compiler: &Compiler<'_>, fetched: &[Edge], unfused: bool) -> Self {
        // A gradient of relu may read relu's output instead of its input: both are positive at the same places.
        let mut relus: HashMap<Edge, Edge> = HashMap::new();
        for (id, node) in compiler.nodes.iter().enumerate() {
            if compiler.needed[id] && node.op == Op::Unary(Unary::Relu) {
                // The first one: a later relu may wait for this gradient.
                relus.entry(node.inputs[0]).or_insert((id, 0));
            }
        }
        let mut readers = Readers { inputs: HashMap::new(), of: HashMap::new() };
        for (id, node) in compiler.nodes.iter().enumerate().filter(|(id, _)| compiler.needed[*id]) {
            let mut inputs = node.inputs.clone();
            if node.op == Op::Binary(Binary::ReluGrad)
                && !unfused
                && let Some(&output) = relus.get(&inputs[1])
            {
                inputs[1] = output;
            }
            for &input in &inputs {
                readers.of.entry(input).or_default().push(id);
            }
            readers.inputs.insert(id, inputs);
        }
        for &edge in fetched {
            // Stands for the caller: no node has this number.
            readers.of.entry(edge).or_default().push(NodeId::MAX);
        }
        readers
    }

    /// Whether `reader` alone reads `edge`.
    fn only(&self, edge: Edge, reader: NodeId) -> bool {
        self.of.get(&edge).is_some_and(|readers| readers.as_slice() == [reader])
    }
}

/// matmul + bias.
fn fuse_bias(compiler: &Compiler<'_>, readers: &Readers, drafts: &mut [Option<Draft>], id: NodeId) {
    if compiler.nodes[id].op != Op::BiasAdd {
        return;
    }
    let product = readers.inputs[&id][0];
    let Op::MatMul { transpose_a: false, transpose_b } = compiler.nodes[product.0].op else { return };
    if !readers.only(product, id) || !compiler.nodes[id].control_inputs.is_empty() {
        return;
    }
    let Some(matmul) = drafts[product.0].take() else { return };
    let mut inputs = matmul.inputs;
    inputs.push(readers.inputs[&id][1]);
    let kernel = Kernel::Dense { transpose_b, bias: true, activation: Activation::None };
    drafts[id] = Some(Draft { kernel, node: id, nodes: vec![product.0, id], inputs, outputs: vec![(id, 0)] });
}

/// … + activation.
fn fuse_activation(compiler: &Compiler<'_>, readers: &Readers, drafts: &mut [Option<Draft>], id: NodeId) {
    let activation = match compiler.nodes[id].op {
        Op::Unary(Unary::Relu) => Activation::Relu,
        Op::Unary(Unary::Sigmoid) => Activation::Sigmoid,
        Op::Unary(Unary::Tanh) => Activation::Tanh,
        Op::Unary(Unary::Elu) => Activation::Elu,
        _ => return,
    };
    let input = readers.inputs[&id][0];
    if !readers.only(input, id) || !compiler.nodes[id].control_inputs.is_empty() {
        return;
    }
    let Some(Draft { kernel: Kernel::Dense { transpose_b, bias, activation: Activation::None }, .. }) = drafts[input.0]
    else {
        return;
    };
    let Some(dense) = drafts[input.0].take() else { return };
    let mut nodes = dense.nodes;
    nodes.push(id);
    let kernel = Kernel::Dense { transpose_b, bias, activation };
    drafts[id] = Some(Draft { kernel, node: id, nodes, inputs: dense.inputs, outputs: vec![(id, 0)] });
}

/// dy · kernelᵀ, times the derivative of the activation below.
fn fuse_activation_gradient(compiler: &Compiler<'_>, readers: &Readers, drafts: &mut [Option<Draft>], id: NodeId) {
    let inputs = &readers.inputs[&id];
    let (activation, gradient, output) = match compiler.nodes[id].op {
        Op::Binary(Binary::ReluGrad) => (Activation::Relu, inputs[0], inputs[1]),
        Op::Binary(Binary::EluGrad) => (Activation::Elu, inputs[0], inputs[1]),
        Op::Binary(Binary::SigmoidGrad) => (Activation::Sigmoid, inputs[1], inputs[0]),
        Op::Binary(Binary::TanhGrad) => (Activation::Tanh, inputs[1], inputs[0]),
        _ => return,
    };
    let Op::MatMul { transpose_a: false, transpose_b } = compiler.nodes[gradient.0].op else { return };
    let same_shape = compiler.nodes[gradient.0].outputs[0].1 == compiler.nodes[output.0].outputs[output.1].1;
    if !readers.only(gradient, id) || !same_shape || !compiler.nodes[id].control_inputs.is_empty() {
        return;
    }
    let Some(matmul) = drafts[gradient.0].take() else { return };
    let mut inputs = matmul.inputs;
    inputs.push(output);
    let kernel = Kernel::DenseInputGradient { transpose_b, activation };
    drafts[id] = Some(Draft { kernel, node: id, nodes: vec![gradient.0, id], inputs, outputs: vec![(id, 0)] });
}

/// xᵀ · dy together with the sums of dy's rows.
fn fuse_parameter_gradients(compiler: &Compiler<'_>, drafts: &mut [Option<Draft>], id: NodeId) {
    let Op::MatMul { transpose_a: true, transpose_b: false } = compiler.nodes[id].op else { return };
    let Some(product) = &drafts[id] else { return };
    let gradient = product.inputs[1];
    let is_bias = |draft: &Option<Draft>| {
        draft.as_ref().is_some_and(|draft| draft.kernel == Kernel::Op(Op::BiasAddGrad) && draft.inputs[0] == gradient)
    };
    let Some(bias) = drafts.iter().position(is_bias) else { return };
    let plain = compiler.nodes[id].control_inputs.is_empty() && compiler.nodes[bias].control_inputs.is_empty();
    // What feeds the product must not wait for the bias's gradient.
    if !plain || product.inputs[0].0 > bias || !lie_together(compiler, id, bias) {
        return;
    }
    let inputs = product.inputs.clone();
    drafts[bias] = None;
    let kernel = Kernel::DenseParameterGradients;
    drafts[id] = Some(Draft { kernel, node: id, nodes: vec![bias, id], inputs, outputs: vec![(id, 0), (bias, 0)] });
}

/// Cross entropy together with the product of its derivative and the gradient that comes from above.
fn fuse_cross_entropy(compiler: &Compiler<'_>, readers: &Readers, drafts: &mut [Option<Draft>], id: NodeId) {
    if compiler.nodes[id].op != Op::Binary(Binary::Mul) || !compiler.nodes[id].control_inputs.is_empty() {
        return;
    }
    let &[left, right] = readers.inputs[&id].as_slice() else { return };
    let is_derivative = |(node, output): Edge| {
        output == 1 && compiler.nodes[node].op == Op::Entropy(Entropy::SparseSoftmaxCrossEntropyWithLogits)
    };
    let (derivative, scale) = if is_derivative(left) { (left, right) } else { (right, left) };
    if !is_derivative(derivative) || !readers.only(derivative, id) {
        return;
    }
    let shape = |(node, output): Edge| &compiler.nodes[node].outputs[output].1;
    let one_for_each_row = matches!(shape(scale).sizes(), [_, Some(1)]) && shape((id, 0)) == shape(derivative);
    if !one_for_each_row || !lie_together(compiler, id, derivative.0) || depends(compiler, scale.0, derivative.0) {
        return;
    }
    let Some(entropy) = drafts[derivative.0].take() else { return };
    let mut inputs = entropy.inputs;
    inputs.push(scale);
    let (node, nodes) = (derivative.0, vec![derivative.0, id]);
    let outputs = vec![(derivative.0, 0), (id, 0)];
    drafts[id] = Some(Draft { kernel: Kernel::ScaledCrossEntropy, node, nodes, inputs, outputs });
}

/// Whether all replicas share both nodes' values, or each has its own: a step writes to one bank.
fn lie_together(compiler: &Compiler<'_>, first: NodeId, second: NodeId) -> bool {
    compiler.uniform[first] == compiler.uniform[second]
}

/// Whether `node` needs the values that `source` gives.
fn depends(compiler: &Compiler<'_>, node: NodeId, source: NodeId) -> bool {
    let mut seen = vec![false; node + 1];
    let mut open = vec![node];
    while let Some(next) = open.pop() {
        if next == source {
            return true;
        }
        let node = &compiler.nodes[next];
        let inputs = node.inputs.iter().take(node.op.read_inputs(node.inputs.len())).map(|&(input, _)| input);
        for input in inputs.chain(node.control_inputs.iter().copied()) {
            // Inputs come before the nodes that read them.
            if input >= source && !std::mem::replace(&mut seen[input], true) {
                open.push(input);
            }
        }
    }
    false
}
