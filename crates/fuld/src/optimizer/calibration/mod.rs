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
//! - a limit for the components of the gradients before they enter the momentum, λ(α) s e^((3 − 1.5 ρ) τ − 0.5), λ = 1/(1 − (α/2)^32); without trust at least
//!   e^3.4 times their root mean square. The momentum keeps a jump for 1/(1 − μ) steps, and under heavy noise a coordinate would spend most of its time beyond the
//!   bend;
//! - the bend of the momentum, K = α^(1/α) s e^(1.25 τ + ρ ε): where stable noise would put it, and up to five times as far (ε) where jumps were limited, unless the
//!   limit runs away from the momentum; without trust at least e^0.4 times the root mean square.
//!
//! At α̂ = 2 there is neither bend nor limit: the step is that of SGD with momentum. The constants were chosen by training networks
//! with and without noise; nothing else was.
//!
//! It is wrong where the noise is not symmetric, where fewer than a few dozen coordinates move, and where heavy tails that look like noise are the signal.

mod blocks;
mod constants;
mod head;
mod log_abs;
mod log_sums;
mod noise_sums;
mod places;
mod settings;

use super::{Options, WeightDecay, kappa_of_noise};
use head::Head;
use std::ops::Range;

/// Where bends and limits are: single precision has room for their squares.
const ROOM: std::ops::RangeInclusive<f64> = 1e-18..=1e18;

/// What is known of the gradients of one tensor, in numbers that may be anywhere.
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
pub struct Calibration<N = Vec<f32>> {
    /// The head; at the places looked at, the gradient before this one; and the difference of the first pair of a quadruple.
    numbers: N,
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
#[derive(Debug)]
pub struct Seen<'a> {
    /// g
    pub gradient: &'a [f32],
    /// b, which is overwritten.
    pub buffer: &'a mut [f32],
    /// x
    pub parameters: &'a [f32],
}

impl Calibration {
    /// The most places looked at.
    pub const MOST: usize = 1024;

    /// For a tensor of so many numbers.
    pub fn new(length: usize) -> Self {
        Self::beginning(&Head::new(), length)
    }

    /// With this head, and no gradients to compare.
    fn beginning(head: &Head, length: usize) -> Self {
        let mut numbers = vec![0.0; Self::size(length)];
        numbers[..Head::COUNT].copy_from_slice(&head.to_numbers());
        Self { numbers }
    }

    /// How many numbers hold what is known of a tensor of this length.
    pub fn size(length: usize) -> usize {
        Head::COUNT + 2 * places::count(length)
    }
}

impl<N: AsRef<[f32]>> Calibration<N> {
    /// What the [`numbers`](Self::numbers) of one of a tensor of this length were. None if they cannot be that.
    pub fn from_numbers(numbers: N, length: usize) -> Option<Self> {
        (numbers.as_ref().len() == Calibration::size(length)).then_some(Self { numbers })
    }

    /// Everything it knows, in [`size`](Self::size) numbers.
    pub fn numbers(&self) -> &[f32] {
        self.numbers.as_ref()
    }

    /// What it knows, for another part of the same tensor: of the noise everything, of the gradients that are to be compared nothing.
    pub fn moved(&self, length: usize) -> Calibration {
        let mut head = self.head();
        while head.phase() != 0 {
            head.turn();
        }
        Calibration::beginning(&head, length)
    }

    /// Where it looks before the next step, in rising order: at a few neighbours in each of equal parts of the tensor, others for each
    /// quadruple.
    pub fn rows(&self, length: usize) -> impl Iterator<Item = Range<usize>> + use<N> {
        places::rows(length, self.head().quadruple())
    }

    /// At which of these, counted one by one, it looks at buffer and parameters too.
    pub fn looked_at(&self) -> Range<usize> {
        self.head().looked_at(self.count())
    }

    /// What it says now.
    pub fn reading(&self) -> Reading {
        let head = self.head();
        let (alpha, bend, limit) = head.in_use();
        let noise = head.noise.quadruples().estimate();
        let bent = if alpha == 2.0 { 0.0 } else { head.bent.into() };
        Reading { noise_alpha: noise.alpha, noise_scale: noise.scale, alpha, bend, limit, bent }
    }

    /// α, bend and limit of the next step.
    pub(super) fn in_use(&self) -> (f64, f64, f64) {
        self.head().in_use()
    }

