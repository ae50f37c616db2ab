//! The fields that Theorem 1 of the paper is about, on arrays.

use crate::error::value_error;
use crate::interruptible::{interruptible, interruptible_if};
use crate::threads;
use fuld::dynamics::{DifferentiableFunction, FlmcDrift, GaussianDrift, Kinetic, StableKinetic};
use fuld::gibbs::Gibbs;
use fuld::{Alpha, Beta, Friction, ParameterError, System, Underdamped};
use fuld_sample::Target;
use numpy::{
    PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(riesz, module)?)?;
    module.add_function(wrap_pyfunction!(drift_c, module)?)?;
    module.add_function(wrap_pyfunction!(transport_h, module)?)?;
    module.add_function(wrap_pyfunction!(flmc_drift, module)?)?;
    module.add_function(wrap_pyfunction!(conformal_field, module)?)
}

/// From this many values on a computation can be interrupted.
const LONG: usize = 1 << 14;
/// Number of values between two checks for an interrupt.
const SHARE: usize = 1 << 10;

/// Returns the value, or NaN at once if the computation was interrupted.
fn unless(stop: &AtomicBool, value: impl FnOnce() -> f64) -> f64 {
    if stop.load(Ordering::Relaxed) { f64::NAN } else { value() }
}

/// Returns the Riesz derivative of every row.
#[pyfunction]
fn riesz<'py>(
    py: Python<'py>,
    u: PyReadonlyArray2<'py, f64>,
    dx: f64,
    order: f64,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let [rows, length] = [u.shape()[0], u.shape()[1]];
    let u = u.as_slice()?;
    let all = |stop: &AtomicBool| {
        let derivative = |row: usize| match stop.load(Ordering::Relaxed) {
            true => Ok(Vec::new()),
            false => fuld::numerics::riesz(&u[row * length..(row + 1) * length], dx, order),
        };
        threads::install(|| {
            (0..rows).into_par_iter().map(derivative).collect::<Result<Vec<_>, _>>()
        })
    };
    let out = interruptible_if(py, u.len() >= LONG, all)?.map_err(value_error)?;
    let out = PyArray1::from_vec(py, out.concat());
    out.reshape([rows, length])
}

/// c(v) of the Gaussian kinetic energy.
#[pyfunction]
fn drift_c<'py>(
    py: Python<'py>,
    v: PyReadonlyArray1<'py, f64>,
    alpha: f64,
    beta: f64,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let drift = GaussianDrift::new(self::alpha(alpha)?, self::beta(beta)?);
    let v = v.as_slice()?;
    let all = |stop: &AtomicBool| v.iter().map(|&v| unless(stop, || drift.at(v))).collect();
    Ok(PyArray1::from_vec(py, interruptible_if(py, v.len() >= LONG, all)?))
}

/// h(v) of the stable kinetic energy.
#[pyfunction]
fn transport_h<'py>(
    py: Python<'py>,
    v: PyReadonlyArray1<'py, f64>,
    alpha: f64,
    beta: f64,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let (alpha, beta) = (self::alpha(alpha)?, self::beta(beta)?);
    let v = v.as_slice()?;
    let transport = |stop: &AtomicBool| {
        let energy = StableKinetic::new(alpha, beta)?;
        let mut out = vec![0.0; v.len()];
        for (out, v) in out.chunks_mut(SHARE).zip(v.chunks(SHARE)) {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            energy.transport(v, out);
        }
        Ok::<_, ParameterError>(out)
    };
    let out = interruptible_if(py, v.len() >= LONG, transport)?;
    Ok(PyArray1::from_vec(py, out.map_err(value_error)?))
}

/// FLMC's exact drift for a formula.
#[pyfunction]
fn flmc_drift<'py>(
    py: Python<'py>,
    potential: &str,
    x: PyReadonlyArray1<'py, f64>,
    alpha: f64,
    beta: f64,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let (alpha, beta) = (self::alpha(alpha)?, self::beta(beta)?);
    let target = of_one_variable(potential)?;
    let f = target.potential();
    let x = x.as_slice()?;
    let drift = |stop: &AtomicBool| {
        // The table must hold every well, and the points that are asked for.
        let law = Gibbs::new(f, beta).map_err(value_error)?;
        let typical = law.quantile(1e-3).abs().max(law.quantile(1.0 - 1e-3).abs());
        let reach = x.iter().filter(|x| x.is_finite()).fold(typical, |reach, x| reach.max(x.abs()));
        // A potential without values is given up at once.
        let value = |x: f64| unless(stop, || f.value(&[x]));
        let slope = |x: f64| {
            let mut slope = [0.0];
            f.gradient(&[x], &mut slope);
            unless(stop, || slope[0])
        };
        let f = DifferentiableFunction { value, derivative: slope };
        let drift = FlmcDrift::new(alpha, beta, f, reach).map_err(value_error)?;
        Ok::<_, PyErr>(x.iter().map(|&x| unless(stop, || drift.at(x))).collect())
    };
    Ok(PyArray1::from_vec(py, interruptible(py, drift)??))
}

type Parts<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);

/// Transport, force and friction of FULD at points (x, v) of one coordinate.
#[pyfunction]
fn conformal_field<'py>(
    py: Python<'py>,
    potential: &str,
    points: (PyReadonlyArray1<'py, f64>, PyReadonlyArray1<'py, f64>),
    gaussian: bool,
    alpha: f64,
    beta: f64,
    gamma: f64,
) -> PyResult<Parts<'py>> {
    let target = of_one_variable(potential)?;
    let f = target.potential();
    let (x, v) = (points.0.as_slice()?, points.1.as_slice()?);
    let parameters = Underdamped {
        alpha: self::alpha(alpha)?,
        gamma: Friction::new(gamma).map_err(value_error)?,
        beta: self::beta(beta)?,
    };
    let fields = |stop: &AtomicBool| {
        let system = match gaussian {
            true => System::fuld_gaussian(parameters),
            false => System::fuld(parameters),
        };
        let system = system.map_err(value_error)?;
        let at = |(&x, &v)| {
            // Both systems have a velocity, and so a field.
            system
                .field(f, &[x], &[v])
                .map(|field| (field.transport[0], field.force[0], field.friction[0]))
        };
        let here = x.iter().zip(v).take_while(|_| !stop.load(Ordering::Relaxed));
        Ok::<_, PyErr>(here.filter_map(at).collect::<(Vec<_>, Vec<_>, Vec<_>)>())
    };
    let (transport, force, friction) = interruptible_if(py, x.len() >= LONG, fields)??;
    let array = |values| PyArray1::from_vec(py, values);
    Ok((array(transport), array(force), array(friction)))
}

fn alpha(alpha: f64) -> PyResult<Alpha> {
    Alpha::new(alpha).map_err(value_error)
}

fn beta(beta: f64) -> PyResult<Beta> {
    Beta::new(beta).map_err(value_error)
}

fn of_one_variable(potential: &str) -> PyResult<Target> {
    let target = Target::new(potential, None, &[]).map_err(value_error)?;
    match target.dim() {
        1 => Ok(target),
        dim => Err(PyValueError::new_err(format!(
            "the potential must be of one variable; '{potential}' has {dim}"
        ))),
    }
}
