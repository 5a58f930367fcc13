//! The cells of one column while they are read.

use super::NonFinite;
use crate::core::DType;
use crate::data::Column;
use std::num::{IntErrorKind, ParseIntError};
use std::str::FromStr;

/// Why a cell could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CellProblem {
    Unreadable,
    Missing,
    NotFinite,
    OutOfRange,
}

/// The values read so far, by type.
pub(super) enum Cells {
    Float32(Vec<f32>),
    Float64(Vec<f64>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Bool(Vec<bool>),
    String(Vec<String>),
}

impl Cells {
    /// No values yet, with room for `rows`; `None` for a dtype that a file of text cannot hold.
    pub fn with_capacity(dtype: DType, rows: usize) -> Option<Self> {
        Some(match dtype {
            DType::Float32 => Cells::Float32(Vec::with_capacity(rows)),
            DType::Float64 => Cells::Float64(Vec::with_capacity(rows)),
            DType::Int32 => Cells::Int32(Vec::with_capacity(rows)),
            DType::Int64 => Cells::Int64(Vec::with_capacity(rows)),
            DType::Bool => Cells::Bool(Vec::with_capacity(rows)),
            DType::String => Cells::String(Vec::with_capacity(rows)),
            _ => return None,
        })
    }

    pub fn dtype(&self) -> DType {
        match self {
            Cells::Float32(_) => DType::Float32,
            Cells::Float64(_) => DType::Float64,
            Cells::Int32(_) => DType::Int32,
            Cells::Int64(_) => DType::Int64,
            Cells::Bool(_) => DType::Bool,
            Cells::String(_) => DType::String,
        }
    }

    /// Reads one more cell.
    pub fn push(&mut self, cell: &str, non_finite: NonFinite) -> Result<(), CellProblem> {
        match self {
            Cells::Float32(values) => values.push(float(cell, non_finite)?),
            Cells::Float64(values) => values.push(float(cell, non_finite)?),
            Cells::Int32(values) => values.push(integer(cell)?),
            Cells::Int64(values) => values.push(integer(cell)?),
            Cells::Bool(values) => values.push(truth(cell.trim()).ok_or_else(|| missing_or_unreadable(cell))?),
            Cells::String(values) => values.push(cell.to_string()),
        }
        Ok(())
    }

    pub fn len(&self) -> usize {
        match self {
            Cells::Float32(values) => values.len(),
            Cells::Float64(values) => values.len(),
            Cells::Int32(values) => values.len(),
            Cells::Int64(values) => values.len(),
            Cells::Bool(values) => values.len(),
            Cells::String(values) => values.len(),
        }
    }

    /// Adds the cells of a column of the same type.
    pub fn append(&mut self, more: Cells) {
        match (self, more) {
            (Cells::Float32(values), Cells::Float32(more)) => values.extend(more),
            (Cells::Float64(values), Cells::Float64(more)) => values.extend(more),
            (Cells::Int32(values), Cells::Int32(more)) => values.extend(more),
            (Cells::Int64(values), Cells::Int64(more)) => values.extend(more),
            (Cells::Bool(values), Cells::Bool(more)) => values.extend(more),
            (Cells::String(values), Cells::String(more)) => values.extend(more),
            _ => unreachable!("parts of one column have one type"),
        }
    }

