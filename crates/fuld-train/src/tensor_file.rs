//! Files of named single-precision tensors in the safetensors format. Shapes are checked on
//! reading.

use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use std::collections::BTreeMap;
use thiserror::Error;

/// Tensors by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct TensorFile(BTreeMap<String, (Vec<usize>, Vec<f32>)>);

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
    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>, safetensors::SafeTensorError> {
        let bytes: Vec<Vec<u8>> =
            self.0.values().map(|(_, numbers)| little_endian(numbers)).collect();
        let views = self.0.iter().zip(&bytes).map(|((name, (shape, _)), bytes)| {
            Ok((name, TensorView::new(Dtype::F32, shape.clone(), bytes)?))
        });
        let views: Vec<_> = views.collect::<Result<_, safetensors::SafeTensorError>>()?;
        safetensors::serialize(views, None)
    }

    /// Reads a file. Ignores tensors of other types.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self, safetensors::SafeTensorError> {
        let file = SafeTensors::deserialize(bytes)?;
        let single = file.iter().filter(|(_, view)| view.dtype() == Dtype::F32);
        let numbers = |bytes: &[u8]| {
            bytes.as_chunks().0.iter().map(|four| f32::from_le_bytes(*four)).collect()
        };
        Ok(Self(
            single
                .map(|(name, view)| (name.into(), (view.shape().to_vec(), numbers(view.data()))))
                .collect(),
        ))
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

fn little_endian(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}
