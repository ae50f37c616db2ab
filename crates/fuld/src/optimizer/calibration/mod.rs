//! α and the place of the bend, from the gradients themselves as they come.
//!
//! For each tensor a [`Calibration`] looks at a sample of its coordinates, at most 1024, once a step, and keeps what it has seen in
//! some two thousand numbers. It measures
//!
//! - the noise of the gradients, SαS(σ), from four successive gradients g₁…g₄ of the same coordinates: the difference of two pairs,
//!   (g₁ − g₂) + (g₃ − g₄), is 2^(1/α) times as wide as the pairs' own differences. Centre and scale of a coordinate drop out of
//!   this, and so does what the gradients of one step have in common, as each pair is measured in its own mean;
//! - the law of the gradients and that of the momentum, by mean m and variance V of log|·|. Under SαS(s) noise alone
//!   m = log s + C(1/α − 1) and V = (π²/6)(1/α² + 1/2); what V has beyond that, τ², is the spread of scales between coordinates.
//!
//! How far the noise explains what is seen is ρ, from 0 to 1. It is small where α̂ < 1.15 (sparse gradients look so: the rare large ones are the
//! signal), where coordinates spread (τ), and where neighbours rise and fall together, as the row of a word does when the word appears.
//! Noise does none of this. From these it sets
//!
//! - the tail index: α̂ as far as there is trust, else 1.85, which bends little;
//! - the bend of the momentum, K = α^(1/α) s e^(1.25 τ), which is where the noise puts it when the noise is all there is; without trust it is at least
//!   1.5 times the root mean square;
//! - a limit for the components of the gradients before they enter the momentum, 0.6 λ(α) s e^(3 τ), λ = 1/(1 − (α/2)^16); without trust at least 30 times
//!   their root mean square. The momentum keeps a jump for 1/(1 − μ) steps, and under heavy noise a coordinate would spend most of its time beyond the bend.
//!
//! At α̂ = 2 there is neither bend nor limit: the step is that of SGD with momentum. The constants were chosen by training networks
//! with and without noise; nothing else was.
//!
//! It is wrong where the noise is not symmetric, where fewer than a few dozen coordinates move, and where heavy tails that look like noise are the signal.

mod constants;
mod head;
mod log_abs;
mod log_sums;
mod places;

use super::{Options, WeightDecay, kappa_of_noise};
use crate::tail_index::Quadruples;
use head::Head;
use log_abs::log_abs;
use std::f64::consts::LN_2;

/// The index to which α goes where stable noise does not explain what is seen, and from which it starts.
const MILD: f64 = 1.85;
/// Below this no α̂ is followed.
const LEAST: f64 = 1.1;
/// From here on the tail index is 2.
const GAUSSIAN: f64 = 1.95;
/// Tail indices in use are multiples of this, so that few tables are needed.
const GRID: f64 = 1.0 / 32.0;
/// From such an α̂ on noise is believed to be noise,
const NOISE: f64 = 1.15;
/// and up to this one it is not.
const NO_NOISE: f64 = 1.05;
/// How much less if neighbours rise and fall together.
const SHARED: f64 = 2.0;
/// The bend is beyond this many τ of the coordinates,
const BEND_SPREAD: f64 = 1.25;
/// and where they are not noise, at this many of their root mean square.
const BEND_ROOT: f64 = 1.5;
/// The limit is at this much of the scale of the gradients,
const LIMIT: f64 = 0.6;
/// beyond this many τ,
const LIMIT_SPREAD: f64 = 3.0;
/// and where they are not noise, at this many of their root mean square.
const LIMIT_ROOT: f64 = 30.0;
/// How late the limit gives way as α goes to 2.
const LIMIT_POWER: i32 = 16;
/// Where bends and limits are: single precision has room for their squares.
const ROOM: std::ops::RangeInclusive<f64> = 1e-18..=1e18;

/// What is known of the gradients of one tensor.
///
/// ```
/// use fuld::optimizer::{AutoRule, Calibration, Options};
/// # fn main() -> Result<(), fuld::optimizer::RuleError> {
/// let rule = AutoRule::new(None, None, 0.01, 0.9, Options::default())?;
/// let (mut x, mut b) = ([1.0f32; 100], [0.0; 100]);
/// let mut calibration = Calibration::new(x.len());
/// for _ in 0..500 {
///     let gradient = x; // of |x|²/2
///     rule.step(&mut calibration, &mut x, &mut b, &gradient);
/// }
/// assert!(x.iter().all(|x| x.abs() < 1e-3));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    head: Head,
    /// At the places looked at, the gradient before this one.
    before: Vec<f32>,
    /// The difference of the first pair of a quadruple.
    pair: Vec<f32>,
}

