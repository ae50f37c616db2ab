//! The drift of fractional Langevin Monte Carlo, exact in one dimension, and its approximation.
//!
//! For dx = b(x) dt + β^(−1/α) dL to leave p = e^(−βf) invariant, the fractional Fokker–Planck equation asks for
//! 0 = −∂(bp) − β⁻¹ 𝒟^α p. With 𝒟^α = −∂² 𝒟^(α−2) and ∂p = −βf′p this is 0 = −∂[bp + 𝒟^(α−2)(p f′)], hence
//!
//! > b = −𝒟^(α−2)(φ f′)/φ,  φ = e^(−βf):
//!
//! the paper's formula, with β in φ, where the paper has e^(−f), and with no β elsewhere. It is −f′ at α = 2.

use super::drift::Drift;
use crate::numerics::fractional_gradient::{FractionalGradient, wells};
use crate::parameters::{Beta, ParameterError};
use levy_stable::Alpha;
use levy_stable::table::{Fit, OctaveTable};
use libm::tgamma;
use thiserror::Error;

/// Why there is no such drift. It carries the offending value.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum FlmcError {
    /// A bad α or β.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
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

const TOLERANCE: f64 = 1e-11;
const REFUSED: f64 = 1e-8;

/// b(x) = −𝒟^(α−2)(φ f′)/φ, φ = e^(−βf), tabulated on [−L, L] for a potential of one variable. A separable potential on ℝᵈ
/// uses one per coordinate.
///
/// The error is below 1e-8 of |b(x)| + b₀, b₀ = 1/(β·width of φ), and usually 1e-11: on f = x⁴/4 − x²/2, |x| ≤ 3, bφ
/// differs by 1.2e-11 from the spectral method, and the stationary Fokker–Planck equation is solved to 2e-9, which is
/// what differentiating the table costs. L may be as large as e^(βf(L)) allows in a double. Outside the interval, where
/// φ leaves little to sample, b keeps its value at the end.
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
    /// The drift for 0 < α ≤ 2, β > 0 and a potential f, given with its derivative, on [−`reach`, `reach`]. The interval
    /// must hold all minima of f.
    pub fn new(
        alpha: f64,
        beta: f64,
        f: impl Fn(f64) -> f64,
        slope: impl Fn(f64) -> f64,
        reach: f64,
    ) -> Result<Self, FlmcError> {
        let alpha = Alpha::new(alpha).map_err(ParameterError::from)?.get();
        let beta = Beta::new(beta)?.get();
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
            return Err(FlmcError::Rough(if left_error.is_nan() { left_error } else { max_relative_error }));
        }
        Ok(Self { right, left, reach, width: gradient.width(), max_relative_error })
    }

    /// b(x).
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

    /// `out[i] = b(x[i])`, as far as both slices go.
    pub fn eval_into(&self, x: &[f64], out: &mut [f64]) {
        for (out, &x) in out.iter_mut().zip(x) {
            *out = self.at(x);
        }
    }

    /// y with y = x + η b(y), in the direction in which the drift at x points.
    fn implicit(&self, x: f64, eta: f64) -> f64 {
        let direction = self.at(x).signum();
        // Negative at x, where the drift still carries on; positive where it has died down or turned, in a well.
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

    /// L: outside [−L, L] the drift keeps its value at the end.
    pub fn reach(&self) -> f64 {
        self.reach
    }

    /// Largest error relative to |b| + b₀ that was seen between the nodes of the table.
    pub fn max_relative_error(&self) -> f64 {
        self.max_relative_error
    }
}

impl Drift for FlmcDrift {
    fn drift(&self, x: &[f64], _: &[f64], out: &mut [f64]) {
        self.eval_into(x, out);
    }

    /// Far out b grows as e^(βf): there the step is implicit, to the y with y = x + η b(y), which is where the flow of such a
    /// drift ends, near the edge of what φ leaves probable.
    fn tamed(&self, x: &[f64], _: &[f64], eta: f64, out: &mut [f64]) {
        for (out, &x) in out.iter_mut().zip(x) {
            let b = self.at(x);
            let steep = eta * b.abs() > 0.1 * self.width;
            *out = if steep { (self.implicit(x, eta) - x) / eta } else { b };
        }
    }
}

/// c_α = Γ(α−1)/Γ(α/2)², 1 < α ≤ 2: what the approximation b ≈ −c_α f′ multiplies the gradient by. The dynamics it
/// makes does not keep e^(−βf).
pub fn approximation_factor(alpha: f64) -> Result<f64, ParameterError> {
    let alpha = Alpha::new(alpha)?.get();
    if alpha <= 1.0 {
        return Err(ParameterError::AlphaAboveOne(alpha));
    }
    let root = tgamma(0.5 * alpha);
    Ok(tgamma(alpha - 1.0) / (root * root))
}
