//! The state of some chains, and the buffers to advance them.

use crate::random::{Purpose, Stream, fill};
use crate::{Kinetic, Potential};
use levy_stable::Sampler;

/// Some chains of one run: positions, velocities and, at hand for the integrators, a gradient and scratch.
///
/// Coordinates of one chain follow each other, chain after chain.
#[derive(Clone, Debug)]
pub(crate) struct Batch {
    pub(crate) dim: usize,
    pub(crate) x: Vec<f64>,
    pub(crate) v: Vec<f64>,
    /// ∇f where the integrator last asked for it.
    pub(crate) gradient: Vec<f64>,
    field: Vec<f64>,
    noise: Vec<f64>,
    words: Vec<u64>,
    noise_streams: Vec<Stream>,
    gradient_streams: Vec<Stream>,
}

impl Batch {
    /// Chains `first`, `first` + 1, … with the given positions and velocities.
    pub(crate) fn new(dim: usize, first: usize, x: Vec<f64>, v: Vec<f64>, seed: u64) -> Self {
        let chains = x.len() / dim;
        let streams = |purpose| (0..chains).map(|c| Stream::new(seed, (first + c) as u64, purpose)).collect();
        let zero = vec![0.0; x.len()];
        Self {
            dim,
            x,
            v,
            gradient: zero.clone(),
            field: zero.clone(),
            noise: zero,
            words: vec![0; chains * dim],
            noise_streams: streams(Purpose::Noise),
            gradient_streams: streams(Purpose::Gradient),
        }
    }

    pub(crate) fn chains(&self) -> usize {
        self.x.len() / self.dim
    }

    /// ∇f at the present positions; a stochastic potential draws its minibatch for step k.
    pub(crate) fn update_gradient(&mut self, potential: &dyn Potential, k: u64) {
        let chains = self.chains();
        let words = &mut self.words[..chains];
        if potential.is_stochastic() {
            fill(&self.gradient_streams, k, 1, words);
        }
        potential.gradients(&self.x, words, &mut self.gradient);
    }

    /// Draws the SαS(1) noise of step k.
    pub(crate) fn draw_noise(&mut self, sampler: &Sampler, k: u64) {
        fill(&self.noise_streams, k * self.dim as u64, self.dim, &mut self.words);
        sampler.transform(&self.words, &mut self.noise);
    }

    /// A: x ← x + t h(v).
    pub(crate) fn drift(&mut self, kinetic: &dyn Kinetic, t: f64) {
        kinetic.transport(&self.v, &mut self.field);
        add(t, &self.field, &mut self.x);
    }

    /// B: v ← v − t ∇f, with the gradient at hand.
    pub(crate) fn kick(&mut self, t: f64) {
        add(-t, &self.gradient, &mut self.v);
    }

    /// O: friction and noise over a time t, with the noise at hand.
    pub(crate) fn relax(&mut self, kinetic: &dyn Kinetic, gamma: f64, t: f64) {
        kinetic.relax(gamma, t, &self.noise, &mut self.v);
    }

    /// v ← v − η(γ c(v) + w ∇f) + s ξ: all forces at once, as Euler has them.
    pub(crate) fn push(&mut self, kinetic: &dyn Kinetic, eta: f64, gamma: f64, weight: f64, scale: f64) {
        kinetic.friction(&self.v, &mut self.field);
        let forces = Forces { eta, gamma, weight, scale };
        apply(&forces, &self.field, &self.gradient, &self.noise, &mut self.v);
    }

    /// x ← x + η b + s ξ, with the drift b made from positions and gradient.
    pub(crate) fn wander(&mut self, drift: impl FnOnce(&[f64], &[f64], &mut [f64]), eta: f64, scale: f64) {
        drift(&self.x, &self.gradient, &mut self.field);
        add(eta, &self.field, &mut self.x);
        add(scale, &self.noise, &mut self.x);
    }

    /// Whether all positions are below `limit` in size and all velocities finite.
    pub(crate) fn is_within(&self, limit: f64) -> bool {
        all_below(limit, &self.x) && all_below(f64::INFINITY, &self.v)
    }
}

/// The factors of [`Batch::push`].
struct Forces {
    eta: f64,
    gamma: f64,
    weight: f64,
    scale: f64,
}

levy_stable::dispatched! {
    /// y ← y + t z
    fn add(t: f64, z: &[f64], y: &mut [f64]) {
        for (y, z) in y.iter_mut().zip(z) {
            *y += t * z;
        }
    }
}
levy_stable::dispatched! {
    fn apply(f: &Forces, friction: &[f64], gradient: &[f64], noise: &[f64], v: &mut [f64]) {
        for (v, ((c, g), xi)) in v.iter_mut().zip(friction.iter().zip(gradient).zip(noise)) {
            *v = *v - f.eta * (f.gamma * c + f.weight * g) + f.scale * xi;
        }
    }
}
levy_stable::dispatched! {
    fn all_below(limit: f64, values: &[f64]) -> bool {
        // Without an early end, so that it is vector code: it is true nearly always.
        values.iter().fold(true, |all, x| all & (x.abs() < limit))
    }
}
