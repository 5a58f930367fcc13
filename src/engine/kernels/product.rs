//! `x · w + b` and `dy · wᵀ` for matrices that fit into the caches.

use super::dispatch::{Level, Routine, dispatch};
use super::real::Real;

/// The right factor of a product, `[inner, columns]`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Right<'a, T> {
    pub values: &'a [T],
    pub inner: usize,
    pub columns: usize,
    /// Whether `values` lie as `[columns, inner]`.
    pub transposed: bool,
}

/// Writes `left · right`, plus `bias` on each row if there is one, to `out`.
///
/// `left` is `[rows, inner]`, `out` `[rows, columns]`. A row of the result depends on its own row of `left` alone, not
/// on how many others there are. `scratch` keeps its memory from call to call.
pub(crate) fn product<T: Real>(
    out: &mut [T],
    left: &[T],
    right: Right<'_, T>,
    bias: Option<&[T]>,
    scratch: &mut Vec<T>,
) {
    if right.columns > 0 {
        dispatch(Product { out, left, right, bias, scratch });
    }
}

struct Product<'a, T> {
    out: &'a mut [T],
    left: &'a [T],
    right: Right<'a, T>,
    bias: Option<&'a [T]>,
    scratch: &'a mut Vec<T>,
}

impl<T: Real> Routine for Product<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Level>(self) {
        match V::BYTES / size_of::<T>() {
            16 => self.with_lanes::<V, 16>(),
            8 => self.with_lanes::<V, 8>(),
            _ => self.with_lanes::<V, 4>(),
        }
    }
}

impl<T: Real> Product<'_, T> {
    /// Packs the right factor into blocks of `L` columns, the bias behind each, and multiplies tile by tile.
    #[inline(always)]
    fn with_lanes<V: Level, const L: usize>(self) {
        let Product { mut out, mut left, right, bias, scratch } = self;
        let Right { inner, columns, .. } = right;
        let length = columns.div_ceil(L) * (inner + 1) * L;
        if scratch.len() < length {
            scratch.resize(length, T::zero());
        }
        let (packed, _) = scratch[..length].as_chunks_mut::<L>();
        for (number, block) in packed.chunks_exact_mut(inner + 1).enumerate() {
            pack(block, right, bias, number * L);
        }
        let packed: &[[T; L]] = packed;
        macro_rules! tiles {
            ($rows:literal) => {
                while out.len() >= $rows * columns {
                    let (tile, rest) = left.split_at($rows * inner);
                    left = rest;
                    // From the right, so that whole lanes that reach into the next row are overwritten by its own.
                    for (number, block) in packed.chunks_exact(inner + 1).enumerate().rev() {
                        let sums = multiply::<T, V, L, $rows>(tile, block, inner);
                        let width = (columns - number * L).min(L);
                        store(&mut out[number * L..], &sums, columns, width);
                    }
                    out = &mut std::mem::take(&mut out)[$rows * columns..];
                }
            };
        }
        tiles!(8);
        tiles!(4);
        tiles!(1);
    }
}

/// Copies `L` columns from `first` on, zeros where there are fewer, and the bias as the last row.
#[inline(always)]
fn pack<T: Real, const L: usize>(block: &mut [[T; L]], right: Right<'_, T>, bias: Option<&[T]>, first: usize) {
    let Right { values, inner, columns, transposed } = right;
    let width = (columns - first).min(L);
    let Some((last, rows)) = block.split_last_mut() else { return };
    *last = [T::zero(); L];
    if let Some(bias) = bias {
        last[..width].copy_from_slice(&bias[first..first + width]);
    }
    if transposed {
        if width < L {
            rows.fill([T::zero(); L]);
        }
        for (lane, column) in values.chunks_exact(inner.max(1)).skip(first).take(width).enumerate() {
            rows.iter_mut().zip(column).for_each(|(row, &value)| row[lane] = value);
        }
        return;
    }
    for (row, source) in rows.iter_mut().zip(values.chunks_exact(columns)) {
        match source[first..].first_chunk::<L>() {
            Some(source) => *row = *source,
            None => {
                *row = [T::zero(); L];
                row[..width].copy_from_slice(&source[first..first + width]);
            }
        }
    }
}

/// `R` rows of `left` times one block of columns.
#[inline(always)]
fn multiply<T: Real, V: Level, const L: usize, const R: usize>(
    left: &[T],
    block: &[[T; L]],
    inner: usize,
) -> [[T; L]; R] {
    let mut sums = [[T::zero(); L]; R];
    let rows: [&[T]; R] = std::array::from_fn(|row| &left[row * inner..][..inner]);
    let (weights, bias) = block.split_at(inner);
    for (index, weights) in weights.iter().enumerate() {
        for (sums, row) in sums.iter_mut().zip(&rows) {
            let factor = row[index];
            for (sum, &weight) in sums.iter_mut().zip(weights) {
                *sum = factor.multiply_add::<V>(weight, *sum);
            }
        }
    }
    for sums in &mut sums {
        for (sum, &bias) in sums.iter_mut().zip(&bias[0]) {
            *sum = *sum + bias;
        }
    }
    sums
}

/// Writes the first `width` lanes of each row, `columns` apart, or whole lanes where there is room: what lies behind a
/// row is written after it.
#[inline(always)]
fn store<T: Real, const L: usize, const R: usize>(mut out: &mut [T], sums: &[[T; L]; R], columns: usize, width: usize) {
    for (row, sums) in sums.iter().enumerate() {
        match out.first_chunk_mut::<L>() {
            Some(lanes) => *lanes = *sums,
            None => out.iter_mut().zip(&sums[..width]).for_each(|(out, &sum)| *out = sum),
        }
        if row + 1 < R {
            out = &mut std::mem::take(&mut out)[columns..];
        }
    }
}
