//! NumPy's format for one array.

use super::{Column, NumbersError, Table, chosen};
use std::path::Path;

pub(super) const MAGIC: &[u8] = b"\x93NUMPY";

/// What the header says of the array.
#[derive(Debug, PartialEq)]
struct Header {
    kind: Kind,
    big_endian: bool,
    fortran_order: bool,
    shape: Vec<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Float32,
    Float64,
    /// Of so many bytes.
    Signed(usize),
    Unsigned(usize),
}

impl Kind {
    fn bytes(self) -> usize {
        match self {
            Self::Float32 => 4,
            Self::Float64 => 8,
            Self::Signed(bytes) | Self::Unsigned(bytes) => bytes,
        }
    }

    /// The number that bytes in the order of large computers spell, most significant first.
    fn number(self, bytes: &[u8]) -> f64 {
        let word = bytes.iter().fold(0u64, |word, &byte| word << 8 | u64::from(byte));
        match self {
            Self::Float32 => f64::from(f32::from_bits(word as u32)),
            Self::Float64 => f64::from_bits(word),
            Self::Unsigned(_) => word as f64,
            Self::Signed(bytes) => {
                let unused = 64 - 8 * bytes as u32;
                ((word << unused) as i64 >> unused) as f64
            }
        }
    }
}

/// An array of one or two dimensions, as columns; their names are their numbers.
pub(super) fn parse(path: &Path, bytes: &[u8], wanted: &[String]) -> Result<Table, NumbersError> {
    let cut = || NumbersError::damaged(path, "it ends before its header does");
    let wide = *bytes.get(6).ok_or_else(cut)? >= 2;
    let (size, start): (usize, usize) = if wide { (4, 12) } else { (2, 10) };
    let length = bytes.get(8..8 + size).ok_or_else(cut)?;
    let length = length.iter().rev().fold(0, |length, &byte| length << 8 | usize::from(byte));
    let text = start.checked_add(length).and_then(|end| bytes.get(start..end)).ok_or_else(cut)?;
    let header = header(path, &String::from_utf8_lossy(text))?;
    let (rows, columns) = match header.shape[..] {
        [n] => (n, 1),
        // A row or a column is a list of numbers too.
        [1, n] | [n, 1] => (n, 1),
        [rows, columns] => (rows, columns),
        _ => {
            let why = format!(
                "the array has shape {:?}; make it one of rows and columns: x.reshape(len(x), -1)",
                header.shape
            );
            return Err(NumbersError::unusable(path, why));
        }
    };
    let width = header.kind.bytes();
    let data = &bytes[start + length..];
    let expected = rows.checked_mul(columns).and_then(|count| count.checked_mul(width));
    if expected != Some(data.len()) {
        let why = format!(
            "its header promises {rows} x {columns} numbers of {width} bytes, but {} bytes follow",
            data.len()
        );
        return Err(NumbersError::damaged(path, why));
    }
    let at = |row: usize, column: usize| {
        let place = if header.fortran_order { column * rows + row } else { row * columns + column };
        let mut word = [0; 8];
        let word = &mut word[..width];
        word.copy_from_slice(&data[place * width..(place + 1) * width]);
        if !header.big_endian {
            word.reverse();
        }
        header.kind.number(word)
    };
    let names: Vec<String> = (1..=columns).map(|number| number.to_string()).collect();
    let places = if wanted.is_empty() { (0..columns).collect() } else { chosen(path, &names, wanted)? };
    let column = |place: usize| Column {
        name: names[place].clone(),
        values: (0..rows).map(|row| at(row, place)).collect(),
    };
    Ok(Table { columns: places.into_iter().map(column).collect(), nameless: true, left_out: Vec::new() })
}

/// The header is a Python dictionary of three entries.
fn header(path: &Path, text: &str) -> Result<Header, NumbersError> {
    let entry = |key: &str| {
        let rest = text.split_once(&format!("'{key}'")).map(|(_, rest)| rest);
        rest.and_then(|rest| rest.trim_start().strip_prefix(':')).map(str::trim_start)
    };
    let broken = || NumbersError::damaged(path, format!("its header is {:?}", text.trim()));
    let kind = entry("descr").ok_or_else(broken)?;
    let Some((descr, _)) = kind.strip_prefix('\'').and_then(|rest| rest.split_once('\'')) else {
        let why = "the array holds records; save one field of it: np.save(name, x['field'])";
        return Err(NumbersError::unusable(path, why));
    };
    let (order, kind) = descr.split_at_checked(1).ok_or_else(broken)?;
    let kind = match kind {
        "f4" => Kind::Float32,
        "f8" => Kind::Float64,
        "i1" | "i2" | "i4" | "i8" => Kind::Signed(usize::from(kind.as_bytes()[1] - b'0')),
        "u1" | "u2" | "u4" | "u8" => Kind::Unsigned(usize::from(kind.as_bytes()[1] - b'0')),
        _ => {
            let why = format!(
                "the array is of type {descr:?}; make it one of numbers: np.save(name, x.astype(float))"
            );
            return Err(NumbersError::unusable(path, why));
        }
    };
    let fortran_order = entry("fortran_order").ok_or_else(broken)?.starts_with("True");
    let shape = entry("shape").and_then(|rest| rest.strip_prefix('(')).and_then(|rest| rest.split_once(')'));
    let sizes = shape.ok_or_else(broken)?.0.split(',').map(str::trim).filter(|size| !size.is_empty());
    let shape = sizes.map(str::parse).collect::<Result<_, _>>().map_err(|_| broken())?;
    let big_endian = order == ">" || order == "=" && cfg!(target_endian = "big");
    Ok(Header { kind, big_endian, fortran_order, shape })
}