    pub fn into_column(self) -> Column {
        match self {
            Cells::Float32(values) => values.into(),
            Cells::Float64(values) => values.into(),
            Cells::Int32(values) => values.into(),
            Cells::Int64(values) => values.into(),
            Cells::Bool(values) => values.into(),
            Cells::String(values) => values.into(),
        }
    }
}

/// A floating-point type that cells are read as.
trait Float: FromStr + Copy + Into<f64> {
    const NAN: Self;
}

impl Float for f32 {
    const NAN: f32 = f32::NAN;
}

impl Float for f64 {
    const NAN: f64 = f64::NAN;
}

fn float<F: Float>(cell: &str, non_finite: NonFinite) -> Result<F, CellProblem> {
    match cell.parse::<F>() {
        Ok(value) if value.into().is_finite() => Ok(value),
        _ => unusual_float(cell.trim(), non_finite),
    }
}

#[cold]
fn unusual_float<F: Float>(cell: &str, non_finite: NonFinite) -> Result<F, CellProblem> {
    let keep = |value: F, problem| if non_finite == NonFinite::Keep { Ok(value) } else { Err(problem) };
    if is_missing(cell) {
        return keep(F::NAN, CellProblem::Missing);
    }
    match cell.parse::<F>() {
        Ok(value) if value.into().is_finite() => Ok(value),
        Ok(value) if value.into().is_nan() => keep(value, CellProblem::NotFinite),
        Ok(_) if cell.contains(|letter: char| letter.is_ascii_digit()) => Err(CellProblem::OutOfRange),
        Ok(infinite) => keep(infinite, CellProblem::NotFinite),
        Err(_) => Err(CellProblem::Unreadable),
    }
}

fn integer<I: FromStr<Err = ParseIntError>>(cell: &str) -> Result<I, CellProblem> {
    cell.parse().or_else(|_| cell.trim().parse()).map_err(|error: ParseIntError| match error.kind() {
        IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => CellProblem::OutOfRange,
        _ => missing_or_unreadable(cell),
    })
}

fn missing_or_unreadable(cell: &str) -> CellProblem {
    if is_missing(cell.trim()) { CellProblem::Missing } else { CellProblem::Unreadable }
}

fn truth(cell: &str) -> Option<bool> {
    match cell {
        "True" | "true" | "TRUE" => Some(true),
        "False" | "false" | "FALSE" => Some(false),
        _ => None,
    }
}

/// Whether tables write `cell`, without spaces around it, where a value is missing.
fn is_missing(cell: &str) -> bool {
    matches!(cell, "" | "NA" | "N/A" | "n/a" | "#N/A" | "<NA>" | "null" | "NULL" | "None")
}

/// What a column can be, as far as its cells tell. In the order in which one gives way to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Only missing values so far.
    Missing,
    Bool,
    Int,
    Float,
    Text,
}

impl Kind {
    pub fn of(cell: &str) -> Kind {
        let trimmed = cell.trim();
        match trimmed.parse::<i64>() {
            Ok(_) => return Kind::Int,
            // Rounding a long number to a float would change it: it stays as it is written.
            Err(error) if matches!(error.kind(), IntErrorKind::PosOverflow | IntErrorKind::NegOverflow) => {
                return Kind::Text;
            }
            Err(_) => {}
        }
        if is_missing(trimmed) {
            Kind::Missing
        } else if trimmed.parse::<f64>().is_ok() {
            Kind::Float
        } else if truth(trimmed).is_some() {
            Kind::Bool
        } else {
            Kind::Text
        }
    }

    /// What a column with cells of both kinds is.
    pub fn join(self, other: Kind) -> Kind {
        match (self, other) {
            (kind, same) if kind == same => kind,
            (Kind::Missing, kind) | (kind, Kind::Missing) => kind,
            (Kind::Int, Kind::Float) | (Kind::Float, Kind::Int) => Kind::Float,
            _ => Kind::Text,
        }
    }

    pub fn dtype(self, has_missing: bool, non_finite: NonFinite) -> DType {
        match self {
            // A missing number is a NaN, which integers do not have.
            Kind::Int if has_missing && non_finite == NonFinite::Keep => DType::Float64,
            Kind::Int => DType::Int64,
            Kind::Bool => DType::Bool,
            Kind::Float | Kind::Missing => DType::Float64,
            Kind::Text => DType::String,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn infinities_and_missing_values_are_kept_only_on_request() {
        assert_eq!(float::<f32>("inf", NonFinite::Refuse), Err(CellProblem::NotFinite));
        assert_eq!(float::<f32>("-inf", NonFinite::Keep), Ok(f32::NEG_INFINITY));
        assert_eq!(float::<f64>("", NonFinite::Refuse), Err(CellProblem::Missing));
        assert!(float::<f64>("NA", NonFinite::Keep).is_ok_and(f64::is_nan));
        assert_eq!(float::<f32>("1e39", NonFinite::Keep), Err(CellProblem::OutOfRange));
        assert_eq!(float::<f32>(" 1.5 ", NonFinite::Refuse), Ok(1.5));
    }

    #[test]
    fn integers_never_pass_through_floats() {
        assert_eq!(integer::<i64>("9007199254740993"), Ok(9_007_199_254_740_993));
        assert_eq!(integer::<i32>("2147483648"), Err(CellProblem::OutOfRange));
        assert_eq!(integer::<i32>("1.0"), Err(CellProblem::Unreadable));
        assert_eq!(integer::<i32>("NA"), Err(CellProblem::Missing));
    }

    #[test]
    fn kinds_join_as_pandas_joins_them() {
        assert_eq!(Kind::of("1").join(Kind::of("1.5")), Kind::Float);
        assert_eq!(Kind::of("True").join(Kind::of("1")), Kind::Text);
        assert_eq!(Kind::of("").join(Kind::of("7")), Kind::Int);
        assert_eq!(Kind::of("99999999999999999999"), Kind::Text);
        assert_eq!(Kind::Int.dtype(true, NonFinite::Keep), DType::Float64);
    }
}
