//! What the guard does with the gradient of one step.

use crate::real::Real;
use levy_stable::with_best_instructions;

/// Components tested before any of them is written.
const BLOCK: usize = 1024;

/// What to do with the gradient of a step: g ← clamp(factor·g, ±limit), NaN ← 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decision {
    /// Factor of the whole tensor, at most 1; below 1 in a burst.
    pub factor: f64,
    /// Largest component let through. If it is infinite, infinite components become 0.
    pub limit: f64,
}

impl Decision {
    /// Changes a gradient. Where the factor is 1, components within the limit keep their bits.
    ///
    /// Only blocks in which some component changes are written, because writing to memory costs
    /// more than reading.
    pub fn apply<T: Real>(&self, gradient: &mut [T]) {
        let decision = self.rounded();
        with_best_instructions(
            #[inline(always)]
            || decision.apply(gradient),
        );
    }

    /// Returns a component after the guard, with the same bits as in a slice.
    pub fn apply_one<T: Real>(&self, g: T) -> T {
        self.rounded().of(g)
    }

    pub(crate) fn rounded<T: Real>(&self) -> RoundedDecision<T> {
        let limit = T::rounded(self.limit);
        let (largest, beyond) = if limit.finite() { (limit, limit) } else { (T::MAX, T::ZERO) };
        RoundedDecision { factor: T::rounded(self.factor), largest, beyond }
    }
}

/// A decision in the floating-point type of the gradient.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RoundedDecision<T> {
    factor: T,
    /// Largest magnitude that is kept.
    largest: T,
    /// Magnitude of larger components after the guard.
    beyond: T,
}

impl<T: Real> RoundedDecision<T> {
    #[inline(always)]
    fn apply(&self, gradient: &mut [T]) {
        let burst = self.factor < T::rounded(1.0);
        for block in gradient.chunks_mut(BLOCK) {
            // Without a branch per component, so that the test is vectorised.
            if burst || !block.iter().fold(true, |kept, &g| kept & self.keeps(g)) {
                block.iter_mut().for_each(|g| *g = self.of(*g));
            }
        }
    }

    /// Returns a component after the guard.
    #[inline(always)]
    pub(crate) fn of(&self, g: T) -> T {
        let scaled = self.factor * g;
        let signed = if scaled > T::ZERO { self.beyond } else { -self.beyond };
        let clipped = if scaled.magnitude() > self.largest { signed } else { scaled };
        if scaled.magnitude() >= T::ZERO { clipped } else { T::ZERO }
    }

    /// Returns whether a component is within the limit; false for NaN.
    #[inline(always)]
    fn keeps(&self, g: T) -> bool {
        g.magnitude() <= self.largest
    }
}
