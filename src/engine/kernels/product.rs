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

/// What becomes of each element of a product, once the bias is added.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Finish<'a, T> {
    /// It stays.
    Nothing,
    /// `max(x, 0)`; NaN stays NaN.
    Relu,
    /// Zero where this output of a relu, shaped like the product, is not positive.
    ReluGradient(&'a [T]),
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
    finish: Finish<'_, T>,
    scratch: &mut Vec<T>,
) {
    if right.columns > 0 {
        dispatch(Product { out, left, right, bias, finish, scratch });
    }
}

struct Product<'a, T> {
    out: &'a mut [T],
    left: &'a [T],
    right: Right<'a, T>,
    bias: Option<&'a [T]>,
    finish: Finish<'a, T>,
    scratch: &'a mut Vec<T>,
}

impl<T: Real> Routine for Product<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Level>(self) {
        let lanes = V::BYTES / size_of::<T>();
        match lanes {
            16 => self.with_lanes::<V, 16, 8>(),
            // Two registers for a row halve the loads of the left factor, where there are columns for both.
            8 if self.right.columns > 8 => self.with_lanes::<V, 16, 4>(),
            8 => self.with_lanes::<V, 8, 8>(),
            _ => self.with_lanes::<V, 4, 8>(),
        }
    }
}

impl<T: Real> Product<'_, T> {
    /// Packs the right factor into blocks of `L` columns, the bias behind each, and multiplies tiles of `R` rows.
    #[inline(always)]
    fn with_lanes<V: Level, const L: usize, const R: usize>(self) {
        let Product { out, left, right, bias, finish, scratch } = self;
        let Right { inner, columns, .. } = right;
        let length = columns.div_ceil(L) * (inner + 1) * L;
        if scratch.len() < length {
            scratch.resize(length, T::zero());
        }
        let (packed, _) = scratch[..length].as_chunks_mut::<L>();
        for (number, block) in packed.chunks_exact_mut(inner + 1).enumerate() {
            pack(block, right, bias, number * L);
        }
        let rows = out.len() / columns;
        let mut row = 0;
        macro_rules! tiles {
            ($rows:ident) => {
                while rows - row >= $rows {
                    let left = &left[row * inner..][..$rows * inner];
                    // From the right, so that whole lanes that reach into the next row are overwritten by its own.
                    let mut first = columns.next_multiple_of(L);
                    while first > 0 {
                        first -= L;
                        let block = &packed[first / L * (inner + 1)..][..inner + 1];
                        let start = row * columns + first;
                        let finish = match finish {
                            Finish::ReluGradient(y) => Finish::ReluGradient(&y[start..]),
                            other => other,
                        };
                        let width = (columns - first).min(L);
                        tile::<T, V, L, $rows>(&mut out[start..], columns, width, left, block, finish);
                    }
                    row += $rows;
                }
            };
        }
        const ONE: usize = 1;
        tiles!(R);
        tiles!(ONE);
    }
}

/// `R` rows of `left` times one block of columns, written to `width` columns of rows that are `columns` apart.
#[inline(always)]
fn tile<T: Real, V: Level, const L: usize, const R: usize>(
    out: &mut [T],
    columns: usize,
    width: usize,
    left: &[T],
    block: &[[T; L]],
    finish: Finish<'_, T>,
) {
    let mut sums = multiply::<T, V, L, R>(left, block);
    let reach = (R - 1) * columns + L;
    if out.len() < reach {
        return last_tile(out, columns, width, sums, finish);
    }
    match finish {
        Finish::Nothing => {}
        Finish::Relu => sums.iter_mut().for_each(relu),
        Finish::ReluGradient(y) => {
            let y = &y[..reach];
            for (row, sums) in sums.iter_mut().enumerate() {
                if let Some(y) = y[row * columns..].first_chunk::<L>() {
                    relu_gradient(sums, y);
                }
            }
        }
    }
    // Whole lanes: what lies behind a row is written after it.
    let out = &mut out[..reach];
    for (row, sums) in sums.iter().enumerate() {
        if let Some(out) = out[row * columns..].first_chunk_mut::<L>() {
            *out = *sums;
        }
    }
}