/// What a [`Calibration`] says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    /// The tail index α̂ of the gradients' noise.
    pub noise_alpha: f64,
    /// Its scale σ̂; NaN before there were four gradients. Of coordinates that differ in scale it is the geometric mean.
    pub noise_scale: f64,
    /// The tail index in use.
    pub alpha: f64,
    /// The bend K of b; at α = 2 nothing bends.
    pub bend: f64,
    /// The largest component of a gradient that enters the momentum; infinite if all may.
    pub limit: f64,
    /// Share of the coordinates that were beyond the bend, on average over the last steps.
    pub bent: f64,
}

/// What a calibration must know of the rule, to see what a step will see.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motion {
    /// μ
    pub momentum: f64,
    /// What was added to the rule.
    pub options: Options,
    /// α, if it is given.
    pub alpha: Option<f64>,
    /// The scale σ_g of the noise, if it is given: the bend is then at σ_g (1 − μ)^(−1/α), and gradients are not limited.
    pub noise: Option<f64>,
}

/// Gradient, buffer and parameters before a step, at the places that a calibration asks for.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// g
    pub gradient: &'a [f32],
    /// b
    pub buffer: &'a [f32],
    /// x
    pub parameters: &'a [f32],
}

impl Calibration {
    /// The most places looked at.
    pub const MOST: usize = 1024;

    /// How many tail indices below 2 it may find.
    pub(super) const INDICES: usize = (2.0 / GRID) as usize;

    /// The number of such a tail index.
    pub(super) fn index(alpha: f64) -> Option<usize> {
        let index = alpha / GRID;
        (index.fract() == 0.0 && alpha < 2.0).then_some(index as usize)
    }

    /// For a tensor of so many numbers.
    pub fn new(length: usize) -> Self {
        let count = places::count(length);
        Self { head: Head::new(), before: vec![0.0; count], pair: vec![0.0; count] }
    }

    /// How many numbers hold what is known of a tensor of this length.
    pub fn size(length: usize) -> usize {
        Head::COUNT + 2 * places::count(length)
    }

    /// Everything it knows, in [`size`](Self::size) numbers.
    pub fn to_numbers(&self) -> Vec<f32> {
        let head = self.head.to_numbers();
        head.into_iter().chain(self.before.iter().copied()).chain(self.pair.iter().copied()).collect()
    }

    /// What [`to_numbers`](Self::to_numbers) gave for a tensor of this length. None if it cannot be that.
    pub fn from_numbers(numbers: &[f32], length: usize) -> Option<Self> {
        let (head, rest) = numbers.split_first_chunk::<{ Head::COUNT }>()?;
        let count = places::count(length);
        (rest.len() == 2 * count).then(|| Self {
            head: Head::from_numbers(*head),
            before: rest[..count].to_vec(),
            pair: rest[count..].to_vec(),
        })
    }

    /// What it knows, for another part of the same tensor: of the noise everything, of the gradients that are to be compared nothing.
    pub fn moved(&self, length: usize) -> Self {
        let mut head = self.head;
        while head.phase() != 0 {
            head.turn();
        }
        Self { head, ..Self::new(length) }
    }

    /// Where it looks before the next step, in rising order: at a few neighbours in each of equal parts of the tensor, others for each
    /// quadruple.
    pub fn places(&self, length: usize) -> impl Iterator<Item = usize> + use<> {
        places::places(length, self.head.quadruple())
    }

    /// Takes note of the step to come, and says how it is to be taken.
    ///
    /// # Panics
    ///
    /// If it is not shown as many numbers as there are [`places`](Self::places).
    pub fn observe(&mut self, seen: Seen<'_>, motion: &Motion) -> Reading {
        let count = self.before.len();
        assert!(
            seen.gradient.len() == count && seen.buffer.len() == count && seen.parameters.len() == count,
            "as many numbers as places are needed"
        );
        self.compare(seen.gradient);
        self.head.gradients.look_at(seen.gradient);
        let alpha = motion.alpha.unwrap_or_else(|| f64::from(self.head.alpha));
        self.head.limit = if motion.noise.is_some() { f64::INFINITY } else { self.limit(alpha) } as f32;

        let mut followed = [0f32; Self::MOST];
        let followed = &mut followed[..count];
        self.follow(seen, motion, followed);
        self.head.momentum.look_at(followed);
        let alpha = motion.alpha.unwrap_or_else(|| self.alpha());
        let bend = match motion.noise {
            // In units of b; a rule has refused what has no such place.
            Some(noise) => kappa_of_noise(alpha, 1.0, motion.momentum, noise).unwrap_or(f64::INFINITY),
            None => self.bend(alpha),
        };
        (self.head.alpha, self.head.bend) = (alpha as f32, bend as f32);
        self.head.count_bent(followed);
        self.reading()
    }

