//! How many elements there are, and how many of them can be held at once.

use super::rows::Item;
use super::{Dataset, Remainder, Stage};
use crate::core::{Element, for_each_type};

/// How many elements a dataset has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cardinality {
    /// So many.
    Finite(u64),
    /// It never ends.
    Infinite,
    /// More than can be counted beforehand.
    Unknown,
}

/// The most memory that one batch or one buffer may take beyond that of the source. Without a limit, a slip such as
/// `.repeat().batch(usize::MAX, …)` would fill the machine's memory before anything is said.
pub(super) const MOST_BYTES: u128 = 1 << 32;

/// How much a dataset has.
pub(super) struct Extent {
    /// The number of elements, `None` without end.
    elements: Option<u128>,
    /// The most rows that one element is made of.
    rows: u128,
    /// The rows of the source, and the bytes of each.
    source_rows: u128,
    row_bytes: u128,
}

impl Dataset {
    /// How many elements there are.
    pub fn cardinality(&self) -> Cardinality {
        match self.extent().elements {
            None => Cardinality::Infinite,
            Some(elements) => u64::try_from(elements).map_or(Cardinality::Unknown, Cardinality::Finite),
        }
    }

    pub(super) fn extent(&self) -> Extent {
        let source = &self.source;
        let columns = source.features.iter().map(|(_, column)| column).chain(&source.labels);
        let row_bytes = columns.map(|column| {
            let width = column.inner_shape().iter().product::<usize>();
            for_each_type!(column.array().data(), values => width * element_bytes(values))
        });
        let mut extent = Extent {
            elements: Some(source.rows() as u128),
            rows: 1,
            source_rows: source.rows() as u128,
            row_bytes: row_bytes.sum::<usize>() as u128,
        };
        for stage in &self.stages {
            extent.pass(stage);
        }
        extent
    }
}

/// The bytes of one element, aside from the letters of a text.
pub(super) fn element_bytes<T: Element>(_: &[T]) -> usize {
    size_of::<T>()
}

impl Extent {
    fn pass(&mut self, stage: &Stage) {
        self.elements = match stage {
            Stage::Repeat(Some(0)) => Some(0),
            Stage::Repeat(_) if self.elements == Some(0) => Some(0),
            Stage::Repeat(None) => None,
            Stage::Repeat(Some(times)) => self.elements.map(|elements| elements.saturating_mul(u128::from(*times))),
            Stage::Take(most) => Some(self.at_most(u128::from(*most))),
            Stage::Skip(first) => self.elements.map(|elements| elements.saturating_sub(u128::from(*first))),
            Stage::Batch(size, remainder) => {
                let size = *size as u128;
                self.rows = self.rows.saturating_mul(self.at_most(size));
                self.elements.map(|elements| match remainder {
                    Remainder::Keep => elements.div_ceil(size),
                    Remainder::Drop => elements / size,
                })
            }
            Stage::Shuffle { .. } | Stage::Map(_) => self.elements,
        };
    }

    fn at_most(&self, elements: u128) -> u128 {
        self.elements.map_or(elements, |own| own.min(elements))
    }

    /// Whether a batch of `size` elements can be held.
    pub fn may_stack(&self, size: usize) -> bool {
        let bytes = self.at_most(size as u128).saturating_mul(self.rows).saturating_mul(self.row_bytes);
        bytes <= MOST_BYTES.max(self.source_rows * self.row_bytes)
    }

    /// Whether a shuffle of `size` elements can be held: of their row numbers.
    pub fn may_buffer(&self, size: usize) -> bool {
        let element = (size_of::<Item>() as u128).saturating_add(self.rows.saturating_mul(size_of::<u32>() as u128));
        let bytes = self.at_most(size as u128).saturating_mul(element);
        bytes <= MOST_BYTES.max(self.source_rows.saturating_mul(element))
    }

    /// Whether `count` elements can be read in reasonable time.
    pub fn may_pass_over(&self, count: u64) -> bool {
        self.at_most(u128::from(count)) <= u128::from(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Column, Frame};

    fn three() -> Dataset {
        let features = Frame::new([("x", Column::from(vec![1.0f32, 2.0, 3.0]))]).unwrap();
        Dataset::from_tensor_slices(&features).unwrap()
    }

    fn refusal(dataset: Dataset) -> String {
        dataset.iterator(0).unwrap_err().to_string()
    }

    /// The source's row of each example, element by element.
    fn rows(dataset: Dataset) -> Vec<Vec<u32>> {
        dataset.iterator(0).unwrap().map(|batch| batch.unwrap().source_rows().to_vec()).collect()
    }

    const HUGE: usize = 1 << 60;

    #[test]
    fn a_huge_batch_of_an_endless_dataset_is_refused() {
        let expected = "DATA004: batch: a batch of 1152921504606846976 elements takes more than 4 GiB; \
                        use a smaller batch size";
        assert_eq!(refusal(three().repeat().batch(HUGE, Remainder::Keep)), expected);
        assert_eq!(refusal(three().repeat().batch(HUGE, Remainder::Drop)), expected);
        assert_eq!(refusal(three().repeat_times(u64::MAX).batch(HUGE, Remainder::Drop)), expected);
        let expected = "DATA004: batch: a batch of 1048576 elements takes more than 4 GiB; use a smaller batch size";
        let many = 1 << 20;
        assert_eq!(refusal(three().repeat().batch(many, Remainder::Keep).batch(many, Remainder::Keep)), expected);
    }

    #[test]
    fn a_batch_larger_than_the_dataset_holds_all_of_it() {
        assert_eq!(rows(three().batch(HUGE, Remainder::Keep)), [[0, 1, 2]]);
        assert_eq!(rows(three().batch(HUGE, Remainder::Keep).batch(HUGE, Remainder::Keep)), [[0, 1, 2]]);
        assert_eq!(rows(three().batch(HUGE, Remainder::Drop)), Vec::<Vec<u32>>::new());
        assert_eq!(rows(three().repeat().take(4).batch(HUGE, Remainder::Keep)), [[0, 1, 2, 0]]);
    }

    #[test]
    fn a_shuffle_holds_what_there_is_and_never_without_end() {
        assert_eq!(rows(three().shuffle(HUGE).batch(HUGE, Remainder::Keep))[0].len(), 3);
        assert_eq!(rows(three().batch(2, Remainder::Keep).shuffle(HUGE)).len(), 2);
        assert_eq!(rows(three().shuffle(HUGE).repeat().take(5)).len(), 5);
        assert_eq!(
            refusal(three().repeat().shuffle(HUGE)),
            "DATA004: shuffle: a buffer of 1152921504606846976 elements takes more than 4 GiB; \
             use a smaller buffer, or shuffle before `repeat`"
        );
    }

    #[test]
    fn counts_may_be_as_large_as_numbers_are() {
        assert_eq!(rows(three().take(u64::MAX)).len(), 3);
        assert_eq!(rows(three().skip(u64::MAX)).len(), 0);
        assert_eq!(rows(three().repeat_times(u64::MAX).take(4)).len(), 4);
        assert_eq!(rows(three().prefetch(HUGE)).len(), 3);
        assert_eq!(
            refusal(three().repeat().skip(u64::MAX)),
            "DATA004: skip: 18446744073709551615 elements to pass over are more than 4294967295; skip fewer elements"
        );
        assert_eq!(three().repeat_times(u64::MAX).cardinality(), Cardinality::Unknown);
        assert_eq!(three().repeat_times(u64::MAX).take(u64::MAX).cardinality(), Cardinality::Finite(u64::MAX));
    }
}
