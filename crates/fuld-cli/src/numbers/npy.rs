//! Reads one array in NumPy's .npy format.

use super::{Column, NumberTable, NumbersError, column_indices};
use npyz::{DType, NpyFile, NpyHeader, Order, TypeChar};
use std::path::Path;

/// The first bytes of every .npy file.
pub(super) const MAGIC: &[u8] = b"\x93NUMPY";

/// Reads an array of one or two dimensions as columns, named by their numbers.
pub(super) fn parse(
    path: &Path,
    bytes: &[u8],
    wanted: &[String],
) -> Result<NumberTable, NumbersError> {
    let mut data = bytes;
    let header = NpyHeader::from_reader(&mut data).map_err(|error| match unknown_type(bytes) {
        Some(descr) => not_numbers(path, &descr),
        None => NumbersError::damaged(path, error),
    })?;
    let shape = header.shape().to_vec();
    let (rows, columns) = match shape[..] {
        // A single row or column is a list of numbers too.
        [n] | [1, n] | [n, 1] => (n, 1),
        [rows, columns] => (rows, columns),
        _ => {
            let why = format!(
                "the array has shape {shape:?}, expected one or two dimensions; use x.reshape(len(x), -1)"
            );
            return Err(NumbersError::unusable(path, why));
        }
    };
    let DType::Plain(kind) = header.dtype() else {
        let why = "the array contains records; save one field of it: np.save(name, x['field'])";
        return Err(NumbersError::unusable(path, why));
    };
    let width = kind.num_bytes().unwrap_or(0) as u64;
    if rows.checked_mul(columns).and_then(|count| count.checked_mul(width))
        != Some(data.len() as u64)
    {
        let why = format!(
            "its header describes {rows} x {columns} numbers of {width} bytes, but {} bytes follow",
            data.len()
        );
        return Err(NumbersError::damaged(path, why));
    }
    let fortran = header.order() == Order::Fortran;
    let file = NpyFile::with_header(header, data);
    /// Reads all numbers as one type and converts them.
    macro_rules! read_as {
        ($number:ty) => {
            file.into_vec::<$number>()
                .map(|numbers| numbers.into_iter().map(|x| x as f64).collect())
        };
    }
    let numbers: Vec<f64> = match (kind.type_char(), width) {
        (TypeChar::Float, 4) => read_as!(f32),
        (TypeChar::Float, 8) => file.into_vec(),
        (TypeChar::Int, 1) => read_as!(i8),
        (TypeChar::Int, 2) => read_as!(i16),
        (TypeChar::Int, 4) => read_as!(i32),
        (TypeChar::Int, 8) => read_as!(i64),
        (TypeChar::Uint, 1) => read_as!(u8),
        (TypeChar::Uint, 2) => read_as!(u16),
        (TypeChar::Uint, 4) => read_as!(u32),
        (TypeChar::Uint, 8) => read_as!(u64),
        _ => return Err(not_numbers(path, &kind.to_string())),
    }
    .map_err(|error| NumbersError::damaged(path, error))?;
    let (rows, columns) = (rows as usize, columns as usize);
    let names: Vec<String> = (1..=columns).map(|number| number.to_string()).collect();
    let places = if wanted.is_empty() {
        (0..columns).collect()
    } else {
        column_indices(path, &names, wanted)?
    };
    let index = |row: usize, column: usize| {
        if fortran { column * rows + row } else { row * columns + column }
    };
    let column = |place: usize| Column {
        name: names[place].clone(),
        values: (0..rows).map(|row| numbers[index(row, place)]).collect(),
    };
    Ok(NumberTable {
        columns: places.into_iter().map(column).collect(),
        unnamed: true,
        left_out: Vec::new(),
    })
}

fn not_numbers(path: &Path, descr: &str) -> NumbersError {
    let why = format!(
        "the array has type {descr:?}, expected numbers; use np.save(name, x.astype(float))"
    );
    NumbersError::unusable(path, why)
}

/// Returns the type in the header if npyz does not know it, such as "|O" for Python objects.
fn unknown_type(bytes: &[u8]) -> Option<String> {
    let header = String::from_utf8_lossy(&bytes[..bytes.len().min(256)]).into_owned();
    let (_, rest) = header.split_once("'descr': '")?;
    let (descr, _) = rest.split_once('\'')?;
    (!descr.is_empty() && descr.parse::<npyz::TypeStr>().is_err()).then(|| descr.to_owned())
}
