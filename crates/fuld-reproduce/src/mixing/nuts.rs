//! NUTS by `nuts-rs`, the core of nutpie, with its default settings.

use super::counted::Counted;
use crate::Context;
use fuld::{Potential, Start};
use nuts_rs::rand::SeedableRng;
use nuts_rs::rand::rngs::ChaCha8Rng;
use nuts_rs::{
    Chain, CpuLogpFunc, CpuMath, CpuMathError, DiagNutsSettings, HasDims, LogpError, Settings,
};
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

/// Samples from exp(−f) with chains that start from N(0, 1) as ours do, on as many threads as the
/// context has.
pub(super) fn sample(
    context: &Context<'_>,
    potential: &Arc<dyn Potential>,
    seed: u64,
    length: Length,
) -> anyhow::Result<Drawn> {
    let threads = match context.threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    };
    let numbers: Vec<usize> = (0..CHAINS).collect();
    let parts = std::thread::scope(|scope| {
        let handles: Vec<_> = numbers
            .chunks(CHAINS.div_ceil(threads))
            .map(|part| {
                let run = |&chain: &usize| sample_chain(context, potential, seed, chain, length);
                scope.spawn(move || part.iter().map(run).collect::<anyhow::Result<Vec<_>>>())
            })
            .collect();
        let join = |handle: std::thread::ScopedJoinHandle<'_, anyhow::Result<Vec<_>>>| {
            handle.join().unwrap_or_else(|_| Err(anyhow::anyhow!("a chain of NUTS panicked")))
        };
        handles.into_iter().map(join).collect::<anyhow::Result<Vec<_>>>()
    })?;
    let chains: Vec<ChainDrawn> = parts.into_iter().flatten().collect();
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
    context: &Context<'_>,
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
        context.check_stop()?;
        sampler.draw()?;
    }
    let (before, mut draws, mut divergent) = (counted.count(), Vec::new(), 0);
    for _ in 0..length.draws {
        context.check_stop()?;
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
