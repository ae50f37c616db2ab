//! The native half of the Python package `fuld`: conversions and errors, no mathematics.
//!
//! Every function takes and returns plain NumPy arrays and works with the interpreter's lock released; what users see is
//! written in Python, in `python/fuld`.

mod law;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    law::register(module)
}
