//! A compiled graph: straight-line steps over places that are known beforehand.

use super::bank::{Bank, Dims, Part, Slot};
use super::compile::gradient_input;
use super::error::EngineError;
use super::together::runs_together;
use crate::core::{Array, DType, Result, Shape};
use crate::graph::GraphError;
use crate::graph::ops::{Op, Signature, StateOp};
use std::fmt;

/// A compiled graph for certain fetches: what to run, in which order, over which memory.
///
/// A plan does not change while it runs and holds no values, so threads share it. The number of rows is a matter of
/// each run.
pub struct Plan {
    pub(super) values: Vec<Value>,
    /// Steps whose results depend on the number of rows only: run when that changes.
    pub(super) setup: Vec<Step>,
    pub(super) phases: Vec<Phase>,
    pub(super) feeds: Vec<FeedSlot>,
    pub(super) fetches: Vec<usize>,
    pub(super) constants: Vec<(Slot, Array)>,
    pub(super) shape_rules: Vec<ShapeRule>,
    pub(super) names: Vec<String>,
    pub(super) replicas: usize,
    /// Whether some variable differs between replicas.
    pub(super) replicated_variables: bool,
}

/// A value: where it lies, and what it is in the graph.
#[derive(Clone, Debug)]
pub(super) struct Value {
    pub slot: Slot,
    /// Index into the plan's names.
    pub name: usize,
    pub output: usize,
}

/// What runs between two meetings of the replicas.
#[derive(Clone, Debug, Default)]
pub(super) struct Phase {
    /// Steps whose results all replicas share: they run once.
    pub once: Vec<Step>,
    /// Steps that each replica runs.
    pub each: Vec<Step>,
    /// Sums over the replicas at the end of the phase.
    pub collectives: Vec<Collective>,
}

/// A sum over replicas.
#[derive(Clone, Debug)]
pub(super) struct Collective {
    pub input: usize,
    pub output: usize,
    /// How many elements, where it is known beforehand: those of several values may lie one after the other.
    pub length: Option<usize>,
    pub groups: Option<Vec<Vec<usize>>>,
}

/// One step: a kernel with the values that it reads and writes.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub kernel: Kernel,
    pub inputs: Vec<usize>,
    pub outputs: Vec<usize>,
    /// Index into the plan's names, for messages.
    pub name: usize,
}

/// What a step computes: an op of the graph, or several fused into one.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kernel {
    /// One op.
    Op(Op),
    /// Copies a value, so that a later change of a variable does not reach it.
    Copy,
    /// Inputs: x, kernel, and the bias if there is one. `activation(x · kernel + bias)`.
    Dense { transpose_b: bool, bias: bool, activation: Activation },
    /// Inputs: dy, kernel, y. `(dy · kernelᵀ) · activation'(y)`.
    DenseInputGradient { transpose_b: bool, activation: Activation },
    /// Inputs: x, dy. Outputs: `xᵀ · dy` and the sums of dy's rows.
    DenseParameterGradients,
    /// Inputs: logits, labels, and a factor for each row or one for all. Outputs: the cross entropies, and their
    /// derivatives by the logits times the factor.
    ScaledCrossEntropy,
    /// An optimizer's op on `length` elements, those of one variable or of several that lie one after the other.
    Update { op: StateOp, length: usize },
}

/// The activations that a dense layer's kernel computes itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Activation {
    None,
    Relu,
    Sigmoid,
    Tanh,
    Elu,
}

/// A value that a run is given.
#[derive(Clone, Debug)]
pub(super) struct FeedSlot {
    /// Which array of the feed.
    pub column: usize,
    pub value: usize,
    pub dtype: DType,
    pub shape: Shape,
}

/// How the shapes of values follow from those of others.
#[derive(Clone, Debug)]
pub(super) struct ShapeRule {
    pub op: Op,
    pub inputs: Vec<usize>,
    /// The values whose shapes it gives.
    pub outputs: Vec<usize>,
    pub name: usize,
}

/// The shapes of all values for a certain number of rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Binding {
    /// Whether all that follows from the shapes is in its place.
    pub complete: bool,
    /// Those of one replica.
    pub dims: Vec<Dims>,
    /// For each phase and each of its steps: whether it may run over the rows of several replicas at once.
    pub together: Vec<Vec<bool>>,
}

impl Plan {
    /// How many values it fetches.
    pub fn fetch_count(&self) -> usize {
        self.fetches.len()
    }

    /// How many steps one run takes, once shapes are known.
    pub fn step_count(&self) -> usize {
        self.phases.iter().map(|phase| phase.once.len() + phase.each.len() + phase.collectives.len()).sum()
    }

    /// The name of the node that gives a value, as a user knows an input.
    pub(super) fn node_name(&self, value: usize) -> String {
        self.names[self.values[value].name].clone()
    }

    /// The graph name of a value.
    pub(super) fn value_name(&self, value: usize) -> String {
        let Value { name, output, .. } = self.values[value];
        format!("{}:{output}", self.names[name])
    }

