//! Tensors in memory that others hold, and work over them on several threads.

use crate::{openmp, threads};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rayon::prelude::*;
use std::sync::Mutex;

/// From this many values on threads are worth waking.
const MANY: usize = 1 << 16;
/// Values that a thread takes at a time; a multiple of the sixteen that the rule takes together.
const SHARE: usize = 1 << 15;

/// Where the tensors of a step are.
pub(crate) struct Tensors {
    pub(crate) params: Vec<usize>,
    /// 0 where there is no momentum.
    pub(crate) buffers: Vec<usize>,
    /// 0 where only the field is taken.
    pub(crate) grads: Vec<usize>,
    pub(crate) lengths: Vec<usize>,
}

/// A part of a tensor, or all of it: parameters, buffer, gradient.
pub(crate) struct Share<'a, T>(pub(crate) &'a mut [T], pub(crate) Option<&'a mut [T]>, pub(crate) &'a [T]);

impl Tensors {
    /// Those of a step, if there are as many of everything. Without momentum there are no buffers.
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
            return Err(PyValueError::new_err(
                "as many parameters, buffers, gradients and lengths are needed",
            ));
        }
        Ok(Self { params, buffers, grads, lengths })
    }

    /// Some of them, by their numbers.
    pub(crate) fn only(&self, which: &[usize]) -> Self {
        let of = |list: &[usize]| which.iter().map(|&i| list[i]).collect();
        Self {
            params: of(&self.params),
            buffers: of(&self.buffers),
            grads: of(&self.grads),
            lengths: of(&self.lengths),
        }
    }

    /// Whether all are where numbers of this type can be.
    pub(crate) fn check_addresses<T>(&self) -> PyResult<()> {
        [&self.params, &self.buffers, &self.grads].into_iter().try_for_each(|list| check_aligned::<T>(list))
    }

    /// Takes `step` over all of them, part by part, on at most so many threads; it is told the number of the tensor.
    pub(crate) fn each<T: Send + Sync + 'static>(
        &self,
        threads: usize,
        step: impl Fn(usize, Share<'_, T>) + Sync,
    ) -> PyResult<()> {
        self.check_addresses::<T>()?;
        let shares = (0..self.lengths.len()).flat_map(|i| self.shares::<T>(i).map(move |share| (i, share)));
        share_out(self.threads(threads), shares, |(i, share)| step(i, share));
        Ok(())
    }

    /// As many of the threads as are worth waking.
    pub(crate) fn threads(&self, threads: usize) -> usize {
        if self.lengths.iter().sum::<usize>() < MANY { 1 } else { threads }
    }

    /// One tensor. Nobody else may use it as long as this is held.
    pub(crate) fn whole<T>(&self, i: usize) -> Share<'_, T> {
        self.share(i, 0, self.lengths[i])
    }

    fn shares<T: 'static>(&self, i: usize) -> impl Iterator<Item = Share<'_, T>> {
        let length = self.lengths[i];
        (0..length).step_by(SHARE).map(move |start| self.share(i, start, SHARE.min(length - start)))
    }

    fn share<T>(&self, i: usize, start: usize, size: usize) -> Share<'_, T> {
        // SAFETY: the caller of a step answers for the values at each address, which nobody else uses; the parts do not overlap.
        unsafe {
            Share(
                part(self.params[i], start, size),
                (self.buffers[i] != 0).then(|| part(self.buffers[i], start, size)),
                if self.grads[i] == 0 { &[] } else { part(self.grads[i], start, size) },
            )
        }
    }
}

/// Whether numbers of this type can be at all of these addresses.
pub(crate) fn check_aligned<T>(addresses: &[usize]) -> PyResult<()> {
    if addresses.iter().all(|address| address.is_multiple_of(align_of::<T>())) {
        return Ok(());
    }
    Err(PyValueError::new_err("numbers must be at addresses that are multiples of their size"))
}

/// Does one piece of work after another on so many threads. Each takes the next: one that comes late holds up nobody.
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

/// `size` values from the `start`-th on at an address; of none there need not be one.
///
/// # Safety
///
/// They must be there, and nobody else may use them.
pub(crate) unsafe fn part<'a, T>(address: usize, start: usize, size: usize) -> &'a mut [T] {
    if size == 0 {
        return &mut [];
    }
    // SAFETY: as above.
    unsafe { std::slice::from_raw_parts_mut((address as *mut T).add(start), size) }
}
