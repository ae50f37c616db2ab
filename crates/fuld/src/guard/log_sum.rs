//! The sum of log|g| over sampled components.

use super::sample::{RUN, SAMPLE, sampled_runs};
use crate::real::{LANES, Real};
use levy_stable::with_best_instructions;
use std::f64::consts::LN_2;
use std::ops::Add;

/// Blocks multiplied before a logarithm is taken. The product of 16 × 64 mantissas from [√½, √2) is
/// within 2^±512, the range of `f64`.
const BLOCKS: usize = 64;

/// The sum of log|g| over components that count, and their number. Those count that are normal
/// floating-point numbers: zeros come from blank pixels and dead units, NaN and infinities are
/// errors, and GPUs may round subnormal numbers to 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LogSum {
    /// Σ log|g|
    pub sum: f64,
    /// Number of components that count.
    pub count: u64,
}

impl LogSum {
    /// Returns the sum over the [sampled components](super::sampled_positions) of a gradient. The mean is
    /// accurate to 1e-7.
    pub fn of<T: Real>(gradient: &[T]) -> Self {
        with_best_instructions(
            #[inline(always)]
            || Self::sampled(gradient),
        )
    }

    #[inline(always)]
    fn sampled<T: Real>(gradient: &[T]) -> Self {
        let mut total = Self::default();
        if gradient.len() <= SAMPLE {
            for part in gradient.chunks(LANES * BLOCKS) {
                total = total + Self::of_part(part);
            }
            return total;
        }
        for start in sampled_runs(gradient.len()) {
            read_ahead(&gradient[start]);
        }
        let mut runs = sampled_runs(gradient.len());
        let mut part = [T::ZERO; LANES * BLOCKS];
        for _ in 0..SAMPLE / part.len() {
            for (to, start) in part.chunks_exact_mut(RUN).zip(&mut runs) {
                to.copy_from_slice(&gradient[start..start + RUN]);
            }
            total = total + Self::of_part(&part);
        }
        total
    }

    /// Returns the mean of log|g|, or None if no component counts.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }

    /// Returns the sum over a part, as log 2 · Σe + log Πm with |g| = 2^e m.
    #[inline(always)]
    fn of_part<T: Real>(part: &[T]) -> Self {
        let mut lanes =
            Lanes { exponents: [0; LANES], mantissas: [1.0; LANES], counts: [0; LANES] };
        let (blocks, rest) = part.as_chunks::<LANES>();
        blocks.iter().for_each(|block| lanes.add(block));
        let mut last = [T::ZERO; LANES];
        last[..rest.len()].copy_from_slice(rest);
        lanes.add(&last);
        let exponent: i32 = lanes.exponents.iter().sum();
        let mantissa: f64 = lanes.mantissas.iter().map(|&m| f64::from(m)).product();
        let count: i32 = lanes.counts.iter().sum();
        Self { sum: LN_2 * f64::from(exponent) + libm::log(mantissa), count: count as u64 }
    }
}

impl Add for LogSum {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { sum: self.sum + other.sum, count: self.count + other.count }
    }
}

/// Asks for a component to be read from memory. All runs are asked for before the first is used, so
/// that they are read at the same time and not one after another.
#[inline(always)]
fn read_ahead<T>(component: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint, which changes nothing, about an address that is valid.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(component).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = component;
}

/// Sums of exponents, products of mantissas and counts, one for each lane of a block.
struct Lanes {
    exponents: [i32; LANES],
    mantissas: [f32; LANES],
    counts: [i32; LANES],
}

impl Lanes {
    #[inline(always)]
    fn add<T: Real>(&mut self, block: &[T; LANES]) {
        for (i, &g) in block.iter().enumerate() {
            let (exponent, mantissa, count) = g.exponent_and_mantissa();
            self.exponents[i] += exponent;
            self.mantissas[i] *= mantissa;
            self.counts[i] += count;
        }
    }
}