/// The same at the end of the memory, where no whole lanes fit.
#[inline(never)]
fn last_tile<T: Real, const L: usize, const R: usize>(
    out: &mut [T],
    columns: usize,
    width: usize,
    mut sums: [[T; L]; R],
    finish: Finish<'_, T>,
) {
    for (row, sums) in sums.iter_mut().enumerate() {
        let start = row * columns;
        match finish {
            Finish::Nothing => {}
            Finish::Relu => relu(sums),
            Finish::ReluGradient(y) => {
                let mut lanes = [T::zero(); L];
                copy(&mut lanes, &y[start..start + width]);
                relu_gradient(sums, &lanes);
            }
        }
        out[start..start + width].copy_from_slice(&sums[..width]);
    }
}

#[inline(always)]
fn relu<T: Real, const L: usize>(lanes: &mut [T; L]) {
    lanes.iter_mut().for_each(|x| *x = if *x < T::zero() { T::zero() } else { *x });
}

#[inline(always)]
fn relu_gradient<T: Real, const L: usize>(gradients: &mut [T; L], y: &[T; L]) {
    gradients.iter_mut().zip(y).for_each(|(dx, &y)| *dx = if y > T::zero() { *dx } else { T::zero() });
}

/// Copies `L` columns from `first` on, zeros where there are fewer, and the bias as the last row.
#[inline(always)]
fn pack<T: Real, const L: usize>(block: &mut [[T; L]], right: Right<'_, T>, bias: Option<&[T]>, first: usize) {
    let Right { values, inner, columns, transposed } = right;
    let width = (columns - first).min(L);
    let Some((last, rows)) = block.split_last_mut() else { return };
    *last = [T::zero(); L];
    if let Some(bias) = bias {
        copy(last, &bias[first..first + width]);
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
                copy(row, &source[first..first + width]);
            }
        }
    }
}

/// Copies less than a whole lane: too little for a call of the library's function.
#[inline(always)]
fn copy<T: Real>(out: &mut [T], source: &[T]) {
    out.iter_mut().zip(source).for_each(|(out, &value)| *out = value);
}

