//! CSV files as they come: what is read from each, and what is said about those that do not fit.

use tpulab::core::{DType, Result};
use tpulab::data::{CsvReader, CsvTable, Frame, Header, NonFinite};

#[test]
fn a_line_of_names_metadata_or_neither_is_understood() {
    let names = read("length,species\n1.5,0\n").unwrap();
    assert_eq!((names.header(), names.frame().names()), (Header::Names, vec!["length", "species"]));
    let metadata = read("1,1,setosa,virginica\n1.5,0\n").unwrap();
    assert_eq!((metadata.header(), metadata.frame().shape()), (Header::Metadata, (1, 2)));
    assert_eq!(metadata.class_names(), ["setosa", "virginica"]);
    let neither = read("1.5,0\n2.5,1\n").unwrap();
    assert_eq!((neither.header(), neither.frame().names()), (Header::None, vec!["column_0", "column_1"]));
    assert_eq!(neither.frame().len(), 2);
}

#[test]
fn given_names_take_the_place_of_the_files_but_not_above_other_columns() {
    let reader = CsvReader::new().names(["a", "b"]);
    assert_eq!(reader.read_str("t.csv", "x,y\n1,2\n").unwrap().frame().names(), ["a", "b"]);
    let error = reader.read_str("t.csv", "b,a\n1,2\n").unwrap_err();
    assert_eq!(
        error.to_string(),
        "DATA014: t.csv, line 1: `a` is name 1 of those given and column 2 of the file; \
         give the names in the file's order, or none"
    );
    let error = CsvReader::new().names(["a"]).read_str("t.csv", "1,2\n").unwrap_err();
    assert_eq!(
        error.to_string(),
        "DATA014: t.csv, line 1: names given: 1, columns found: 2; give one name for each column"
    );
}

#[test]
fn what_metadata_promise_is_checked() {
    assert_eq!(
        message("3,1,setosa,virginica\n1.5,0\n"),
        "DATA014: t.csv, line 1: the header promises 3 rows, the file holds 1; \
         restore the missing lines, or correct the first number"
    );
    assert_eq!(
        message("1,4,setosa,virginica\n1.5,0\n"),
        "DATA014: t.csv, line 1: the header promises 4 features and a label, the row below has 2 cells; \
         correct the second number"
    );
    let error = CsvReader::new().header(Header::Metadata).read_str("t.csv", "a,b\n1,2\n").unwrap_err();
    assert_eq!(error.code(), "DATA014");
}

#[test]
fn types_are_inferred_as_pandas_infers_them() {
    let frame = read("i,f,b,s\n1,1,True,x\n-2,0.5,False,1\n").unwrap().into_frame();
    let dtypes: Vec<DType> = frame.columns().iter().map(|(_, column)| column.dtype()).collect();
    assert_eq!(dtypes, [DType::Int64, DType::Float64, DType::Bool, DType::String]);
    assert_eq!(frame.column("s").unwrap().values::<String>().unwrap(), ["x", "1"]);
}

#[test]
fn marks_line_ends_and_empty_lines_are_no_data() {
    let plain = read("a,b\n1,2\n3,4\n").unwrap();
    for text in ["\u{feff}a,b\n1,2\n3,4\n", "a,b\r\n1,2\r\n3,4\r\n", "a,b\r1,2\r3,4", "\n\na,b\n\n1,2\n\n3,4\n\n\n"] {
        assert_eq!(read(text).unwrap(), plain, "{text:?}");
    }
}

#[test]
fn a_cell_is_named_by_file_line_and_column() {
    let reader = CsvReader::new().dtypes([("x", DType::Float32), ("y", DType::Int32)]);
    let message = |text: &str| reader.read_str("t.csv", text).unwrap_err().to_string();
    assert_eq!(
        message("x,y\n1,2\nabc,3\n"),
        "DATA016: t.csv, line 3, column `x`: expected a float32, found \"abc\"; \
         correct the cell, or give the column another dtype with `dtypes`"
    );
    assert_eq!(
        message("x,y\n1,\n"),
        "DATA017: t.csv, line 2, column `y`: expected an int32, found an empty cell; \
         fill it in, remove the row, or read the column as a float type, which has a NaN"
    );
    assert_eq!(
        message("x,y\nNaN,1\n"),
        "DATA018: t.csv, line 2, column `x`: expected a finite number, found \"NaN\"; one such value makes the loss \
         NaN: correct or remove it, or keep it with `non_finite(NonFinite::Keep)`"
    );
    assert_eq!(
        message("x,y\n1,2147483648\n"),
        "DATA019: t.csv, line 2, column `y`: \"2147483648\" is too large for int32; read the column as int64"
    );
}

