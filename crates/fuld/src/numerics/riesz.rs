//! The Riesz derivative 𝒟^γ u = ℱ⁻¹{|ω|^γ ℱu} of a function sampled on a uniform grid.
//!
//! The function is interpolated by the cardinal series Σ u_j sinc((x − x_j)/dx) of its samples u_j.
//! Its derivative at the grid points is a convolution:
//!
//! > 𝒟^γ u(x_i) = Σ_j K_(i−j) u_j,  K_n = (1/2π) ∫ |ω|^γ e^(iωn dx) dx dω over |ω| ≤ π/dx = (π/dx)^γ ∫₀¹ s^γ cos(πns) ds.
//!
//! The weight |ω|^γ is integrated rather than sampled, so its singularity at ω = 0 causes no error.
//! Zero padding to twice the length prevents wrap-around. The result is exact for a band-limited u
//! that vanishes off the grid.

use super::kummer::kummer_scaled;
use super::quadrature::{Tolerance, integrate};
use libm::{pow, sin, tgamma};
use rustfft::FftPlanner;
use rustfft::num_complex::Complex;
use std::f64::consts::PI;
use thiserror::Error;

/// A Riesz derivative that cannot be computed, with the offending value.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum RieszError {
    /// |ω|^γ is not integrable at 0, or so steep that rounding errors dominate.
    #[error("the order of a Riesz derivative must satisfy -1 < order <= 20, got {0}")]
    Order(f64),
    /// The grid spacing is not positive and finite.
    #[error("the grid spacing must be positive and finite, got {0}")]
    Spacing(f64),
    /// A sample is infinite or NaN.
    #[error("sample {index} must be finite, got {value}")]
    Sample {
        /// Which sample.
        index: usize,
        /// Its value.
        value: f64,
    },
}

/// Returns 𝒟^γ u of `order` −1 < γ ≤ 20 at the points of the grid on which u is given with spacing
/// `dx`.
///
/// 𝒟⁰ u = u, 𝒟² u = −u″; negative γ are Riesz potentials.
///
/// There are three sources of error: û beyond |ω| = π/dx; u off the grid, where it is taken as 0;
/// and rounding, which high frequencies amplify to about 1e-15 (π/dx)^γ max|u| for γ ≥ 0. A grid
/// should therefore be no finer than u requires. On e^(−x²/2) with |x| ≤ 12 and dx = 1/4, where
/// only rounding remains, the error relative to the largest value is below 4e-15 max(1, (π/dx)^γ)
/// for −0.9 ≤ γ ≤ 3.
///
/// The semigroup property 𝒟ᵃ𝒟ᵇ = 𝒟^(a+b) holds on the line. On a grid reaching to ±L it holds up to
/// about L^(−1−a−b), because 𝒟ᵇu falls off only as |x|^(−1−b), and the grid cuts that tail.
///
/// ```
/// use fuld::numerics::{riesz, riesz_of_gaussian};
/// # fn main() -> Result<(), fuld::numerics::RieszError> {
/// let bell: Vec<f64> = (-40..=40).map(|i| (-0.5 * (0.25 * i as f64).powi(2)).exp()).collect();
/// let half = riesz(&bell, 0.25, 0.5)?;
/// assert!((half[40] - riesz_of_gaussian(0.5, 0.0)).abs() < 1e-13);
/// # Ok(())
/// # }
/// ```
pub fn riesz(u: &[f64], dx: f64, order: f64) -> Result<Vec<f64>, RieszError> {
    if !(order > -1.0 && order <= 20.0) {
        return Err(RieszError::Order(order));
    }
    if !(dx > 0.0 && dx.is_finite()) {
        return Err(RieszError::Spacing(dx));
    }
    if let Some((index, &value)) = u.iter().enumerate().find(|(_, value)| !value.is_finite()) {
        return Err(RieszError::Sample { index, value });
    }
    if order == 0.0 {
        return Ok(u.to_vec());
    }
    let mut result = convolve(u, &kernel(order, u.len()));
    let unit = pow(PI / dx, order);
    result.iter_mut().for_each(|value| *value *= unit);
    Ok(result)
}

/// Returns 𝒟^γ e^(−x²/2) = 2^(γ/2) Γ((γ+1)/2)/√π ₁F₁((1+γ)/2; 1/2; −x²/2) for the `order` γ > −1,
/// the closed form that tests [`riesz`].
pub fn riesz_of_gaussian(order: f64, x: f64) -> f64 {
    let peak = pow(2.0, 0.5 * order) * tgamma(0.5 * (order + 1.0)) / PI.sqrt();
    peak * kummer_scaled(-0.5 * order, 0.5, 0.5 * x * x)
}

/// ∫₀¹ s^γ cos(πns) ds for n = 0, …, `len` − 1.
fn kernel(order: f64, len: usize) -> Vec<f64> {
    let far = 16.0 + order.max(0.0);
    (0..len)
        .map(|n| n as f64)
        .map(|n| if n < far { near(order, n) } else { asymptotic(order, n) })
        .collect()
}

/// Computes an entry by quadrature. With cos = 1 − 2 sin² the integrand loses its singularity at 0;
/// s = t⁴ smooths the rest.
fn near(order: f64, n: f64) -> f64 {
    const FINE: Tolerance = Tolerance { relative: 0.0, absolute: 1e-16 };
    let integrand = |t: f64| {
        let s = t * t * t * t;
        let sine = sin(0.5 * PI * n * s);
        8.0 * pow(t, 4.0 * order + 3.0) * sine * sine
    };
    let missing =
        if n == 0.0 { 0.0 } else { integrate(&integrand, &[0.0, 0.5, 0.8, 1.0], FINE).value };
    1.0 / (order + 1.0) - missing
}

/// Computes an entry by integration by parts, m = πn: the end at 0 gives −Γ(γ+1) sin(πγ/2)
/// m^(−γ−1), the one at 1 gives (−1)ⁿ (γ/m² − γ(γ−1)(γ−2)/m⁴ + …).
fn asymptotic(order: f64, n: f64) -> f64 {
    let m = PI * n;
    let mut term = order / (m * m);
    let mut sum = term;
    let mut power = order;
    for _ in 0..16 {
        term *= -(power - 1.0) * (power - 2.0) / (m * m);
        power -= 2.0;
        sum += term;
    }
    let sign = if n % 2.0 == 0.0 { 1.0 } else { -1.0 };
    sign * sum - tgamma(order + 1.0) * sin(0.5 * PI * order) * pow(m, -order - 1.0)
}

/// Returns Σ_j K_|i−j| u_j for all i: a circulant product of twice the length, by fast Fourier
/// transform.
fn convolve(u: &[f64], kernel: &[f64]) -> Vec<f64> {
    let size = (2 * u.len()).next_power_of_two();
    let mut planner = FftPlanner::new();
    let forward = planner.plan_fft_forward(size);
    let mut spectrum = vec![Complex::new(0.0, 0.0); size];
    for (slot, &u) in spectrum.iter_mut().zip(u) {
        slot.re = u;
    }
    forward.process(&mut spectrum);
    let mut weights = vec![Complex::new(0.0, 0.0); size];
    for (n, &k) in kernel.iter().enumerate() {
        weights[n].re = k;
        weights[(size - n) % size].re = k;
    }
    forward.process(&mut weights);
    // The kernel is even, so its transform is real.
    for (value, weight) in spectrum.iter_mut().zip(&weights) {
        *value *= weight.re / size as f64;
    }
    planner.plan_fft_inverse(size).process(&mut spectrum);
    spectrum[..u.len()].iter().map(|value| value.re).collect()
}
