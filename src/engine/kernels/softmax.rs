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
        for (number, rows) in logits.chunks(classes * LANES).enumerate() {
            // Lanes without a row keep numbers of earlier ones; nobody reads their results.
            for (lane, row) in rows.chunks_exact(classes).enumerate() {
                columns.iter_mut().zip(row).for_each(|(column, &logit)| column[lane] = logit);
            }
            let mut largest = [T::negative_infinity(); LANES];
            for column in &*columns {
                for (largest, &logit) in largest.iter_mut().zip(column) {
                    // A NaN stays once it is there.
                    *largest = if logit <= *largest || *largest != *largest { *largest } else { logit };
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
            body(number * LANES, Rows { exponentials: columns, largest, totals, log_totals });
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
