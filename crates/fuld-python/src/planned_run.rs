//! A planned run: complete settings on a target, before the run begins.

use crate::background::{Background, Task};
use crate::error::{io_error, memory_error, value_error};
use crate::interruptible::abandonable;
use crate::run::{PyRun, adapted_of};
use crate::running;
use crate::store;
use crate::target::{PyTarget, check_dim};
use fuld::chains::{Layout, WarmState};
use fuld::{Potential, Run, Start, SystemKind};
use fuld_sample::{
    DrawSource, Exact, Named, Remark, SampleRequest, SampleSpec, SamplingError, Section,
    StartingPoint, Summary, Target, by_name,
};
use numpy::ndarray::{ArrayView2, ArrayView3};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray3};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

/// File name of the checkpoint in a store.
const STATE: &str = ".fuld-state";

/// Reads a request from the options of `fuld.sample`. Options that are None or missing have the
/// defaults of a request.
fn request(options: &Bound<'_, PyDict>) -> PyResult<SampleRequest> {
    let start = options.get_item("start")?.filter(|start| !start.is_none());
    let start = start.map(|start| start_of(&start)).transpose()?;
    let spread: Option<f64> = option(options, "spread")?;
    Ok(SampleRequest {
        potential: option(options, "potential")?,
        system: named(options, "system")?,
        integrator: named(options, "integrator")?,
        alpha: option(options, "alpha")?,
        beta: option(options, "beta")?,
        gamma: option(options, "gamma")?,
        adapt: option(options, "adapt")?,
        path: option(options, "path")?,
        temper: option(options, "temper")?,
        step: option(options, "step")?,
        step_power: option(options, "step_power")?,
        half_life: option(options, "half_life")?,
        noise_scale: option(options, "noise_scale")?,
        chains: option(options, "chains")?,
        draws: option(options, "draws")?,
        warmup: option(options, "warmup")?,
        thin: option(options, "thin")?,
        start: start.or(spread.map(Start::Gaussian)).map(StartingPoint),
        velocities: option(options, "velocities")?.unwrap_or_default(),
        seed: option(options, "seed")?,
        ..SampleRequest::default()
    })
}

/// Returns the start that a list of coordinates, or a list of such lists for each chain, stands
/// for.
fn start_of(start: &Bound<'_, PyAny>) -> PyResult<Start> {
    match start.extract() {
        Ok(points) => Ok(Start::Points(points)),
        Err(_) => Ok(Start::Point(start.extract()?)),
    }
}

fn option<'py, T: FromPyObjectOwned<'py>>(
    options: &Bound<'py, PyDict>,
    name: &str,
) -> PyResult<Option<T>> {
    let value = options.get_item(name)?.filter(|value| !value.is_none());
    value.map(|value| value.extract().map_err(Into::into)).transpose()
}

fn named<T: Named>(options: &Bound<'_, PyDict>, name: &str) -> PyResult<Option<T>> {
    let value: Option<String> = option(options, name)?;
    value.map(|value| by_name(&value)).transpose().map_err(value_error)
}

