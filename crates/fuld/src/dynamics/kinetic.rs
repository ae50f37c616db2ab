//! Kinetic energies g: how the velocity moves the position, and what friction keeps e^(−βg) invariant.

use super::drift_flow::DriftFlow;

/// A kinetic energy g(v) = Σ g(vᵢ) for noise of tail index α at inverse temperature β.
///
/// It gives the fields of the dynamics
///
/// > dv = −γ c(v) dt − ∇f(x) dt + γ^(1/α) dN,  dx = h(v) dt
///
/// where h = ∇g, c is the drift that Theorem 1 of the paper makes of g, and N is stable Lévy motion of the amplitude
/// that belongs to β. All functions work on the coordinates of many chains at once.
pub trait Kinetic: Send + Sync {
    /// h(v), the velocity of the position.
    fn transport(&self, v: &[f64], out: &mut [f64]);

    /// c(v), the friction at γ = 1.
    fn friction(&self, v: &[f64], out: &mut [f64]);

    /// The amplitude s of the noise at γ = 1: over a time t, N moves by s t^(1/α) ξ, ξ ~ SαS(1).
    fn amplitude(&self) -> f64;

    /// Friction and noise alone, over a time t at friction γ: v becomes a draw of where dv = −γ c(v) dt + γ^(1/α) dN
    /// takes it, made of the given draws of SαS(1). Exact, or symmetric and of second order: see each energy.
    fn relax(&self, gamma: f64, t: f64, noise: &[f64], v: &mut [f64]);

    /// The tail index of the noise.
    fn alpha(&self) -> f64;
}

/// The exact step of the Lévy–Ornstein–Uhlenbeck process dv = −γv dt + γ^(1/α) s dL:
/// v ← e^(−γt) v + s ((1 − e^(−αγt))/α)^(1/α) ξ.
pub(super) fn relax_linearly(alpha: f64, amplitude: f64, gamma: f64, t: f64, noise: &[f64], v: &mut [f64]) {
    let decay = libm::exp(-gamma * t);
    let scale = amplitude * libm::pow(-libm::expm1(-alpha * gamma * t) / alpha, 1.0 / alpha);
    for (v, xi) in v.iter_mut().zip(noise) {
        *v = decay * *v + scale * xi;
    }
}

/// Friction by its exact flow with the noise of the time in the middle: v ← F(t/2)[F(t/2)[v] + s (γt)^(1/α) ξ].
pub(super) fn relax_by_flow(
    flow: &DriftFlow,
    alpha: f64,
    amplitude: f64,
    t_gamma: f64,
    noise: &[f64],
    v: &mut [f64],
) {
    flow.flow(0.5 * t_gamma, v);
    let scale = amplitude * libm::pow(t_gamma, 1.0 / alpha);
    for (v, xi) in v.iter_mut().zip(noise) {
        *v += scale * xi;
    }
    flow.flow(0.5 * t_gamma, v);
}
