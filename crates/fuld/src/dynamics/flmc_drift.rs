//! The drift of fractional Langevin Monte Carlo, exact in one dimension, and its approximation.
//!
//! For dx = b(x) dt + β^(−1/α) dL to leave p = e^(−βf) invariant, the fractional Fokker–Planck
//! equation requires 0 = −∂(bp) − β⁻¹ 𝒟^α p. With 𝒟^α = −∂² 𝒟^(α−2) and ∂p = −βf′p this is 0 =
//! −∂[bp + 𝒟^(α−2)(p f′)], hence
//!
//! > b = −𝒟^(α−2)(φ f′)/φ,  φ = e^(−βf).
//!
//! This is the paper's formula with β in φ, where the paper has e^(−f), and with no β elsewhere. At
//! α = 2, b = −f′.

use super::differentiable_function::DifferentiableFunction;
use super::drift::Drift;
use crate::numerics::fractional_gradient::{FractionalGradient, wells};
use crate::parameters::{Beta, ParameterError};
use levy_stable::Alpha;
use levy_stable::table::{Fit, OctaveTable};
use libm::tgamma;
use thiserror::Error;

/// A drift that cannot be tabulated, with the offending value.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum FlmcError {
    /// The interval is empty or unbounded.
    #[error("the drift is tabulated on [-L, L] with L positive and finite, got L = {0}")]
    Reach(f64),
    /// f or f′ is not finite on the interval.
    #[error("the potential and its derivative must be finite on [-L, L], got {value} at x = {x}")]
    NotFinite {
        /// Where.
        x: f64,
        /// f(x) or f′(x).
        value: f64,
    },
    /// The drift overflows or is not smooth.
    #[error(
        "the drift cannot be tabulated on [-L, L]: relative error {0}; is f smooth, and exp(beta f) finite there?"
    )]
    Rough(f64),
}

/// Relative error that the tables are fitted to.
const TOLERANCE: f64 = 1e-11;
/// Relative error above which a potential is refused as too rough.
const REFUSED: f64 = 1e-8;

/// The drift b(x) = −𝒟^(α−2)(φ f′)/φ, φ = e^(−βf), tabulated on [−L, L] for a potential of one
/// variable.
///
/// A separable potential on ℝᵈ uses one drift for all coordinates. The error relative to |b(x)| +
/// b₀, b₀ = 1/(β·width of φ), is below 1e-8, and usually 1e-11. L is limited only by the overflow
/// of e^(βf(L)). Outside the interval, where φ is negligible, b keeps its value at the end.
///
/// | tested on f = x⁴/4 − x²/2, \|x\| ≤ 3 | error |
/// |---|---|
/// | bφ against the spectral method | 1.2e-11 |
/// | residual of the stationary Fokker–Planck equation, dominated by differentiating the table | 2e-9 |
#[derive(Clone, Debug)]
pub struct FlmcDrift {
    /// b(x) and b(−x) over x ≥ 0.
    right: OctaveTable,
    left: OctaveTable,
    reach: f64,
    /// Of φ.
    width: f64,
    max_relative_error: f64,
}

