//! The same numbers in every format give the same estimates.

use super::found;
use super::sample_files::{little, npy, parquet, stable};
use crate::program::fed;
use ::parquet::basic::{Compression, GzipLevel, ZstdLevel};
use serde_json::Value;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

const COUNT: usize = 300;

/// Returns the estimates without the name of the file.
fn methods(folder: &Path, arguments: &str) -> Value {
    let value = found(folder, arguments);
    Value::Array(
        value["samples"]
            .as_array()
            .unwrap()
            .iter()
            .map(|sample| sample["methods"].clone())
            .collect(),
    )
}

fn write(folder: &TempDir, name: &str, bytes: impl AsRef<[u8]>) {
    fs::write(folder.path().join(name), bytes).unwrap();
}

#[test]
fn every_type_of_npy_is_read() {
    let folder = TempDir::new().unwrap();
    // Rounded so that single precision and integers represent them exactly.
    let numbers: Vec<f64> =
        stable(1.5, COUNT, 1).iter().map(|x| (256.0 * x).round().clamp(-3e4, 3e4)).collect();
    let list = format!("({COUNT},)");
    write(&folder, "reference.npy", npy("<f8", false, &list, &little(&numbers)));
    let expected = methods(folder.path(), "reference.npy");
    let bytes =
        |of: &dyn Fn(f64) -> Vec<u8>| numbers.iter().flat_map(|&x| of(x)).collect::<Vec<u8>>();
    for (descr, data) in [
        (">f8", bytes(&|x| x.to_be_bytes().to_vec())),
        ("<f4", bytes(&|x| (x as f32).to_le_bytes().to_vec())),
        (">f4", bytes(&|x| (x as f32).to_be_bytes().to_vec())),
        ("<i2", bytes(&|x| (x as i16).to_le_bytes().to_vec())),
        (">i4", bytes(&|x| (x as i32).to_be_bytes().to_vec())),
        ("<i8", bytes(&|x| (x as i64).to_le_bytes().to_vec())),
        ("<u4", bytes(&|x| ((x + 3e4) as u32).to_le_bytes().to_vec())),
    ] {
        write(&folder, "x.npy", npy(descr, false, &list, &data));
        assert_eq!(methods(folder.path(), "x.npy"), expected, "{descr}");
    }
    for shape in [format!("({COUNT}, 1)"), format!("(1, {COUNT})")] {
        write(&folder, "x.npy", npy("<f8", true, &shape, &little(&numbers)));
        assert_eq!(methods(folder.path(), "x.npy"), expected, "{shape}");
    }
    // The extension does not matter unless it is that of another format.
    write(&folder, "x.dat", npy("<f8", false, &list, &little(&numbers)));
    assert_eq!(methods(folder.path(), "x.dat"), expected);
}

#[test]
fn c_and_fortran_order_are_read() {
    let folder = TempDir::new().unwrap();
    let (a, b) = (stable(1.2, COUNT, 1), stable(1.8, COUNT, 2));
    let rows: Vec<f64> = a.iter().zip(&b).flat_map(|(a, b)| [*a, *b]).collect();
    let shape = format!("({COUNT}, 2)");
    write(&folder, "c.npy", npy("<f8", false, &shape, &little(&rows)));
    write(&folder, "f.npy", npy("<f8", true, &shape, &little(&[a.clone(), b].concat())));
    write(&folder, "a.npy", npy("<f8", false, &format!("({COUNT},)"), &little(&a)));
    for options in ["", "--by-column", "--column 2,1"] {
        let c = methods(folder.path(), &format!("c.npy {options}"));
        assert_eq!(c, methods(folder.path(), &format!("f.npy {options}")), "{options}");
    }
    assert_eq!(methods(folder.path(), "c.npy -c 1"), methods(folder.path(), "a.npy"));
}

#[test]
fn every_form_of_text_is_read() {
    let folder = TempDir::new().unwrap();
    let numbers = stable(1.5, COUNT, 1);
    write(&folder, "x.npy", npy("<f8", false, &format!("({COUNT},)"), &little(&numbers)));
    let expected = methods(folder.path(), "x.npy");
    let lines = |head: &str, line: &dyn Fn(f64) -> String| {
        head.to_string() + &numbers.iter().map(|&x| line(x)).collect::<String>()
    };
    for (options, text) in [
        ("", lines("", &|x| format!("{x}\n"))),
        ("", lines("# made by hand\n", &|x| format!("  {x:e}\r\n\n"))),
        ("", lines("\u{feff}x\n", &|x| format!("{x}\n"))),
        ("", lines("name,x\n", &|x| format!("\"a, \"\"b\"\"\",{x}\n"))),
        ("", lines("\"a\"\n", &|x| format!("\"{x}\"\n"))),
        ("", lines("daily return\n", &|x| format!("{x}\n"))),
        ("", lines("\"daily return\"\n", &|x| format!("{x}\n"))),
        ("--drop-missing", lines("x\n", &|x| format!("{x}\n\"\"\n"))),
        ("--column x", lines("\"t\"  \"x\" \n", &|x| format!("\"a b\"   {x} \n"))),
        ("--column x", lines("t;x\n", &|x| format!("7;{x}\n"))),
        ("--column 2", lines("t\tx\n", &|x| format!("7\t{x}\n"))),
        ("--column 2", lines("", &|x| format!("7 {x}\n"))),
        ("--column x --drop-missing", lines("t,x\n", &|x| format!("1,{x}\n2,\n3,NA\n4,nan\n"))),
    ] {
        write(&folder, "x.csv", &text);
        assert_eq!(
            methods(folder.path(), &format!("x.csv {options}")),
            expected,
            "{options} of\n{}",
            &text[..80]
        );
    }
    let ended = fed::fuld(
        folder.path(),
        "tail-index - --json --resamples 39",
        lines("", &|x| format!("{x} ")),
    );
    ended.refused(1, &["standard input", "at least 10", "got 1"]);
}

#[test]
fn every_compression_of_parquet_is_read() {
    let folder = TempDir::new().unwrap();
    let numbers = stable(1.5, COUNT, 1);
    let list =
        |numbers: &[f64]| npy("<f8", false, &format!("({},)", numbers.len()), &little(numbers));
    let half = COUNT.div_ceil(2);
    let kept = |i: usize| !(i % half).is_multiple_of(7);
    let single: Vec<f64> = numbers.iter().map(|&x| f64::from(x as f32)).collect();
    let whole: Vec<f64> = numbers.iter().map(|&x| (1e3 * x).trunc()).collect();
    let gaps: Vec<f64> = (0..COUNT).filter(|&i| kept(i)).map(|i| numbers[i]).collect();
    for compression in [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::default()),
        Compression::LZ4_RAW,
        Compression::ZSTD(ZstdLevel::default()),
    ] {
        write(&folder, "x.parquet", parquet(&numbers, compression));
        for (column, numbers) in
            [("x", &numbers), ("single", &single), ("whole", &whole), ("gaps", &gaps)]
        {
            write(&folder, "x.npy", list(numbers));
            assert_eq!(
                methods(folder.path(), &format!("x.parquet --column {column} --drop-missing")),
                methods(folder.path(), "x.npy"),
                "{column}, {compression}"
            );
        }
    }
}
