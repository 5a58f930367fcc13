//! The fast way through a file without quotes.
//!
//! It reads only rows that are in order and gives up at anything else, so that the careful way can say what is wrong.

use super::NonFinite;
use super::cells::Cells;
use crate::core::DType;
use std::thread;

/// The columns of `text`, which has neither header nor quotes, or `None` where something needs a closer look.
pub(super) fn read(text: &str, dtypes: &[DType], non_finite: NonFinite) -> Option<Vec<Cells>> {
    /// The length of text that is worth a thread.
    const SHARE: usize = 1 << 20;
    let threads = thread::available_parallelism().map_or(1, usize::from).min(text.len() / SHARE + 1);
    let shares = split(text, threads);
    let parts: Vec<Option<Vec<Cells>>> = thread::scope(|scope| {
        let read = |share| scope.spawn(move || read_rows(share, dtypes, non_finite));
        let others: Vec<_> = shares[1..].iter().map(|&share| read(share)).collect();
        let first = read_rows(shares[0], dtypes, non_finite);
        std::iter::once(first).chain(others.into_iter().map(|thread| thread.join().ok().flatten())).collect()
    });
    let mut parts = parts.into_iter();
    let mut columns = parts.next().flatten()?;
    for part in parts {
        for (column, more) in columns.iter_mut().zip(part?) {
            column.append(more);
        }
    }
    Some(columns)
}

/// Cuts `text` after line ends into `count` parts of about one size.
fn split(text: &str, count: usize) -> Vec<&str> {
    let mut parts = Vec::with_capacity(count);
    let mut rest = text;
    for left in (2..=count).rev() {
        let middle = rest.len() / left;
        let Some(line) = rest.as_bytes()[middle..].iter().position(|&byte| byte == b'\n') else { break };
        let (part, after) = rest.split_at(middle + line + 1);
        parts.push(part);
        rest = after;
    }
    parts.push(rest);
    parts
}

fn read_rows(text: &str, dtypes: &[DType], non_finite: NonFinite) -> Option<Vec<Cells>> {
    let bytes = text.as_bytes();
    let lines = bytes.iter().filter(|&&byte| byte == b'\n').count() + 1;
    let mut columns: Vec<Cells> =
        dtypes.iter().map(|&dtype| Cells::with_capacity(dtype, lines)).collect::<Option<_>>()?;
    let mut at = 0;
    while at < bytes.len() {
        if let Some(next) = line_end(bytes, at) {
            at = next;
            continue;
        }
        for (index, column) in columns.iter_mut().enumerate() {
            if index > 0 {
                bytes.get(at).filter(|&&byte| byte == b',')?;
                at += 1;
            }
            at = read_cell(column, text, at, non_finite)?;
        }
        at = if at == bytes.len() { at } else { line_end(bytes, at)? };
    }
    Some(columns)
}

/// Where the next line starts if one ends at `at`; a carriage return alone is left to the careful way.
fn line_end(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes[at..] {
        [b'\n', ..] => Some(at + 1),
        [b'\r', b'\n', ..] => Some(at + 2),
        _ => None,
    }
}

/// Reads the cell at `at` and gives where it ends.
fn read_cell(column: &mut Cells, text: &str, at: usize, non_finite: NonFinite) -> Option<usize> {
    // Below these bounds number and power of ten are exact, so that one division rounds as it must.
    const EXACT_F32: [f32; 11] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10];
    const EXACT_F64: [f64; 16] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];
    let bytes = text.as_bytes();
    let decimal = match column {
        Cells::Bool(_) | Cells::String(_) => None,
        _ => Decimal::read(bytes, at),
    };
    if let Some(decimal) = decimal {
        let Decimal { digits, places, has_point, negative, end } = decimal;
        match column {
            Cells::Float32(values) if digits < 1 << 24 && places < EXACT_F32.len() => {
                let value = digits as f32 / EXACT_F32[places];
                values.push(if negative { -value } else { value });
                return Some(end);
            }
            Cells::Float64(values) if digits < 1 << 53 && places < EXACT_F64.len() => {
                let value = digits as f64 / EXACT_F64[places];
                values.push(if negative { -value } else { value });
                return Some(end);
            }
            Cells::Int32(values) if !has_point => {
                values.push(i32::try_from(decimal.signed()).ok()?);
                return Some(end);
            }
            Cells::Int64(values) if !has_point => {
                values.push(decimal.signed());
                return Some(end);
            }
            _ => {}
        }
    }
    let length = bytes[at..].iter().position(|byte| matches!(byte, b',' | b'\n' | b'\r'));
    let end = length.map_or(bytes.len(), |length| at + length);
    column.push(&text[at..end], non_finite).ok()?;
    Some(end)
}