/// A summary as text, the warnings with the anchors of the sections that explain them, and the
/// notes.
type Summarised = (String, Vec<(&'static str, String)>, Vec<String>);

/// A run on a target with all settings.
#[pyclass(frozen, name = "PlannedRun", module = "fuld._native")]
pub(crate) struct PyPlannedRun {
    target: Py<PyTarget>,
    spec: SampleSpec,
    run: Run,
}

#[pymethods]
impl PyPlannedRun {
    /// Fills in the defaults and checks that the settings are compatible.
    #[new]
    fn new(py: Python<'_>, target: Py<PyTarget>, options: &Bound<'_, PyDict>) -> PyResult<Self> {
        let request = request(options)?;
        let of = Arc::clone(&target.get().target);
        let function = target.get().raised.is_some();
        let is_flmc = request.system == Some(SystemKind::Flmc);
        if function && is_flmc {
            return Err(PyValueError::new_err(
                "flmc tabulates its drift from tens of millions of values of f, for which a function of Python is too slow: \
                 write f as a formula, or use the system fuld, which needs the gradient only",
            ));
        }
        let plan = move || {
            let spec = request.complete_on(&of)?;
            let run = spec.run(&of)?;
            if !function {
                of.check_starts(&run)?;
            }
            Ok::<_, SamplingError>((spec, run))
        };
        // Only the drift of FLMC is slow to tabulate, and it requires a formula. A Python function
        // must be dropped in this thread.
        let planned = if is_flmc { abandonable(py, plan)? } else { py.detach(plan) };
        let (spec, run) = planned.map_err(value_error)?;
        Ok(Self { target, spec, run })
    }

    /// Returns all settings by name.
    #[getter]
    fn settings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let SampleSpec {
            system,
            integrator,
            alpha,
            beta,
            gamma,
            adapt,
            path,
            temper,
            step,
            step_power,
            half_life,
            noise_scale,
            ..
        } = self.spec;
        let settings = PyDict::new(py);
        settings.set_item("system", system.name())?;
        settings.set_item("integrator", integrator.name())?;
        let numbers = [
            ("alpha", alpha.map(f64::from)),
            ("beta", beta.map(f64::from)),
            ("gamma", gamma.map(f64::from)),
            ("adapt", adapt.map(|adapt| f64::from(u8::from(adapt)))),
            ("path", path),
            ("temper", temper.map(|temper| temper as f64)),
            ("step", Some(step.get())),
            ("step_power", step_power),
            ("half_life", half_life),
            ("noise_scale", noise_scale.map(f64::from)),
        ];
        for (name, value) in numbers {
            if let Some(value) = value {
                settings.set_item(name, value)?;
            }
        }
        settings.set_item("chains", self.run.chains)?;
        settings.set_item("draws", self.run.draws)?;
        settings.set_item("warmup", self.run.warmup)?;
        settings.set_item("thin", self.run.thin)?;
        settings.set_item("seed", self.run.seed)?;
        let stochastic = self.target.get().target.potential().is_stochastic();
        let unknown_noise = stochastic && noise_scale.is_none();
        settings.set_item("exact", u8::from(self.spec.is_exact() && !unknown_noise))?;
        Ok(settings)
    }

    /// Returns the hash of the run's specification.
    #[getter]
    fn fingerprint(&self) -> PyResult<String> {
        Ok(self.layout()?.run().to_string())
    }

    /// Writes the draws of the whole run into a store, as the run itself would have.
    fn write_store(
        &self,
        py: Python<'_>,
        store: PathBuf,
        x: PyReadonlyArray3<'_, f64>,
        v: Option<PyReadonlyArray3<'_, f64>>,
        statistics: Option<PyReadonlyArray3<'_, f64>>,
    ) -> PyResult<()> {
        let others = [&v, &statistics].into_iter().flatten().map(|array| array.as_array());
        let columns: Vec<_> = std::iter::once(x.as_array()).chain(others).collect();
        let layout = self.layout()?;
        let names = self.target.get().target.names();
        py.detach(|| store::write(&store, names, &layout, &columns))
            .map_err(|error| io_error(&error, &store))
    }

    /// Returns the main settings in one line.
    #[getter]
    fn headline(&self) -> String {
        self.spec.headline()
    }

    /// Returns the summary of draws (chains, draws, elements), with the names of the elements and
    /// their statistics, as text; the warnings about them, each with the anchor of the section that
    /// explains it; and the notes.
    fn summary(
        &self,
        py: Python<'_>,
        x: PyReadonlyArray3<'_, f64>,
        names: Vec<String>,
        statistics: Option<PyReadonlyArray3<'_, f64>>,
        adapted: &Bound<'_, PyDict>,
    ) -> PyResult<Summarised> {
        let draws =
            ArrayDraws { x: x.as_array(), statistics: statistics.as_ref().map(|s| s.as_array()) };
        let (lost, adapted) = (draws.lost(), adapted_of(adapted));
        let PyTarget { target, raised, .. } = self.target.get();
        let summary = py.detach(|| {
            // Quadrature evaluates a potential too often for a function of Python.
            let exact = if raised.is_some() {
                Exact::Unknown(None)
            } else {
                Exact::new(&self.spec, target)
            };
            Summary::new(&draws, lost, adapted, &self.spec, &names, &exact, &|_| false)
        });
        let summary = summary.map_err(value_error)?;
        let (warnings, notes): (Vec<Remark>, Vec<Remark>) =
            summary.remarks(&self.spec).into_iter().partition(|remark| remark.is_warning);
        let minibatches = if target.potential().is_stochastic() {
            "; with minibatches chains must start near the mode: see docs/stochastic-gradients.md"
        } else {
            ""
        };
        let full = |remark: &Remark| {
            let hint = if remark.section == Section::RHat { minibatches } else { "" };
            format!("{}; see {}{hint}", remark.text, remark.section)
        };
        let warnings = warnings.iter().map(|remark| (remark.section.anchor(), full(remark)));
        Ok((summary.text(), warnings.collect(), notes.iter().map(full).collect()))
    }

    /// Begins the run of some of its chains, in memory or in the store at this path, where it
    /// continues if it had begun; or from the state of all chains after the warm-up.
    fn start(
        &self,
        py: Python<'_>,
        first_chain: usize,
        chains: usize,
        threads: usize,
        store: Option<PathBuf>,
        warm_state: Option<&[u8]>,
    ) -> PyResult<PyRun> {
        let task = match warm_state {
            Some(bytes) => Task::Part(WarmState::from_bytes(bytes).map_err(value_error)?),
            None => Task::Whole,
        };
        let state = store.as_ref().map(|store| store.join(STATE));
        let run = Run { first_chain, chains, threads, checkpoint: state, ..self.run.clone() };
        self.start_task(py, run, task, store)
    }

    /// Begins the warm-up of all chains.
    fn start_warm_up(&self, py: Python<'_>, threads: usize) -> PyResult<PyRun> {
        self.start_task(py, Run { threads, ..self.run.clone() }, Task::WarmUp, None)
    }
}

impl PyPlannedRun {
    fn start_task(
        &self,
        py: Python<'_>,
        run: Run,
        task: Task,
        store: Option<PathBuf>,
    ) -> PyResult<PyRun> {
        let target = self.target.get();
        let raised = target.raised.clone();
        let id = running::new_id();
        let around = move |work: &mut (dyn FnMut() + Send)| running::run_attached(id, work);
        // The thread waits for the interpreter lock that this one holds, so that the run is
        // registered before it can end.
        let background =
            Background::start(run, task, Arc::clone(&target.target), raised, store, around)?;
        running::add(py, id, Arc::clone(&background));
        Ok(PyRun::new(background))
    }

    fn layout(&self) -> PyResult<Layout> {
        self.run.layout(self.target.get().target.potential()).map_err(value_error)
    }
}

/// The draws of a run as arrays of NumPy.
struct ArrayDraws<'a> {
    /// (chains, draws, dim)
    x: ArrayView3<'a, f64>,
    /// (chains, draws, statistics)
    statistics: Option<ArrayView3<'a, f64>>,
}

