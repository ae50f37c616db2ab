//! Draws from words of random bits.

use crate::error::value_error;
use crate::interruptible::interruptible_if;
use crate::law::Stored;
use crate::threads;
use levy_stable::{Sampler as Table, SymmetricStable};
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1, PyReadwriteArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Sampler>()
}

/// Draws made together, between which nothing leaves the cache.
const BLOCK: usize = 256;
/// From this many draws on threads are worth waking.
const MANY: usize = 1 << 17;
/// From this many draws on one may lose patience.
const LONG: usize = 1 << 21;
/// Draws that a thread takes at a time.
const SHARE: usize = 1 << 14;

/// The tabulated quantile of SαS(1).
#[pyclass(frozen, module = "fuld._native")]
struct Sampler {
    table: Table,
}

#[pymethods]
impl Sampler {
    #[new]
    fn new(py: Python<'_>, alpha: f64) -> PyResult<Self> {
        let law = SymmetricStable::new(alpha).map_err(value_error)?;
        let table = py.detach(|| law.sampler());
        Ok(Self { table })
    }

    /// `out[i] = scale[i]` times the draw that the random bits `words[i]` spell; one scale serves
    /// all.
    fn transform(
        &self,
        py: Python<'_>,
        words: PyReadonlyArray1<'_, u64>,
        scale: PyReadonlyArray1<'_, f64>,
        out: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let (words, scale) = (words.as_slice()?, scale.as_slice()?);
        if let Ok(out) = out.cast::<PyArray1<f32>>() {
            self.fill(py, words, scale, out.try_readwrite()?.as_slice_mut()?)
        } else {
            let mut out: PyReadwriteArray1<'_, f64> = out.extract()?;
            self.fill(py, words, scale, out.as_slice_mut()?)
        }
    }
}

impl Sampler {
    fn fill<T: Stored>(
        &self,
        py: Python<'_>,
        words: &[u64],
        scale: &[f64],
        out: &mut [T],
    ) -> PyResult<()> {
        if words.len() != out.len() || (scale.len() != 1 && scale.len() != out.len()) {
            return Err(PyValueError::new_err(
                "there must be one word a draw, and one scale or one a draw",
            ));
        }
        interruptible_if(py, out.len() >= LONG, |stop: &AtomicBool| {
            let each = |(i, (out, words)): (usize, (&mut [T], &[u64]))| {
                if !stop.load(Ordering::Relaxed) {
                    let scale =
                        if scale.len() == 1 { scale } else { &scale[i * SHARE..][..out.len()] };
                    self.block_by_block(words, scale, out);
                }
            };
            if out.len() < MANY || !threads::many() {
                out.chunks_mut(SHARE).zip(words.chunks(SHARE)).enumerate().for_each(each);
            } else {
                let all = out.par_chunks_mut(SHARE).zip(words.par_chunks(SHARE));
                threads::install(|| all.enumerate().for_each(each));
            }
        })
    }

    fn block_by_block<T: Stored>(&self, words: &[u64], scale: &[f64], out: &mut [T]) {
        let mut draws = [0.0; BLOCK];
        for (i, (out, words)) in out.chunks_mut(BLOCK).zip(words.chunks(BLOCK)).enumerate() {
            let draws = &mut draws[..out.len()];
            self.table.transform(words, draws);
            if let [scale] = *scale {
                for (out, &x) in out.iter_mut().zip(&*draws) {
                    *out = T::rounded(scale * x);
                }
            } else {
                for ((out, &x), &scale) in out.iter_mut().zip(&*draws).zip(&scale[i * BLOCK..]) {
                    *out = T::rounded(scale * x);
                }
            }
        }
    }
}
