//! A batch of chains of one run: their state and the buffers to advance it.

use crate::dynamics::{ExactKinetic, LinearStep};
use crate::random::{Purpose, Streams};
use crate::{Kinetic, Potential};
use levy_stable::Sampler;

/// A chain with a position beyond this has diverged.
const RUNAWAY: f64 = 1e100;

/// Some chains of one run: positions, velocities, gradients and the integrator's buffers.
///
/// Coordinates of one chain follow each other, chain after chain.
#[derive(Clone, Debug)]
pub(crate) struct Batch {
    pub(crate) dim: usize,
    pub(crate) x: Vec<f64>,
    pub(crate) v: Vec<f64>,
    /// ∇f where the integrator last evaluated it.
    pub(crate) gradient: Vec<f64>,
    field: Vec<f64>,
    noise: Vec<f64>,
    noise_words: StepWords,
    gradient_words: StepWords,
}

impl Batch {
    /// Creates the chains `first`, `first` + 1, … with the given positions and velocities.
    pub(crate) fn new(dim: usize, first: usize, x: Vec<f64>, v: Vec<f64>, seed: u64) -> Self {
        let chains = x.len() / dim;
        let streams = |purpose| Streams::new(seed, first as u64, chains, purpose);
        let zero = vec![0.0; x.len()];
        Self {
            dim,
            x,
            v,
            gradient: zero.clone(),
            field: zero.clone(),
            noise: zero,
            noise_words: StepWords::new(streams(Purpose::Noise), chains, dim),
            gradient_words: StepWords::new(streams(Purpose::Gradient), chains, 1),
        }
    }

    pub(crate) fn chains(&self) -> usize {
        self.x.len() / self.dim
    }

    /// Computes ∇f at the present positions. A stochastic potential draws its minibatch for step k.
    pub(crate) fn update_gradient(&mut self, potential: &dyn Potential, k: u64) {
        // A deterministic potential ignores the words, so they need not be generated for every
        // step.
        let k = if potential.is_stochastic() { k } else { 0 };
        potential.gradients(&self.x, self.gradient_words.at(k), &mut self.gradient);
    }

    /// Draws the SαS(1) noise of step k.
    pub(crate) fn draw_noise(&mut self, sampler: &Sampler, k: u64) {
        sampler.transform(self.noise_words.at(k), &mut self.noise);
    }

    /// Applies the flow A: x ← x + t h(v).
    pub(crate) fn drift(&mut self, kinetic: &dyn Kinetic, t: f64) {
        kinetic.transport(&self.v, &mut self.field);
        add(t, &self.field, &mut self.x);
    }

    /// Applies the flow B: v ← v − t ∇f, with the present gradient.
    pub(crate) fn kick(&mut self, t: f64) {
        add(-t, &self.gradient, &mut self.v);
    }

    /// Applies the flow O: friction and noise over a time t, with the present noise.
    pub(crate) fn relax(&mut self, kinetic: &dyn Kinetic, gamma: f64, t: f64) {
        kinetic.relax(gamma, t, &self.noise, &mut self.v);
    }

    /// Applies a step of linear friction and noise, with the present noise.
    pub(crate) fn relax_linearly(&mut self, step: LinearStep) {
        step.apply(&self.noise, &mut self.v);
    }

    /// Applies friction and noise over a time t, with the present noise, so that the law of v stays
    /// exactly invariant.
    pub(crate) fn refresh(&mut self, kinetic: &dyn ExactKinetic, gamma: f64, t: f64) {
        kinetic.refresh(gamma, t, &self.noise, &mut self.v);
    }

    /// Applies all forces at once, as in Euler's scheme: v ← v − η(γ c(v) + w ∇f) + s ξ.
    pub(crate) fn push(
        &mut self,
        kinetic: &dyn Kinetic,
        eta: f64,
        gamma: f64,
        weight: f64,
        scale: f64,
    ) {
        kinetic.friction(&self.v, &mut self.field);
        let forces = Forces { eta, gamma, weight, scale };
        apply(&forces, &self.field, &self.gradient, &self.noise, &mut self.v);
    }

    /// Applies x ← x + η b + s ξ, where `drift` computes b from positions and gradient.
    pub(crate) fn diffuse(
        &mut self,
        drift: impl FnOnce(&[f64], &[f64], &mut [f64]),
        eta: f64,
        scale: f64,
    ) {
        drift(&self.x, &self.gradient, &mut self.field);
        add(eta, &self.field, &mut self.x);
        add(scale, &self.noise, &mut self.x);
    }

    /// Returns whether no chain diverged.
    pub(crate) fn is_bounded(&self) -> bool {
        all_below(RUNAWAY, &self.x) && all_below(f64::INFINITY, &self.v)
    }

    /// Returns the first coordinate of a chain that is too large, NaN if only a velocity is not
    /// finite, and None if it did not diverge.
    pub(crate) fn runaway(&self, chain: usize) -> Option<f64> {
        let here = chain * self.dim..(chain + 1) * self.dim;
        // NaN is not below any number.
        let position = self.x[here.clone()].iter().copied().find(|x| !all_below(RUNAWAY, &[*x]));
        position.or_else(|| (!all_below(f64::INFINITY, &self.v[here])).then_some(f64::NAN))
    }
}

/// The random words of a batch: `per_chain` words per chain and step.
///
/// Step k takes words k·`per_chain`, … of each chain's stream. With one word per step, steps 2j and
/// 2j + 1 share a block of the generator; both are generated at once and the second is kept.
#[derive(Clone, Debug)]
pub(crate) struct StepWords {
    streams: Streams,
    per_chain: usize,
    /// The block that `words` holds, if there is one word per step.
    block: Option<u64>,
    /// The words of the even and of the odd step; with more than one word per step only the first
    /// is used.
    words: [Vec<u64>; 2],
}

impl StepWords {
    pub(crate) fn new(streams: Streams, chains: usize, per_chain: usize) -> Self {
        let second = if per_chain == 1 { chains } else { 0 };
        Self {
            streams,
            per_chain,
            block: None,
            words: [vec![0; chains * per_chain], vec![0; second]],
        }
    }

    /// Returns the words of step `k`, chain after chain.
    pub(crate) fn at(&mut self, k: u64) -> &[u64] {
        let [even, odd] = &mut self.words;
        if self.per_chain > 1 {
            self.streams.fill(k * self.per_chain as u64, self.per_chain, even);
            return even;
        }
        if self.block != Some(k >> 1) {
            self.streams.fill_pair(k >> 1, even, odd);
            self.block = Some(k >> 1);
        }
        if k & 1 == 0 { even } else { odd }
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
        // No early return, so that the loop is vectorised; the result is nearly always true.
        values.iter().fold(true, |all, x| all & (x.abs() < limit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    /// The words of a step do not depend on the step at which a run began or resumed, even or odd.
    #[test]
    fn words_of_a_step_do_not_depend_on_the_steps_before() {
        for per_chain in [1, 2, 3] {
            let streams = Streams::new(9, 5, 3, Purpose::Noise);
            let mut words = StepWords::new(streams, 3, per_chain);
            for k in [7, 8, 9, 4, 5, 5, 2] {
                let expected: Vec<u64> = (5..8)
                    .flat_map(|chain| {
                        let stream = Stream::new(9, chain, Purpose::Noise);
                        (0..per_chain as u64).map(move |i| stream.word(k * per_chain as u64 + i))
                    })
                    .collect();
                assert_eq!(words.at(k), expected);
            }
        }
    }
}
