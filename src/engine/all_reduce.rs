//! Sums over replicas, always in their order.

use super::bank::{Bank, Kind, Stored};
use super::lane::Lane;
use super::memory::Memory;
use super::plan::{Collective, Plan};

/// Sums a value over the replicas, and hands the sum to all of them or to those of each group.
pub(super) fn all_reduce(plan: &Plan, collective: &Collective, memory: &mut Memory) {
    match plan.values[collective.output].slot.kind {
        Kind::F64 => all_reduce_typed(plan, collective, memory, |a: f64, b| a + b),
        _ => all_reduce_typed(plan, collective, memory, |a: f32, b| a + b),
    }
}

fn all_reduce_typed<T: Stored>(plan: &Plan, collective: &Collective, memory: &mut Memory, add: fn(T, T) -> T) {
    let Memory { binding, shared, lanes, .. } = memory;
    let (input, output) = (plan.values[collective.input].slot, plan.values[collective.output].slot);
    let length = collective.length.unwrap_or_else(|| binding.dims[collective.input].elements());
    // The sum is made aside: some outputs lie in the same memory as inputs.
    let mut scratch = std::mem::take(&mut T::typed_mut(shared).scratch);
    let sum = &mut scratch[0];
    if sum.len() < length {
        sum.resize(length, T::default());
    }
    let sum = &mut sum[..length];
    let part = |shared: &Bank, lanes: &[Lane], replica: usize, index: usize, sum: &mut [T]| {
        let values = if input.shared {
            shared.read::<T>(input.part, 0, length)
        } else {
            let lane = lane_of(lanes, replica);
            lanes[lane].bank.read(input.part, replica - lanes[lane].first, length)
        };
        if index == 0 {
            sum.copy_from_slice(values);
        } else {
            sum.iter_mut().zip(values).for_each(|(sum, &value)| *sum = add(*sum, value));
        }
    };
    match &collective.groups {
        None => {
            (0..plan.replicas).for_each(|replica| part(shared, lanes, replica, replica, sum));
            shared.write::<T>(output.part, 0, length).copy_from_slice(sum);
        }
        Some(groups) => {
            for group in groups {
                group.iter().enumerate().for_each(|(index, &replica)| part(shared, lanes, replica, index, sum));
                for &replica in group {
                    let lane = lane_of(lanes, replica);
                    let Lane { first, bank, .. } = &mut lanes[lane];
                    bank.write::<T>(output.part, replica - *first, length).copy_from_slice(sum);
                }
            }
        }
    }
    T::typed_mut(shared).scratch = scratch;
}

/// The lane that holds a replica.
fn lane_of(lanes: &[Lane], replica: usize) -> usize {
    lanes.partition_point(|lane| lane.first + lane.count <= replica)
}
