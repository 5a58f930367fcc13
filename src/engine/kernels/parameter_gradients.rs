//! `xᵀ · dy` and the sums of dy's rows, for matrices that fit into the caches.

use super::dispatch::{Level, Routine, dispatch};
use super::real::Real;

/// Writes `xᵀ · dy`, `[inner, columns]`, to `out`, and the sum of dy's rows to `sums`, if there is one. `x` is
/// `[rows, inner]`, `dy` `[rows, columns]`.
///
/// Rows are added one after the other, so the result depends on nothing but them.
pub(crate) fn weight_gradients<T: Real>(
    out: &mut [T],
    sums: Option<&mut [T]>,
    x: &[T],
    dy: &[T],
    (inner, columns): (usize, usize),
) {
    if inner > 0 && columns > 0 {
        dispatch(WeightGradients { out, sums, x, dy, inner, columns });
    } else if let Some(sums) = sums {
        column_sums(sums, dy);
    }
}

/// Writes the sum of `rows`, each as long as `out`, to `out`.
pub(crate) fn column_sums<T: Real>(out: &mut [T], rows: &[T]) {
    dispatch(ColumnSums { out, rows });
}

struct WeightGradients<'a, T> {
    out: &'a mut [T],
    sums: Option<&'a mut [T]>,
    x: &'a [T],
    dy: &'a [T],
    inner: usize,
    columns: usize,
}

impl<T: Real> Routine for WeightGradients<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Level>(self) {
        match (V::BYTES / size_of::<T>(), self.columns) {
            // Two registers side by side share the factor that is spread over them.
            (16, 17..) => self.tiles::<V, 32>(),
            (16, _) => self.tiles::<V, 16>(),
            (8, 9..) => self.tiles::<V, 16>(),
            (8, _) => self.tiles::<V, 8>(),
            (_, 5..) => self.tiles::<V, 8>(),
            _ => self.tiles::<V, 4>(),
        }
    }
}

impl<T: Real> WeightGradients<'_, T> {
    /// Blocks of `L` columns, and of these tiles of some rows of the result.
    #[inline(always)]
    fn tiles<V: Level, const L: usize>(self) {
        let WeightGradients { out, mut sums, x, dy, inner, columns } = self;
        for first in (0..columns).step_by(L) {
            let width = (columns - first).min(L);
            let dy = dy.get(first..).unwrap_or_default();
            let mut row = 0;
            macro_rules! tiles {
                ($rows:literal) => {
                    while inner - row >= $rows {
                        let x = x.get(row..).unwrap_or_default();
                        let (tile, total) = outer_sums::<T, V, L, $rows>(x, dy, inner, columns);
                        for (out, lanes) in out[row * columns..].chunks_mut(columns).zip(&tile) {
                            let out = out[first..first + width].iter_mut();
                            out.zip(lanes).for_each(|(out, &lane)| *out = lane);
                        }
                        // The first tile sees all rows of dy as well as any other.
                        if let Some(sums) = sums.as_mut().filter(|_| row == 0) {
                            let sums = sums[first..first + width].iter_mut();
                            sums.zip(&total).for_each(|(sum, &lane)| *sum = lane);
                        }
                        row += $rows;
                    }
                };
            }
            tiles!(4);
            tiles!(2);
            tiles!(1);
        }
    }
}

/// The sums over rows of `x[0..R]` times `dy[0..L]`, and those of dy; rows are `inner` and `columns` apart.
#[inline(always)]
fn outer_sums<T: Real, V: Level, const L: usize, const R: usize>(
    x: &[T],
    dy: &[T],
    inner: usize,
    columns: usize,
) -> ([[T; L]; R], [T; L]) {
    let mut sums = [[T::zero(); L]; R];
    let mut total = [T::zero(); L];
    // Whole lanes may reach into the next row: what they give there is not stored.
    let (mut x, mut dy) = (x, dy);
    while let (Some(factors), Some(lanes)) = (x.first_chunk::<R>(), dy.first_chunk::<L>()) {
        accumulate::<T, V, L, R>(&mut sums, &mut total, factors, lanes);
        x = x.get(inner..).unwrap_or_default();
        dy = dy.get(columns..).unwrap_or_default();
    }
    while let Some(factors) = x.first_chunk::<R>() {
        let mut lanes = [T::zero(); L];
        lanes.iter_mut().zip(dy).for_each(|(lane, &value)| *lane = value);
        accumulate::<T, V, L, R>(&mut sums, &mut total, factors, &lanes);
        x = x.get(inner..).unwrap_or_default();
        dy = dy.get(columns..).unwrap_or_default();
    }
    (sums, total)
}

