//! The datasets that feed one TPU, and how a step's batch is put together from them.

use crate::core::{Element, Result, for_each_type};
use crate::data::{Batch, DatasetIterator, Position};
use crate::engine::{BatchSource, EngineError};

/// One input for each call of `input_fn`; a step takes `pulls` elements from each, in order.
#[derive(Debug)]
pub(super) struct Sources {
    inputs: Vec<DatasetIterator>,
    pulls: usize,
    part: Batch,
}

impl Sources {
    pub fn new(inputs: Vec<DatasetIterator>, pulls: usize) -> Self {
        Sources { inputs, pulls, part: Batch::default() }
    }

    /// How many elements of each input make up a batch.
    pub fn pulls(&self) -> usize {
        self.pulls
    }
}

impl BatchSource for Sources {
    /// False where an input has ended.
    fn next_into(&mut self, batch: &mut Batch) -> Result<bool> {
        if let ([input], 1) = (self.inputs.as_mut_slice(), self.pulls) {
            return input.next_into(batch);
        }
        let mut first = true;
        for input in &mut self.inputs {
            for _ in 0..self.pulls {
                let part = if first { &mut *batch } else { &mut self.part };
                if !input.next_into(part)? {
                    return Ok(false);
                }
                if !std::mem::take(&mut first) {
                    batch.append(&self.part)?;
                }
            }
        }
        Ok(!first)
    }

    /// Where the first input stands; the others stand alike.
    fn position(&self) -> Position {
        self.inputs[0].position()
    }
}

impl Batch {
    /// The rows of another batch behind its own.
    fn append(&mut self, other: &Batch) -> Result<()> {
        fn extend<T: Element>(values: &[T], shape: &[usize], into: &mut crate::core::Array) -> bool {
            let Some((own, elements)) = into.parts_mut::<T>() else { return false };
            match (own.split_first_mut(), shape.split_first()) {
                (Some((rows, inner)), Some((more, other))) if *inner == *other => {
                    *rows += more;
                    elements.extend_from_slice(values);
                    true
                }
                _ => false,
            }
        }
        for (name, into, from) in self.columns_with(other) {
            let fits = match from {
                Some(from) => for_each_type!(from.data(), values => extend(values, from.shape(), into)),
                None => false,
            };
            if !fits {
                return Err(EngineError::NoInput { name }.into());
            }
        }
        Ok(())
    }
}
