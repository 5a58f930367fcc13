//! Sums over replicas, always in their order.

use super::bank::{Kind, Slot, Stored};
use super::memory::Memory;
use super::plan::{Collective, Plan};

/// Sums a value over the replicas, and hands the sum to all of them or to those of each group.
pub(super) fn all_reduce(plan: &Plan, collective: &Collective, memory: &mut Memory) {
    match plan.values[collective.output].slot.kind {
        Kind::F64 => all_reduce_typed(plan, collective, memory, |a: f64, b| a + b),
        _ => all_reduce_typed(plan, collective, memory, |a: f32, b| a + b),
    }
}

fn all_reduce_typed<T: Stored>(
    plan: &Plan,
    collective: &Collective,
    memory: &mut Memory,
    add: impl Fn(T, T) -> T + Copy,
) {
    let (input, output) = (plan.values[collective.input].slot, plan.values[collective.output].slot);
    let length = collective.length.unwrap_or_else(|| memory.binding.dims[collective.input].elements());
    // The sum is made aside: some outputs lie in the same memory as inputs.
    let mut scratch = std::mem::take(&mut T::typed_mut(&mut memory.shared).scratch);
    let sum = &mut scratch[0];
    if sum.len() < length {
        sum.resize(length, T::default());
    }
    let sum = &mut sum[..length];
    match &collective.groups {
        None => {
            sum_over(0..plan.replicas, memory, input, sum, add);
            memory.write::<T>(output, 0, length).copy_from_slice(sum);
        }
        Some(groups) => {
            for group in groups {
                sum_over(group.iter().copied(), memory, input, sum, add);
                for &replica in group {
                    memory.write::<T>(output, replica, length).copy_from_slice(sum);
                }
            }
        }
    }
    T::typed_mut(&mut memory.shared).scratch = scratch;
}

/// Writes the sum of a value over some replicas to `sum`.
fn sum_over<T: Stored>(
    replicas: impl Iterator<Item = usize>,
    memory: &Memory,
    value: Slot,
    sum: &mut [T],
    add: impl Fn(T, T) -> T + Copy,
) {
    for (index, replica) in replicas.enumerate() {
        let own = memory.read::<T>(value, replica, sum.len());
        if index == 0 {
            sum.copy_from_slice(own);
        } else {
            sum.iter_mut().zip(own).for_each(|(sum, &value)| *sum = add(*sum, value));
        }
    }
}
