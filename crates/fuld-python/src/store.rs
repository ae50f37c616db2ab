//! Writing and reading the draws of whole runs in a store.

use crate::error::io_error;
use fuld::chains::{Layout, STATISTICS, Sink};
use fuld::{ZarrDraws, ZarrSink};
use numpy::ndarray::{ArrayView3, s};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use std::io;
use std::path::{Path, PathBuf};

/// Positions (chains, draws, dim), velocities if they were kept, and the statistics of exact
/// sampling.
pub(crate) type Draws<'py> =
    (Bound<'py, PyAny>, Option<Bound<'py, PyAny>>, Option<Bound<'py, PyAny>>);

/// Writes the files that a run of this layout would have written, replacing those of an unfinished
/// attempt. The arrays (chains, draws, …) are positions, velocities if they were kept, and the
/// statistics of exact sampling.
pub(crate) fn write(
    store: &Path,
    names: &[String],
    layout: &Layout,
    columns: &[ArrayView3<'_, f64>],
) -> io::Result<()> {
    let mut sink = ZarrSink::new(store).with_names(names);
    sink.begin(layout, 0)?;
    let (draws, mut values) = (layout.draws as usize, Vec::new());
    for first in (0..draws).step_by(layout.segment) {
        values.clear();
        for chain in 0..layout.chains {
            for draw in first..(first + layout.segment).min(draws) {
                values.extend(columns.iter().flat_map(|array| array.slice(s![chain, draw, ..])));
            }
        }
        sink.segment(first as u64, &values)?;
    }
    sink.flush()
}

/// Returns the draws in a store.
#[pyfunction]
pub(crate) fn read_store(py: Python<'_>, store: PathBuf) -> PyResult<Draws<'_>> {
    read(py, &store)
}

/// Returns the draws in a store.
pub(crate) fn read<'py>(py: Python<'py>, store: &Path) -> PyResult<Draws<'py>> {
    let read = py.detach(|| -> io::Result<_> {
        let draws = ZarrDraws::open(store)?;
        let velocities = draws.velocities().transpose()?;
        let statistics = (0..STATISTICS.len())
            .filter_map(|number| draws.statistic(number))
            .collect::<io::Result<Vec<_>>>()?;
        Ok((
            draws.positions()?,
            velocities,
            statistics,
            [draws.chains(), draws.draws(), draws.dim()],
        ))
    });
    let (x, v, statistics, shape) = read.map_err(|error| io_error(&error, store))?;
    let array = |values, shape| PyArray1::from_vec(py, values).reshape(shape).map(Bound::into_any);
    let [chains, draws, _] = shape;
    // One after the other in the store, beside each other in the array.
    let all: Vec<f64> =
        (0..chains * draws).flat_map(|i| statistics.iter().map(move |values| values[i])).collect();
    let statistics =
        (!statistics.is_empty()).then(|| array(all, [chains, draws, STATISTICS.len()]));
    Ok((array(x, shape)?, v.map(|v| array(v, shape)).transpose()?, statistics.transpose()?))
}
