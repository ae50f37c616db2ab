//! The native half of the Python package `fuld`: conversions and errors, no mathematics.
//!
//! Every function takes and returns plain NumPy arrays and works with the interpreter's lock
//! released; what users see is written in Python, in `python/fuld`.

mod adam;
mod background;
mod callable;
mod error;
mod field_table;
mod fields;
mod guard;
mod interruptible;
mod law;
mod names;
mod openmp;
mod planned_run;
mod quadruples;
mod run;
mod running;
mod sampler;
mod step_rule;
mod step_slices;
mod store;
mod table_data;
mod tails;
mod target;
mod tensors;
mod threads;
mod velocity_step;

use pyo3::prelude::*;

// The list of runs is guarded by the interpreter's lock: see `running`.
#[pymodule(gil_used = true)]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    law::register(module)?;
    tails::register(module)?;
    quadruples::register(module)?;
    fields::register(module)?;
    sampler::register(module)?;
    field_table::register(module)?;
    module.add_function(wrap_pyfunction!(table_data::alpha_bands, module)?)?;
    step_rule::register(module)?;
    guard::register(module)?;
    adam::register(module)?;
    module.add_function(wrap_pyfunction!(table_data::table_data, module)?)?;
    module.add_class::<target::PyTarget>()?;
    module.add_class::<planned_run::PyPlannedRun>()?;
    module.add_class::<run::PyRun>()?;
    module.add_function(wrap_pyfunction!(run::adapted_numbers, module)?)?;
    module.add_function(wrap_pyfunction!(planned_run::starts, module)?)?;
    module.add_function(wrap_pyfunction!(store::read_store, module)?)?;
    module.add_function(wrap_pyfunction!(planned_run::stored_seed, module)?)?;
    module.add_function(wrap_pyfunction!(planned_run::random_seed, module)?)?;
    module.add_function(wrap_pyfunction!(planned_run::explanation, module)?)?;
    module.add_function(wrap_pyfunction!(running::end_runs, module)?)?;
    module.add_function(wrap_pyfunction!(running::forget_runs, module)?)?;
    module.add_function(wrap_pyfunction!(velocity_step::field_factors, module)?)?;
    module.add_function(wrap_pyfunction!(velocity_step::velocity_step, module)?)?;
    module.add_function(wrap_pyfunction!(names::systems, module)?)?;
    module.add_function(wrap_pyfunction!(names::potentials, module)?)
}
