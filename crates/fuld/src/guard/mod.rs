//! The guard: it clips gradients to their own typical size before any optimizer uses them.
//!
//! Noise with heavy tails, corrupted components and bursts all make a few gradients far larger than
//! usual. For each tensor the guard keeps one number ℓ̄, a running mean of log|g|, so that e^ℓ̄ is
//! the usual geometric mean of the components' magnitudes. At each step:
//!
//! > ℓ = mean of log|g| over a sample of the finite, non-zero components,  δ = ℓ − ℓ̄ \
//! > ℓ̄ ← ℓ̄ + w·clamp(δ, ±log r)   the usual size follows slowly; one step changes it little \
//! > g ← g · min(1, r·e^(−δ))     a burst: the whole tensor is more than r times its usual size, and is scaled to r times it \
//! > g ← clamp(g, ±c·e^ℓ̄)         single components: heavy-tailed noise, bit flips, infinities; NaN becomes 0
//!
//! The first gradient of a tensor is measured and set to 0: nothing shows yet whether it is a
//! burst.
//!
//! log|g| has a finite variance for every tail index, so that ℓ is reliable where means and norms
//! are not. For SαS noise and small signals, clipping at c = 1 keeps at least 78 % of the
//! Cramér–Rao efficiency for every α in [1, 2]: see [`efficiency`].
//!
//! ```
//! use fuld::guard::{Guard, GuardState};
//! let (guard, mut state) = (Guard::new(10.0)?, GuardState::new()); // one state per tensor
//! guard.apply(&mut state, &mut [0.2f32, -0.2, 0.2, 0.2]); // only measured: the geometric mean is 0.2
//! let mut gradient = [0.1f32, -0.4, f32::INFINITY, f32::NAN];
//! guard.apply(&mut state, &mut gradient);
//! assert_eq!((gradient[0], gradient[1], gradient[3]), (0.1, -0.4, 0.0));
//! assert!((gradient[2] - 2.0).abs() < 1e-5); // 10 times the geometric mean
//! # Ok::<(), fuld::guard::GuardError>(())
//! ```

mod decision;
pub mod efficiency;
mod error;
mod log_sum;
mod sample;
mod state;

pub use decision::Decision;
pub(crate) use decision::RoundedDecision;
pub use error::{GuardError, GuardStateError};
pub use log_sum::LogSum;
pub use sample::{RUN, SAMPLE, sampled_positions, sampled_runs};
pub use state::GuardState;

use crate::real::Real;

/// Version of the format of a stored state; raised whenever the meaning of a number changes.
const FORMAT_VERSION: f32 = 1.0;

/// The guard's rule; see the [module](self).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Guard {
    clip: f64,
}

impl Guard {
    /// r: a tensor at most 4 times its usual size is no burst. Minibatch gradients vary by less
    /// between successive steps.
    pub const BURST: f64 = 4.0;
    /// w, the weight of a step in ℓ̄: about 50 steps, long against bursts and short against a
    /// training run.
    pub const WEIGHT: f64 = 0.02;
    /// c = 1 for SGD and its relatives, whose steps are proportional to the gradient: the minimax
    /// choice for SαS noise.
    pub const FOR_SGD: Self = Self { clip: 1.0 };
    /// c = 30 for Adam and its relatives, which divide by the gradient's size: only gross outliers
    /// are clipped.
    pub const FOR_ADAM: Self = Self { clip: 30.0 };

    /// Creates a guard that clips components at `clip` times the geometric mean of their
    /// magnitudes.
    ///
    /// An infinite `clip` leaves finite components alone except at the first step and in bursts.
    /// Returns [`GuardError::Clip`] if `clip` is not positive.
    pub fn new(clip: f64) -> Result<Self, GuardError> {
        if clip > 0.0 { Ok(Self { clip }) } else { Err(GuardError::Clip(clip)) }
    }

    /// Returns c, the multiple of the geometric mean at which components are clipped.
    pub fn clip(&self) -> f64 {
        self.clip
    }

    /// Updates the state of a tensor with the logarithms of a gradient and returns what to do with
    /// that gradient.
    ///
    /// The gradient of a tensor that is divided between processes has the sum of the [`LogSum`]s of
    /// its parts. If no component counts, the state does not change. The limit is 0 for the first
    /// gradient that has components that count, and infinite before: a large sparse gradient, such
    /// as that of an embedding, may have none in its sample for many steps.
    pub fn observe(&self, state: &mut GuardState, logs: LogSum) -> Decision {
        let is_first = state.log_scale().is_none();
        let deviation = logs.mean().map_or(0.0, |mean| state.update(mean));
        let limit = match state.log_scale() {
            None => f64::INFINITY,
            Some(_) if is_first => 0.0,
            Some(log_scale) => self.clip * libm::exp(log_scale),
        };
        Decision { factor: (Self::BURST * libm::exp(-deviation)).min(1.0), limit }
    }

    /// Guards a gradient: takes its logarithms, updates the state, changes the gradient, and
    /// returns the decision.
    pub fn apply<T: Real>(&self, state: &mut GuardState, gradient: &mut [T]) -> Decision {
        let decision = self.observe(state, LogSum::of(gradient));
        decision.apply(gradient);
        decision
    }
}
