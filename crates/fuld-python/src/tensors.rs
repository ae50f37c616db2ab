//! Tensors given by their addresses, and loops over their values on several threads.
//!
//! PyTorch owns the memory. A step passes the address of each parameter, buffer and gradient, and
//! the number of its values.

use crate::{openmp, threads};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Mutex;

/// Number of values from which on several threads are faster than one.
const MIN_PARALLEL: usize = 1 << 16;
/// Values that a thread processes at a time: a multiple of the 16 values that the rule processes at
/// once.
const SHARE: usize = 1 << 15;
/// Numbers per thread in a group of tensors: two megabytes of single precision, which the caches of
/// today's processors hold.
const GROUP: usize = 1 << 19;

/// Addresses and lengths of the tensors of a step.
pub(crate) struct Tensors {
    pub(crate) params: Vec<usize>,
    /// 0 without momentum.
    pub(crate) buffers: Vec<usize>,
    /// 0 where a step evaluates the field only.
    pub(crate) grads: Vec<usize>,
    pub(crate) lengths: Vec<usize>,
}

/// Parameters, buffer and gradient of a tensor, or of a part of it.
pub(crate) struct Share<'a, T>(
    pub(crate) &'a mut [T],
    pub(crate) Option<&'a mut [T]>,
    pub(crate) &'a [T],
);

impl Tensors {
    /// Checks that the lists have the same length. Without momentum the buffers are ignored.
    pub(crate) fn new(
        params: Vec<usize>,
        buffers: Vec<usize>,
        grads: Vec<usize>,
        lengths: Vec<usize>,
        momentum: f64,
    ) -> PyResult<Self> {
        let count = lengths.len();
        let buffers = if momentum == 0.0 { vec![0; count] } else { buffers };
        if params.len() != count || grads.len() != count || buffers.len() != count {
            return Err(PyValueError::new_err(format!(
                "params, buffers, grads and lengths must have the same length, got {}, {}, {} and {count}",
                params.len(),
                buffers.len(),
                grads.len()
            )));
        }
        Ok(Self { params, buffers, grads, lengths })
    }

    /// Returns the tensors with these indices.
    pub(crate) fn only(&self, which: impl Iterator<Item = usize> + Clone) -> Self {
        let of = |list: &[usize]| which.clone().map(|i| list[i]).collect();
        Self {
            params: of(&self.params),
            buffers: of(&self.buffers),
            grads: of(&self.grads),
            lengths: of(&self.lengths),
        }
    }

    /// Returns an error if an address is not aligned for values of type `T`.
    pub(crate) fn check_addresses<T>(&self) -> PyResult<()> {
        [&self.params, &self.buffers, &self.grads]
            .into_iter()
            .try_for_each(|list| check_aligned::<T>(list))
    }

    /// Calls `step` with the index of a tensor and a part of it, for all parts of all tensors, on
    /// at most this number of threads.
    pub(crate) fn each<T: Send + Sync + 'static>(
        &self,
        threads: usize,
        step: impl Fn(usize, Share<'_, T>) + Sync,
    ) -> PyResult<()> {
        self.check_addresses::<T>()?;
        let shares =
            (0..self.lengths.len()).flat_map(|i| self.shares::<T>(i).map(move |share| (i, share)));
        share_out(self.threads(threads), shares, |(i, share)| step(i, share));
        Ok(())
    }

    /// Returns the number of threads to use: 1 for few values.
    pub(crate) fn threads(&self, threads: usize) -> usize {
        threads_for(&self.lengths, threads)
    }

    /// Returns a whole tensor. Nothing else may use it as long as the result lives.
    pub(crate) fn whole<T>(&self, i: usize) -> Share<'_, T> {
        self.share(i, 0, self.lengths[i])
    }

    fn shares<T: 'static>(&self, i: usize) -> impl Iterator<Item = Share<'_, T>> {
        parts_of(self.lengths[i]).map(move |(start, size)| self.share(i, start, size))
    }

    fn share<T>(&self, i: usize, start: usize, size: usize) -> Share<'_, T> {
        // SAFETY: the caller of a step guarantees that the values exist and that nothing else uses
        // them; the parts do not overlap.
        unsafe {
            Share(
                part(self.params[i], start, size),
                (self.buffers[i] != 0).then(|| part(self.buffers[i], start, size)),
                if self.grads[i] == 0 { &[] } else { part(self.grads[i], start, size) },
            )
        }
    }
}

/// Returns the number of threads to use for tensors of these lengths: 1 for few values.
pub(crate) fn threads_for(lengths: &[usize], threads: usize) -> usize {
    if lengths.iter().sum::<usize>() < MIN_PARALLEL { 1 } else { threads }
}

/// Returns ranges of tensors with at most [`GROUP`] numbers per thread together, or of one tensor.
pub(crate) fn groups(lengths: &[usize], threads: usize) -> impl Iterator<Item = Range<usize>> {
    let (mut first, most) = (0, GROUP * threads.max(1));
    std::iter::from_fn(move || {
        let start = first;
        let mut sum = 0;
        while first < lengths.len() && (first == start || sum + lengths[first] <= most) {
            sum += lengths[first];
            first += 1;
        }
        (start < first).then_some(start..first)
    })
}

/// Returns start and size of the parts of a tensor that threads process.
pub(crate) fn parts_of(length: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..length).step_by(SHARE).map(move |start| (start, SHARE.min(length - start)))
}

/// Returns an error if one of the addresses is not aligned for values of type `T`.
pub(crate) fn check_aligned<T>(addresses: &[usize]) -> PyResult<()> {
    if addresses.iter().all(|address| address.is_multiple_of(align_of::<T>())) {
        return Ok(());
    }
    Err(PyValueError::new_err(format!("addresses must be multiples of {}", align_of::<T>())))
}

/// Processes all pieces on this number of threads. Each thread takes the next piece when it is
/// free, so that a slow one delays no other.
pub(crate) fn share_out<P: Send>(
    threads: usize,
    mut pieces: impl Iterator<Item = P> + Send,
    work: impl Fn(P) + Sync,
) {
    if threads < 2 {
        return pieces.for_each(work);
    }
    let pieces = Mutex::new(&mut pieces);
    let next = || pieces.lock().ok()?.next();
    let all = || {
        while let Some(piece) = next() {
            work(piece);
        }
    };
    if !openmp::run(threads, &all) {
        threads::install(|| (0..threads).into_par_iter().for_each(|_| all()));
    }
}

/// Returns `size` values from index `start` on at an address. The address is not used if `size` is
/// 0.
///
/// # Safety
///
/// The values must exist, and nothing else may use them.
pub(crate) unsafe fn part<'a, T>(address: usize, start: usize, size: usize) -> &'a mut [T] {
    if size == 0 {
        return &mut [];
    }
    // SAFETY: as above.
    unsafe { std::slice::from_raw_parts_mut((address as *mut T).add(start), size) }
}
