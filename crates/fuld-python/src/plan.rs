//! A run that is planned: every setting settled, nothing begun.

use crate::background::Background;
use crate::error::{io_error, memory_error, value_error};
use crate::interruptible::abandonable;
use crate::run::PyRun;
use crate::running;
use crate::store;
use crate::target::{PyTarget, check_dim};
use fuld::chains::Layout;
use fuld::{Potential, Run, Start, SystemKind};
use fuld_sample::{CompleteRecipe, Recipe, RecipeError, Target, by_name};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray3};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;
use std::sync::Arc;

/// The file in a store that says how to go on.
const STATE: &str = ".fuld-state";

/// What was asked for; None has a default.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Options {
    system: String,
    integrator: Option<String>,
    alpha: Option<f64>,
    beta: Option<f64>,
    gamma: Option<f64>,
    step: Option<f64>,
    step_power: Option<f64>,
    half_life: Option<f64>,
    chains: Option<usize>,
    draws: Option<u64>,
    warmup: Option<u64>,
    thin: Option<u64>,
    start: Option<Vec<f64>>,
    spread: f64,
    velocities: bool,
    seed: u64,
}

impl Options {
    fn start(&self) -> Start {
        self.start.clone().map_or(Start::Gaussian(self.spread), Start::Point)
    }

    fn recipe(&self) -> PyResult<Recipe> {
        let unknown = |error| value_error(RecipeError::from(error));
        Ok(Recipe {
            system: by_name(&self.system).map_err(unknown)?,
            integrator: self.integrator.as_deref().map(by_name).transpose().map_err(unknown)?,
            alpha: self.alpha,
            beta: self.beta,
            gamma: self.gamma,
            step: self.step,
            step_power: self.step_power,
            half_life: self.half_life,
            chains: self.chains,
            draws: self.draws,
            warmup: self.warmup,
            thin: self.thin,
            start: Some(self.start()),
            velocities: self.velocities,
            seed: self.seed,
        })
    }
}

/// Settings of a run on some target.
#[pyclass(frozen, name = "Plan", module = "fuld._native")]
pub(crate) struct PyPlan {
    target: Py<PyTarget>,
    recipe: CompleteRecipe,
    run: Run,
}

#[pymethods]
impl PyPlan {
    /// Fills in the defaults, and refuses what does not go together.
    #[new]
    fn new(py: Python<'_>, target: Py<PyTarget>, options: Options) -> PyResult<Self> {
        let recipe = options.recipe()?;
        let of = Arc::clone(&target.get().target);
        let function = target.get().raised.is_some();
        if function && recipe.system == SystemKind::Flmc {
            return Err(PyValueError::new_err(
                "flmc tabulates its drift from tens of millions of values of f, for which a function of Python is too slow: \
                 write f as a formula, or use the system fuld, which needs the gradient only",
            ));
        }
        let slow = recipe.system == SystemKind::Flmc;
        let plan = move || {
            let complete = recipe.complete(&of)?;
            let run = complete.run(&of)?;
            if !function {
                of.check_starts(&run)?;
            }
            Ok::<_, RecipeError>((complete, run))
        };
        // A function is dropped where Python is at hand; but only formulas are slow to plan with.
        let planned = if slow { abandonable(py, plan)? } else { py.detach(plan) };
        let (recipe, run) = planned.map_err(value_error)?;
        Ok(Self { target, recipe, run })
    }

    /// All settings, by name.
    #[getter]
    fn settings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let CompleteRecipe { system, integrator, alpha, beta, gamma, step, step_power, half_life, .. } =
            self.recipe;
        let settings = PyDict::new(py);
        settings.set_item("system", system.name())?;
        settings.set_item("integrator", integrator.name())?;
        let numbers = [
            ("alpha", alpha.map(f64::from)),
            ("beta", beta.map(f64::from)),
            ("gamma", gamma.map(f64::from)),
            ("step", Some(step.get())),
            ("step_power", step_power),
            ("half_life", half_life),
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
        settings.set_item("exact", u8::from(self.recipe.is_exact() && !stochastic))?;
        Ok(settings)
    }

    /// What tells this run from others.
    #[getter]
    fn fingerprint(&self) -> PyResult<String> {
        Ok(self.layout()?.run().to_string())
    }

    /// Writes the draws of the whole run, as it would have done itself.
    fn write_store(
        &self,
        py: Python<'_>,
        store: PathBuf,
        x: PyReadonlyArray3<'_, f64>,
        v: Option<PyReadonlyArray3<'_, f64>>,
    ) -> PyResult<()> {
        let (x, v) = (x.as_array(), v.as_ref().map(|v| v.as_array()));
        let layout = self.layout()?;
        py.detach(|| store::write(&store, &layout, x, v)).map_err(|error| io_error(&error, &store))
    }

    /// Begins the run of some of its chains: in memory, or in the store of this path, where it goes on if it was begun.
    fn start(
        &self,
        py: Python<'_>,
        first_chain: usize,
        chains: usize,
        threads: usize,
        store: Option<PathBuf>,
    ) -> PyResult<PyRun> {
        let state = store.as_ref().map(|store| store.join(STATE));
        let run = Run { first_chain, chains, threads, checkpoint: state, ..self.run.clone() };
        let target = self.target.get();
        let raised = target.raised.clone();
        let id = running::new_id();
        let around = move |work: &mut (dyn FnMut() + Send)| running::run_attached(id, work);
        // The thread waits for the lock that this one holds, so that the run is noted before it can end.
        let background = Background::start(run, Arc::clone(&target.target), raised, store, around)?;
        running::add(py, id, Arc::clone(&background));
        Ok(PyRun::new(background))
    }
}

impl PyPlan {
    fn layout(&self) -> PyResult<Layout> {
        self.run.layout(self.target.get().target.potential()).map_err(value_error)
    }
}

/// Where so many chains of a run in so many dimensions start: an array (chains, dim). Refuses settings that do not go together,
/// as far as can be told without the potential.
#[pyfunction]
pub(crate) fn starts(
    py: Python<'_>,
    dim: usize,
    chains: usize,
    options: Options,
) -> PyResult<Bound<'_, PyArray2<f64>>> {
    check_dim(dim)?;
    let any = Target::from_potential(Box::new(Anything { dim }));
    let start = options.recipe()?.complete(&any).map_err(value_error)?.start_in(dim).map_err(value_error)?;
    // Tried, and given back: what makes them cannot refuse.
    let mut trial = Vec::<f64>::new();
    trial.try_reserve_exact(chains.saturating_mul(dim)).map_err(|_| memory_error("the starts"))?;
    drop(trial);
    PyArray1::from_vec(py, start.points(options.seed, 0..chains, dim)).reshape([chains, dim])
}

/// Stands for a potential of which only the dimension is known.
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
