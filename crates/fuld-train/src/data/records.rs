//! The file format of CIFAR-10: records of one label and the bytes of one image.

use super::byte_reader::ByteReader;
use super::error::{DataError, FileFlaw};
use std::path::Path;

/// Appends the records of a file to `pixels` and `labels`. The file must contain exactly `count`
/// records of `features` pixels each.
pub(super) fn append(
    path: &Path,
    count: usize,
    features: usize,
    pixels: &mut Vec<u8>,
    labels: &mut Vec<u8>,
) -> Result<(), DataError> {
    let mut file = ByteReader::open(path)?;
    let mut record = vec![0; 1 + features];
    for n in 0..count {
        // A truncated file lacks all following records too, not only the rest of this one.
        file.fill(&mut record).map_err(|e| with_more_missing(e, (count - n - 1) * record.len()))?;
        if record[0] > 9 {
            return Err(DataError::damaged(
                path,
                (n * record.len()) as u64,
                FileFlaw::Label(record[0]),
            ));
        }
        labels.push(record[0]);
        pixels.extend_from_slice(&record[1..]);
    }
    file.expect_end()
}

/// Adds `more` bytes to those that a truncated file lacks.
fn with_more_missing(error: DataError, more: usize) -> DataError {
    match error {
        DataError::Damaged { path, byte, flaw: FileFlaw::Truncated { missing } } => {
            DataError::Damaged {
                path,
                byte,
                flaw: FileFlaw::Truncated { missing: missing + more as u64 },
            }
        }
        other => other,
    }
}
