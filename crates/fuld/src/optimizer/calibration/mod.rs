//! Estimates of α, the knee and the gradient limit from the gradients of a tensor, updated at every step.
//!
//! A [`Calibration`] samples at most 1024 coordinates of its tensor per step and keeps a running state of about two thousand numbers.
//! It measures
//!
//! - the gradient noise SαS(σ), from four successive gradients g₁…g₄ of the same coordinates: the difference of two pairs,
//!   (g₁ − g₂) + (g₃ − g₄), is 2^(1/α) times as wide as the differences of the pairs. Centre and scale of each coordinate cancel, and
//!   so does any factor common to the gradients of one step, because each pair is measured in units of its own mean;
//! - the distributions of gradients and momentum, by the mean m and variance V of log|·|. Under SαS(s) noise alone
//!   m = log s + C(1/α − 1) and V = (π²/6)(1/α² + 1/2); the excess τ² of V is the spread of scales between coordinates.
//!
//! The trust ρ in [0, 1] is the degree to which noise explains the gradients. It is small where α̂ < 1.15 (as for sparse gradients, whose
//! rare large values are the signal), where scales spread between coordinates (τ), and where neighbouring coordinates are large at the
//! same time, as in the embedding row of a word. From these follow
//!
//! - the tail index: α̂ in proportion to the trust, else 1.85, whose field departs little from its tangent;
//! - the limit of gradient components before they enter the momentum, λ(α) s e^((3 − 1.5 ρ) τ − 0.5) with λ = 1/(1 − (α/2)^32); without
//!   trust at least e^3.4 times their root mean square. The momentum keeps a jump for 1/(1 − μ) steps, and under heavy noise a
//!   coordinate would otherwise spend most of its time beyond the knee;
//! - the momentum knee K = κ/√lr = α^(1/α) s e^(1.25 τ + ρ ε): its place under stable noise, up to five times as far out (ε) where jumps
//!   are limited, unless the limit grows away from the momentum; without trust at least e^0.4 times the root mean square.
//!
//! At α̂ = 2 there is neither knee nor limit, and the step is that of SGD with momentum. The constants were chosen by training networks
//! with and without noise.
//!
//! The estimates fail where the noise is not symmetric, where fewer than a few dozen coordinates move, and where heavy tails that look
//! like noise are the signal.

mod blocks;
mod constants;
mod estimates;
mod log_abs;
mod log_sums;
mod noise_sums;
mod sampled_rows;
mod state;

use super::{AutoSettings, NoiseMatched, Options, WeightDecay};
pub use state::CalibrationStateError;
use state::State;
use std::ops::Range;

/// Range of knees and limits, whose squares single precision can represent.
const THRESHOLDS: std::ops::RangeInclusive<f64> = 1e-18..=1e18;

/// The running estimates of one tensor, stored in any `f32` buffer.
///
/// ```
/// use fuld::optimizer::{AutoRule, AutoSettings, Calibration};
/// # fn main() -> Result<(), fuld::optimizer::RuleError> {
/// let rule = AutoRule::new(AutoSettings::new(0.9), 0.01)?; // momentum, learning rate
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
    /// The numbers of [`State`]; the previous gradient at the sampled coordinates; the difference of the first pair of a quadruple.
    state: N,
}

/// The present estimates of a [`Calibration`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimates {
    /// Tail index α̂ of the gradient noise.
    pub noise_alpha: f64,
    /// Scale σ̂ of the gradient noise, the geometric mean over coordinates; NaN before four gradients were observed.
    pub noise_scale: f64,
    /// Tail index in use.
    pub alpha: f64,
    /// Momentum knee K = κ/√lr, the knee in units of the momentum buffer b; unused at α = 2.
    pub momentum_knee: f64,
    /// Largest gradient component let through; infinite if there is no limit.
    pub limit: f64,
    /// Share of coordinates beyond the knee, averaged over the last steps.
    pub beyond_knee: f64,
}

/// Gradient, buffer and parameters before a step, at the sampled coordinates of a calibration.
#[derive(Debug)]
pub struct Observation<'a> {
    /// Gradient g.
    pub gradient: &'a [f32],
    /// Buffer b, which is overwritten.
    pub buffer: &'a mut [f32],
    /// Parameters x.
    pub parameters: &'a [f32],
}