impl ArrayDraws<'_> {
    /// Returns the number of chains that end with NaN.
    fn lost(&self) -> usize {
        self.x.outer_iter().filter(|chain| chain.last().is_some_and(|x| x.is_nan())).count()
    }
}

impl DrawSource for ArrayDraws<'_> {
    fn chains(&self) -> usize {
        self.x.shape()[0]
    }

    fn draws(&self) -> usize {
        self.x.shape()[1]
    }

    fn dim(&self) -> usize {
        self.x.shape()[2]
    }

    fn coordinates(&self, coordinates: Range<usize>) -> io::Result<Vec<Vec<Vec<f64>>>> {
        let series = |i| self.x.outer_iter().map(move |chain| chain.column(i).to_vec()).collect();
        Ok(coordinates.map(series).collect())
    }

    fn statistic(&self, number: usize) -> io::Result<Option<Vec<f64>>> {
        let column = |chain: ArrayView2<'_, f64>| chain.column(number).to_vec();
        Ok(self.statistics.as_ref().map(|all| all.outer_iter().flat_map(column).collect()))
    }
}

/// Returns where `chains` chains of a run in `dim` dimensions start, as an array (chains, dim).
///
/// Checks the settings as far as is possible without the potential.
#[pyfunction]
pub(crate) fn starts<'py>(
    py: Python<'py>,
    dim: usize,
    chains: usize,
    options: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    check_dim(dim)?;
    let any = Target::from_potential(Box::new(Anything { dim }));
    let spec = request(options)?.complete_on(&any).map_err(value_error)?;
    let start = spec.expanded_start().map_err(value_error)?;
    // Reserves the memory once and frees it, because the allocations that follow cannot return an
    // error.
    let mut trial = Vec::<f64>::new();
    trial.try_reserve_exact(chains.saturating_mul(dim)).map_err(|_| memory_error("the starts"))?;
    drop(trial);
    // More points than chains may be requested.
    let count = if let Start::Points(points) = &start { points.len() } else { usize::MAX };
    let point = |chain: usize| start.points(spec.seed, chain % count..chain % count + 1, dim);
    PyArray1::from_vec(py, (0..chains).flat_map(point).collect()).reshape([chains, dim])
}

/// Returns the address of the section with this anchor, in the page that explains warnings.
#[pyfunction]
pub(crate) fn explanation(anchor: &str) -> PyResult<String> {
    let section = Section::ALL.iter().find(|section| section.anchor() == anchor);
    section
        .map(ToString::to_string)
        .ok_or_else(|| PyValueError::new_err(format!("there is no section {anchor:?}")))
}

/// Returns a random seed.
#[pyfunction]
pub(crate) fn random_seed() -> u64 {
    fuld_sample::random_seed()
}

/// Returns the seed of the run in a store; None if there is none.
#[pyfunction]
pub(crate) fn stored_seed(store: PathBuf) -> Option<u64> {
    fuld::chains::stored_seed(&store.join(STATE))
}

/// A placeholder for a potential whose dimension alone is known.
struct Anything {
    dim: usize,
}

impl Potential for Anything {
    fn dim(&self) -> usize {
        self.dim
    }

    fn value(&self, _: &[f64]) -> f64 {
        0.0
    }

    fn gradient(&self, _: &[f64], gradient: &mut [f64]) {
        gradient.fill(0.0);
    }
}