/// `R` rows of `left` times one block of columns, plus the bias.
#[inline(always)]
fn multiply<T: Real, V: Level, const L: usize, const R: usize>(left: &[T], block: &[[T; L]]) -> [[T; L]; R] {
    let mut sums = [[T::zero(); L]; R];
    let Some((bias, weights)) = block.split_last() else { return sums };
    let rows: [&[T]; R] = std::array::from_fn(|row| &left[row * weights.len()..][..weights.len()]);
    for (index, weights) in weights.iter().enumerate() {
        for (sums, row) in sums.iter_mut().zip(&rows) {
            let factor = row[index];
            for (sum, &weight) in sums.iter_mut().zip(weights) {
                *sum = factor.multiply_add::<V>(weight, *sum);
            }
        }
    }
    for sums in &mut sums {
        sums.iter_mut().zip(bias).for_each(|(sum, &bias)| *sum = *sum + bias);
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::super::numbers;
    use super::*;

    const SIZES: [usize; 9] = [1, 2, 3, 7, 8, 10, 17, 33, 40];

    fn transposed(values: &[f32], columns: usize) -> Vec<f32> {
        (0..columns).flat_map(|column| values.iter().copied().skip(column).step_by(columns)).collect()
    }

    #[test]
    fn products_of_odd_sizes_are_those_of_the_definition() {
        let mut scratch = Vec::new();
        for (rows, inner, columns) in SIZES.into_iter().flat_map(|rows| {
            SIZES.into_iter().flat_map(move |inner| SIZES.into_iter().map(move |columns| (rows, inner, columns)))
        }) {
            let (left, values, bias) = (numbers(rows * inner, 1), numbers(inner * columns, 2), numbers(columns, 3));
            let mut out = vec![f32::NAN; rows * columns];
            let right = Right { values: &values, inner, columns, transposed: false };
            product(&mut out, &left, right, Some(&bias), Finish::Nothing, &mut scratch);
            for (index, &found) in out.iter().enumerate() {
                let (row, column) = (index / columns, index % columns);
                let terms =
                    (0..inner).map(|k| f64::from(left[row * inner + k]) * f64::from(values[k * columns + column]));
                let exact = terms.sum::<f64>() + f64::from(bias[column]);
                // Each of up to 41 additions of numbers below 1 rounds once.
                assert!(
                    (f64::from(found) - exact).abs() < 1e-5,
                    "{rows} {inner} {columns} at {index}: {found} {exact}"
                );
            }
            let mut again = vec![f32::NAN; rows * columns];
            let values = transposed(&values, columns);
            let right = Right { values: &values, inner, columns, transposed: true };
            product(&mut again, &left, right, Some(&bias), Finish::Nothing, &mut scratch);
            assert_eq!(out, again, "the same numbers, whichever way the right factor lies");
        }
    }

    #[test]
    fn products_in_float64_keep_their_digits() {
        let left = [1.0, 1e-12, 2.0, 3.0];
        let right = Right { values: &[1.0, 2.0, 1.0, 4.0], inner: 2, columns: 2, transposed: false };
        let mut out = [0.0f64; 4];
        product(&mut out, &left, right, None, Finish::Nothing, &mut Vec::new());
        assert_eq!(out, [1.0 + 1e-12, 2.0 + 4e-12, 5.0, 16.0]);
    }

    #[test]
    fn a_row_gives_the_same_bits_among_any_others() {
        for (inner, columns) in [(4, 10), (10, 10), (10, 3), (37, 19)] {
            let (left, values) = (numbers(128 * inner, 4), numbers(inner * columns, 5));
            let right = Right { values: &values, inner, columns, transposed: false };
            let mut whole = vec![0.0; 128 * columns];
            product(&mut whole, &left, right, None, Finish::Nothing, &mut Vec::new());
            for size in [1, 3, 16, 50] {
                let mut parts = vec![0.0; 128 * columns];
                for (out, left) in parts.chunks_mut(size * columns).zip(left.chunks(size * inner)) {
                    product(out, left, right, None, Finish::Nothing, &mut Vec::new());
                }
                assert_eq!(whole, parts, "{size} rows at a time");
            }
        }
    }

    #[test]
    fn nan_reaches_its_own_row_and_column_only() {
        let mut left = numbers(9 * 5, 6);
        left[3 * 5 + 2] = f32::NAN;
        let values = numbers(5 * 11, 7);
        let right = Right { values: &values, inner: 5, columns: 11, transposed: false };
        let mut out = vec![0.0; 9 * 11];
        product(&mut out, &left, right, None, Finish::Nothing, &mut Vec::new());
        for (index, value) in out.iter().enumerate() {
            assert_eq!(value.is_nan(), index / 11 == 3, "element {index}");
        }
    }

    #[test]
    fn an_empty_factor_leaves_the_bias() {
        let right = Right { values: &[], inner: 0, columns: 2, transposed: false };
        let mut out = [9.0f32; 6];
        product(&mut out, &[], right, Some(&[1.0, 2.0]), Finish::Nothing, &mut Vec::new());
        assert_eq!(out, [1.0, 2.0, 1.0, 2.0, 1.0, 2.0]);
        product::<f32>(
            &mut [],
            &[],
            Right { values: &[], inner: 3, columns: 0, transposed: false },
            None,
            Finish::Nothing,
            &mut vec![],
        );
    }
}