impl Calibration {
    /// Largest number of sampled coordinates.
    pub const MAX_SAMPLES: usize = 1024;

    /// Creates the state of a tensor of this length before its first gradient.
    pub fn new(length: usize) -> Self {
        Self::with_state(&State::new(length), length)
    }

    /// Creates a calibration with this state and no earlier gradients.
    fn with_state(state: &State, length: usize) -> Self {
        let mut numbers = vec![0.0; Self::state_size(length)];
        numbers[..State::LEN].copy_from_slice(&state.to_numbers());
        Self { state: numbers }
    }

    /// Returns the size of the state of a tensor of this length.
    pub fn state_size(length: usize) -> usize {
        State::LEN + 2 * sampled_rows::count(length)
    }

    /// Returns the length of the tensor that a state belongs to, checking the format version.
    ///
    /// As in [`for_part`](Self::for_part), `state` may be longer than the state of such a tensor.
    pub fn tensor_length(state: &[f32]) -> Result<usize, CalibrationStateError> {
        let Some(numbers) = state.first_chunk() else {
            return Err(CalibrationStateError::Size { length: 0, expected: State::LEN, given: state.len() });
        };
        Ok(State::check(numbers)? as usize)
    }

    /// Returns the state of one part of a tensor carried over to another part of `length`: all estimates are kept, and the
    /// gradients kept for comparison are dropped.
    ///
    /// `state` may be longer than the state of its part: whatever follows the estimates is ignored.
    pub fn for_part(state: &[f32], length: usize) -> Result<Self, CalibrationStateError> {
        let Some(numbers) = state.first_chunk() else {
            let (expected, given) = (Self::state_size(length), state.len());
            return Err(CalibrationStateError::Size { length, expected, given });
        };
        State::check(numbers)?;
        Ok(Self::with_state(&State::from_numbers(*numbers).for_length(length), length))
    }
}

impl<N: AsRef<[f32]>> Calibration<N> {
    /// Loads the [`state`](Self::state) of a tensor of this length, checking its size, its format version and its length.
    pub fn from_state(state: N, length: usize) -> Result<Self, CalibrationStateError> {
        let (given, expected) = (state.as_ref().len(), Calibration::state_size(length));
        let Some(numbers) = state.as_ref().first_chunk().filter(|_| given == expected) else {
            return Err(CalibrationStateError::Size { length, expected, given });
        };
        let of_length = State::check(numbers)?;
        if of_length != length as f64 {
            return Err(CalibrationStateError::Length { expected: length, given: of_length });
        }
        Ok(Self { state })
    }

    /// Returns the whole state, [`state_size`](Calibration::state_size) numbers.
    pub fn state(&self) -> &[f32] {
        self.state.as_ref()
    }

    /// Returns the coordinates sampled at the next step, in increasing order: a few neighbours in each of equal parts of the tensor,
    /// different ones for each quadruple of steps.
    pub fn sampled_rows(&self, length: usize) -> impl Iterator<Item = Range<usize>> + use<N> {
        sampled_rows::rows(length, self.running().quadruple())
    }

    /// Returns which of the sampled coordinates, counted one by one, the next step also reads buffer and parameters of.
    pub fn observed_part(&self) -> Range<usize> {
        self.running().observed_part(self.sample_count())
    }

    /// Returns the present estimates.
    pub fn estimates(&self) -> Estimates {
        let state = self.running();
        let (alpha, momentum_knee, limit) = state.in_use();
        let noise = state.noise.quadruples().estimate();
        let beyond_knee = if alpha == 2.0 { 0.0 } else { state.beyond_knee.into() };
        Estimates {
            noise_alpha: noise.alpha,
            noise_scale: noise.scale,
            alpha,
            momentum_knee,
            limit,
            beyond_knee,
        }
    }

    /// Returns α, momentum knee and limit of the next step.
    pub(super) fn in_use(&self) -> (f64, f64, f64) {
        self.running().in_use()
    }

    /// Returns the number of sampled coordinates.
    pub(super) fn sample_count(&self) -> usize {
        (self.state().len() - State::LEN) / 2
    }