    /// Computes the shapes of all values from those of the feeds.
    pub(super) fn bind(&self, binding: &mut Binding, feed_shapes: &[Vec<usize>]) -> Result<()> {
        binding.dims.clear();
        binding.dims.resize(self.values.len(), Dims::default());
        for (feed, shape) in self.feeds.iter().zip(feed_shapes) {
            binding.dims[feed.value] = self.dims(feed.value, shape)?;
        }
        for rule in &self.shape_rules {
            let shapes: Vec<Shape> =
                rule.inputs.iter().map(|&input| Shape::known(binding.dims[input].sizes())).collect();
            let signatures: Vec<Signature<'_>> = rule
                .inputs
                .iter()
                .zip(&shapes)
                .map(|(&input, shape)| Signature { dtype: self.rule_dtype(input), shape })
                .collect();
            let outputs = rule.op.infer(&signatures).map_err(|error| error.at(&self.names[rule.name]))?;
            for (&value, (_, shape)) in rule.outputs.iter().zip(outputs) {
                let sizes = shape.to_known().ok_or_else(|| EngineError::Unsupported {
                    op: self.names[rule.name].clone(),
                    reason: format!("its shape {shape} cannot be known before it runs"),
                })?;
                binding.dims[value] = self.dims(value, &sizes)?;
            }
        }
        for step in self.phases.iter().flat_map(|phase| phase.once.iter().chain(&phase.each)) {
            self.check_change(step, &binding.dims)?;
        }
        let dims = &binding.dims;
        let of_phase = |phase: &Phase| phase.each.iter().map(|step| runs_together(self, dims, step)).collect();
        binding.together = self.phases.iter().map(of_phase).collect();
        Ok(())
    }

    /// A value whose shape is known only now must still be the variable's.
    fn check_change(&self, step: &Step, dims: &[Dims]) -> Result<()> {
        let value = match &step.kernel {
            Kernel::Update { op, .. } => gradient_input(op),
            Kernel::Op(Op::State(_)) => Some(1),
            _ => None,
        };
        let Some(value) = value.and_then(|value| step.inputs.get(value)) else { return Ok(()) };
        let (left, right) = (dims[step.inputs[0]], dims[*value]);
        if left == right {
            return Ok(());
        }
        let rule = "a variable keeps its shape".to_string();
        let (left, right) = (Shape::known(left.sizes()), Shape::known(right.sizes()));
        Err(GraphError::Shapes { op: self.names[step.name].clone(), left, right, rule }.into())
    }

    // Graph dtypes were checked when the graph was built; in float64 precision both sides are stored alike.
    fn rule_dtype(&self, value: usize) -> DType {
        self.values[value].slot.kind.dtype()
    }

    fn dims(&self, value: usize, sizes: &[usize]) -> Result<Dims> {
        Dims::new(sizes).ok_or_else(|| {
            let reason = format!("rank {} is beyond {}", sizes.len(), Dims::MAX_RANK);
            EngineError::Unsupported { op: self.value_name(value), reason }.into()
        })
    }

    /// About how many multiplications and additions all replicas do in one run.
    pub(super) fn work(&self, dims: &[Dims]) -> usize {
        let of_step = |step: &Step| {
            let (left, right) = (step.inputs.first(), step.outputs.first());
            let [left, right] = [left, right].map(|value| value.map_or((1, 1), |&value| dims[value].matrix()));
            let elements = left.0.saturating_mul(left.1).max(right.0.saturating_mul(right.1));
            match &step.kernel {
                Kernel::Dense { .. } | Kernel::DenseInputGradient { .. } | Kernel::Op(Op::MatMul { .. }) => {
                    left.0.saturating_mul(left.1).saturating_mul(right.1)
                }
                // The rows are those of the inputs.
                Kernel::DenseParameterGradients => left.0.saturating_mul(right.0).saturating_mul(right.1),
                _ => elements,
            }
        };
        let steps = self.phases.iter().flat_map(|phase| &phase.each);
        steps.map(of_step).fold(0, usize::saturating_add).saturating_mul(self.replicas)
    }

    /// Makes room for all values that lie in `bank`, shared ones or those of `replicas`.
    pub(super) fn reserve(&self, dims: &[Dims], bank: &mut Bank, replicas: usize, shared: bool) {
        for (value, dims) in self.values.iter().zip(dims) {
            let Slot { kind, shared: value_shared, part } = value.slot;
            if value_shared == shared && !matches!(part, Part::Variable(_)) {
                super::bank::for_kind!(kind, T => bank.reserve::<T>(part, replicas, dims.elements()));
            }
        }
    }

    /// The places of the variables that it changes once for all replicas, with their lengths.
    pub(super) fn shared_changes(&self, dims: &[Dims]) -> Vec<(Slot, usize)> {
        let mut changes = Vec::new();
        for step in self.phases.iter().flat_map(|phase| &phase.once) {
            let (op, length) = match &step.kernel {
                Kernel::Update { op, length } => (op, *length),
                Kernel::Op(Op::State(op)) => (op, dims[step.inputs[0]].elements()),
                _ => continue,
            };
            let changed = &step.inputs[..op.changed_variables()];
            changes.extend(changed.iter().map(|&value| (self.values[value].slot, length)));
        }
        changes
    }
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Plan({} values, {} steps, {} replicas)", self.values.len(), self.step_count(), self.replicas)?;
        for (number, phase) in self.phases.iter().enumerate() {
            let describe = |f: &mut fmt::Formatter<'_>, title: &str, steps: &[Step]| -> fmt::Result {
                for step in steps {
                    let kernel = match &step.kernel {
                        Kernel::Op(op) => op.type_name().to_string(),
                        fused => format!("{fused:?}"),
                    };
                    writeln!(f, "  phase {number} {title}: {} = {kernel}", self.names[step.name])?;
                }
                Ok(())
            };
            describe(f, "once", &phase.once)?;
            describe(f, "each", &phase.each)?;
            for collective in &phase.collectives {
                writeln!(f, "  phase {number} all-reduce: {}", self.value_name(collective.output))?;
            }
        }
        Ok(())
    }
}
