//! What the engine requires of a device: memory, kernels, matrix products, and graphs of them.
//!
//! Work is put into lanes. A lane runs its work in order; lanes run at the same time, except where
//! one waits for a signal of another.

use crate::engine::CudaError;
use std::marker::PhantomData;

/// Threads of a block, `THREADS` in `kernels.cu`.
pub(super) const THREADS: u32 = 256;
/// Alignment of arrays in bytes, as that of the driver's own allocations.
const ALIGNMENT: usize = 256;

/// A sequence of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lane {
    /// Forward and backward pass. Memory is copied in this lane.
    Main,
    /// Gradients with respect to weights.
    Gradients,
    /// The next minibatch, and the steps of the optimizer.
    Updates,
}

impl Lane {
    pub(super) const COUNT: usize = 3;
}

macro_rules! kernels {
    ($($kernel:ident = $name:literal,)*) => {
        /// A kernel of `kernels.cu`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Kernel { $($kernel,)* }

        impl Kernel {
            /// The name of each kernel, in the order of the variants.
            pub(super) const NAMES: &'static [&'static str] = &[$($name,)*];
        }
    };
}

kernels! {
    InitialWeights = "initial_weights",
    GatherMinibatch = "gather_minibatch",
    GatherIndices = "gather_indices",
    GatherRange = "gather_range",
    Relu = "relu",
    ReluBackward = "relu_backward",
    LossAndGradient = "loss_and_gradient",
    AddScores = "add_scores",
    AddNoise = "add_noise",
    Observe = "observe",
    Squares = "squares",
    NormFactors = "norm_factors",
    MomentumStep = "momentum_step",
    LargestMomentum = "largest_momentum",
    AdamStep = "adam_step",
    NextIteration = "next_iteration",
}

/// A type whose values are plain bytes, with the same layout on the device.
///
/// # Safety
///
/// The type must be `Copy`, without padding and without pointers, and every pattern of bits must be
/// a value of it.
pub(super) unsafe trait Plain: Copy + Default + 'static {}

// SAFETY: numbers are plain bytes.
unsafe impl Plain for u8 {}
// SAFETY: as above.
unsafe impl Plain for u32 {}
// SAFETY: as above.
unsafe impl Plain for u64 {}
// SAFETY: as above.
unsafe impl Plain for f32 {}
// SAFETY: as above.
unsafe impl Plain for f64 {}

/// Returns the bytes of plain values.
pub(super) fn bytes_of<T: Plain>(values: &[T]) -> &[u8] {
    // SAFETY: `Plain` types have no padding.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

/// Returns the bytes of plain values, to be written.
pub(super) fn bytes_of_mut<T: Plain>(values: &mut [T]) -> &mut [u8] {
    // SAFETY: `Plain` types have no padding, and every pattern of bits is a value.
    unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), size_of_val(values)) }
}

/// An array in the memory of a device.
#[derive(Debug)]
pub(super) struct Array<T> {
    /// Bytes before the array.
    offset: usize,
    length: usize,
    of: PhantomData<T>,
}

impl<T> Clone for Array<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Array<T> {}

impl<T> Array<T> {
    pub(super) fn len(&self) -> usize {
        self.length
    }

    pub(super) fn offset(&self) -> usize {
        self.offset
    }

    /// Returns a part of the array.
    pub(super) fn part(&self, start: usize, length: usize) -> Self {
        assert!(start + length <= self.length, "{start} + {length} of {} elements", self.length);
        Self { offset: self.offset + start * size_of::<T>(), length, of: PhantomData }
    }
}

/// The division of a device's memory into arrays.
#[derive(Clone, Debug, Default)]
pub(super) struct Plan {
    bytes: usize,
    /// The ends of the arrays, and where the next ones begin.
    #[cfg(test)]
    pub(super) gaps: Vec<std::ops::Range<usize>>,
}

impl Plan {
    /// Adds an array.
    pub(super) fn array<T: Plain>(&mut self, length: usize) -> Array<T> {
        let offset = self.bytes;
        let bytes = length.saturating_mul(size_of::<T>());
        self.bytes = offset.saturating_add(bytes).saturating_add(ALIGNMENT) / ALIGNMENT * ALIGNMENT;
        #[cfg(test)]
        self.gaps.push(offset + bytes..self.bytes);
        Array { offset, length, of: PhantomData }
    }

