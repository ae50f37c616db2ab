//! The paper's synthetic setting: f = x⁴/4 − x²/2, uncorrected dynamics against FULD, by Euler's scheme.

use fuld::diagnostics::{KernelDensity, Sample};
use fuld::gibbs::Gibbs;
use fuld::potential::DoubleWell;
use fuld::{Alpha, Beta, Friction, ParameterError, System, Underdamped};

pub(super) const GAMMA: f64 = 10.0;
pub(super) const BETA: f64 = 1.0;
pub(super) const ETA: f64 = 0.01;
/// K of the paper.
pub(super) const ITERATIONS: u64 = 50_000;
pub(super) const ALPHAS: [f64; 2] = [1.0, 1.9];

/// A dynamics for each tail index.
pub(super) type Dynamics = fn(f64) -> anyhow::Result<System>;

/// Returns the parameters of the paper's systems.
pub(super) fn parameters(alpha: f64, beta: f64) -> Result<Underdamped, ParameterError> {
    Ok(Underdamped { alpha: Alpha::new(alpha)?, gamma: Friction::new(GAMMA)?, beta: Beta::new(beta)? })
}

pub(super) fn corrected(alpha: f64) -> anyhow::Result<System> {
    Ok(System::fuld(parameters(alpha, BETA)?)?)
}

pub(super) fn uncorrected(alpha: f64) -> anyhow::Result<System> {
    Ok(System::uncorrected(parameters(alpha, BETA)?)?)
}

pub(super) fn well() -> anyhow::Result<DoubleWell> {
    Ok(DoubleWell::new(1, 1.0, 1.0)?)
}

/// Where densities on the double well are drawn.
pub(super) const REACH: f64 = 3.5;

/// The exact density up to there, to be laid behind what chains say of it.
pub(super) fn density(gibbs: &Gibbs) -> Vec<(f64, f64)> {
    (-350..=350).map(|i| f64::from(i) / 100.0).map(|x| (x, gibbs.density(x))).collect()
}

pub(super) fn settings() -> toml::Table {
    let mut settings = toml::Table::new();
    settings.insert("potential".into(), "x^4/4 - x^2/2".into());
    settings.insert("alpha".into(), ALPHAS.to_vec().into());
    settings.insert("beta".into(), BETA.into());
    settings.insert("gamma".into(), GAMMA.into());
    settings.insert("eta".into(), ETA.into());
    settings.insert("iterations".into(), (ITERATIONS as i64).into());
    settings.insert("integrator".into(), "euler".into());
    settings
}

/// Groups of chains from which the error of a mode is taken.
const GROUPS: usize = 8;

/// How far from 0 draws are likeliest to be, since both sides are of one law, and the standard error of that.
pub(super) fn mode(chains: &[Vec<f64>]) -> (f64, f64) {
    let mode_of = |group: &[Vec<f64>]| {
        let distances: Vec<f64> = group.iter().flatten().filter(|x| x.is_finite()).map(|x| x.abs()).collect();
        let density = KernelDensity::new(&Sample::new(distances).ok()?).ok()?;
        density.grid().max_by(|a, b| a.1.total_cmp(&b.1)).map(|(x, _)| x)
    };
    let modes: Vec<f64> = chains.chunks(chains.len().div_ceil(GROUPS)).filter_map(mode_of).collect();
    let count = modes.len() as f64;
    let mean = modes.iter().sum::<f64>() / count;
    let spread = modes.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / (count * (count - 1.0));
    (mean, spread.sqrt())
}