#[inline(always)]
fn accumulate<T: Real, V: Level, const L: usize, const R: usize>(
    sums: &mut [[T; L]; R],
    total: &mut [T; L],
    factors: &[T; R],
    lanes: &[T; L],
) {
    for (sums, &factor) in sums.iter_mut().zip(factors) {
        for (sum, &lane) in sums.iter_mut().zip(lanes) {
            *sum = factor.multiply_add::<V>(lane, *sum);
        }
    }
    total.iter_mut().zip(lanes).for_each(|(total, &lane)| *total = *total + lane);
}

struct ColumnSums<'a, T> {
    out: &'a mut [T],
    rows: &'a [T],
}

impl<T: Real> Routine for ColumnSums<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Level>(self) {
        let ColumnSums { out, rows } = self;
        let columns = out.len();
        for (number, out) in out.chunks_mut(LANES).enumerate() {
            let mut sums = [T::zero(); LANES];
            let mut rows = rows.get(number * LANES..).unwrap_or_default();
            while let Some(lanes) = rows.first_chunk::<LANES>() {
                sums.iter_mut().zip(lanes).for_each(|(sum, &value)| *sum = *sum + value);
                rows = rows.get(columns..).unwrap_or_default();
            }
            while !rows.is_empty() {
                sums.iter_mut().zip(rows).for_each(|(sum, &value)| *sum = *sum + value);
                rows = rows.get(columns..).unwrap_or_default();
            }
            out.iter_mut().zip(&sums).for_each(|(out, &sum)| *out = sum);
        }
    }
}

const LANES: usize = 16;

#[cfg(test)]
mod tests {
    use super::super::numbers;
    use super::*;

    #[test]
    fn gradients_of_odd_sizes_are_those_of_the_definition() {
        for rows in [0, 1, 2, 5, 16, 33] {
            for inner in 1..20 {
                for columns in 1..40 {
                    let (x, dy) = (numbers(rows * inner, 1), numbers(rows * columns, 2));
                    let mut out = vec![f32::NAN; inner * columns];
                    let mut sums = vec![f32::NAN; columns];
                    weight_gradients(&mut out, Some(&mut sums), &x, &dy, (inner, columns));
                    for (index, &found) in out.iter().enumerate() {
                        let (i, j) = (index / columns, index % columns);
                        let terms = (0..rows).map(|r| f64::from(x[r * inner + i]) * f64::from(dy[r * columns + j]));
                        let exact: f64 = terms.sum();
                        // Each of up to 33 additions of numbers below 1 rounds once.
                        assert!((f64::from(found) - exact).abs() < 1e-5, "{rows} {inner} {columns}: {found} {exact}");
                    }
                    let mut alone = vec![f32::NAN; columns];
                    column_sums(&mut alone, &dy);
                    assert_eq!(sums, alone, "the same bits either way");
                    for (column, &found) in sums.iter().enumerate() {
                        let exact: f64 = dy.iter().skip(column).step_by(columns).copied().map(f64::from).sum();
                        assert!((f64::from(found) - exact).abs() < 1e-5, "{rows} {columns}: {found} {exact}");
                    }
                }
            }
        }
    }

    #[test]
    fn nan_reaches_its_own_column_only() {
        let mut dy = numbers(20 * 10, 3);
        dy[7 * 10 + 4] = f32::NAN;
        let x = numbers(20 * 6, 4);
        let mut out = vec![0.0; 60];
        weight_gradients(&mut out, None, &x, &dy, (6, 10));
        for (index, value) in out.iter().enumerate() {
            assert_eq!(value.is_nan(), index % 10 == 4, "element {index}");
        }
    }
}
