//! What holds for every CSV file.

use proptest::prelude::*;
use tpulab::core::DType;
use tpulab::data::{CsvReader, CsvTable, Header, NonFinite};

proptest! {
    #[test]
    fn no_bytes_whatever_make_the_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        try_all(&bytes);
    }

    #[test]
    fn no_text_of_csvs_own_signs_makes_the_reader_panic(text in "[\",\r\n1a.é\u{feff}-]{0,60}") {
        try_all(text.as_bytes());
    }

    #[test]
    fn tables_come_back_exactly(
        rows in proptest::collection::vec((any_text(), any::<i64>(), finite(), any::<bool>()), 1..20),
        line_end in prop_oneof![Just("\n"), Just("\r\n"), Just("\r")],
    ) {
        let mut text = String::from("text,integer,float,truth") + line_end;
        for (word, integer, float, truth) in &rows {
            text += &format!("\"{}\",{integer},{float:?},{truth}{line_end}", word.replace('"', "\"\""));
        }
        let reader = CsvReader::new().dtypes([("text", DType::String)]);
        let frame = reader.read_str("t.csv", &text).unwrap().into_frame();
        let words: Vec<&str> = rows.iter().map(|row| row.0.as_str()).collect();
        prop_assert_eq!(frame.column("text").unwrap().values::<String>().unwrap(), words);
        let integers: Vec<i64> = rows.iter().map(|row| row.1).collect();
        prop_assert_eq!(frame.column("integer").unwrap().values::<i64>().unwrap(), integers);
        let floats: Vec<f64> = rows.iter().map(|row| row.2).collect();
        prop_assert_eq!(frame.column("float").unwrap().values::<f64>().unwrap(), floats);
        let truths: Vec<bool> = rows.iter().map(|row| row.3).collect();
        prop_assert_eq!(frame.column("truth").unwrap().values::<bool>().unwrap(), truths);
    }

    #[test]
    fn a_bad_cell_is_found_on_its_line(words in proptest::collection::vec(any_text(), 1..10), bad in 0usize..10) {
        let bad = bad % words.len();
        let mut text = String::from("text,number\n");
        let mut line = 0;
        for (index, word) in words.iter().enumerate() {
            text += &format!("\"{}\",", word.replace('"', "\"\""));
            if index == bad {
                line = text.replace("\r\n", "\n").replace('\r', "\n").matches('\n').count() + 1;
            }
            text += if index == bad { "bad\n" } else { "1\n" };
        }
        let reader = CsvReader::new().dtypes([("text", DType::String), ("number", DType::Float32)]);
        let error = reader.read_str("t.csv", &text).unwrap_err();
        let expected = format!("t.csv, line {line}, column `number`: expected a float32, found \"bad\"");
        prop_assert_eq!(error.message(), expected);
    }
}

/// Texts with all that quoting is for.
fn any_text() -> impl Strategy<Value = String> {
    prop_oneof!["[\",\r\na ]{0,8}", any::<String>()]
}

fn finite() -> impl Strategy<Value = f64> {
    any::<f64>().prop_filter("finite", |value| value.is_finite())
}

/// Reads the bytes in every way; whatever is read has rows.
fn try_all(bytes: &[u8]) {
    for header in [Header::Infer, Header::None, Header::Names, Header::Metadata] {
        for non_finite in [NonFinite::Refuse, NonFinite::Keep] {
            let reader = CsvReader::new().header(header).non_finite(non_finite);
            let has_rows = |table: CsvTable| !table.frame().is_empty();
            assert!(reader.read_bytes("t.csv", bytes).map_or(true, has_rows));
            let named = reader.names(["a", "b"]).dtypes([("a", DType::Float32)]);
            assert!(named.read_bytes("t.csv", bytes).map_or(true, has_rows));
        }
    }
}