    /// What it says now.
    pub fn reading(&self) -> Reading {
        let Head { alpha, bend, bent, .. } = self.head;
        let noise = self.noise().estimate();
        Reading {
            noise_alpha: noise.alpha,
            noise_scale: noise.scale,
            alpha: alpha.into(),
            bend: bend.into(),
            limit: self.limit_in_use().into(),
            bent: if alpha == 2.0 { 0.0 } else { bent.into() },
        }
    }

    /// At α = 2 nothing is limited.
    fn limit_in_use(&self) -> f32 {
        if self.head.alpha == 2.0 { f32::INFINITY } else { self.head.limit }
    }

    /// Adds a gradient to the quadruple.
    fn compare(&mut self, gradient: &[f32]) {
        match self.head.phase() {
            0 | 2 => self.before.copy_from_slice(gradient),
            1 => {
                let differences = self.before.iter().zip(gradient).map(|(before, g)| before - g);
                self.pair.iter_mut().zip(differences).for_each(|(pair, difference)| *pair = difference);
            }
            _ => {
                // In the place of the gradient, which is of no more use.
                self.before.iter_mut().zip(gradient).for_each(|(before, g)| *before -= g);
                self.head.noise.look_at(&self.pair, &self.before);
            }
        }
        self.head.turn();
    }

    fn noise(&self) -> Quadruples {
        let (mean_log, growth) = self.head.noise.means();
        Quadruples { mean_log, growth, mean_log_variance: 0.0, growth_variance: 0.0, covariance: 0.0 }
    }

    /// What the field will be taken of: the buffer after the step, or Nesterov's g + μb.
    fn follow(&self, seen: Seen<'_>, motion: &Motion, followed: &mut [f32]) {
        let limit = self.limit_in_use();
        let Motion { momentum, options: Options { weight_decay, nesterov, maximize }, .. } = *motion;
        let momentum = momentum as f32;
        let decay = if let WeightDecay::Coupled(decay) = weight_decay { decay as f32 } else { 0.0 };
        let sign = if maximize { -1.0 } else { 1.0 };
        for (i, followed) in followed.iter_mut().enumerate() {
            let mut g = sign * seen.gradient[i].clamp(-limit, limit);
            if decay != 0.0 {
                g += decay * seen.parameters[i];
            }
            let b = if momentum == 0.0 { g } else { momentum * seen.buffer[i] + g };
            *followed = if nesterov { g + momentum * b } else { b };
        }
    }

    /// The tail index to use: that of the noise as far as it explains what is seen.
    fn alpha(&self) -> f64 {
        let growth = self.noise().growth;
        // Less growth than any stable law has is that of 2.
        if growth < LN_2 / GAUSSIAN {
            return 2.0;
        }
        let raw = LN_2 / growth;
        let alpha = raw.max(LEAST);
        let alpha = if alpha < MILD { MILD + (alpha - MILD) * self.trust() } else { alpha };
        (alpha / GRID).round() * GRID
    }

    /// ρ: how far stable noise explains what is seen, from 0 to 1.
    fn trust(&self) -> f64 {
        let raw = LN_2 / self.noise().growth;
        let spread = self.head.momentum.spread(raw.clamp(LEAST, 2.0));
        let shared = self.head.noise.shared().max(0.0);
        let noise = ((raw - NO_NOISE) / (NOISE - NO_NOISE)).clamp(0.0, 1.0);
        noise / (1.0 + spread * spread + SHARED * shared)
    }

    /// A place that noise puts at `noise`, moved out towards one that a signal needs as far as there is no trust in noise.
    fn between(&self, noise: f64, signal: f64) -> f64 {
        let place = noise * libm::pow((signal / noise).max(1.0), 1.0 - self.trust());
        place.clamp(*ROOM.start(), *ROOM.end())
    }

    /// K = α^(1/α) s e^(1.25 τ) of the momentum where it is noise, and at least 1.5 of its r.m.s. where it is not.
    fn bend(&self, alpha: f64) -> f64 {
        match self.head.momentum.law(alpha) {
            Some((scale, spread)) => {
                let noise = libm::pow(alpha, 1.0 / alpha) * scale * libm::exp(BEND_SPREAD * spread);
                self.between(noise, BEND_ROOT * self.head.momentum.root_mean_square())
            }
            None => f64::INFINITY,
        }
    }

    /// 0.6 λ s e^(3 τ) of the gradients where they are noise, and at least 30 of their r.m.s. where they are not.
    fn limit(&self, alpha: f64) -> f64 {
        match self.head.gradients.law(alpha) {
            Some((scale, spread)) if alpha < 2.0 => {
                let late = 1.0 - libm::pow(alpha / 2.0, f64::from(LIMIT_POWER));
                let noise = LIMIT / late * scale * libm::exp(LIMIT_SPREAD * spread);
                self.between(noise, LIMIT_ROOT * self.head.gradients.root_mean_square())
            }
            _ => f64::INFINITY,
        }
    }
}
