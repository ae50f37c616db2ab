//! Numbers for the tests, and files that contain them.

use fuld::random::{Purpose, Stream};
use levy_stable::SymmetricStable;
use parquet::basic::{Compression, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, FloatType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use std::sync::Arc;

/// Returns draws from SαS(1).
pub(crate) fn stable(alpha: f64, count: usize, seed: u64) -> Vec<f64> {
    let (mut words, mut draws) = (vec![0; count], vec![0.0; count]);
    Stream::new(seed, 0, Purpose::Noise).fill(0, &mut words);
    SymmetricStable::new(alpha).unwrap().sampler().transform(&words, &mut draws);
    draws
}

/// Returns the bytes of an array in NumPy's format.
pub(crate) fn npy(descr: &str, fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    let header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}");
    // Padded so that the numbers start at a multiple of 64.
    let padded = (10 + header.len() + 1).next_multiple_of(64) - 10;
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((padded as u16).to_le_bytes());
    bytes.extend(format!("{header:<width$}\n", width = padded - 1).bytes());
    bytes.extend(data);
    bytes
}

/// Returns numbers as little-endian bytes.
pub(crate) fn little(numbers: &[f64]) -> Vec<u8> {
    numbers.iter().flat_map(|x| x.to_le_bytes()).collect()
}

/// Returns a Parquet file with the columns `x` (double, every number), `single` (float), `whole`
/// (integer), `gaps` (double, every seventh null) and `word` (text), in two row groups.
pub(crate) fn parquet(numbers: &[f64], compression: Compression) -> Vec<u8> {
    let field = |name: &str, kind: Physical, repetition: Repetition| {
        Arc::new(
            Type::primitive_type_builder(name, kind).with_repetition(repetition).build().unwrap(),
        )
    };
    let fields = vec![
        field("x", Physical::DOUBLE, Repetition::REQUIRED),
        field("single", Physical::FLOAT, Repetition::REQUIRED),
        field("whole", Physical::INT64, Repetition::REQUIRED),
        field("gaps", Physical::DOUBLE, Repetition::OPTIONAL),
        field("word", Physical::BYTE_ARRAY, Repetition::REQUIRED),
    ];
    let schema = Arc::new(Type::group_type_builder("schema").with_fields(fields).build().unwrap());
    let properties = Arc::new(WriterProperties::builder().set_compression(compression).build());
    let mut bytes = Vec::new();
    let mut file = SerializedFileWriter::new(&mut bytes, schema, properties).unwrap();
    for numbers in numbers.chunks(numbers.len().div_ceil(2)) {
        let single: Vec<f32> = numbers.iter().map(|&x| x as f32).collect();
        let whole: Vec<i64> = numbers.iter().map(|&x| (1e3 * x) as i64).collect();
        let there: Vec<i16> = (0..numbers.len()).map(|i| i16::from(i % 7 != 0)).collect();
        let gaps: Vec<f64> =
            numbers.iter().zip(&there).filter(|&(_, &level)| level > 0).map(|(&x, _)| x).collect();
        let words: Vec<ByteArray> = numbers.iter().map(|_| "word".into()).collect();
        let mut group = file.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<DoubleType>().write_batch(numbers, None, None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<FloatType>().write_batch(&single, None, None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<Int64Type>().write_batch(&whole, None, None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<DoubleType>().write_batch(&gaps, Some(&there), None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<ByteArrayType>().write_batch(&words, None, None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
    }
    file.close().unwrap();
    bytes
}
