//! Softmax and cross entropy, several rows at a time: each lane is a row.

use super::dispatch::{Level, Routine, dispatch};
use super::real::Real;

/// A label that is no class: its row, and what stood there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WrongLabel {
    pub row: usize,
    pub label: i64,
}

/// The softmax of each row of `classes` logits.
pub(crate) fn softmax<T: Real>(out: &mut [T], logits: &[T], classes: usize, scratch: &mut Vec<T>) {
    let job = Job { logits, classes, scratch };
    dispatch(Softmax { out, job });
}

/// The logarithm of the softmax of each row of `classes` logits.
pub(crate) fn log_softmax<T: Real>(out: &mut [T], logits: &[T], classes: usize, scratch: &mut Vec<T>) {
    let job = Job { logits, classes, scratch };
    dispatch(LogSoftmax { out, job });
}

/// What the cross entropy of rows with their labels is made of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Examples<'a, T, I> {
    /// `[rows, classes]`.
    pub logits: &'a [T],
    /// One for each row.
    pub labels: &'a [I],
    pub classes: usize,
    /// By what the derivatives are multiplied: a number for each row; fewer are repeated, none is 1.
    pub scale: &'a [T],
}

/// Writes each row's cross entropy with its label to `losses`, and its derivative by the logits to `backprop`.
///
/// # Errors
/// The first label that is not below `classes`.
pub(crate) fn sparse_cross_entropy<T: Real, I: Copy + Into<i64>>(
    losses: &mut [T],
    backprop: &mut [T],
    examples: Examples<'_, T, I>,
    scratch: &mut Vec<T>,
) -> Result<(), WrongLabel> {
    let Examples { labels, classes, .. } = examples;
    for (row, &label) in labels.iter().enumerate() {
        let label = label.into();
        if usize::try_from(label).map_or(true, |class| class >= classes) {
            return Err(WrongLabel { row, label });
        }
    }
    dispatch(SparseCrossEntropy { losses, backprop, examples, scratch });
    Ok(())
}

/// How many rows are at hand at once: enough for the latencies of long chains to overlap.
const BLOCK: usize = 128;

/// Logits, class by class, so that neighbours in memory are neighbours among the rows.
struct Job<'a, T> {
    logits: &'a [T],
    classes: usize,
    scratch: &'a mut Vec<T>,
}

/// Up to `BLOCK` rows, class by class.
struct Rows<'a, T> {
    /// The number of the first row.
    first: usize,
    /// `x - largest`.
    shifted: &'a [[T; BLOCK]],
    /// `e^(x - largest)`.
    exponentials: &'a [[T; BLOCK]],
    /// One for each row.
    totals: &'a [T],
}

impl<T: Real> Job<'_, T> {
    #[inline(always)]
    fn for_each<V: Level>(self, mut body: impl FnMut(Rows<'_, T>)) {
        let Job { logits, classes, scratch } = self;
        if classes == 0 {
            return;
        }
        let length = 2 * classes * BLOCK;
        if scratch.len() < length {
            scratch.resize(length, T::zero());
        }
        let (shifted, exponentials) = scratch[..length].as_chunks_mut::<BLOCK>().0.split_at_mut(classes);
        for (number, rows) in logits.chunks(classes * BLOCK).enumerate() {
            let count = rows.len() / classes;
            let (mut largest, mut totals) = ([T::negative_infinity(); BLOCK], [T::zero(); BLOCK]);
            let (largest, totals) = (&mut largest[..count], &mut totals[..count]);
            for (class, column) in shifted.iter_mut().enumerate() {
                column.iter_mut().zip(rows.chunks_exact(classes)).for_each(|(place, row)| *place = row[class]);
                for (largest, &logit) in largest.iter_mut().zip(&*column) {
                    // A NaN is passed over here and makes its own term NaN, and so the total.
                    *largest = if logit > *largest { logit } else { *largest };
                }
            }
            for (shifted, exponentials) in shifted.iter_mut().zip(&mut *exponentials) {
                let (shifted, exponentials) = (&mut shifted[..count], &mut exponentials[..count]);
                shifted.iter_mut().zip(&*largest).for_each(|(logit, &largest)| *logit = *logit - largest);
                T::exponentials::<V>(exponentials, shifted);
                totals.iter_mut().zip(exponentials).for_each(|(total, &mut term)| *total = *total + term);
            }
            body(Rows { first: number * BLOCK, shifted, exponentials, totals });
        }
    }
}

