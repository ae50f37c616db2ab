//! A batch of chains of a run, advanced together.

use super::error::RunError;
use super::outcome::Divergence;
use super::run::Run;
use super::sink::STATISTICS;
use crate::Potential;
use crate::batch::Batch;
use crate::exact::{Iteration, Transition};
use levy_stable::Sampler;

/// A batch of chains with its sums and divergences.
#[derive(Clone, Debug)]
pub(super) struct Worker {
    /// Number of the first chain.
    pub(super) first: usize,
    /// Number of the temperature; only the draws of the first one are recorded.
    pub(super) level: usize,
    pub(super) batch: Batch,
    /// Σ ηₖ over the averaged steps.
    pub(super) weight: f64,
    /// Σ ηₖ h(xᵏ): for each chain, each test function.
    pub(super) sums: Vec<f64>,
    /// Chains that diverged.
    pub(super) divergences: Vec<Divergence>,
    /// Whether the batch holds the gradient at its positions.
    pub(super) carries_gradient: bool,
    /// State of exact sampling.
    pub(super) transition: Option<Transition>,
}

impl Worker {
    pub(super) fn new(first: usize, level: usize, batch: Batch, functions: usize) -> Self {
        let sums = vec![0.0; if level == 0 { batch.chains() * functions } else { 0 }];
        Self {
            first,
            level,
            batch,
            weight: 0.0,
            sums,
            divergences: Vec::new(),
            carries_gradient: false,
            transition: None,
        }
    }

    /// Takes the steps, updates the averages, and records every `thin`-th position after the warmup
    /// in `out`, which has space for a segment of each chain, from draw `draw` on.
    pub(super) fn advance(
        &mut self,
        run: &Run,
        potential: &dyn Potential,
        sampler: &Sampler,
        steps: std::ops::Range<u64>,
        mut draw: usize,
        out: &mut [f64],
    ) -> Result<(), RunError> {
        if run.integrator.carries_gradient() && !self.carries_gradient {
            // Computed again after a resumption, so that checkpoints need not store it.
            self.batch.update_gradient(potential, steps.start);
            self.carries_gradient = true;
        }
        for k in steps {
            let step = run.step(k)?;
            run.integrator.step(&run.system, potential, sampler, step, &mut self.batch);
            if potential.has_failed() {
                return Err(RunError::Potential(k));
            }
            if !self.batch.is_bounded() {
                self.park_diverged(k);
            }
            draw += self.keep(run, k, step.eta, draw, out);
        }
        Ok(())
    }

    /// Performs iterations of exact sampling, `iteration` with the number of each.
    pub(super) fn iterate(
        &mut self,
        run: &Run,
        iteration: &Iteration<'_>,
        iterations: std::ops::Range<u64>,
        mut draw: usize,
        out: &mut [f64],
    ) -> Result<(), RunError> {
        let Some(transition) = &mut self.transition else { return Ok(()) };
        if !self.carries_gradient {
            transition.evaluate(iteration.potential, &mut self.batch);
            self.carries_gradient = true;
        }
        for k in iterations {
            let Some(transition) = &mut self.transition else { return Ok(()) };
            transition.iterate(&Iteration { k, ..*iteration }, &mut self.batch);
            if iteration.potential.has_failed() {
                return Err(RunError::Potential(k));
            }
            draw += self.keep(run, k, 1.0, draw, out);
        }
        Ok(())
    }

    /// Updates the averages after step k, records the draw if there is one, and returns the number
    /// of draws.
    fn keep(&mut self, run: &Run, k: u64, weight: f64, draw: usize, out: &mut [f64]) -> usize {
        if k < run.warmup || self.level > 0 {
            return 0;
        }
        self.weight += weight;
        self.average(run, weight);
        if !(k + 1 - run.warmup).is_multiple_of(run.thin) {
            return 0;
        }
        self.record(draw, run.velocities, out);
        1
    }

    /// Records the chains that diverged and moves them to the origin; their draws are NaN from now
    /// on.
    fn park_diverged(&mut self, step: u64) {
        let d = self.batch.dim;
        for chain in 0..self.batch.chains() {
            let Some(value) = self.batch.runaway(chain) else { continue };
            let here = chain * d..(chain + 1) * d;
            self.batch.x[here.clone()].fill(0.0);
            self.batch.v[here.clone()].fill(0.0);
            self.batch.gradient[here].fill(0.0);
            let chain = self.first + chain;
            if !self.divergences.iter().any(|d| d.chain == chain) {
                self.divergences.push(Divergence { chain, step, value });
            }
        }
    }

    fn average(&mut self, run: &Run, eta: f64) {
        if run.functions.is_empty() {
            return;
        }
        let points = self.batch.x.chunks_exact(self.batch.dim);
        for (sums, x) in self.sums.chunks_exact_mut(run.functions.len()).zip(points) {
            for (sum, (_, h)) in sums.iter_mut().zip(&run.functions) {
                *sum += eta * h(x);
            }
        }
    }

    fn record(&self, draw: usize, velocities: bool, out: &mut [f64]) {
        let d = self.batch.dim;
        let statistics = if self.transition.is_some() { STATISTICS.len() } else { 0 };
        let width = if velocities { 2 * d } else { d } + statistics;
        let length = out.len() / self.batch.chains();
        let states = self.batch.x.chunks_exact(d).zip(self.batch.v.chunks_exact(d));
        for ((x, v), out) in states.zip(out.chunks_exact_mut(length)) {
            let out = &mut out[draw * width..][..width];
            out[..d].copy_from_slice(x);
            if velocities {
                out[d..2 * d].copy_from_slice(v);
            }
        }
        if let Some(transition) = &self.transition {
            for (chain, out) in out.chunks_exact_mut(length).enumerate() {
                let at = (draw + 1) * width - statistics;
                out[at..at + statistics].copy_from_slice(&transition.statistics(chain));
            }
        }
        for divergence in &self.divergences {
            let chain = divergence.chain - self.first;
            out[chain * length + draw * width..][..width].fill(f64::NAN);
        }
    }
}