    /// Returns the bytes of all arrays.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}

/// An argument of a kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Argument {
    /// The address of an array, by its offset.
    Address(usize),
    /// A null pointer.
    Null,
    /// A number of four bytes.
    Word(u32),
    /// A number of eight bytes.
    Double(u64),
}

impl Argument {
    /// Returns the address of an array, or a null pointer.
    pub(super) fn optional<T>(array: Option<Array<T>>) -> Self {
        array.map_or(Self::Null, Self::from)
    }

    /// Returns the bits that the kernel receives, in the low bytes, if the memory begins at `base`.
    pub(super) fn bits(self, base: u64) -> u64 {
        match self {
            Self::Address(offset) => base + offset as u64,
            Self::Null => 0,
            Self::Word(word) => word.into(),
            Self::Double(bits) => bits,
        }
    }
}

impl<T> From<Array<T>> for Argument {
    fn from(array: Array<T>) -> Self {
        Self::Address(array.offset)
    }
}

impl From<u32> for Argument {
    fn from(number: u32) -> Self {
        Self::Word(number)
    }
}

impl From<u64> for Argument {
    fn from(number: u64) -> Self {
        Self::Double(number)
    }
}

impl From<f64> for Argument {
    fn from(number: f64) -> Self {
        Self::Double(number.to_bits())
    }
}

/// A matrix of each run, row by row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Matrix {
    pub(super) numbers: Array<f32>,
    /// Numbers of a stored row.
    pub(super) columns: usize,
    /// Numbers from run to run; 0 if all runs share the matrix.
    pub(super) stride: usize,
    pub(super) transposed: bool,
}

impl Matrix {
    pub(super) fn transposed(self) -> Self {
        Self { transposed: !self.transposed, ..self }
    }
}

/// The product of two matrices for each run: `rows` × `inner` times `inner` × `columns`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Product {
    pub(super) runs: usize,
    pub(super) rows: usize,
    pub(super) inner: usize,
    pub(super) columns: usize,
    pub(super) left: Matrix,
    pub(super) right: Matrix,
    pub(super) out: Array<f32>,
}

/// A device that computes.
pub(super) trait Device {
    /// Marks a place in a lane.
    type Signal;
    /// Captured work.
    type Graph;

    /// Copies numbers to an array, in the main lane. The numbers may change afterwards.
    fn upload<T: Plain>(&mut self, to: Array<T>, from: &[T]) -> Result<(), CudaError>;

    /// Copies numbers that `fill` writes to an array, in the main lane, without waiting for the
    /// device.
    fn stage(&mut self, to: Array<u32>, fill: &mut dyn FnMut(&mut [u32])) -> Result<(), CudaError>;

    /// Copies numbers from an array after all work in the main lane.
    fn download<T: Plain>(&mut self, from: Array<T>) -> Result<Vec<T>, CudaError>;

    /// Puts a kernel into a lane, with a grid of blocks × runs.
    fn launch(
        &mut self,
        lane: Lane,
        kernel: Kernel,
        grid: [u32; 2],
        arguments: &[Argument],
    ) -> Result<(), CudaError>;

    /// Puts a product into the main lane or that of gradients.
    fn multiply(&mut self, lane: Lane, product: &Product) -> Result<(), CudaError>;

    /// Marks the end of the work that is in a lane.
    fn signal(&mut self, lane: Lane) -> Result<Self::Signal, CudaError>;

    /// Makes further work of a lane wait for a signal.
    fn wait(&mut self, lane: Lane, signal: &Self::Signal) -> Result<(), CudaError>;

    /// Begins to capture the work of all lanes instead of doing it. It begins and ends in the main
    /// lane.
    fn begin_capture(&mut self) -> Result<(), CudaError>;

    /// Ends a capture.
    fn end_capture(&mut self) -> Result<Self::Graph, CudaError>;

    /// Puts captured work into the main lane.
    fn replay(&mut self, graph: &Self::Graph) -> Result<(), CudaError>;
}

/// Returns the blocks that `count` threads need, at most `most`.
pub(super) fn blocks(count: usize, most: u32) -> u32 {
    u32::try_from(count.div_ceil(THREADS as usize)).unwrap_or(u32::MAX).clamp(1, most.max(1))
}