/// Writes one class of some rows.
#[inline(always)]
fn write_column<T: Real>(rows: &mut [T], class: usize, classes: usize, column: impl Iterator<Item = T>) {
    rows.chunks_exact_mut(classes).zip(column).for_each(|(row, value)| row[class] = value);
}

struct Softmax<'a, T> {
    out: &'a mut [T],
    job: Job<'a, T>,
}

impl<T: Real> Routine for Softmax<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Level>(self) {
        let Softmax { out, job } = self;
        let classes = job.classes;
        job.for_each::<V>(|Rows { first, exponentials, totals, .. }| {
            for (class, exponentials) in exponentials.iter().enumerate() {
                let shares = exponentials.iter().zip(totals).map(|(&term, &total)| term / total);
                write_column(&mut out[first * classes..], class, classes, shares);
            }
        });
    }
}

struct LogSoftmax<'a, T> {
    out: &'a mut [T],
    job: Job<'a, T>,
}

impl<T: Real> Routine for LogSoftmax<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Level>(self) {
        let LogSoftmax { out, job } = self;
        let classes = job.classes;
        job.for_each::<V>(|Rows { first, shifted, totals, .. }| {
            let mut logs = [T::zero(); BLOCK];
            let logs = &mut logs[..totals.len()];
            T::logarithms::<V>(logs, totals);
            for (class, shifted) in shifted.iter().enumerate() {
                let column = shifted.iter().zip(&*logs).map(|(&logit, &log)| logit - log);
                write_column(&mut out[first * classes..], class, classes, column);
            }
        });
    }
}

struct SparseCrossEntropy<'a, T, I> {
    losses: &'a mut [T],
    backprop: &'a mut [T],
    examples: Examples<'a, T, I>,
    scratch: &'a mut Vec<T>,
}

impl<T: Real, I: Copy + Into<i64>> Routine for SparseCrossEntropy<'_, T, I> {
    type Output = ();

    #[inline(always)]
    fn run<V: Level>(self) {
        let SparseCrossEntropy { losses, backprop, examples, scratch } = self;
        let Examples { logits, labels, classes, scale } = examples;
        let job = Job { logits, classes, scratch };
        job.for_each::<V>(|Rows { first, shifted, exponentials, totals }| {
            let count = totals.len();
            let (losses, labels) = (&mut losses[first..][..count], &labels[first..][..count]);
            let (mut factors, mut derivatives) = ([T::one(); BLOCK], [T::zero(); BLOCK]);
            repeat(&mut factors[..count], scale, first);
            for (class, exponentials) in exponentials.iter().enumerate() {
                let terms = exponentials.iter().zip(totals).zip(labels).zip(&factors);
                for (derivative, (((&term, &total), &label), &factor)) in derivatives.iter_mut().zip(terms) {
                    let target = if label.into() == class as i64 { T::one() } else { T::zero() };
                    *derivative = (term / total - target) * factor;
                }
                write_column(&mut backprop[first * classes..], class, classes, derivatives[..count].iter().copied());
            }
            T::logarithms::<V>(losses, totals);
            for (row, (loss, &label)) in losses.iter_mut().zip(labels).enumerate() {
                // Labels were checked, so each is the place of a class.
                *loss = *loss - shifted[label.into() as usize][row];
            }
        });
    }
}

