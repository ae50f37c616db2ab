//! Reading of columns of numbers from files: .npy, Parquet, and text in columns.

mod error;
mod npy;
mod parquet;
mod text;

pub(crate) use error::NumbersError;

use std::fs;
use std::io::{self, Read};
use std::path::Path;

/// Columns of numbers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NumberTable {
    /// The requested columns, or all that contain numbers.
    pub columns: Vec<Column>,
    /// Whether columns have no names, so that rows are vectors.
    pub unnamed: bool,
    /// Columns that were not requested and do not contain numbers: their names, and the reason.
    pub left_out: Vec<(String, String)>,
}

/// A column of numbers. Missing numbers are NaN.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Column {
    /// The name of the column, or its number from 1.
    pub name: String,
    /// The numbers by row.
    pub values: Vec<f64>,
}

/// Reads the columns with these names or numbers, or all columns, from a file of any supported
/// format. `-` is standard input.
pub(crate) fn read(path: &Path, wanted: &[String]) -> Result<NumberTable, NumbersError> {
    let unreadable = |error| NumbersError::Unreadable { path: path.into(), error };
    if path == Path::new("-") {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes).map_err(unreadable)?;
        if bytes.starts_with(parquet::MAGIC) {
            let why = "Parquet cannot be read from standard input; give the name of the file";
            return Err(NumbersError::damaged(Path::new("standard input"), why));
        }
        return parse(Path::new("standard input"), &bytes, wanted);
    }
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    if ending.as_deref() == Some("parquet") || begins(path, parquet::MAGIC).map_err(unreadable)? {
        return parquet::read(path, wanted);
    }
    let bytes = fs::read(path).map_err(unreadable)?;
    if ending.as_deref() == Some("npy") && !bytes.starts_with(npy::MAGIC) {
        return Err(NumbersError::damaged(path, "it does not begin like a .npy file"));
    }
    parse(path, &bytes, wanted)
}

fn parse(path: &Path, bytes: &[u8], wanted: &[String]) -> Result<NumberTable, NumbersError> {
    if bytes.starts_with(npy::MAGIC) {
        npy::parse(path, bytes, wanted)
    } else {
        text::parse(path, bytes, wanted)
    }
}

fn begins(path: &Path, magic: &[u8]) -> io::Result<bool> {
    let mut start = Vec::new();
    fs::File::open(path)?.take(magic.len() as u64).read_to_end(&mut start)?;
    Ok(start == magic)
}

/// Returns the indices of the wanted columns.
fn column_indices(
    path: &Path,
    names: &[String],
    wanted: &[String],
) -> Result<Vec<usize>, NumbersError> {
    let place = |wanted: &String| {
        let named = names.iter().position(|name| name == wanted);
        let counted = || wanted.parse().ok().filter(|number| (1..=names.len()).contains(number));
        named.or_else(|| counted().map(|number: usize| number - 1)).ok_or_else(|| {
            NumbersError::NoColumn {
                path: path.into(),
                wanted: wanted.clone(),
                names: names.to_vec(),
            }
        })
    };
    let places: Vec<usize> = wanted.iter().map(place).collect::<Result<_, _>>()?;
    match (1..places.len()).find(|&i| places[..i].contains(&places[i])) {
        Some(i) => Err(NumbersError::DuplicateColumn { name: names[places[i]].clone() }),
        None => Ok(places),
    }
}
