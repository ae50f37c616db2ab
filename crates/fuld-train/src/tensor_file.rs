//! Files of named single-precision tensors in the safetensors format: the length of a header, the
//! header in JSON, and the numbers. Shapes are checked on reading.
//!
//! Written here, because the format is as short as the calls of its crate, which brings three more.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use thiserror::Error;

/// Tensors by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct TensorFile(BTreeMap<String, (Vec<usize>, Vec<f32>)>);

/// The name of the type of single-precision numbers.
const F32: &str = "F32";

/// What the header says of a tensor.
#[derive(Serialize, Deserialize)]
struct Entry {
    dtype: String,
    shape: Vec<usize>,
    /// Where its numbers begin and end, in bytes after the header.
    data_offsets: [usize; 2],
}

/// An error of reading a tensor.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum TensorError {
    /// The tensor is missing.
    #[error("it does not contain the tensor {0}")]
    Missing(String),
    /// The tensor has another shape.
    #[error("the tensor {name} has the shape {found:?} instead of {expected:?}")]
    Shape {
        /// The name of the tensor.
        name: String,
        /// The stored shape.
        found: Vec<usize>,
        /// The expected shape.
        expected: Vec<usize>,
    },
    /// The tensor is not the state of a guard.
    #[error("the tensor {name}: {source}")]
    Guard {
        /// The name of the tensor.
        name: String,
        /// The reason.
        source: fuld::guard::GuardStateError,
    },
}

impl TensorFile {
    /// Adds a tensor.
    pub(crate) fn insert(&mut self, name: String, shape: Vec<usize>, numbers: Vec<f32>) {
        self.0.insert(name, (shape, numbers));
    }

    /// Adds the part of the next run to a tensor whose first axis counts the runs.
    pub(crate) fn push(&mut self, name: String, shape: &[usize], numbers: &[f32]) {
        let new = || ([&[0], shape].concat(), Vec::new());
        let (shape, all) = self.0.entry(name).or_insert_with(new);
        shape[0] += 1;
        all.extend_from_slice(numbers);
    }

    /// Returns the parts of one run of a stack of `runs`.
    pub(crate) fn of_run(&self, run: usize, runs: usize) -> RunTensors<'_> {
        RunTensors { file: self, run, runs }
    }

    /// Returns the bytes of the file.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.append_to(&mut bytes);
        bytes
    }

    /// Appends the bytes of the file.
    pub(crate) fn append_to(&self, bytes: &mut Vec<u8>) {
        let (mut entries, mut end) = (BTreeMap::new(), 0);
        for (name, (shape, numbers)) in &self.0 {
            let start = end;
            end += size_of_val(&numbers[..]);
            let data_offsets = [start, end];
            entries.insert(name, Entry { dtype: F32.into(), shape: shape.clone(), data_offsets });
        }
        let mut header = serde_json::to_vec(&entries).expect("names and numbers are valid JSON");
        // Blanks align the numbers.
        header.resize(header.len().next_multiple_of(8), b' ');
        bytes.reserve(8 + header.len() + end);
        bytes.extend_from_slice(&(header.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&header);
        for (_, numbers) in self.0.values() {
            bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        }
    }

    /// Reads a file that [`to_bytes`](Self::to_bytes) wrote; `None` if the bytes are not one.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (length, rest) = bytes.split_first_chunk()?;
        let length = u64::from_le_bytes(*length).try_into().ok()?;
        let (header, data) = rest.split_at_checked(length)?;
        let entries: BTreeMap<String, Entry> = serde_json::from_slice(header).ok()?;
        let tensor = |(name, entry): (String, Entry)| {
            let [start, end] = entry.data_offsets;
            let numbers = data.get(start..end)?.as_chunks().0;
            let size = entry.shape.iter().try_fold(4, |size: usize, n| size.checked_mul(*n))?;
            let numbers = numbers.iter().map(|four| f32::from_le_bytes(*four)).collect();
            (entry.dtype == F32 && size == end - start).then_some((name, (entry.shape, numbers)))
        };
        entries.into_iter().map(tensor).collect::<Option<_>>().map(Self)
    }
}

/// The parts of one run of tensors whose first axis counts the runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunTensors<'a> {
    file: &'a TensorFile,
    run: usize,
    runs: usize,
}

impl RunTensors<'_> {
    /// Copies the part of a tensor that must have this shape.
    pub(crate) fn read(
        &self,
        name: &str,
        shape: &[usize],
        out: &mut [f32],
    ) -> Result<(), TensorError> {
        let (found, numbers) =
            self.file.0.get(name).ok_or_else(|| TensorError::Missing(name.into()))?;
        let expected = [&[self.runs], shape].concat();
        if *found != expected {
            return Err(TensorError::Shape { name: name.into(), found: found.clone(), expected });
        }
        out.copy_from_slice(&numbers[self.run * out.len()..][..out.len()]);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_in_the_safetensors_format() {
        let mut file = TensorFile::default();
        file.insert("b".into(), vec![1], vec![f32::NAN]);
        file.insert("a".into(), vec![2, 0], vec![]);
        let header = br#"{"a":{"dtype":"F32","shape":[2,0],"data_offsets":[0,0]},"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#;
        let length = header.len().next_multiple_of(8);
        let blanks = vec![b' '; length - header.len()];
        let numbers = f32::NAN.to_le_bytes();
        let expected = [&[length as u8, 0, 0, 0, 0, 0, 0, 0], &header[..], &blanks, &numbers];
        let bytes = file.to_bytes();
        assert_eq!(bytes, expected.concat());
        assert_eq!(TensorFile::from_bytes(&bytes).unwrap().to_bytes(), bytes);
    }

    #[test]
    fn damaged_files_are_refused() {
        let mut file = TensorFile::default();
        file.insert("a".into(), vec![2, 3], vec![1.0; 6]);
        let bytes = file.to_bytes();
        for cut in 0..bytes.len() {
            assert!(TensorFile::from_bytes(&bytes[..cut]).is_none(), "{cut}");
        }
        let changed = |from: &str, to: &str| {
            let at = bytes.windows(from.len()).position(|part| part == from.as_bytes()).unwrap();
            let mut bytes = bytes.clone();
            bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
            TensorFile::from_bytes(&bytes)
        };
        assert!(changed("[2,3]", "[2,3]").is_some());
        for (from, to) in [
            ("[2,3]", "[2,4]"),
            ("F32", "F64"),
            ("[0,24]", "[1,24]"),
            ("[0,24]", "[9,24]"),
            ("[0,24]", "[0,99]"),
            ("[0,24]", "[9,00]"),
        ] {
            assert!(changed(from, to).is_none(), "{to}");
        }
    }
}
