//! The state of a guard for one tensor, three numbers that any `f32` buffer can store.

use super::{FORMAT_VERSION, Guard, GuardStateError};

/// k at which 1/k = w, beyond which steps are not counted.
const STEPS: f32 = (1.0 / Guard::WEIGHT) as f32;

/// The state of a [`Guard`] for one tensor: the steps observed, up to 50, and ℓ̄.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GuardState {
    steps: f32,
    log_scale: f32,
}

impl GuardState {
    /// Numbers of a stored state.
    pub const LEN: usize = 3;

    /// Returns the state before the first gradient.
    pub const fn new() -> Self {
        Self { steps: 0.0, log_scale: 0.0 }
    }

    /// Returns the numbers to store: the format version, the steps k and ℓ̄.
    pub fn to_numbers(self) -> [f32; Self::LEN] {
        [FORMAT_VERSION, self.steps, self.log_scale]
    }

    /// Reads the numbers of a stored state. Training continues from it with the same bits.
    pub fn from_numbers(numbers: &[f32]) -> Result<Self, GuardStateError> {
        let &[version, steps, log_scale] = numbers else {
            return Err(GuardStateError::Size(numbers.len()));
        };
        if version != FORMAT_VERSION {
            return Err(GuardStateError::Version(version));
        }
        if !(0.0..=STEPS).contains(&steps) || steps.fract() != 0.0 {
            return Err(GuardStateError::Steps(steps));
        }
        if !log_scale.is_finite() {
            return Err(GuardStateError::LogScale(log_scale));
        }
        Ok(Self { steps, log_scale })
    }

    /// Returns ℓ̄, the logarithm of the usual geometric mean of magnitudes, or None before the
    /// first gradient.
    pub fn log_scale(&self) -> Option<f64> {
        (self.steps > 0.0).then(|| f64::from(self.log_scale))
    }

    /// Moves ℓ̄ towards ℓ and returns δ = ℓ − ℓ̄ for the ℓ̄ before. ℓ̄ begins as the smaller of the
    /// first two ℓ, so that a burst at the first step is forgotten at once.
    pub(super) fn update(&mut self, mean: f64) -> f64 {
        let log_scale = f64::from(self.log_scale);
        let before = match self.steps {
            0.0 => mean,
            1.0 => log_scale.min(mean),
            _ => log_scale,
        };
        let deviation = mean - before;
        self.steps = (self.steps + 1.0).min(STEPS);
        let weight = Guard::WEIGHT.max(1.0 / f64::from(self.steps));
        let bound = libm::log(Guard::BURST);
        self.log_scale = (before + weight * deviation.clamp(-bound, bound)) as f32;
        deviation
    }
}
