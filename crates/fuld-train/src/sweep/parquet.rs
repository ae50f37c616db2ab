//! The table of a sweep as a Parquet file. Every column is optional and has a plain type.

use super::table::{Cell, SweepRow};
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;
use std::sync::Arc;

/// Returns the bytes of the file.
pub(super) fn bytes(rows: &[SweepRow]) -> Result<Vec<u8>, ParquetError> {
    let mut bytes = Vec::new();
    let properties = Arc::new(WriterProperties::builder().build());
    let mut file = SerializedFileWriter::new(&mut bytes, Arc::new(schema()?), properties)?;
    let mut group = file.next_row_group()?;
    let mut column = 0;
    while let Some(writer) = group.next_column()? {
        write(writer, rows.iter().filter_map(|row| row.cells.get(column)).map(|(_, cell)| cell))?;
        column += 1;
    }
    group.close()?;
    file.close()?;
    Ok(bytes)
}

fn schema() -> Result<Type, ParquetError> {
    let field = |(name, cell): &(&'static str, Cell)| {
        let physical = match cell {
            Cell::Text(_) => Physical::BYTE_ARRAY,
            Cell::Whole(_) => Physical::INT64,
            Cell::Number(_) => Physical::DOUBLE,
        };
        let logical = matches!(cell, Cell::Text(_)).then_some(LogicalType::String);
        let field =
            Type::primitive_type_builder(name, physical).with_repetition(Repetition::OPTIONAL);
        field.with_logical_type(logical).build().map(Arc::new)
    };
    let fields = SweepRow::empty().cells.iter().map(field).collect::<Result<_, _>>()?;
    Type::group_type_builder("results").with_fields(fields).build()
}

/// Writes the cells of a column with their definition levels: 1 where there is a value, 0 where
/// there is none.
fn write<'a>(
    mut writer: SerializedColumnWriter<'_>,
    cells: impl Iterator<Item = &'a Cell>,
) -> Result<(), ParquetError> {
    let (mut texts, mut wholes, mut numbers, mut defined) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut kind = None;
    for cell in cells {
        kind = Some(cell);
        match cell {
            Cell::Text(text) => {
                defined.push(i16::from(text.is_some()));
                texts.extend(text.as_deref().map(ByteArray::from));
            }
            Cell::Whole(whole) => {
                defined.push(i16::from(whole.is_some()));
                wholes.extend(*whole);
            }
            Cell::Number(number) => {
                defined.push(i16::from(number.is_some()));
                numbers.extend(*number);
            }
        }
    }
    match kind {
        Some(Cell::Text(_)) => {
            writer.typed::<ByteArrayType>().write_batch(&texts, Some(&defined), None)?
        }
        Some(Cell::Whole(_)) => {
            writer.typed::<Int64Type>().write_batch(&wholes, Some(&defined), None)?
        }
        Some(Cell::Number(_)) => {
            writer.typed::<DoubleType>().write_batch(&numbers, Some(&defined), None)?
        }
        None => 0,
    };
    writer.close()
}