    /// Of places.
    pub(super) fn count(&self) -> usize {
        (self.numbers().len() - Head::COUNT) / 2
    }

    fn head(&self) -> Head {
        self.numbers().first_chunk().copied().map_or_else(Head::new, Head::from_numbers)
    }
}

impl<N: AsRef<[f32]> + AsMut<[f32]>> Calibration<N> {
    /// Takes note of the step to come. Of buffer and parameters only what is [looked at](Self::looked_at) is read.
    ///
    /// # Panics
    ///
    /// If it is not shown as many numbers as there are places.
    pub fn observe(&mut self, seen: Seen<'_>, motion: &Motion) {
        let (count, mut head) = (self.count(), self.head());
        assert!(
            seen.gradient.len() == count && seen.buffer.len() == count && seen.parameters.len() == count,
            "as many numbers as places are needed"
        );
        let looked_at = head.looked_at(count);
        let (numbers, kept) = self.numbers.as_mut().split_at_mut(Head::COUNT);
        let (before, pair) = kept.split_at_mut(count);
        compare(&mut head, before, pair, seen.gradient);
        let seen = Seen {
            gradient: &seen.gradient[looked_at.clone()],
            buffer: &mut seen.buffer[looked_at.clone()],
            parameters: &seen.parameters[looked_at],
        };
        settle(&mut head, seen, motion);
        numbers.copy_from_slice(&head.to_numbers());
    }
}

/// Adds a gradient to the quadruple.
fn compare(head: &mut Head, before: &mut [f32], pair: &mut [f32], gradient: &[f32]) {
    match head.phase() {
        0 | 2 => before.copy_from_slice(gradient),
        1 => {
            let differences = before.iter().zip(gradient).map(|(before, g)| before - g);
            pair.iter_mut().zip(differences).for_each(|(pair, difference)| *pair = difference);
        }
        _ => {
            // In the place of the gradient, which is of no more use.
            before.iter_mut().zip(gradient).for_each(|(before, g)| *before -= g);
            head.noise.look_at(pair, before);
        }
    }
    head.turn();
}

/// Looks at the laws of gradient and momentum, and sets what follows from them.
fn settle(head: &mut Head, seen: Seen<'_>, motion: &Motion) {
    head.gradients.look_at(seen.gradient);
    let alpha = motion.alpha.unwrap_or_else(|| head.alpha.into());
    let limit = if motion.noise.is_some() { f64::INFINITY } else { head.found_limit(alpha, head.trust()) };
    head.limit = limit as f32;

    let followed = follow(head.limit_in_use(), seen, motion);
    head.momentum.look_at(followed);
    let trust = head.trust();
    let alpha = motion.alpha.unwrap_or_else(|| head.found_alpha(trust));
    let bend = match motion.noise {
        // In units of b; a rule has refused what has no such place.
        Some(noise) => kappa_of_noise(alpha, 1.0, motion.momentum, noise).unwrap_or(f64::INFINITY),
        None => head.found_bend(alpha, trust, motion.momentum),
    };
    (head.alpha, head.bend) = (alpha as f32, bend as f32);
    head.count_bent(followed);
}

/// What the field will be taken of: the buffer after the step, or Nesterov's g + μb. In the place of the buffer.
fn follow<'a>(limit: f32, seen: Seen<'a>, motion: &Motion) -> &'a [f32] {
    let Motion { momentum, options: Options { weight_decay, nesterov, maximize }, .. } = *motion;
    let momentum = momentum as f32;
    let decay = if let WeightDecay::Coupled(decay) = weight_decay { decay as f32 } else { 0.0 };
    let sign = if maximize { -1.0 } else { 1.0 };
    let Seen { gradient, buffer, parameters } = seen;
    for ((b, g), x) in buffer.iter_mut().zip(gradient).zip(parameters) {
        // By comparison: what is no number stays so, and nothing panics.
        let limited = if *g > limit {
            limit
        } else if *g < -limit {
            -limit
        } else {
            *g
        };
        let mut g = sign * limited;
        if decay != 0.0 {
            g += decay * x;
        }
        let after = if momentum == 0.0 { g } else { momentum * *b + g };
        *b = if nesterov { g + momentum * after } else { after };
    }
    buffer
}
