//! One iteration of exact sampling for a batch of chains.

use super::tuning::{MOST_STEPS, Tuning};
use crate::Potential;
use crate::batch::{Batch, StepWords};
use crate::dynamics::ExactKinetic;
use crate::random::{Purpose, Streams};
use levy_stable::Sampler;

/// A transition whose energy grows by more than this, in units of 1/β, diverged, as in Stan.
const DIVERGENT: f64 = 1000.0;

/// Everything that the chains of a run share in one iteration.
#[derive(Clone, Copy)]
pub(crate) struct Iteration<'a> {
    pub(crate) potential: &'a dyn Potential,
    pub(crate) kinetic: &'a dyn ExactKinetic,
    pub(crate) sampler: &'a Sampler,
    pub(crate) gamma: f64,
    pub(crate) tuning: &'a Tuning,
    /// Factor λ of f: the target is e^(−λβf).
    pub(crate) factor: f64,
    /// Whether turning times are measured after the iteration.
    pub(crate) measures_turns: bool,
    /// Number of the iteration.
    pub(crate) k: u64,
}

/// State and results of the iterations of a batch, beside positions and velocities.
#[derive(Clone, Debug)]
pub(crate) struct Transition {
    beta: f64,
    /// f at the positions of each chain.
    pub(crate) values: Vec<f64>,
    /// Probability with which the last proposal of each chain was accepted.
    pub(crate) acceptance: Vec<f64>,
    /// Whether the last proposal of each chain diverged.
    pub(crate) diverging: Vec<bool>,
    /// Whether f or its gradient was not finite on the way to the last proposal of each chain.
    outside: Vec<bool>,
    /// β(f + g) of each chain after the last refreshment of v.
    pub(crate) energy: Vec<f64>,
    /// Turning time of each chain, where it was measured.
    pub(crate) turns: Vec<f64>,
    /// Positions, velocities and gradients before the proposal.
    before: [Vec<f64>; 3],
    proposed: Vec<f64>,
    field: Vec<f64>,
    words: StepWords,
}

impl Transition {
    /// Creates the state of the chains `first`, `first` + 1, …
    pub(crate) fn new(chains: usize, dim: usize, first: usize, seed: u64, beta: f64) -> Self {
        let zeros = vec![0.0; chains * dim];
        let streams = Streams::new(seed, first as u64, chains, Purpose::Acceptance);
        Self {
            beta,
            values: vec![0.0; chains],
            acceptance: vec![0.0; chains],
            diverging: vec![false; chains],
            outside: vec![false; chains],
            energy: vec![0.0; chains],
            turns: vec![0.0; chains],
            before: [zeros.clone(), zeros.clone(), zeros.clone()],
            proposed: vec![0.0; chains],
            field: zeros,
            words: StepWords::new(streams, chains, 1),
        }
    }

    /// Returns the statistics of a chain: log density, acceptance probability, energy, and whether
    /// the proposal diverged.
    pub(crate) fn statistics(&self, chain: usize) -> [f64; 4] {
        let diverging = f64::from(u8::from(self.diverging[chain]));
        [-self.beta * self.values[chain], self.acceptance[chain], self.energy[chain], diverging]
    }

    /// Computes f and ∇f at the positions.
    pub(crate) fn evaluate(&mut self, potential: &dyn Potential, batch: &mut Batch) {
        potential.evaluate(&batch.x, &mut self.values, &mut batch.gradient);
    }

    /// Performs one iteration. Values and gradients at the positions must have been computed.
    pub(crate) fn iterate(&mut self, iteration: &Iteration<'_>, batch: &mut Batch) {
        let Iteration { kinetic, tuning, factor, k, .. } = *iteration;
        let (dim, steps) = (batch.dim, tuning.steps(k));
        batch.draw_noise(iteration.sampler, k);
        batch.refresh(kinetic, iteration.gamma, steps as f64 * tuning.step);
        let beta = factor * kinetic.beta();
        for (chain, v) in batch.v.chunks_exact(dim).enumerate() {
            self.energy[chain] = beta * self.values[chain] + kinetic.energy(v);
        }
        for (before, now) in self.before.iter_mut().zip([&batch.x, &batch.v, &batch.gradient]) {
            before.copy_from_slice(now);
        }
        self.diverging.fill(false);
        self.outside.fill(false);
        self.leapfrog(iteration, steps, batch);

        for (chain, word) in self.words.at(k).iter().enumerate() {
            let here = chain * dim..(chain + 1) * dim;
            let proposal = beta * self.proposed[chain] + kinetic.energy(&batch.v[here.clone()]);
            let rise = proposal - self.energy[chain];
            self.outside[chain] |= !rise.is_finite();
            self.diverging[chain] |= !self.outside[chain] && rise > DIVERGENT;
            let impossible = self.outside[chain] || self.diverging[chain];
            // Without divergence a probability of 0 means that f is not finite there.
            let possible = || libm::exp(-rise.max(0.0)).max(f64::MIN_POSITIVE);
            let probability = if impossible { 0.0 } else { possible() };
            self.acceptance[chain] = probability;
            if happens(probability, *word) {
                self.values[chain] = self.proposed[chain];
            } else {
                batch.x[here.clone()].copy_from_slice(&self.before[0][here.clone()]);
                batch.gradient[here.clone()].copy_from_slice(&self.before[2][here.clone()]);
                for (v, before) in batch.v[here.clone()].iter_mut().zip(&self.before[1][here]) {
                    *v = -before;
                }
            }
        }
        if iteration.measures_turns {
            self.measure_turns(iteration, batch);
        }
    }

