//! Truncated and changed files are errors that name the file.

use super::sample_files::{little, npy, parquet, stable};
use super::tail_index;
use ::parquet::basic::Compression;
use std::fs;
use tempfile::TempDir;

#[test]
fn truncated_arrays_are_refused() {
    let folder = TempDir::new().unwrap();
    let whole = npy("<f8", false, "(40,)", &little(&stable(1.5, 40, 1)));
    for cut in [0, 3, 6, 8, 9, 10, 60, 127, 128, 129, whole.len() - 8, whole.len() - 1] {
        fs::write(folder.path().join("x.npy"), &whole[..cut]).unwrap();
        tail_index(folder.path(), "x.npy").refused(1, &["x.npy is damaged"]);
    }
    fs::write(folder.path().join("x.npy"), [&whole[..], b"more"].concat()).unwrap();
    tail_index(folder.path(), "x.npy")
        .refused(1, &["x.npy is damaged", "40 x 1 numbers of 8 bytes", "324 bytes"]);
}

#[test]
fn arrays_of_something_else_are_refused() {
    let folder = TempDir::new().unwrap();
    let refused = |bytes: &[u8], says: &[&str]| {
        fs::write(folder.path().join("x.npy"), bytes).unwrap();
        tail_index(folder.path(), "x.npy").refused(1, says);
    };
    let data = little(&[0.0; 16]);
    refused(&npy("<c16", false, "(8,)", &data), &["x.npy", "<c16", "astype(float)"]);
    refused(&npy("|O", false, "(8,)", &data), &["x.npy", "|O"]);
    refused(&npy("<f8", false, "(2, 2, 4)", &data), &["x.npy", "[2, 2, 4]", "reshape"]);
    refused(&npy("<f8", false, "()", &data[..8]), &["x.npy", "reshape"]);
    refused(&npy("<f8", false, "(-3,)", &data), &["x.npy is damaged"]);
    refused(&npy("<f8", false, "(99999999999, 99999999999)", &data), &["x.npy is damaged"]);
    refused(&npy("", false, "(16,)", &data), &["x.npy is damaged"]);
    // An array of records, whose type is a list of fields.
    let mut records = npy("<f8 and some room", false, "(16,)", &data);
    let at = records.windows(4).position(|bytes| bytes == b"'<f8").unwrap();
    records[at..at + 19].copy_from_slice(b"[('field', '<f8'),]");
    refused(&records, &["x.npy", "records", "x['field']"]);
    refused(b"PK\x03\x04 something else", &["x.npy is damaged", "begin"]);
}

/// Changes the codec in the footer of a snappy file to brotli. In the footer the codec, doubled as
/// Thrift writes integers, follows the name of its column.
#[test]
fn an_unsupported_compression_is_an_error() {
    let folder = TempDir::new().unwrap();
    let mut bytes = parquet(&stable(1.5, 40, 1), Compression::SNAPPY);
    let codec = b"\x18\x01x\x15\x02";
    let places: Vec<usize> =
        (0..bytes.len() - codec.len()).filter(|&at| bytes[at..].starts_with(codec)).collect();
    assert_eq!(places.len(), 2, "one for each row group");
    places.iter().for_each(|at| bytes[at + 4] = 2 * 4);
    fs::write(folder.path().join("x.parquet"), bytes).unwrap();
    tail_index(folder.path(), "x.parquet -c x").refused(
        1,
        &["x.parquet", "\"x\" is compressed with brotli", "snappy, zstd, lz4 and gzip"],
    );
    tail_index(folder.path(), "x.parquet -c single --resamples 19").printed();
}

/// Changed and missing bytes lead to an error or a result, and never to a panic.
#[test]
fn damaged_parquet_does_not_panic() {
    let folder = TempDir::new().unwrap();
    let whole = parquet(&stable(1.5, 40, 1), Compression::SNAPPY);
    let run = |bytes: &[u8]| {
        fs::write(folder.path().join("x.parquet"), bytes).unwrap();
        let ended = tail_index(folder.path(), "x.parquet --column x --resamples 19");
        assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
        assert!(matches!(ended.code, Some(0 | 1)), "{:?}: {}", ended.code, ended.stderr);
        ended
    };
    assert_eq!(run(&whole).code, Some(0));
    for cut in (0..whole.len()).step_by(97).chain([whole.len() - 1]) {
        run(&whole[..cut]).refused(1, &["x.parquet is damaged"]);
    }
    for at in (0..whole.len()).step_by(41) {
        let mut changed = whole.clone();
        changed[at] ^= 0x5a;
        run(&changed);
    }
}