    fn running(&self) -> State {
        self.state().first_chunk().copied().map_or_else(|| State::new(0), State::from_numbers)
    }
}

impl<N: AsRef<[f32]> + AsMut<[f32]>> Calibration<N> {
    /// Updates the state before a step. Buffer and parameters are read in the [observed part](Self::observed_part) only.
    ///
    /// # Panics
    ///
    /// If the slices do not have one value for each sampled coordinate.
    pub fn observe(&mut self, observation: Observation<'_>, settings: &AutoSettings) {
        let (count, mut state) = (self.sample_count(), self.running());
        let Observation { gradient, buffer, parameters } = observation;
        assert!(
            gradient.len() == count && buffer.len() == count && parameters.len() == count,
            "an observation must have {count} values of gradient, buffer and parameters"
        );
        let part = state.observed_part(count);
        let (numbers, kept) = self.state.as_mut().split_at_mut(State::LEN);
        let (before, pair) = kept.split_at_mut(count);
        compare(&mut state, before, pair, gradient);
        let observation = Observation {
            gradient: &gradient[part.clone()],
            buffer: &mut buffer[part.clone()],
            parameters: &parameters[part],
        };
        update_estimates(&mut state, observation, settings);
        numbers.copy_from_slice(&state.to_numbers());
    }
}

/// Adds a gradient to the present quadruple.
fn compare(state: &mut State, before: &mut [f32], pair: &mut [f32], gradient: &[f32]) {
    match state.phase() {
        0 | 2 => before.copy_from_slice(gradient),
        1 => {
            let differences = before.iter().zip(gradient).map(|(before, g)| before - g);
            pair.iter_mut().zip(differences).for_each(|(pair, difference)| *pair = difference);
        }
        _ => {
            // The difference replaces the previous gradient, which is no longer needed.
            before.iter_mut().zip(gradient).for_each(|(before, g)| *before -= g);
            state.noise.add(pair, before);
        }
    }
    state.count_gradient();
}

/// Adds gradient and momentum to their running sums, and updates limit, α and knee.
fn update_estimates(state: &mut State, observation: Observation<'_>, settings: &AutoSettings) {
    state.gradients.add(observation.gradient);
    let alpha = settings.alpha.unwrap_or_else(|| state.alpha.into());
    let limit = match settings.noise_scale {
        Some(_) => f64::INFINITY,
        None => state.estimated_limit(alpha, state.trust()),
    };
    state.limit = limit as f32;

    let field_argument = field_argument(state.limit_in_use(), observation, settings);
    state.momentum.add(field_argument);
    let trust = state.trust();
    let alpha = settings.alpha.unwrap_or_else(|| state.estimated_alpha(trust));
    let momentum = settings.momentum;
    let momentum_knee = match settings.noise_scale {
        // At learning rate 1 the momentum knee is κ. The rule has refused settings without a knee.
        Some(noise_scale) => {
            let noise = NoiseMatched { alpha, learning_rate: 1.0, momentum, noise_scale };
            noise.kappa().unwrap_or(f64::INFINITY)
        }
        None => state.estimated_momentum_knee(alpha, trust, momentum),
    };
    (state.alpha, state.momentum_knee) = (alpha as f32, momentum_knee as f32);
    state.count_beyond_knee(field_argument);
}

/// Computes the argument of the field, the buffer after the step or Nesterov's g + μb, in place of the buffer.
fn field_argument<'a>(limit: f32, observation: Observation<'a>, settings: &AutoSettings) -> &'a [f32] {
    let AutoSettings { momentum, options: Options { weight_decay, nesterov, maximize }, .. } = *settings;
    let momentum = momentum as f32;
    let decay = if let WeightDecay::Coupled(decay) = weight_decay { decay as f32 } else { 0.0 };
    let sign = if maximize { -1.0 } else { 1.0 };
    let Observation { gradient, buffer, parameters } = observation;
    for ((b, g), x) in buffer.iter_mut().zip(gradient).zip(parameters) {
        // By comparisons, which keep NaN and cannot panic, unlike `clamp` with a NaN limit.
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
