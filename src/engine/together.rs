//! Which steps may run once over the rows of several replicas.
//!
//! A small step costs more to start than to compute, so a thread runs the rows of all its replicas at once wherever each
//! row of a result depends on its own row of the inputs alone. The results have the same bits either way.

use super::bank::{Dims, Part};
use super::plan::{Kernel, Plan, Step};
use crate::graph::ops::{ArrayOp, Op};

/// Whether `step` gives the same bits for the rows of several replicas as for those of each one. `dims` are one
/// replica's.
pub(super) fn runs_together(plan: &Plan, dims: &[Dims], step: &Step) -> bool {
    let is_shared = |value: usize| plan.values[value].slot.shared;
    let in_buffers = step
        .inputs
        .iter()
        .chain(&step.outputs)
        .all(|&value| is_shared(value) || matches!(plan.values[value].slot.part, Part::Buffer(_)));
    if !in_buffers || step.outputs.is_empty() {
        return false;
    }
    let input = |index: usize| step.inputs[index];
    let rows = |value: usize| dims[value].sizes().first().copied();
    let rank = |value: usize| dims[value].sizes().len();
    let output = step.outputs[0];
    let keeps_rows = |value: usize| !is_shared(value) && rank(value) > 0 && rows(value) == rows(output);
    let row_by_row = || step.inputs.iter().all(|&value| keeps_rows(value));
    // A value that is the same everywhere, and has no part in the first dimension.
    let is_spread = |value: usize| is_shared(value) && (rank(value) < rank(output) || dims[value].elements() == 1);
    let element_by_element = || {
        step.inputs.iter().all(|&value| {
            is_spread(value) || (!is_shared(value) && rank(value) == rank(output) && rows(value) == rows(output))
        })
    };
    match &step.kernel {
        Kernel::Dense { .. } | Kernel::Op(Op::BiasAdd | Op::MatMul { transpose_a: false, .. }) => {
            keeps_rows(input(0)) && step.inputs[1..].iter().all(|&value| is_shared(value))
        }
        Kernel::DenseInputGradient { .. } => keeps_rows(input(0)) && is_shared(input(1)) && keeps_rows(input(2)),
        // One replica's factors may serve the rows of all.
        Kernel::ScaledCrossEntropy => {
            step.inputs[..2].iter().all(|&value| keeps_rows(value)) && (is_shared(input(2)) || keeps_rows(input(2)))
        }
        Kernel::Op(op) => match op {
            Op::Unary(_) | Op::Binary(_) | Op::Compare(_) => element_by_element(),
            Op::AddN | Op::Array(ArrayOp::Cast { .. }) => step.inputs.iter().all(|&value| !is_shared(value)),
            Op::Entropy(_) => row_by_row() && rank(input(0)) > 1,
            Op::ArgMax { axis } => row_by_row() && *axis > 0,
            // A single result is summed in another order.
            Op::Reduce { axes, .. } => row_by_row() && !axes.contains(&0) && dims[output].elements() > 1,
            Op::Array(ArrayOp::ConcatV2 { axis }) => row_by_row() && *axis > 0,
            Op::Array(ArrayOp::OneHot { .. }) => row_by_row(),
            Op::Array(ArrayOp::GatherV2 { axis: 0 }) => is_shared(input(0)) && keeps_rows(input(1)),
            _ => false,
        },
        _ => false,
    }
}
