//! From row numbers to values.

use super::rows::Item;
use super::{Batch, MapFn, Slices};
use crate::core::{Array, Element, Result, for_each_type};
use crate::data::{Column, DataError};

/// Fills `batch` with the rows of `item`, in the memory that it has.
pub(super) fn gather(source: &Slices, item: &Item, batch: &mut Batch) {
    if batch.features.len() != source.features.len() {
        batch.features = source.features.iter().map(|(name, column)| (name.clone(), empty_like(column))).collect();
    }
    for ((name, column), (known, out)) in source.features.iter().zip(&mut batch.features) {
        if known != name {
            known.clone_from(name);
        }
        gather_column(column, item, out);
    }
    match &source.labels {
        Some(column) => gather_column(column, item, batch.labels.get_or_insert_with(|| empty_like(column))),
        None => batch.labels = None,
    }
    batch.source_rows.clone_from(&item.rows);
}

fn empty_like(column: &Column) -> Array {
    column.array().rows(0, 0).expect("no rows are always there")
}

fn gather_column(column: &Column, item: &Item, out: &mut Array) {
    fn fill<T: Element>(values: &[T], inner: &[usize], item: &Item, out: &mut Array) {
        if out.dtype() != T::DTYPE {
            *out = Array::full(&[0], T::default());
        }
        let Some((shape, into)) = out.parts_mut::<T>() else { return };
        if shape[..item.sizes.len().min(shape.len())] != item.sizes[..] || shape.len() != item.sizes.len() + inner.len()
        {
            shape.clear();
            shape.extend_from_slice(&item.sizes);
            shape.extend_from_slice(inner);
        }
        let width: usize = inner.iter().product();
        into.clear();
        if width == 1 {
            into.extend(item.rows.iter().map(|&row| values[row as usize].clone()));
        } else {
            for &row in &item.rows {
                into.extend_from_slice(&values[row as usize * width..(row as usize + 1) * width]);
            }
        }
    }
    for_each_type!(column.array().data(), values => fill(values, column.inner_shape(), item, out));
}

/// Gathers an element whose pipeline maps: `maps[level]` are the functions for elements that were batched `level`
/// times.
pub(super) fn gather_mapped(source: &Slices, item: &Item, maps: &[Vec<MapFn>]) -> Result<Batch> {
    let mut batch = element(source, &item.rows, &item.sizes, maps)?;
    batch.source_rows.clone_from(&item.rows);
    Ok(batch)
}

fn element(source: &Slices, rows: &[u32], sizes: &[usize], maps: &[Vec<MapFn>]) -> Result<Batch> {
    let level = sizes.len();
    let mut batch = Batch::default();
    if maps[..level].iter().all(Vec::is_empty) {
        gather(source, &Item { rows: rows.to_vec(), sizes: sizes.to_vec(), ragged: false }, &mut batch);
    } else {
        let width = rows.len() / sizes[0];
        let parts = rows.chunks(width.max(1)).map(|rows| element(source, rows, &sizes[1..], maps));
        batch = stack(parts.collect::<Result<Vec<_>>>()?)?;
        batch.source_rows = rows.to_vec();
    }
    for map in &maps[level] {
        let rows = std::mem::take(&mut batch.source_rows);
        batch = map(batch)?;
        batch.source_rows = rows;
    }
    Ok(batch)
}

/// Elements of one shape as one element with a further first dimension.
fn stack(parts: Vec<Batch>) -> Result<Batch> {
    let Some(first) = parts.first() else { return Ok(Batch::default()) };
    let mut features = Vec::with_capacity(first.features.len());
    for (name, _) in &first.features {
        let arrays = parts.iter().map(|part| part.feature(name)).collect::<Result<Vec<_>>>()?;
        features.push((name.clone(), stack_arrays(name, &arrays)?));
    }
    let labels = match &first.labels {
        Some(_) => {
            let arrays: Option<Vec<&Array>> = parts.iter().map(Batch::labels).collect();
            let arrays = arrays.ok_or_else(|| differ("labels"))?;
            Some(stack_arrays("labels", &arrays)?)
        }
        None => None,
    };
    Ok(Batch::new(features, labels))
}

fn stack_arrays(name: &str, arrays: &[&Array]) -> Result<Array> {
    fn join<T: Element>(name: &str, arrays: &[&Array]) -> Result<Array> {
        let inner = arrays[0].shape();
        let mut values: Vec<T> = Vec::with_capacity(arrays.len() * arrays[0].len());
        for array in arrays {
            if array.shape() != inner || array.dtype() != T::DTYPE {
                return Err(differ(name));
            }
            values.extend_from_slice(array.as_slice::<T>()?);
        }
        let shape: Vec<usize> = std::iter::once(arrays.len()).chain(inner.iter().copied()).collect();
        Array::from_vec(&shape, values)
    }
    fn of<T: Element>(_: &[T], name: &str, arrays: &[&Array]) -> Result<Array> {
        join::<T>(name, arrays)
    }
    for_each_type!(arrays[0].data(), values => of(values, name, arrays))
}

fn differ(name: &str) -> crate::core::Error {
    let problem = format!("`map` gave elements whose `{name}` differ in shape or dtype");
    DataError::Dataset { method: "batch", problem, help: "give every element the same shape and dtype" }.into()
}
