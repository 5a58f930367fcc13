//! Everything that the steps of a plan touch.

use super::bank::{Bank, Slot, Stored, for_kind};
use super::execute::{Context, StreamKey};
use super::executor::Split;
use super::lane::Lane;
use super::pace::Pace;
use super::plan::{Binding, FeedSlot, Plan};
use crate::core::{Array, Element, Result};

/// The memory in which a plan runs.
#[derive(Debug, Default)]
pub(super) struct Memory {
    pub binding: Binding,
    /// What all replicas share; unused where there is only one.
    pub shared: Bank,
    /// The replicas in their order.
    pub lanes: Vec<Lane>,
    /// For each phase: whether helpers are worth their while.
    pub paces: Vec<Pace>,
}

impl Memory {
    /// Memory with the plan's constants in their places; all replicas in one lane.
    pub fn new(plan: &Plan) -> Result<Self> {
        let mut memory = Memory { lanes: Lane::split(plan.replicas, 1), ..Memory::default() };
        for (slot, value) in &plan.constants {
            // A constant is shared wherever there are several replicas.
            memory.home(slot.shared).write_array(slot.kind, slot.part, value)?;
        }
        Ok(memory)
    }

    /// The shared bank, or that of the only replica.
    pub fn home(&mut self, shared: bool) -> &mut Bank {
        if shared { &mut self.shared } else { &mut self.lanes[0].bank }
    }

    /// Makes room for all values, whose shapes are known by now, with the replicas in so many lanes. Variables are
    /// elsewhere meanwhile.
    pub fn reserve(&mut self, plan: &Plan, lanes: usize) {
        if self.lanes.len() != lanes {
            self.lanes = Lane::split(plan.replicas, lanes);
        }
        let dims = &self.binding.dims;
        plan.reserve(dims, &mut self.shared, 1, true);
        self.lanes.iter_mut().for_each(|lane| lane.bind(plan, dims));
    }

    /// Runs the steps whose results depend on shapes alone.
    pub fn set_up(&mut self, plan: &Plan) -> Result<()> {
        let Memory { binding, shared, lanes, .. } = self;
        let (dims, stream) = (&binding.dims, StreamKey::default());
        for step in &plan.setup {
            if plan.values[step.outputs[0]].slot.shared {
                Context { plan, dims, bank: shared, replica: 0, replicas: 1, shared: None, stream }.run(step)?;
                continue;
            }
            for Lane { count, bank, .. } in &mut *lanes {
                for replica in 0..*count {
                    Context { plan, dims, bank, replica, replicas: 1, shared: Some(shared), stream }.run(step)?;
                }
            }
        }
        Ok(())
    }

    /// Exchanges the variables of each replica with those of the bank with its number.
    pub fn swap_variables(&mut self, own: &mut [Bank]) {
        for Lane { first, count, bank, .. } in &mut self.lanes {
            let own = own[*first..*first + *count].iter_mut();
            own.enumerate().for_each(|(replica, own)| bank.swap_variables(replica, own));
        }
    }

    /// The number of the lane that holds replica `replica`.
    fn lane_of(&self, replica: usize) -> usize {
        self.lanes.partition_point(|lane| lane.first + lane.count <= replica)
    }

    /// The bank that holds a value of replica `replica`, and which of the bank's replicas that is.
    fn bank_of(&self, slot: Slot, replica: usize) -> (&Bank, usize) {
        if slot.shared {
            return (&self.shared, 0);
        }
        let lane = &self.lanes[self.lane_of(replica)];
        (&lane.bank, replica - lane.first)
    }

    /// `length` elements of a value of replica `replica`.
    pub fn read<T: Stored>(&self, slot: Slot, replica: usize, length: usize) -> &[T] {
        let (bank, replica) = self.bank_of(slot, replica);
        bank.read(slot.part, replica, length)
    }

    /// The same, for writing.
    pub fn write<T: Stored>(&mut self, slot: Slot, replica: usize, length: usize) -> &mut [T] {
        if slot.shared {
            return self.shared.write(slot.part, 0, length);
        }
        let lane = self.lane_of(replica);
        let Lane { first, bank, .. } = &mut self.lanes[lane];
        bank.write(slot.part, replica - *first, length)
    }

    /// Replica `replica`'s value as an array of shape `shape`.
    pub fn to_array(&self, slot: Slot, replica: usize, shape: &[usize]) -> Array {
        let (bank, replica) = self.bank_of(slot, replica);
        bank.to_array(slot.kind, slot.part, replica, shape)
    }

    /// Gives each replica its part of an array; of a single number, which has no rows, all of it.
    pub fn feed(&mut self, plan: &Plan, feed: &FeedSlot, array: &Array, split: Split) -> Result<()> {
        let length = self.binding.dims[feed.value].elements();
        let Slot { kind, part, .. } = plan.values[feed.value].slot;
        let split = if array.shape().is_empty() { Split::Whole } else { split };
        for Lane { first, count, bank, .. } in &mut self.lanes {
            for_kind!(kind, T => match split {
                Split::Rows => fill(bank.write::<T>(part, 0, *count * length), array, *first * length)?,
                Split::Whole => {
                    for replica in 0..*count {
                        fill(bank.write::<T>(part, replica, length), array, 0)?;
                    }
                }
            });
        }
        Ok(())
    }
}

/// Copies the elements of `array` from `start` on.
fn fill<T: Stored + Element>(out: &mut [T], array: &Array, start: usize) -> Result<()> {
    if array.dtype() == T::DTYPE {
        out.copy_from_slice(&array.as_slice::<T>()?[start..start + out.len()]);
        return Ok(());
    }
    // A run in float64 is given float32.
    let values = &array.as_slice::<f32>()?[start..start + out.len()];
    out.iter_mut().zip(values).for_each(|(out, &value)| *out = T::from_f64(f64::from(value)));
    Ok(())
}
