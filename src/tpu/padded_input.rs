//! Batches to predict for, padded to the size that the cores share.

use super::BatchError;
use crate::core::Result;
use crate::data::{Batch, DatasetIterator, Position};
use crate::engine::BatchSource;
use crate::notebook::logging;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A dataset's batches, each with zeros behind its rows up to `size`.
pub(super) struct PaddedInput {
    input: DatasetIterator,
    size: usize,
    real_rows: Arc<AtomicUsize>,
}

impl PaddedInput {
    /// `real_rows` is told how many rows of the last batch are no padding.
    pub fn new(input: DatasetIterator, size: usize, real_rows: Arc<AtomicUsize>) -> Self {
        PaddedInput { input, size, real_rows }
    }
}

impl BatchSource for PaddedInput {
    fn next_into(&mut self, batch: &mut Batch) -> Result<bool> {
        if !self.input.next_into(batch)? {
            // One batch more carries the signal to stop; its results are thrown away.
            logging::info("Stop signal received: the prediction loop ends.");
            return Ok(false);
        }
        let (rows, size) = (batch.rows(), self.size);
        if rows > size {
            return Err(BatchError::PredictRows { rows, size }.into());
        }
        batch.pad(size)?;
        self.real_rows.store(rows, Ordering::Relaxed);
        Ok(true)
    }

    fn position(&self) -> Position {
        self.input.position()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::Array;
    use crate::data::{Column, Dataset, Frame, Remainder};

    #[test]
    fn the_last_batch_is_filled_with_zeros_and_its_own_rows_are_counted() -> Result<()> {
        let features = Frame::new([("x", Column::from(vec![1.0f32, 2.0, 3.0]))])?;
        let dataset = Dataset::from_tensor_slices(&features)?.batch(2, Remainder::Keep);
        let real_rows = Arc::new(AtomicUsize::new(0));
        let mut input = PaddedInput::new(dataset.iterator(1)?, 2, Arc::clone(&real_rows));
        let mut batch = Batch::default();
        for (values, rows) in [([1.0f32, 2.0], 2), ([3.0, 0.0], 1)] {
            assert!(input.next_into(&mut batch)?);
            assert_eq!(batch.features()[0].1, Array::from(values.to_vec()));
            assert_eq!(real_rows.load(Ordering::Relaxed), rows);
        }
        assert!(!input.next_into(&mut batch)?);
        Ok(())
    }

    #[test]
    fn more_padding_than_memory_is_refused() -> Result<()> {
        let features = Frame::new([("x", Column::from(vec![1.0f32]))])?;
        let dataset = Dataset::from_tensor_slices(&features)?.batch(1, Remainder::Keep);
        let mut input = PaddedInput::new(dataset.iterator(1)?, 1 << 60, Arc::default());
        let error = input.next_into(&mut Batch::default()).unwrap_err();
        let expected =
            "DATA004: pad: a batch of 1152921504606846976 rows takes more than 4 GiB; use a smaller batch size";
        assert_eq!(error.to_string(), expected);
        Ok(())
    }
}
