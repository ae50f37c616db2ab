//! The paper's synthetic problem: f = x⁴/4 − x²/2 with the settings of Figures 3 and 4.

use fuld::diagnostics::{Histogram, KernelDensity, Sample};
use fuld::gibbs::Gibbs;
use fuld::potential::DoubleWell;
use fuld::{Beta, Integrator, SystemKind};
use fuld_sample::SampleRequest;

/// Friction γ of Figures 3 and 4.
pub(crate) const GAMMA: f64 = 10.0;
/// Step η of Figures 3 and 4.
pub(crate) const ETA: f64 = 0.01;
/// Number of Euler steps, the paper's K.
pub(crate) const ITERATIONS: u64 = 50_000;
/// Tail indices of Figures 3 and 4.
pub(crate) const ALPHAS: [f64; 2] = [1.0, 1.9];
/// Densities are drawn for |x| up to this.
pub(crate) const WINDOW: f64 = 3.5;

/// Returns the target exp(−βf) by quadrature.
pub(crate) fn target(beta: f64) -> anyhow::Result<Gibbs> {
    Ok(Gibbs::new(&DoubleWell::new(1, 1.0, 1.0)?, Beta::new(beta)?)?)
}

/// Returns the exact density at β = 1 within the window.
pub(crate) fn exact_density() -> anyhow::Result<Vec<(f64, f64)>> {
    let target = target(1.0)?;
    Ok((-350..=350).map(|i| f64::from(i) / 100.0).map(|x| (x, target.density(x))).collect())
}

/// How many chains are sampled, and how long.
#[derive(Clone, Copy)]
pub(crate) struct Length {
    pub(crate) chains: usize,
    pub(crate) warmup: u64,
    pub(crate) draws: u64,
    pub(crate) thin: u64,
}

impl Length {
    /// Returns a request that leaves everything else open.
    pub(crate) fn request(self) -> SampleRequest {
        SampleRequest {
            chains: Some(self.chains),
            warmup: Some(self.warmup),
            draws: Some(self.draws),
            thin: Some(self.thin),
            ..SampleRequest::default()
        }
    }
}

/// Returns a request for chains on the double well at β = 1 that leaves α and γ open.
pub(crate) fn chains(
    system: SystemKind,
    integrator: Integrator,
    step: f64,
    length: Length,
) -> SampleRequest {
    SampleRequest {
        potential: Some("double_well".into()),
        system: Some(system),
        integrator: Some(integrator),
        step: Some(step),
        beta: Some(1.0),
        ..length.request()
    }
}

/// Returns a request for chains on the double well at β = 1, with their α and γ.
pub(crate) fn noisy_chains(
    system: SystemKind,
    integrator: Integrator,
    (alpha, gamma): (f64, f64),
    step: f64,
    length: Length,
) -> SampleRequest {
    SampleRequest {
        alpha: Some(alpha),
        gamma: Some(gamma),
        ..chains(system, integrator, step, length)
    }
}

/// Returns a request for the Euler chains of Figures 3 and 4.
pub(crate) fn euler_chains(
    system: SystemKind,
    alpha: f64,
    step: f64,
    length: Length,
) -> SampleRequest {
    noisy_chains(system, Integrator::Euler, (alpha, GAMMA), step, length)
}

/// Groups of chains from which the error of a mode is estimated.
const GROUPS: usize = 8;

/// Returns the mode of |x|, which uses both wells at once, and its standard error.
pub(crate) fn mode(chains: &[Vec<f64>]) -> (f64, f64) {
    let mode_of = |group: &[Vec<f64>]| {
        let distances: Vec<f64> =
            group.iter().flatten().filter(|x| x.is_finite()).map(|x| x.abs()).collect();
        let density = KernelDensity::new(&Sample::new(distances).ok()?).ok()?;
        density.grid().max_by(|a, b| a.1.total_cmp(&b.1)).map(|(x, _)| x)
    };
    let modes: Vec<f64> =
        chains.chunks(chains.len().div_ceil(GROUPS)).filter_map(mode_of).collect();
    let count = modes.len() as f64;
    let mean = modes.iter().sum::<f64>() / count;
    let variance = modes.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / (count * (count - 1.0));
    (mean, variance.sqrt())
}

/// Returns the draws that are finite.
pub(crate) fn finite(chains: &[Vec<f64>]) -> Vec<f64> {
    chains.iter().flatten().copied().filter(|x| x.is_finite()).collect()
}

/// Returns the mean square of the finite draws.
pub(crate) fn second_moment(chains: &[Vec<f64>]) -> f64 {
    let draws = finite(chains);
    draws.iter().map(|x| x * x).sum::<f64>() / draws.len() as f64
}

/// Returns the density of the finite draws within the window.
pub(crate) fn histogram(chains: &[Vec<f64>], bins: usize) -> anyhow::Result<Vec<(f64, f64)>> {
    Ok(Histogram::new(&Sample::new(finite(chains))?, -WINDOW, WINDOW, bins)?.density().collect())
}
