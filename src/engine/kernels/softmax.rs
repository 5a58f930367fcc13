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

/// Writes each row's cross entropy with its label to `losses`, and its derivative by the logits to `backprop`.
///
/// # Errors
/// The first label that is not below `classes`.
pub(crate) fn sparse_cross_entropy<T: Real, I: Copy + Into<i64>>(
    losses: &mut [T],
    backprop: &mut [T],
    logits: &[T],
    labels: &[I],
    classes: usize,
    scratch: &mut Vec<T>,
) -> Result<(), WrongLabel> {
    for (row, &label) in labels.iter().enumerate() {
        let label = label.into();
        if usize::try_from(label).map_or(true, |class| class >= classes) {
            return Err(WrongLabel { row, label });
        }
    }
    let job = Job { logits, classes, scratch };
    dispatch(SparseCrossEntropy { losses, backprop, labels, job });
    Ok(())
}

/// How many rows are at hand at once.
const LANES: usize = 16;

/// Logits, class by class: lane `r` of each is row `r`.
struct Job<'a, T> {
    logits: &'a [T],
    classes: usize,
    scratch: &'a mut Vec<T>,
}

/// Some rows' exponentials, and what they were made of.
struct Rows<'a, T> {
    /// `e^(x - largest)`, class by class.
    exponentials: &'a [[T; LANES]],
    largest: [T; LANES],
    totals: [T; LANES],
    log_totals: [T; LANES],
}

impl<T: Real> Job<'_, T> {
    /// Hands over up to `LANES` rows at a time, with the number of the first one.
    #[inline(always)]
    fn for_each<V: Level>(self, mut body: impl FnMut(usize, Rows<'_, T>)) {
        let Job { logits, classes, scratch } = self;
        if classes == 0 {
            return;
        }
        if scratch.len() < classes * LANES {
            scratch.resize(classes * LANES, T::zero());
        }
        let (columns, _) = scratch[..classes * LANES].as_chunks_mut::<LANES>();
        let mut first = 0;
        for rows in logits.chunks(classes * LANES) {
            // Lanes without a row keep numbers of earlier ones; nobody reads their results.
            for (row, lane) in rows.chunks_exact(classes).zip(0..LANES) {
                columns.iter_mut().zip(row).for_each(|(column, &logit)| column[lane] = logit);
            }
            let mut largest = [T::negative_infinity(); LANES];
            for column in &*columns {
                for (largest, &logit) in largest.iter_mut().zip(column) {
                    // A NaN stays once it is there.
                    *largest = if logit <= *largest || largest.is_nan() { *largest } else { logit };
                }
            }
            let mut totals = [T::zero(); LANES];
            for column in &mut *columns {
                column.iter_mut().zip(&largest).for_each(|(logit, &largest)| *logit = *logit - largest);
                T::exponentials::<V, LANES>(column);
                totals.iter_mut().zip(&*column).for_each(|(total, &term)| *total = *total + term);
            }
            let mut log_totals = totals;
            T::logarithms::<V, LANES>(&mut log_totals);
            body(first, Rows { exponentials: columns, largest, totals, log_totals });
            first += LANES;
        }
    }
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
        job.for_each::<V>(|first, rows| write_softmax(&mut out[first * classes..], &rows));
    }
}

/// Writes the softmax of up to `LANES` rows.
#[inline(always)]
fn write_softmax<T: Real>(out: &mut [T], rows: &Rows<'_, T>) {
    let classes = rows.exponentials.len();
    for (class, column) in rows.exponentials.iter().enumerate() {
        let mut shares = *column;
        shares.iter_mut().zip(&rows.totals).for_each(|(share, &total)| *share = *share / total);
        for (out, &share) in out[class..].iter_mut().step_by(classes).zip(&shares) {
            *out = share;
        }
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
        let (logits, classes) = (job.logits, job.classes);
        job.for_each::<V>(|first, Rows { largest, log_totals, .. }| {
            let rows = out.chunks_exact_mut(classes).zip(logits.chunks_exact(classes)).skip(first);
            for ((out, logits), (&largest, &log_total)) in rows.zip(largest.iter().zip(&log_totals)) {
                out.iter_mut().zip(logits).for_each(|(out, &logit)| *out = logit - largest - log_total);
            }
        });
    }
}

struct SparseCrossEntropy<'a, T, I> {
    losses: &'a mut [T],
    backprop: &'a mut [T],
    labels: &'a [I],
    job: Job<'a, T>,
}

impl<T: Real, I: Copy + Into<i64>> Routine for SparseCrossEntropy<'_, T, I> {
    type Output = ();

    #[inline(always)]
    fn run<V: Level>(self) {
        let SparseCrossEntropy { losses, backprop, labels, job } = self;
        let (logits, classes) = (job.logits, job.classes);
        job.for_each::<V>(|first, rows| {
            let backprop = &mut backprop[first * classes..];
            write_softmax(backprop, &rows);
            let lanes = rows.largest.iter().zip(&rows.log_totals);
            let examples = backprop.chunks_exact_mut(classes).zip(logits[first * classes..].chunks_exact(classes));
            let places = losses[first..].iter_mut().zip(&labels[first..]);
            for (((backprop, logits), (loss, &label)), (&largest, &log_total)) in examples.zip(places).zip(lanes) {
                // Labels were checked, so each is the place of a class.
                let class = label.into() as usize;
                *loss = log_total - (logits[class] - largest);
                backprop[class] = backprop[class] - T::one();
            }
        });
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
                sparse_cross_entropy(&mut losses, &mut backprop, &logits, &labels, classes, &mut scratch)
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
                sparse_cross_entropy(losses, backprop, logits, &labels[..losses.len()], 3, &mut Vec::new())
                    .expect("all labels are classes");
            }
            (losses, backprop)
        };
        assert_eq!(run(128), run(16));
        assert_eq!(run(128), run(5));
    }

    #[test]
    fn the_first_wrong_label_is_named() {
        let run = |labels: &[i32]| {
            sparse_cross_entropy(&mut [0.0f32; 2], &mut [0.0; 6], &[0.0; 6], labels, 3, &mut Vec::new())
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
