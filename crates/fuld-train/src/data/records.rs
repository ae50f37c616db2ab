//! Records of a label and its image's bytes, one after the other: the form of CIFAR-10's batches and of our digits.

use super::error::{DataError, FileFlaw};
use super::stream::Stream;
use std::path::Path;

/// Appends the records of a file, which holds exactly `count`, to pixels and labels.
pub(super) fn append(
    path: &Path,
    count: usize,
    features: usize,
    pixels: &mut Vec<u8>,
    labels: &mut Vec<u8>,
) -> Result<(), DataError> {
    let mut file = Stream::open(path)?;
    let mut record = vec![0; 1 + features];
    for n in 0..count {
        // A file cut off between records lacks all the rest, not one record.
        file.fill(&mut record).map_err(|e| with_rest(e, (count - n - 1) * record.len()))?;
        if record[0] > 9 {
            return Err(DataError::damaged(path, (n * record.len()) as u64, FileFlaw::Label(record[0])));
        }
        labels.push(record[0]);
        pixels.extend_from_slice(&record[1..]);
    }
    file.end()
}

fn with_rest(error: DataError, rest: usize) -> DataError {
    match error {
        DataError::Damaged { path, byte, flaw: FileFlaw::Truncated { missing } } => {
            DataError::Damaged { path, byte, flaw: FileFlaw::Truncated { missing: missing + rest as u64 } }
        }
        other => other,
    }
}