#[test]
fn lines_are_right_after_quoted_line_ends_and_in_any_convention() {
    let reader = CsvReader::new().dtypes([("x", DType::Float32)]);
    let place = |text: &str| reader.read_str("t.csv", text).unwrap_err().message().to_string();
    assert!(place("s,x\n\"two\nlines\",1\n\"a\nb\",bad\n").starts_with("t.csv, line 5, column `x`"));
    assert!(place("s,x\r\na,1\r\nb,bad\r\n").starts_with("t.csv, line 3, column `x`"));
    assert!(place("s,x\n\n\na,1\n\nb,bad\n").starts_with("t.csv, line 6, column `x`"));
    assert!(place("\u{feff}s,x\na,bad\n").starts_with("t.csv, line 2, column `x`"));
}

#[test]
fn rows_that_do_not_fit_are_never_left_out() {
    assert_eq!(
        message("a,b\n1,2\n3\n"),
        "DATA015: t.csv, line 3: expected 2 cells, found 1; put a text that contains commas in double quotes"
    );
    assert_eq!(
        message("a,b\n1,2\n3,4,5\n"),
        "DATA015: t.csv, line 3: expected 2 cells, found 3; put a text that contains commas in double quotes"
    );
    assert_eq!(
        message("a,b\nx,\"y\nz,2\nw,3\n"),
        "DATA021: t.csv, line 2: this quote is never closed; close it; write a quote inside quotes twice"
    );
}

#[test]
fn a_quote_that_opens_in_the_header_does_not_hide_the_rows() {
    assert!(message("\"a\n1\n2\n").starts_with("DATA021: t.csv, line 1: this quote is never closed"));
    assert!(message("\"a,b\n1,2\n").starts_with("DATA021: t.csv, line 1: this quote is never closed"));
    assert_eq!(read("\"a\nb\",c\n1,2\n").unwrap().frame().names(), ["a\nb", "c"]);
}

#[test]
fn files_without_rows_and_names_without_columns_are_refused() {
    assert_eq!(message(""), "DATA012: t.csv: the file is empty; give it rows to read");
    assert_eq!(message("\n\r\n"), "DATA012: t.csv: the file is empty; give it rows to read");
    assert_eq!(
        message("a,b\n"),
        "DATA013: t.csv: a header and no rows below it; if that line is an example, say so with `header(Header::None)`"
    );
    assert_eq!(message("a,a\n1,2\n"), "DATA002: t.csv, line 1: two columns are called `a`; rename one of them");
    let error = CsvReader::new().dtypes([("PetalLenght", DType::Float32)]).read_str("t.csv", "PetalLength\n1\n");
    assert_eq!(
        error.unwrap_err().to_string(),
        "DATA010: t.csv, dtypes: no column is called `PetalLenght`; the columns are `PetalLength`; \
         did you mean `PetalLength`?"
    );
    let error = CsvReader::new().dtypes([("a", DType::Resource)]).read_str("t.csv", "a\n1\n").unwrap_err();
    assert_eq!(error.code(), "DATA022");
}

#[test]
fn missing_values_and_infinities_are_kept_on_request() {
    let reader = CsvReader::new().header(Header::Names).non_finite(NonFinite::Keep);
    let frame = reader.read_str("t.csv", "i,f\n1,-inf\n,2\n").unwrap().into_frame();
    let integers = frame.column("i").unwrap().values::<f64>().unwrap();
    assert!(integers[0] == 1.0 && integers[1].is_nan());
    assert_eq!(frame.column("f").unwrap().values::<f64>().unwrap(), [f64::NEG_INFINITY, 2.0]);
}

#[test]
fn files_are_read_from_disk() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    std::fs::write(&path, b"name\ncaf\xe9\n").unwrap();
    let error = CsvReader::new().read_path(&path).unwrap_err();
    assert!(error.to_string().contains("t.csv, line 2: expected UTF-8 text, found the byte 0xE9; save the file as"));
    std::fs::write(&path, "name\ncafé\n").unwrap();
    assert_eq!(CsvReader::new().read_path(&path).unwrap().frame().len(), 1);
    assert_eq!(CsvReader::new().read_path(folder.path().join("no.csv")).unwrap_err().code(), "DATA011");
    let (train, test) = (folder.path().join("train.csv"), folder.path().join("test.csv"));
    std::fs::write(&train, "6.4,2.8,5.6,2.2,2\n5.0,2.3,3.3,1.0,1\n").unwrap();
    std::fs::write(&test, "SepalLength,SepalWidth,PetalLength,PetalWidth,Species\n5.9,3.0,4.2,1.5,1\n").unwrap();
    let ((train_x, _), (_, test_y)): ((Frame, _), _) = tpulab::iris::load_data_from(&train, &test, "Species").unwrap();
    assert_eq!((train_x.shape(), test_y.to_string().as_str()), ((2, 4), "[1]"));
}

fn read(text: &str) -> Result<CsvTable> {
    CsvReader::new().read_str("t.csv", text)
}

fn message(text: &str) -> String {
    read(text).unwrap_err().to_string()
}
