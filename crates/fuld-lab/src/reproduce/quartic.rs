//! The paper's synthetic setting: f = x⁴/4 − x²/2, uncorrected dynamics against FULD, by Euler's scheme.

use fuld::System;
use fuld::diagnostics::{KernelDensity, Sample};
use fuld::potential::DoubleWell;

pub(super) const GAMMA: f64 = 10.0;
pub(super) const BETA: f64 = 1.0;
pub(super) const ETA: f64 = 0.01;
/// K of the paper.
pub(super) const ITERATIONS: u64 = 50_000;
pub(super) const ALPHAS: [f64; 2] = [1.0, 1.9];

/// A dynamics for each tail index.
pub(super) type Dynamics = fn(f64) -> anyhow::Result<System>;

pub(super) fn corrected(alpha: f64) -> anyhow::Result<System> {
    Ok(System::fuld(alpha, GAMMA, BETA)?)
}

pub(super) fn uncorrected(alpha: f64) -> anyhow::Result<System> {
    Ok(System::uncorrected(alpha, GAMMA, BETA)?)
}

pub(super) fn well() -> anyhow::Result<DoubleWell> {
    Ok(DoubleWell::new(1, 1.0, 1.0)?)
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

/// How far from 0 the draws are likeliest to be: both sides are of one law.
pub(super) fn mode(draws: Vec<f64>) -> Option<f64> {
    let distances: Vec<f64> = draws.into_iter().map(f64::abs).collect();
    let density = KernelDensity::new(&Sample::new(distances).ok()?).ok()?;
    density.grid().max_by(|a, b| a.1.total_cmp(&b.1)).map(|(x, _)| x)
}
