//! The running state of a calibration, apart from its sampled gradients.
//!
//! A state is an array of `f32`, kept by the caller: [`State::LEN`] numbers of this module, then two numbers for each sampled
//! coordinate. The last three numbers of this module are the format version and the length of the tensor, which are checked when a
//! state is loaded. The order of the numbers is that of [`State::to_numbers`]; the JAX implementation reads the same order.

use super::log_sums::LogSums;
use super::noise_sums::NoiseSums;
use std::ops::Range;
use thiserror::Error;

/// α before the first gradients, and where stable noise does not explain the gradients.
pub(super) const INITIAL_ALPHA: f64 = 1.85;

/// Version of the format of a calibration's state; raised whenever the meaning of a number changes.
pub(super) const FORMAT_VERSION: u32 = 1;

/// A state that does not belong to a tensor, or was written in another format.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum CalibrationStateError {
    /// The array has the wrong size.
    #[error("the calibration state of a tensor of length {length} must have {expected} numbers, got {given}")]
    Size {
        /// Length of the tensor.
        length: usize,
        /// Size of a state of such a tensor.
        expected: usize,
        /// Size of the array.
        given: usize,
    },
    /// The state was written in another format.
    #[error("the calibration state has format version {given}, expected {FORMAT_VERSION}; begin a new state")]
    Version {
        /// Version in the state.
        given: f32,
    },
    /// The state belongs to a tensor of another length.
    #[error("the calibration state belongs to a tensor of length {given}, expected {expected}")]
    Length {
        /// Length of the tensor.
        expected: usize,
        /// Length in the state.
        given: f64,
    },
}

/// Sums, estimates in use, and the number of gradients observed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct State {
    pub(super) gradients: LogSums,
    pub(super) momentum: LogSums,
    pub(super) noise: NoiseSums,
    pub(super) alpha: f32,
    /// Momentum knee K = κ/√lr.
    pub(super) momentum_knee: f32,
    pub(super) limit: f32,
    /// Average share of coordinates beyond the knee.
    pub(super) beyond_knee: f32,
    /// Gradients observed, modulo [`State::COUNTED`].
    gradient_count: f32,
    /// Length of the tensor.
    length: usize,
}

impl State {
    /// Numbers of a state before the sampled gradients.
    pub(super) const LEN: usize = 21;
    /// Gradients are counted modulo 2²⁴, up to which `f32` represents all integers.
    pub(super) const COUNTED: u32 = 1 << 24;

    pub(super) fn new(length: usize) -> Self {
        Self {
            gradients: LogSums::default(),
            momentum: LogSums::default(),
            noise: NoiseSums::prior(INITIAL_ALPHA),
            alpha: INITIAL_ALPHA as f32,
            momentum_knee: f32::INFINITY,
            limit: f32::INFINITY,
            beyond_knee: 0.0,
            gradient_count: 0.0,
            length,
        }
    }

    /// Returns the numbers of a state that was checked by [`State::check`].
    pub(super) fn to_numbers(self) -> [f32; Self::LEN] {
        let Self { gradients: g, momentum: m, noise: n, alpha, momentum_knee, limit, beyond_knee, .. } = self;
        let ([g0, g1, g2, g3], [m0, m1, m2, m3]) = (g.to_numbers(), m.to_numbers());
        let [n0, n1, n2, n3, n4] = n.to_numbers();
        let (low, high) = (self.length % Self::COUNTED as usize, self.length / Self::COUNTED as usize);
        let (count, version) = (self.gradient_count, FORMAT_VERSION as f32);
        let (low, high) = (low as f32, high as f32);
        [
            count,
            alpha,
            momentum_knee,
            limit,
            beyond_knee,
            g0,
            g1,
            g2,
            g3,
            m0,
            m1,
            m2,
            m3,
            n0,
            n1,
            n2,
            n3,
            n4,
            version,
            low,
            high,
        ]
    }

    pub(super) fn from_numbers(numbers: [f32; Self::LEN]) -> Self {
        let [gradient_count, alpha, momentum_knee, limit, beyond_knee, rest @ ..] = numbers;
        let [g0, g1, g2, g3, m0, m1, m2, m3, n0, n1, n2, n3, n4, _, low, high] = rest;
        Self {
            gradients: LogSums::from_numbers([g0, g1, g2, g3]),
            momentum: LogSums::from_numbers([m0, m1, m2, m3]),
            noise: NoiseSums::from_numbers([n0, n1, n2, n3, n4]),
            alpha,
            momentum_knee,
            limit,
            beyond_knee,
            gradient_count,
            length: low as usize + high as usize * Self::COUNTED as usize,
        }
    }

    /// Checks that numbers are a state in the present format, and returns the length of its tensor.
    pub(super) fn check(numbers: &[f32; Self::LEN]) -> Result<f64, CalibrationStateError> {
        let [.., given, low, high] = *numbers;
        if given != FORMAT_VERSION as f32 {
            return Err(CalibrationStateError::Version { given });
        }
        Ok(f64::from(low) + f64::from(high) * f64::from(Self::COUNTED))
    }

    /// Returns the same state for a tensor of another length, about to observe the first gradient of a quadruple.
    pub(super) fn for_length(self, length: usize) -> Self {
        let mut state = Self { length, ..self };
        while state.phase() != 0 {
            state.count_gradient();
        }
        state
    }

    /// Returns which of `count` sampled coordinates the next step reads gradient, buffer and parameters of: all at first, later a
    /// quarter, a different one for each gradient of a quadruple.
    pub(super) fn observed_part(&self, count: usize) -> Range<usize> {
        let phase = self.phase() as usize;
        if self.gradient_count < LogSums::STEPS {
            0..count
        } else {
            count * phase / 4..count * (phase + 1) / 4
        }
    }

    /// Returns the position of the next gradient within its quadruple, 0 to 3.
    pub(super) fn phase(&self) -> u32 {
        self.gradient_count as u32 % 4
    }

    /// Returns the number of the present quadruple.
    pub(super) fn quadruple(&self) -> u32 {
        self.gradient_count as u32 / 4
    }

    pub(super) fn count_gradient(&mut self) {
        self.gradient_count = (self.gradient_count + 1.0) % Self::COUNTED as f32;
    }

    /// Adds the share of values beyond the knee to its running average.
    pub(super) fn count_beyond_knee(&mut self, field_argument: &[f32]) {
        if field_argument.is_empty() {
            return;
        }
        let beyond: f32 =
            field_argument.iter().map(|b| if b.abs() > self.momentum_knee { 1.0 } else { 0.0 }).sum();
        let share = beyond / field_argument.len() as f32;
        self.beyond_knee += (share - self.beyond_knee) / self.gradient_count.clamp(1.0, LogSums::STEPS);
    }
}
