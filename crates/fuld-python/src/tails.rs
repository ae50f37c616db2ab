//! Tail indices.

use crate::error::value_error;
use crate::interruptible::interruptible;
use crate::threads;
use levy_stable::tail_index::{
    BlockLogMoments, Bootstrap, CharacteristicRegression, Estimate, Expected, Hill, Interval,
    IntervalEstimate, LogMoments, Method, ResampleFit, Scaling, TailIndexError, TailIndexEstimator,
    TailSample,
};
use numpy::PyReadonlyArray1;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(tail_index, module)?)
}

/// The name of the method, α, its interval, σ and its interval if the method gives one, how many
/// numbers equal their centre; then α and its interval for Gaussian numbers, if they were asked
/// for.
type Found = (&'static str, f64, Ends, Option<f64>, Option<Ends>, usize, Option<(f64, Ends)>);
type Ends = (f64, f64);

/// Estimates the tail index of rows of `dimension` numbers.
#[pyfunction]
#[pyo3(signature = (x, dimension, common_scale, method, settings, level, resamples, seed, control))]
#[allow(clippy::too_many_arguments)]
fn tail_index(
    py: Python<'_>,
    x: PyReadonlyArray1<'_, f64>,
    dimension: usize,
    common_scale: bool,
    method: &str,
    settings: MethodSettings,
    level: f64,
    resamples: usize,
    seed: u64,
    control: bool,
) -> PyResult<Found> {
    let method: Method = fuld_sample::by_name(method).map_err(value_error)?;
    let estimator = settings.estimator(method)?;
    let scaling = if common_scale { Scaling::Common } else { Scaling::PerCoordinate };
    let bootstrap = Bootstrap { resamples, level, seed };
    let x = x.as_slice()?;
    let find = |stop: &AtomicBool| {
        bootstrap.check()?;
        let sample = TailSample::rows(x, dimension, scaling)?;
        let estimator = Stoppable { estimator: &*estimator, stop };
        let found = bootstrap.intervals(&estimator, &sample, in_parallel)?;
        let gaussian = control
            .then(|| bootstrap.if_stable(2.0, &estimator, &sample, in_parallel))
            .transpose()?;
        Ok((found, gaussian))
    };
    let (IntervalEstimate { estimate, alpha, scale }, gaussian) =
        interruptible(py, |stop| threads::install(|| find(stop)))?
            .map_err(|error| refusal(error, dimension))?;
    let gaussian = gaussian.map(|Expected { alpha, interval }| (alpha, ends(interval)));
    Ok((
        method.name(),
        estimate.alpha,
        ends(alpha),
        estimate.scale,
        scale.map(ends),
        estimate.zeros,
        gaussian,
    ))
}

/// Spreads the fits of a bootstrap over the threads of rayon.
fn in_parallel(count: usize, fit: &ResampleFit<'_>) -> Result<Vec<Estimate>, TailIndexError> {
    (0..count).into_par_iter().map(fit).collect()
}

fn ends(Interval { low, high }: Interval) -> Ends {
    (low, high)
}

/// An estimator that stops when the flag `stop` is set.
struct Stoppable<'a> {
    estimator: &'a (dyn TailIndexEstimator + Sync),
    stop: &'a AtomicBool,
}

impl TailIndexEstimator for Stoppable<'_> {
    fn fit(&self, sample: &TailSample) -> Result<Estimate, TailIndexError> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(TailIndexError::Stopped);
        }
        self.estimator.fit(sample)
    }
}

/// MethodSettings that only some methods have; None is the default of the method.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct MethodSettings {
    rounds: Option<usize>,
    sizes: Option<Vec<usize>>,
    lags: Option<usize>,
    k: Option<usize>,
}

impl MethodSettings {
    /// Returns the method with its settings, and refuses settings that it does not have.
    fn estimator(self, method: Method) -> PyResult<Box<dyn TailIndexEstimator + Sync>> {
        Ok(match method {
            Method::Characteristic => {
                self.none_but(method, &["rounds"])?;
                let default = CharacteristicRegression::default();
                Box::new(CharacteristicRegression { rounds: self.rounds.unwrap_or(default.rounds) })
            }
            Method::Blocks => {
                self.none_but(method, &["sizes", "lags"])?;
                let BlockLogMoments { sizes, lags } = BlockLogMoments::default();
                let (sizes, lags) = (self.sizes.unwrap_or(sizes), self.lags.unwrap_or(lags));
                Box::new(BlockLogMoments { sizes, lags })
            }
            Method::LogMoments => {
                self.none_but(method, &[])?;
                Box::new(LogMoments)
            }
            Method::Hill => {
                self.none_but(method, &["k"])?;
                Box::new(Hill { k: self.k })
            }
        })
    }

    fn none_but(&self, method: Method, own: &[&str]) -> PyResult<()> {
        let given = [
            ("rounds", self.rounds.is_some()),
            ("sizes", self.sizes.is_some()),
            ("lags", self.lags.is_some()),
            ("k", self.k.is_some()),
        ];
        let Some((other, _)) =
            given.iter().find(|(setting, given)| *given && !own.contains(setting))
        else {
            return Ok(());
        };
        let own = if own.is_empty() { "none".into() } else { own.join(" and ") };
        Err(PyTypeError::new_err(format!(
            "method '{}' has no setting {other}; it has {own}",
            method.name()
        )))
    }
}

/// Converts an error into one that names the array `x`.
fn refusal(error: TailIndexError, dimension: usize) -> PyErr {
    let column =
        |coordinate: usize| if dimension == 1 { "x".into() } else { format!("x[:, {coordinate}]") };
    PyValueError::new_err(match error {
        TailIndexError::Number { index, value } => {
            let place = match dimension {
                1 => format!("x[{index}]"),
                _ => format!("x[{}, {}]", index / dimension, index % dimension),
            };
            format!("{place} is {value}; numbers must be finite and at most 1e300 in size")
        }
        TailIndexError::Constant { coordinate, value } => {
            // Without the sign of a zero.
            format!(
                "{} is {} throughout: it has no law; leave it out",
                column(coordinate),
                value + 0.0
            )
        }
        TailIndexError::NoSpread { coordinate } => format!(
            "half of {} is one number, so it has no scale: leave that number out, or set scaling='common' and control=False",
            column(coordinate)
        ),
        error => error.to_string(),
    })
}
