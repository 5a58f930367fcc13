//! Runs single steps: each kernel reads its inputs from banks and writes its outputs there.
//!
//! Knows where values lie and which shapes they have; the arithmetic of large kernels stands in `kernels`.

mod dense;
mod elementwise;
mod entropy;
mod layout;
mod random;
mod reduce;
mod update;

use super::bank::{Bank, Dims, Kind, Stored, for_kind};
use super::error::EngineError;
use super::plan::{Kernel, Plan, Step, Value};
use crate::core::Result;
use crate::graph::ops::{Op, StateOp};

/// What random streams depend on beside the op's name.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StreamKey {
    pub seed: u64,
    pub step: u64,
    pub replica: usize,
}

/// One step about to run: its plan, the shapes, and the banks that it may touch.
pub(super) struct Context<'a> {
    pub plan: &'a Plan,
    /// The shapes of all values: of one replica, or of all of the bank's replicas together.
    pub dims: &'a [Dims],
    /// The bank that the step writes: that of some replicas, or the shared one.
    pub bank: &'a mut Bank,
    /// Which of the bank's replicas it runs for, or the first of those.
    pub replica: usize,
    /// For how many at once.
    pub replicas: usize,
    /// What all replicas share, where `bank` is not that.
    pub shared: Option<&'a Bank>,
    pub stream: StreamKey,
}

/// Read access while an output is taken out of the bank.
#[derive(Clone, Copy)]
pub(super) struct Inputs<'a> {
    plan: &'a Plan,
    dims: &'a [Dims],
    bank: &'a Bank,
    replica: usize,
    shared: Option<&'a Bank>,
}

impl<'a> Inputs<'a> {
    #[inline]
    pub fn dims(&self, value: usize) -> &'a Dims {
        &self.dims[value]
    }

    #[inline]
    pub fn read<T: Stored>(&self, value: usize) -> &'a [T] {
        self.read_on(value, self.dims[value].elements())
    }

    /// `length` elements from where `value` lies on: its own and those of its neighbours.
    #[inline]
    pub fn read_on<T: Stored>(&self, value: usize, length: usize) -> &'a [T] {
        let slot = self.plan.values[value].slot;
        match self.shared {
            Some(shared) if slot.shared => shared.read(slot.part, 0, length),
            _ => self.bank.read(slot.part, self.replica, length),
        }
    }

    /// The one number of a scalar.
    #[inline]
    pub fn scalar<T: Stored>(&self, value: usize) -> T {
        self.read::<T>(value)[0]
    }
}

impl Context<'_> {
    fn kind(&self, value: usize) -> Kind {
        self.plan.values[value].slot.kind
    }

    fn dims(&self, value: usize) -> Dims {
        self.dims[value]
    }

    fn inputs(&self) -> Inputs<'_> {
        let Context { plan, dims, replica, shared, .. } = *self;
        Inputs { plan, dims, bank: self.bank, replica, shared }
    }

    /// Writes `value` by `compute`, which sees its elements and can read all others.
    #[inline]
    fn write<T: Stored, R>(&mut self, value: usize, compute: impl FnOnce(&mut [T], Inputs<'_>) -> R) -> R {
        let Value { slot, .. } = self.plan.values[value];
        let length = self.dims[value].elements();
        let start = slot.part.start(self.replica, length);
        let mut memory = self.bank.take::<T>(slot.part, self.replica);
        let result = compute(&mut memory[start..start + length], self.inputs());
        self.bank.put(slot.part, self.replica, memory);
        result
    }

    /// Runs one step.
    pub fn run(&mut self, step: &Step) -> Result<()> {
        let output = step.outputs.first().copied();
        match &step.kernel {
            Kernel::Copy => self.copy(step),
            Kernel::Dense { .. } | Kernel::DenseInputGradient { .. } | Kernel::DenseParameterGradients => {
                self.dense(step)
            }
            Kernel::ScaledCrossEntropy => {
                return match self.kind(step.outputs[0]) {
                    Kind::F32 => self.sparse_cross_entropy::<f32>(step),
                    _ => self.sparse_cross_entropy::<f64>(step),
                };
            }
            Kernel::Update { op, length } => match self.kind(step.inputs[0]) {
                Kind::F32 => self.apply_gradient::<f32>(op, *length, step),
                _ => self.apply_gradient::<f64>(op, *length, step),
            },
            Kernel::Op(op) => match op {
                Op::Unary(unary) => self.unary(*unary, step),
                Op::Binary(binary) => self.binary(*binary, step),
                Op::AddN => self.add_n(step),
                Op::Compare(compare) => self.compare(*compare, step),
                Op::Array(array) => return self.layout(array, step),
                Op::Reduce { reduction, axes, .. } => self.reduce(*reduction, axes, step),
                Op::ArgMax { axis } => self.argmax(*axis, step),
                Op::L2Loss => self.l2_loss(step),
                Op::MatMul { .. } | Op::BiasAdd | Op::BiasAddGrad => self.dense(step),
                Op::Entropy(entropy) => return self.entropy(*entropy, step),
                Op::Random { kind, .. } => self.random(*kind, step),
                Op::State(op) => self.state(op, step),
                Op::CheckNumerics { message } => return self.check_numerics(message, step),
                Op::Placeholder { .. }
                | Op::Const { .. }
                | Op::NoOp
                | Op::CrossReplicaSum { .. }
                | Op::ScalarSummary => {
                    debug_assert!(output.is_some(), "sources and collectives are no steps");
                }
            },
        }
        Ok(())
    }

    fn copy(&mut self, step: &Step) {
        for_kind!(self.kind(step.outputs[0]), T => {
            self.write::<T, _>(step.outputs[0], |out, inputs| out.copy_from_slice(inputs.read(step.inputs[0])));
        });
    }

    fn check_numerics(&mut self, message: &str, step: &Step) -> Result<()> {
        self.copy(step);
        let finite = match self.kind(step.outputs[0]) {
            Kind::F32 => self.write::<f32, _>(step.outputs[0], |out, _| out.iter().all(|value| value.is_finite())),
            _ => self.write::<f64, _>(step.outputs[0], |out, _| out.iter().all(|value| value.is_finite())),
        };
        if finite {
            return Ok(());
        }
        let op = format!("CheckNumerics `{}`", self.plan.names[step.name]);
        Err(EngineError::NotFinite { op, message: message.to_string() }.into())
    }

    fn state(&mut self, op: &StateOp, step: &Step) {
        match op {
            StateOp::VarHandleOp { .. } | StateOp::ReadVariableOp { .. } => {}
            StateOp::AssignVariableOp | StateOp::AssignAddVariableOp | StateOp::AssignSubVariableOp => {
                self.assign(op, step);
            }
            // Optimizers' ops run as `Kernel::Update`.
            _ => {}
        }
    }
}
