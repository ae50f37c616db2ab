//! Errors name the file, the position in it, and a fix.

use super::sample_files::{little, npy, parquet, stable};
use super::tail_index;
use ::parquet::basic::Compression;
use std::fs;
use tempfile::TempDir;

#[test]
fn errors_name_the_row_and_column_of_a_number() {
    let folder = TempDir::new().unwrap();
    let refused = |numbers: &[f64], shape: &str, says: &[&str]| {
        fs::write(folder.path().join("x.npy"), npy("<f8", false, shape, &little(numbers))).unwrap();
        tail_index(folder.path(), "x.npy").refused(1, says);
    };
    let with = |at: usize, value: f64| {
        let mut numbers = stable(1.5, 40, 1);
        numbers[at] = value;
        numbers
    };
    refused(&with(7, f64::NAN), "(40,)", &["x.npy", "row 8", "NaN", "--drop-missing"]);
    refused(&with(7, f64::NAN), "(20, 2)", &["row 4", "column 2", "--drop-missing"]);
    refused(&with(6, f64::INFINITY), "(20, 2)", &["row 4", "column 1", "inf", "finite"]);
    refused(&with(6, 1e301), "(40,)", &["row 7", "1e300"]);
    refused(&[], "(0,)", &["x.npy", "at least 10", "got 0"]);
    refused(&[1.0, 2.0, 3.0], "(3,)", &["x.npy", "at least 10", "got 3"]);
    refused(&[4.5; 40], "(40,)", &["x.npy", "are 4.5"]);
    let half: Vec<f64> =
        stable(1.5, 40, 1).iter().enumerate().map(|(i, &x)| if i < 35 { 0.0 } else { x }).collect();
    refused(&half, "(40,)", &["x.npy", "half of the numbers"]);
}

/// Rows that were left out still count in the numbers of rows.
#[test]
fn errors_count_rows_that_were_left_out() {
    let folder = TempDir::new().unwrap();
    let mut numbers = stable(1.5, 40, 1);
    (numbers[5], numbers[7]) = (f64::NAN, f64::INFINITY);
    fs::write(folder.path().join("x.npy"), npy("<f8", false, "(40,)", &little(&numbers))).unwrap();
    tail_index(folder.path(), "x.npy --drop-missing").refused(1, &["row 8 of column 1 is inf"]);
}

#[test]
fn errors_name_the_line_of_a_text() {
    let folder = TempDir::new().unwrap();
    let refused = |text: &str, options: &str, code: i32, says: &[&str]| {
        fs::write(folder.path().join("x.csv"), text).unwrap();
        tail_index(folder.path(), &format!("x.csv {options}")).refused(code, says);
    };
    let numbers: String = (1..=12).map(|i| format!("{i}\n")).collect();
    refused("", "", 1, &["x.csv", "no numbers"]);
    refused("# nothing\n\n", "", 1, &["x.csv", "no numbers"]);
    refused(&format!("{numbers}thirteen\n"), "", 1, &["x.csv", "line 13", "\"thirteen\""]);
    refused("a,b\n1,2\n3\n", "", 1, &["x.csv", "line 3 has 1 cells", "2"]);
    refused("a,b\n\"1,2\n", "", 1, &["x.csv", "line 2", "quote"]);
    refused("a,b\n1,2\n", "", 2, &["several columns", "a, b", "--column", "--by-column"]);
    refused("a,b\n1,2\n", "--column a,a", 2, &["column \"a\"", "twice"]);
    refused("a,b\n1,2\n", "-c a -c 1", 2, &["column \"a\"", "twice"]);
    refused("a,b\n1,2\n", "--column c", 1, &["x.csv", "no column \"c\"", "a, b"]);
    refused("a,b\n1,2\n", "--column 3", 1, &["no column \"3\""]);
    refused("a,b\n1,x\n", "--column b", 1, &["column \"b\"", "line 2", "\"x\""]);
    refused("1,2\n3,4\n", "--column 0", 1, &["no column \"0\"", "1, 2"]);
    fs::write(folder.path().join("x.csv"), b"1\n2\n\xff\xfe\x00").unwrap();
    tail_index(folder.path(), "x.csv").refused(1, &["x.csv", "line 3", "not UTF-8 text"]);
}

#[test]
fn columns_of_parquet_must_be_numbers() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("x.parquet"), parquet(&stable(1.5, 40, 1), Compression::SNAPPY))
        .unwrap();
    tail_index(folder.path(), "x.parquet").refused(2, &["x, single, whole, gaps", "--column"]);
    tail_index(folder.path(), "x.parquet -c word")
        .refused(1, &["\"word\"", "byte_array", "not numbers"]);
    tail_index(folder.path(), "x.parquet -c y").refused(1, &["no column \"y\"", "x, single"]);
    tail_index(folder.path(), "x.parquet -c gaps").refused(1, &["row 1", "gaps", "--drop-missing"]);
    let bytes = fs::read(folder.path().join("x.parquet")).unwrap();
    super::fed::fuld(folder.path(), "tail-index -", bytes)
        .refused(1, &["standard input", "name of the file"]);
}

#[test]
fn errors_name_the_invalid_option() {
    let folder = TempDir::new().unwrap();
    fs::write(
        folder.path().join("x.npy"),
        npy("<f8", false, "(40,)", &little(&stable(1.5, 40, 1))),
    )
    .unwrap();
    let refused = |arguments: &str, code: i32, says: &[&str]| {
        tail_index(folder.path(), arguments).refused(code, says)
    };
    refused("", 2, &["FILE"]);
    refused("y.npy", 1, &["y.npy", "No such file"]);
    refused(".", 1, &[". cannot be read"]);
    refused("x.npy --level 1.5", 2, &["level", "1.5"]);
    refused("x.npy --resamples 5", 2, &["19 resamples", "got 5"]);
    refused("x.npy --plot x.jpg", 2, &["x.jpg", ".svg"]);
    refused("x.npy --resamples 19 --plot nowhere/x.svg", 1, &["nowhere/x.svg"]);
}