impl FlmcDrift {
    /// Tabulates the drift of the potential f on [−`reach`, `reach`], which must contain all minima
    /// of f.
    pub fn new(
        alpha: Alpha,
        beta: Beta,
        f: DifferentiableFunction<impl Fn(f64) -> f64, impl Fn(f64) -> f64>,
        reach: f64,
    ) -> Result<Self, FlmcError> {
        let DifferentiableFunction { value: f, derivative: slope } = f;
        let (alpha, beta) = (alpha.get(), beta.get());
        if !(reach > 0.0 && reach.is_finite()) {
            return Err(FlmcError::Reach(reach));
        }
        for x in (-64..=64).map(|i| reach * f64::from(i) / 64.0) {
            if let Some(value) = [f(x), slope(x)].into_iter().find(|value| !value.is_finite()) {
                return Err(FlmcError::NotFinite { x, value });
            }
        }
        let wells = wells(&f, reach, 4096);
        let gradient = FractionalGradient::new(alpha, beta, &f, &slope, wells);
        let floor = 1.0 / (beta * gradient.width());
        let first = libm::floor(libm::log2((0.25 * gradient.width()).min(reach))) as i32;
        let fit = Fit { lowest: first, end: reach, tolerance: TOLERANCE, floor };
        let side = |sign: f64| OctaveTable::fit(&fit, |x| -gradient.at(sign * x));
        let ((right, right_error), (left, left_error)) = (side(1.0), side(-1.0));
        let max_relative_error = right_error.max(left_error);
        if right_error.is_nan() || left_error.is_nan() || max_relative_error > REFUSED {
            return Err(FlmcError::Rough(if left_error.is_nan() {
                left_error
            } else {
                max_relative_error
            }));
        }
        Ok(Self { right, left, reach, width: gradient.width(), max_relative_error })
    }

    /// Returns b(x).
    pub fn at(&self, x: f64) -> f64 {
        let size = x.abs().min(self.reach);
        if x.is_nan() {
            x
        } else if x < 0.0 {
            self.left.at(size)
        } else {
            self.right.at(size)
        }
    }

    /// Writes `b(x[i])` into `out[i]`, up to the end of the shorter slice.
    pub fn eval_into(&self, x: &[f64], out: &mut [f64]) {
        for (out, &x) in out.iter_mut().zip(x) {
            *out = self.at(x);
        }
    }

    /// Solves y = x + η b(y) for y, in the direction of the drift at x.
    fn implicit(&self, x: f64, eta: f64) -> f64 {
        let direction = self.at(x).signum();
        // Negative near x, where the drift is large; positive in the next well, where it is small
        // or has turned.
        let excess = |distance: f64| distance - direction * eta * self.at(x + direction * distance);
        let (mut near, mut far) = (0.0, 0.05 * self.width);
        while excess(far) < 0.0 && far < 4.0 * (x.abs() + self.reach) {
            (near, far) = (far, 2.0 * far);
        }
        for _ in 0..60 {
            let middle = 0.5 * (near + far);
            if excess(middle) < 0.0 { near = middle } else { far = middle }
        }
        x + direction * far
    }

    /// Returns L. Outside [−L, L] the drift keeps its value at the end.
    pub fn reach(&self) -> f64 {
        self.reach
    }

    /// Returns the largest error relative to |b| + b₀ measured between the nodes of the table.
    pub fn max_relative_error(&self) -> f64 {
        self.max_relative_error
    }
}

impl Drift for FlmcDrift {
    fn drift(&self, x: &[f64], _: &[f64], out: &mut [f64]) {
        self.eval_into(x, out);
    }

    /// Replaces steep steps by implicit ones: far out b grows as e^(βf), and the y with y = x + η
    /// b(y) is where the flow of such a drift ends, near the edge of the region that φ makes
    /// probable.
    fn tamed(&self, x: &[f64], _: &[f64], eta: f64, out: &mut [f64]) {
        for (out, &x) in out.iter_mut().zip(x) {
            let b = self.at(x);
            let steep = eta * b.abs() > 0.1 * self.width;
            *out = if steep { (self.implicit(x, eta) - x) / eta } else { b };
        }
    }
}

/// Returns c_α = Γ(α−1)/Γ(α/2)², 1 < α ≤ 2, the factor of the approximation b ≈ −c_α f′.
///
/// The approximate dynamics does not leave e^(−βf) invariant.
pub fn approximation_factor(alpha: Alpha) -> Result<f64, ParameterError> {
    let alpha = alpha.get();
    if alpha <= 1.0 {
        return Err(ParameterError::AlphaAboveOne(alpha));
    }
    let root = tgamma(0.5 * alpha);
    Ok(tgamma(alpha - 1.0) / (root * root))
}
