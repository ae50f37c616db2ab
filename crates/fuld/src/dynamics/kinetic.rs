//! Kinetic energies g: how the velocity moves the position, and the friction that keeps e^(−βg)
//! invariant.

use super::drift_flow::DriftFlow;
use levy_stable::Alpha;

/// A kinetic energy g(v) = Σ g(vᵢ) for noise of tail index α at inverse temperature β.
///
/// It supplies the fields of the dynamics
///
/// > dv = −γ c(v) dt − ∇f(x) dt + γ^(1/α) dN,  dx = h(v) dt
///
/// where h = ∇g, c is the friction that Theorem 1 of the paper derives from g, and N is stable Lévy
/// motion with the amplitude that belongs to β. All methods work on the coordinates of many chains
/// at once.
pub trait Kinetic: Send + Sync {
    /// Writes h(v), the velocity of the position, into `out`.
    fn transport(&self, v: &[f64], out: &mut [f64]);

    /// Writes c(v), the friction at γ = 1, into `out`.
    fn friction(&self, v: &[f64], out: &mut [f64]);

    /// Returns the amplitude s of the noise at γ = 1: over a time t, N moves by s t^(1/α) ξ with ξ
    /// ~ SαS(1).
    fn amplitude(&self) -> f64;

    /// Applies friction and noise alone over a time t at friction γ.
    ///
    /// `v` becomes a draw of the solution of dv = −γ c(v) dt + γ^(1/α) dN, made from the given
    /// draws `noise` of SαS(1). The step is exact, or symmetric and of second order: each energy
    /// documents which.
    fn relax(&self, gamma: f64, t: f64, noise: &[f64], v: &mut [f64]);

    /// Returns the tail index of the noise.
    fn alpha(&self) -> Alpha;

    /// Returns k if the friction is linear, c(v) = kv, under noise; None otherwise.
    ///
    /// Noise of the gradient can be taken for part of the noise of [`relax`](Self::relax) only
    /// then: see [`NoiseScale`](crate::NoiseScale).
    fn linear_friction(&self) -> Option<f64> {
        None
    }

    /// Returns the energy with an exact refreshment of its velocity law, which exact sampling
    /// requires; None if it has none.
    fn exact(&self) -> Option<&dyn ExactKinetic> {
        None
    }
}

/// A kinetic energy g that can be evaluated, and whose velocity law e^(−βg) has an exactly
/// invariant refreshment.
pub trait ExactKinetic: Kinetic {
    /// Returns the inverse temperature β.
    fn beta(&self) -> f64;

    /// Returns β Σ (g(vᵢ) − g(0)) over the coordinates of one chain.
    fn energy(&self, v: &[f64]) -> f64;

    /// Returns the tail index of the noise that [`refresh`](Self::refresh) takes.
    fn refreshing_alpha(&self) -> Alpha;

    /// Applies friction γ and noise over a time t, made from draws `noise` of SαS(1). e^(−βg) is
    /// exactly invariant.
    fn refresh(&self, gamma: f64, t: f64, noise: &[f64], v: &mut [f64]);
}

/// A step v ← decay·v + scale·ξ of linear friction and noise, with ξ ~ SαS(1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinearStep {
    /// The factor of v.
    pub decay: f64,
    /// The factor of ξ.
    pub scale: f64,
}

impl LinearStep {
    /// Returns the exact step of the Lévy–Ornstein–Uhlenbeck process dv = −γv dt + γ^(1/α) s dL:
    /// v ← e^(−γt) v + s ((1 − e^(−αγt))/α)^(1/α) ξ.
    pub(crate) fn exact(alpha: Alpha, amplitude: f64, gamma: f64, t: f64) -> Self {
        let alpha = alpha.get();
        let decay = libm::exp(-gamma * t);
        let scale = amplitude * libm::pow(-libm::expm1(-alpha * gamma * t) / alpha, 1.0 / alpha);
        Self { decay, scale }
    }

    /// Returns the same with the friction −γkv, as in [`Kinetic::linear_friction`].
    pub(crate) fn with_rate(alpha: Alpha, amplitude: f64, gamma: f64, rate: f64, t: f64) -> Self {
        // dv = −γk v dt + γ^(1/α) s dL is the process with friction γk and amplitude s k^(−1/α).
        Self::exact(alpha, amplitude * libm::pow(rate, -1.0 / alpha.get()), gamma * rate, t)
    }

    /// Applies the step, made from draws `noise` of SαS(1).
    pub(crate) fn apply(self, noise: &[f64], v: &mut [f64]) {
        for (v, xi) in v.iter_mut().zip(noise) {
            *v = self.decay * *v + self.scale * xi;
        }
    }
}

/// Applies friction and noise exactly if the friction is c(v) = v.
pub(super) fn relax_linearly(
    alpha: Alpha,
    amplitude: f64,
    gamma: f64,
    t: f64,
    noise: &[f64],
    v: &mut [f64],
) {
    LinearStep::exact(alpha, amplitude, gamma, t).apply(noise, v);
}

/// Applies the exact flow F of the friction with all noise in the middle: v ← F(t/2)[F(t/2)[v] + s
/// (γt)^(1/α) ξ].
pub(super) fn relax_by_flow(
    flow: &DriftFlow,
    alpha: Alpha,
    amplitude: f64,
    t_gamma: f64,
    noise: &[f64],
    v: &mut [f64],
) {
    flow.flow(0.5 * t_gamma, v);
    let scale = amplitude * libm::pow(t_gamma, 1.0 / alpha.get());
    for (v, xi) in v.iter_mut().zip(noise) {
        *v += scale * xi;
    }
    flow.flow(0.5 * t_gamma, v);
}
