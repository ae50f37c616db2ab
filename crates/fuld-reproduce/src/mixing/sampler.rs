//! NUTS by `nuts-rs`, the core of nutpie, with its default settings: the runs that `nuts.csv`
//! records.

use super::Measured;
use super::counted::Counted;
use super::measure::worst;
use super::nuts::NUTS;
use super::targets::Problem;
use fuld::diagnostics::Chains;
use fuld::{Potential, Start};
use fuld_sample::{R_HAT, Section};
use nuts_rs::rand::SeedableRng;
use nuts_rs::rand::rngs::ChaCha8Rng;
use nuts_rs::{
    Chain, CpuLogpFunc, CpuMath, CpuMathError, DiagNutsSettings, HasDims, LogpError, Settings,
};
use rayon::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;

/// Number of chains, as in Stan.
pub(super) const CHAINS: usize = 4;

/// What a run of NUTS leaves.
pub(super) struct Drawn {
    /// For each coordinate its chains.
    pub(super) coordinates: Vec<Vec<Vec<f64>>>,
    /// Gradients of the draws, without the tuning.
    pub(super) gradients: u64,
    /// Divergent transitions among the draws.
    pub(super) divergent: usize,
}

/// Lengths of a run.
#[derive(Clone, Copy)]
pub(super) struct Length {
    pub(super) tune: u64,
    pub(super) draws: u64,
}

impl Length {
    /// Returns the defaults of `nuts-rs`.
    pub(super) fn default() -> Self {
        let settings = DiagNutsSettings::default();
        Self { tune: settings.num_tune, draws: settings.num_draws }
    }
}

/// Samples a target with the defaults of `nuts-rs`.
pub(super) fn measure(problem: &Problem, seed: u64) -> anyhow::Result<Measured> {
    let drawn = sample(&problem.potential, seed, Length::default())?;
    let (mut ess, mut r_hat) = (f64::INFINITY, 1.0f64);
    for draws in &drawn.coordinates {
        let chains = Chains::new(draws)?;
        (ess, r_hat) = (ess.min(chains.ess_bulk()), r_hat.max(chains.r_hat()));
    }
    let warnings = [(r_hat > R_HAT, Section::RHat), (drawn.divergent > 0, Section::Divergences)];
    let given: Vec<&str> =
        warnings.iter().filter(|(given, _)| *given).map(|(_, section)| section.short()).collect();
    Ok(Measured {
        target: problem.name.into(),
        method: NUTS.into(),
        alpha: None,
        seed,
        gradients: drawn.gradients,
        ess,
        r_hat,
        z: worst(problem, &drawn.coordinates)?,
        warnings: given.join(", "),
    })
}

/// Samples from exp(−f) with chains that start from N(0, 1) as ours do.
pub(super) fn sample(
    potential: &Arc<dyn Potential>,
    seed: u64,
    length: Length,
) -> anyhow::Result<Drawn> {
    let chains = (0..CHAINS).into_par_iter();
    let chains: Vec<ChainDrawn> = chains
        .map(|chain| sample_chain(potential, seed, chain, length))
        .collect::<anyhow::Result<_>>()?;
    let coordinate = |i: usize| {
        chains.iter().map(|chain| chain.draws.iter().map(|draw| draw[i]).collect()).collect()
    };
    Ok(Drawn {
        coordinates: (0..potential.dim()).map(coordinate).collect(),
        gradients: chains.iter().map(|chain| chain.gradients).sum(),
        divergent: chains.iter().map(|chain| chain.divergent).sum(),
    })
}

/// What one chain leaves.
struct ChainDrawn {
    draws: Vec<Box<[f64]>>,
    gradients: u64,
    divergent: usize,
}

/// Samples one chain.
fn sample_chain(
    potential: &Arc<dyn Potential>,
    seed: u64,
    chain: usize,
    length: Length,
) -> anyhow::Result<ChainDrawn> {
    let counted = Counted::new(Arc::clone(potential));
    let settings = DiagNutsSettings {
        num_tune: length.tune,
        num_draws: length.draws,
        ..DiagNutsSettings::default()
    };
    // Every chain has a generator of its own.
    let mut generator = ChaCha8Rng::seed_from_u64(seed ^ (chain as u64) << 32);
    let math = CpuMath::new(Density(counted.clone()));
    let mut sampler = settings.new_chain(chain as u64, math, &mut generator)?;
    sampler.set_position(&Start::Gaussian(1.0).points(seed, chain..chain + 1, potential.dim()))?;
    for _ in 0..length.tune {
        sampler.draw()?;
    }
    let (before, mut draws, mut divergent) = (counted.count(), Vec::new(), 0);
    for _ in 0..length.draws {
        let (draw, progress) = sampler.draw()?;
        draws.push(draw);
        divergent += usize::from(progress.diverging);
    }
    Ok(ChainDrawn { draws, gradients: counted.count() - before, divergent })
}

/// The density exp(−f) as `nuts-rs` takes it.
struct Density(Counted);

/// The density is not finite. The transition counts as divergent.
#[derive(Debug, thiserror::Error)]
#[error("f is not finite")]
struct NotFinite;

impl LogpError for NotFinite {
    fn is_recoverable(&self) -> bool {
        true
    }
}

impl HasDims for Density {
    fn dim_sizes(&self) -> HashMap<String, u64> {
        HashMap::from([("unconstrained_parameter".into(), self.0.dim() as u64)])
    }
}

impl CpuLogpFunc for Density {
    type LogpError = NotFinite;
    type FlowParameters = ();
    type ExpandedVector = Vec<f64>;

    fn dim(&self) -> usize {
        self.0.dim()
    }

    fn logp(&mut self, x: &[f64], gradient: &mut [f64]) -> Result<f64, NotFinite> {
        let mut value = [0.0];
        self.0.evaluate(x, &mut value, gradient);
        gradient.iter_mut().for_each(|g| *g = -*g);
        if value[0].is_finite() { Ok(-value[0]) } else { Err(NotFinite) }
    }

    fn expand_vector<R: nuts_rs::rand::Rng + ?Sized>(
        &mut self,
        _: &mut R,
        x: &[f64],
    ) -> Result<Vec<f64>, CpuMathError> {
        Ok(x.to_vec())
    }
}
