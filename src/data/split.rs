//! Rows to train with, and rows to test with.

use super::{Batch, Column, DataError, Dataset, Frame, Remainder};
use crate::core::Result;

/// Features and labels to train with, then those to test with.
pub type Split = ((Frame, Column), (Frame, Column));

/// Splits rows at random, the same way for the same `seed`. `test_share`, between 0 and 1, of them are for testing,
/// rounded up; both parts get at least one row. scikit-learn: `train_test_split`.
///
/// # Errors
/// `DATA003` if the lengths differ, `DATA004` for fewer than two rows or a share that is not between 0 and 1.
///
/// # Examples
/// ```
/// use tpulab::data::train_test_split;
/// use tpulab::prelude::*;
/// let x = Frame::new([("x", Column::from(vec![0.0f32, 1.0, 2.0, 3.0, 4.0]))])?;
/// let y = Column::from(vec![0i32, 1, 2, 3, 4]);
/// let ((train_x, train_y), (test_x, test_y)) = train_test_split(&x, &y, 0.2, 7)?;
/// assert_eq!((train_x.len(), train_y.len(), test_x.len(), test_y.len()), (4, 4, 1, 1));
/// # Ok::<(), Error>(())
/// ```
pub fn train_test_split(features: &Frame, labels: &Column, test_share: f64, seed: u64) -> Result<Split> {
    let rows = features.len();
    let refuse = |problem| {
        let help = "give two rows or more, and a share such as 0.2";
        crate::core::Error::from(DataError::Dataset { method: "train_test_split", problem, help })
    };
    if !(test_share > 0.0 && test_share < 1.0) {
        return Err(refuse(format!("a share of {test_share} is not between 0 and 1")));
    }
    if rows < 2 {
        return Err(refuse(format!("{rows} rows cannot be two parts")));
    }
    let test = ((rows as f64 * test_share).ceil() as usize).clamp(1, rows - 1);
    let shuffled = Dataset::from_tensor_slices((features, labels))?.shuffle_once(rows, Some(seed));
    let train = part(shuffled.clone().skip(test as u64), rows - test)?;
    Ok((train, part(shuffled.take(test as u64), test)?))
}

/// All rows of a dataset, so many.
fn part(dataset: Dataset, rows: usize) -> Result<(Frame, Column)> {
    let mut batch = Batch::default();
    dataset.batch(rows, Remainder::Keep).iterator(0)?.next_into(&mut batch)?;
    let columns = batch.features().iter().map(|(name, values)| Ok((name.clone(), Column::new(values.clone())?)));
    let labels = batch.labels().expect("the slices have labels").clone();
    Ok((Frame::new(columns.collect::<Result<Vec<_>>>()?)?, Column::new(labels)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(count: i32) -> (Frame, Column) {
        let numbers = || Column::from((0..count).collect::<Vec<_>>());
        (Frame::new([("x", numbers())]).unwrap(), numbers())
    }

    #[test]
    fn every_row_is_in_one_part_and_beside_its_label() {
        let (x, y) = numbers(101);
        let ((train_x, train_y), (test_x, test_y)) = train_test_split(&x, &y, 0.25, 3).unwrap();
        assert_eq!((train_y.len(), test_y.len()), (75, 26));
        let mut all: Vec<i32> = Vec::new();
        for (x, y) in [(train_x, train_y), (test_x, test_y)] {
            assert_eq!(x.column("x").unwrap(), &y);
            all.extend(y.values::<i32>().unwrap());
        }
        assert!(!all.is_sorted());
        all.sort_unstable();
        assert!(all.into_iter().eq(0..101));
    }

    #[test]
    fn a_seed_splits_the_same_way_again_and_another_one_differently() {
        let (x, y) = numbers(50);
        let split = |seed| train_test_split(&x, &y, 0.2, seed).unwrap();
        assert_eq!(split(1), split(1));
        assert_ne!(split(1), split(2));
    }

    #[test]
    fn impossible_parts_are_refused() {
        let refused = |rows, share| {
            let (x, y) = numbers(rows);
            train_test_split(&x, &y, share, 0).unwrap_err().to_string()
        };
        assert_eq!(
            refused(5, 1.0),
            "DATA004: train_test_split: a share of 1 is not between 0 and 1; give two rows or more, and a share such as 0.2"
        );
        assert!(refused(5, f64::NAN).contains("a share of NaN"));
        assert!(refused(1, 0.5).contains("1 rows cannot be two parts"));
    }
}
