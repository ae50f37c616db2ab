//! Reading of the numeric columns of a Parquet file.

use super::{Column, NumberTable, NumbersError, column_indices};
use parquet::basic::{Compression, ConvertedType, LogicalType, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;
use std::fs::File;
use std::path::Path;

/// The first bytes of every Parquet file.
pub(super) const MAGIC: &[u8] = b"PAR1";

/// Reads the wanted columns, or all that contain numbers. Nulls are missing numbers.
pub(super) fn read(path: &Path, wanted: &[String]) -> Result<NumberTable, NumbersError> {
    let file =
        File::open(path).map_err(|error| NumbersError::Unreadable { path: path.into(), error })?;
    let damaged = |error: ParquetError| NumbersError::damaged(path, error);
    let file = SerializedFileReader::new(file).map_err(damaged)?;
    let schema = file.metadata().file_metadata().schema_descr_ptr();
    let names: Vec<String> =
        schema.columns().iter().map(|column| column.path().parts().join(".")).collect();
    let foreign: Vec<Option<String>> =
        schema.columns().iter().map(|column| foreign(column)).collect();
    let places: Vec<usize> = match wanted {
        [] => (0..names.len()).filter(|&place| foreign[place].is_none()).collect(),
        wanted => column_indices(path, &names, wanted)?,
    };
    if let Some(&place) = places.iter().find(|&&place| foreign[place].is_some()) {
        let what = foreign[place].as_deref().unwrap_or_default();
        return Err(NumbersError::unusable(
            path,
            format!("column {:?} contains {what}, not numbers", names[place]),
        ));
    }
    if places.is_empty() {
        let why = format!("it has no column of numbers; its columns are {}", names.join(", "));
        return Err(NumbersError::unusable(path, why));
    }
    for group in file.metadata().row_groups() {
        let unsupported =
            |&place: &usize| Some((place, unsupported_codec(&group.column(place).compression())?));
        if let Some((place, codec)) = places.iter().find_map(unsupported) {
            let why = format!(
                "column {:?} is compressed with {codec}, which is not supported; supported are snappy, zstd, lz4 and gzip",
                names[place]
            );
            return Err(NumbersError::unusable(path, why));
        }
    }
    let columns = places
        .iter()
        .map(|&place| Ok(Column { name: names[place].clone(), values: values(&file, place)? }))
        .collect::<Result<_, ParquetError>>()
        .map_err(damaged)?;
    let left_out = match wanted {
        [] => names
            .iter()
            .zip(foreign)
            .filter_map(|(name, what)| Some((name.clone(), what?)))
            .collect(),
        _ => Vec::new(),
    };
    Ok(NumberTable { columns, unnamed: false, left_out })
}

/// Returns the name of a compression codec that is not supported.
fn unsupported_codec(codec: &Compression) -> Option<&'static str> {
    match codec {
        Compression::BROTLI(_) => Some("brotli"),
        Compression::LZO => Some("lzo"),
        _ => None,
    }
}

/// Returns the type of a column that does not contain plain numbers.
fn foreign(column: &ColumnDescriptor) -> Option<String> {
    if column.max_rep_level() > 0 {
        return Some("lists".into());
    }
    if !matches!(column.physical_type(), Type::INT32 | Type::INT64 | Type::FLOAT | Type::DOUBLE) {
        return Some(column.physical_type().to_string().to_lowercase());
    }
    match column.logical_type_ref() {
        None | Some(LogicalType::Integer(_)) => match column.converted_type() {
            kind @ (ConvertedType::DECIMAL
            | ConvertedType::DATE
            | ConvertedType::TIME_MILLIS
            | ConvertedType::TIME_MICROS
            | ConvertedType::TIMESTAMP_MILLIS
            | ConvertedType::TIMESTAMP_MICROS) => Some(kind.to_string().to_lowercase()),
            _ => None,
        },
        Some(other) => {
            Some(format!("{other:?}").split(['(', ' ']).next().unwrap_or_default().to_lowercase())
        }
    }
}

/// Reads a column of all row groups.
fn values(file: &SerializedFileReader<File>, place: usize) -> Result<Vec<f64>, ParquetError> {
    let descriptor = file.metadata().file_metadata().schema_descr().column(place);
    let unsigned = matches!(
        descriptor.converted_type(),
        ConvertedType::UINT_8
            | ConvertedType::UINT_16
            | ConvertedType::UINT_32
            | ConvertedType::UINT_64
    );
    let mut all = Vec::new();
    for group in 0..file.num_row_groups() {
        let group = file.get_row_group(group)?;
        let rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
        let there = descriptor.max_def_level();
        match group.get_column_reader(place)? {
            ColumnReader::DoubleColumnReader(reader) => {
                each(reader, rows, there, &mut all, |&x| x)?
            }
            ColumnReader::FloatColumnReader(reader) => {
                each(reader, rows, there, &mut all, |&x| f64::from(x))?
            }
            ColumnReader::Int32ColumnReader(reader) if unsigned => {
                each(reader, rows, there, &mut all, |&x| f64::from(x as u32))?
            }
            ColumnReader::Int32ColumnReader(reader) => {
                each(reader, rows, there, &mut all, |&x| f64::from(x))?
            }
            ColumnReader::Int64ColumnReader(reader) if unsigned => {
                each(reader, rows, there, &mut all, |&x| x as u64 as f64)?
            }
            ColumnReader::Int64ColumnReader(reader) => {
                each(reader, rows, there, &mut all, |&x| x as f64)?
            }
            _ => {}
        }
    }
    Ok(all)
}

/// Appends the numbers of one column of a row group. A number whose definition level is below
/// `there` is missing.
fn each<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    rows: usize,
    there: i16,
    all: &mut Vec<f64>,
    number: impl Fn(&T::T) -> f64,
) -> Result<(), ParquetError> {
    const BATCH: usize = 65_536;
    let mut left = rows;
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    while left > 0 {
        values.clear();
        levels.clear();
        let (records, _, _) =
            reader.read_records(left.min(BATCH), Some(&mut levels), None, &mut values)?;
        if records == 0 {
            return Err(ParquetError::EOF(format!("{left} rows of a column are missing")));
        }
        left -= records.min(left);
        if there == 0 {
            all.extend(values.iter().map(&number));
            continue;
        }
        let mut present = values.iter();
        let next = |level: &i16| match *level == there {
            true => present.next().map_or(f64::NAN, &number),
            false => f64::NAN,
        };
        all.extend(levels.iter().map(next));
    }
    Ok(())
}