    /// Exchanges the position of a chain with that of a chain at another temperature, each with its
    /// value and gradient.
    pub(crate) fn exchange(
        &mut self,
        batch: &mut Batch,
        other: (&mut Self, &mut Batch),
        chain: usize,
    ) {
        let here = chain * batch.dim..(chain + 1) * batch.dim;
        std::mem::swap(&mut self.values[chain], &mut other.0.values[chain]);
        batch.x[here.clone()].swap_with_slice(&mut other.1.x[here.clone()]);
        batch.gradient[here.clone()].swap_with_slice(&mut other.1.gradient[here]);
    }

    /// Follows each chain until it has come back to half the largest squared distance from its
    /// start, in scaled coordinates, and records when it was furthest. The chains end where they
    /// were.
    fn measure_turns(&mut self, iteration: &Iteration<'_>, batch: &mut Batch) {
        let Iteration { potential, kinetic, tuning, factor, .. } = *iteration;
        let Tuning { step, scales, .. } = tuning;
        for (before, now) in self.before.iter_mut().zip([&batch.x, &batch.v, &batch.gradient]) {
            before.copy_from_slice(now);
        }
        let mut furthest = vec![0.0; self.turns.len()];
        let mut turned = vec![false; self.turns.len()];
        self.turns.fill(*step);
        kick(0.5 * factor * step, scales, &batch.gradient, &mut batch.v);
        for i in 1..=MOST_STEPS {
            kinetic.transport(&batch.v, &mut self.field);
            drift(*step, scales, &self.field, &mut batch.x);
            self.stop_runaways(batch);
            let points =
                batch.x.chunks_exact(batch.dim).zip(self.before[0].chunks_exact(batch.dim));
            for (chain, (x, start)) in points.enumerate() {
                if turned[chain] {
                    continue;
                }
                let square =
                    |((x, start), scale): ((&f64, &f64), &f64)| ((x - start) / scale).powi(2);
                let distance: f64 = x.iter().zip(start).zip(scales).map(square).sum();
                turned[chain] = distance < 0.5 * furthest[chain];
                if distance > furthest[chain] {
                    (furthest[chain], self.turns[chain]) = (distance, i as f64 * step);
                }
            }
            if turned.iter().all(|turned| *turned) {
                break;
            }
            potential.evaluate(&batch.x, &mut self.proposed, &mut batch.gradient);
            // Beyond the domain of f a trajectory may never turn.
            turned.iter_mut().zip(&self.proposed).for_each(|(turned, f)| *turned |= !f.is_finite());
            kick(factor * step, scales, &batch.gradient, &mut batch.v);
        }
        for (now, before) in
            [&mut batch.x, &mut batch.v, &mut batch.gradient].into_iter().zip(&self.before)
        {
            now.copy_from_slice(before);
        }
    }

    /// Takes leapfrog steps from the present state to the proposal.
    fn leapfrog(&mut self, iteration: &Iteration<'_>, steps: u64, batch: &mut Batch) {
        let Iteration { potential, kinetic, tuning, factor, .. } = *iteration;
        let Tuning { step, scales, .. } = tuning;
        kick(0.5 * factor * step, scales, &batch.gradient, &mut batch.v);
        for i in 1..=steps {
            kinetic.transport(&batch.v, &mut self.field);
            drift(*step, scales, &self.field, &mut batch.x);
            self.stop_runaways(batch);
            if i < steps {
                batch.update_gradient(potential, 0);
                kick(factor * step, scales, &batch.gradient, &mut batch.v);
            } else {
                potential.evaluate(&batch.x, &mut self.proposed, &mut batch.gradient);
                kick(0.5 * factor * step, scales, &batch.gradient, &mut batch.v);
            }
        }
    }

    /// Returns chains whose proposals left all bounds to where they started, so that the potential
    /// is evaluated at finite points only. These proposals are rejected.
    fn stop_runaways(&mut self, batch: &mut Batch) {
        if batch.is_bounded() {
            return;
        }
        let dim = batch.dim;
        for chain in 0..self.diverging.len() {
            if let Some(value) = batch.runaway(chain) {
                let here = chain * dim..(chain + 1) * dim;
                // Only a gradient that is not finite makes a position or velocity NaN.
                let reason = if value.is_nan() { &mut self.outside } else { &mut self.diverging };
                reason[chain] = true;
                batch.x[here.clone()].copy_from_slice(&self.before[0][here.clone()]);
                batch.v[here].fill(0.0);
            }
        }
    }
}

/// Decides by a random word whether something of a given probability happens.
pub(crate) fn happens(probability: f64, word: u64) -> bool {
    ((word >> 11) as f64) < probability * (1u64 << 53) as f64
}

/// v ← v − t s ∇f, with the scales s of the coordinates.
fn kick(t: f64, scales: &[f64], gradient: &[f64], v: &mut [f64]) {
    for (v, gradient) in v.chunks_exact_mut(scales.len()).zip(gradient.chunks_exact(scales.len())) {
        for ((v, g), s) in v.iter_mut().zip(gradient).zip(scales) {
            *v -= t * s * g;
        }
    }
}

/// x ← x + t s h, with the scales s of the coordinates.
fn drift(t: f64, scales: &[f64], field: &[f64], x: &mut [f64]) {
    for (x, field) in x.chunks_exact_mut(scales.len()).zip(field.chunks_exact(scales.len())) {
        for ((x, h), s) in x.iter_mut().zip(field).zip(scales) {
            *x += t * s * h;
        }
    }
}