/// A number of up to 18 digits as it is written.
struct Decimal {
    digits: u64,
    /// How many of the digits stand after the point.
    places: usize,
    has_point: bool,
    negative: bool,
    /// Where the number's cell ends.
    end: usize,
}

impl Decimal {
    /// The number that fills the cell at `start`, if the cell holds a sign, digits and a point, and nothing else.
    fn read(bytes: &[u8], start: usize) -> Option<Self> {
        const LONGEST: usize = 18;
        let negative = bytes.get(start) == Some(&b'-');
        let first = start + usize::from(negative);
        let (mut digits, mut end, mut point) = (0u64, first, None);
        while let Some(&byte) = bytes.get(end) {
            match byte {
                b'0'..=b'9' => digits = digits.wrapping_mul(10).wrapping_add(u64::from(byte - b'0')),
                b'.' if point.is_none() => point = Some(end),
                b',' | b'\n' | b'\r' => break,
                _ => return None,
            }
            end += 1;
        }
        let count = end - first - usize::from(point.is_some());
        let places = point.map_or(0, |point| end - point - 1);
        (1..=LONGEST).contains(&count).then_some(Decimal { digits, places, has_point: point.is_some(), negative, end })
    }

    fn signed(&self) -> i64 {
        let digits = self.digits as i64;
        if self.negative { -digits } else { digits }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Column, CsvReader, Header};
    use proptest::prelude::*;

    fn read_one(text: &str, dtype: DType) -> Option<Column> {
        read(text, &[dtype], NonFinite::Refuse)?.pop().map(Cells::into_column)
    }

    #[test]
    fn what_is_not_in_order_is_left_to_the_careful_way() {
        for text in ["1,2", "1\r2", "x", "inf", "", ".", "-", "1e39"] {
            let column = read_one(text, DType::Float32);
            assert!(column.is_none_or(|column| column.is_empty()), "{text:?}");
        }
        assert!(read("1,2\n3\n", &[DType::Int32, DType::Int32], NonFinite::Refuse).is_none());
        assert!(read_one("2147483648", DType::Int32).is_none() && read_one("1.", DType::Int64).is_none());
    }

    #[test]
    fn parts_end_at_line_ends_and_make_up_the_whole() {
        let text = "1\n22\n333\n4444";
        for count in 1..6 {
            let parts = split(text, count);
            assert_eq!(parts.concat(), text);
            assert!(parts[..parts.len() - 1].iter().all(|part| part.ends_with('\n')));
        }
    }

    #[test]
    fn rows_keep_their_order_over_several_threads() {
        let text: String = (0..400_000).map(|row| format!("{row}\n")).collect();
        let column = read_one(&text, DType::Int32).unwrap();
        assert_eq!(column.values::<i32>().unwrap(), (0..400_000).collect::<Vec<i32>>());
    }

    proptest! {
        #[test]
        fn numbers_are_those_of_the_standard_library(text in "-?[0-9]{0,20}\\.?[0-9]{0,20}") {
            if let (Some(column), Ok(value)) = (read_one(&text, DType::Float32), text.parse::<f32>()) {
                prop_assert_eq!(column.values::<f32>().unwrap()[0].to_bits(), value.to_bits());
            }
            if let (Some(column), Ok(value)) = (read_one(&text, DType::Float64), text.parse::<f64>()) {
                prop_assert_eq!(column.values::<f64>().unwrap()[0].to_bits(), value.to_bits());
            }
            if !text.is_empty() {
                let column = read_one(&text, DType::Int64);
                prop_assert_eq!(column.map(|column| column.values::<i64>().unwrap()[0]), text.parse::<i64>().ok());
            }
        }

        #[test]
        fn both_ways_read_the_same(rows in proptest::collection::vec("-?[0-9]{1,4}(\\.[0-9]{0,3})?,[a-c é]{0,3}\r?\n", 1..9)) {
            let text = rows.concat();
            let dtypes = [("x", DType::Float32), ("y", DType::String)];
            let reader = CsvReader::new().names(["x", "y"]).header(Header::None).dtypes(dtypes);
            let plain = reader.read_str("t.csv", &text).unwrap();
            // A quoted last cell sends the whole file the careful way.
            let careful = reader.read_str("t.csv", &format!("{text}0,\"\"\n")).unwrap();
            prop_assert_eq!(plain.frame(), &careful.frame().head(rows.len()));
        }
    }
}