/// Fills `out` with `values` from the one numbered `start` on, over and over.
#[inline(always)]
fn repeat<T: Real>(mut out: &mut [T], values: &[T], start: usize) {
    if let [value] = *values {
        return out.fill(value);
    }
    let mut place = start.checked_rem(values.len()).unwrap_or(0);
    while !out.is_empty() && !values.is_empty() {
        let count = out.len().min(values.len() - place);
        let (filled, rest) = out.split_at_mut(count);
        filled.copy_from_slice(&values[place..place + count]);
        (out, place) = (rest, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::super::numbers;
    use super::*;

    fn exact(logits: &[f32]) -> (Vec<f64>, f64) {
        let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let terms: Vec<f64> = logits.iter().map(|&x| (f64::from(x) - f64::from(largest)).exp()).collect();
        let total: f64 = terms.iter().sum();
        (terms.iter().map(|term| term / total).collect(), total.ln() + f64::from(largest))
    }

    #[test]
    fn rows_and_classes_of_any_number_are_those_of_the_definition() {
        let mut scratch = Vec::new();
        for rows in [1, 2, 15, 16, 17, 40] {
            for classes in [1, 2, 3, 10, 37] {
                let logits: Vec<f32> = numbers(rows * classes, 1).iter().map(|x| x * 20.0).collect();
                let labels: Vec<i64> = (0..rows).map(|row| (row % classes) as i64).collect();
                let (mut losses, mut backprop) = (vec![f32::NAN; rows], vec![f32::NAN; rows * classes]);
                let (mut shares, mut logs) = (backprop.clone(), backprop.clone());
                let examples = Examples { logits: &logits, labels: &labels, classes, scale: &[] };
                sparse_cross_entropy(&mut losses, &mut backprop, examples, &mut scratch)
                    .expect("all labels are classes");
                softmax(&mut shares, &logits, classes, &mut scratch);
                log_softmax(&mut logs, &logits, classes, &mut scratch);
                for (row, logits) in logits.chunks(classes).enumerate() {
                    let (softmax, log_total) = exact(logits);
                    let label = row % classes;
                    // Some units in the last place of the largest term, which is below 40.
                    assert!((f64::from(losses[row]) - (log_total - f64::from(logits[label]))).abs() < 1e-5);
                    for class in 0..classes {
                        let at = row * classes + class;
                        let expected = softmax[class] - f64::from(u8::from(class == label));
                        assert!((f64::from(backprop[at]) - expected).abs() < 1e-6, "{rows} {classes}");
                        assert!((f64::from(shares[at]) - softmax[class]).abs() < 1e-6);
                        assert!((f64::from(logs[at]) - (f64::from(logits[class]) - log_total)).abs() < 1e-5);
                    }
                }
            }
        }
    }

    #[test]
    fn a_row_gives_the_same_bits_among_any_others() {
        let logits = numbers(128 * 3, 2);
        let labels = [1i32; 128];
        let run = |size: usize| {
            let (mut losses, mut backprop) = (vec![0.0; 128], vec![0.0; 128 * 3]);
            let parts = losses.chunks_mut(size).zip(backprop.chunks_mut(size * 3)).zip(logits.chunks(size * 3));
            for ((losses, backprop), logits) in parts {
                let labels = &labels[..losses.len()];
                let examples = Examples { logits, labels, classes: 3, scale: &[0.5] };
                sparse_cross_entropy(losses, backprop, examples, &mut Vec::new()).expect("all labels are classes");
            }
            (losses, backprop)
        };
        assert_eq!(run(128), run(16));
        assert_eq!(run(128), run(5));
    }

    #[test]
    fn the_first_wrong_label_is_named() {
        let run = |labels: &[i32]| {
            let examples = Examples { logits: &[0.0; 6], labels, classes: 3, scale: &[] };
            sparse_cross_entropy(&mut [0.0f32; 2], &mut [0.0; 6], examples, &mut Vec::new())
        };
        assert_eq!(run(&[0, 3]), Err(WrongLabel { row: 1, label: 3 }));
        assert_eq!(run(&[-1, 3]), Err(WrongLabel { row: 0, label: -1 }));
        assert_eq!(run(&[2, 0]), Ok(()));
    }

    #[test]
    fn nan_and_infinite_logits_make_their_own_row_nan() {
        let logits = [0.0f32, f32::NAN, 1.0, f32::INFINITY, 0.0, 0.0, 1.0, 1.0, f32::NEG_INFINITY];
        let mut out = [0.0; 9];
        softmax(&mut out, &logits, 3, &mut Vec::new());
        assert!(out[..3].iter().all(|share| share.is_nan()));
        assert!(out[3].is_nan());
        assert_eq!(out[6..], [0.5, 0.5, 0.0]);
    }
}
