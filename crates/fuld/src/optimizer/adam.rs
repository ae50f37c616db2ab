//! Adam and AdamW on slices, with the guard inside.

use super::WeightDecay;
use crate::guard::{Decision, RoundedDecision};
use crate::real::Real;
use levy_stable::with_best_instructions;

/// Gradients that are guarded at a time.
const COPIED: usize = 1 << 9;

/// The step of Adam, and with decoupled weight decay of AdamW.
///
/// > m ← β₁m + (1 − β₁)g,  v ← β₂v + (1 − β₂)g²,  x ← x − lr (m/c₁) / (√(v/c₂) + ε),  c = 1 − βᵏ
///
/// where k counts the steps, from 1.
///
/// ```
/// use fuld::guard::Decision;
/// use fuld::optimizer::{Adam, WeightDecay};
/// let adam = Adam { learning_rate: 0.1, ..Adam::default() };
/// let (mut x, mut m, mut v) = ([1.0f32], [0.0], [0.0]);
/// let decision = Decision { factor: 1.0, limit: 2.0 }; // of the guard
/// adam.step(1.0, Some(decision), &mut x, &mut m, &mut v, &[f32::INFINITY]);
/// assert!((x[0] - 0.9).abs() < 1e-6 && (m[0] - 0.2).abs() < 1e-6);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adam {
    /// lr
    pub learning_rate: f64,
    /// β₁ and β₂
    pub betas: (f64, f64),
    /// ε
    pub eps: f64,
    /// Weight decay; decoupled in AdamW.
    pub weight_decay: WeightDecay,
    /// Whether to maximize the objective.
    pub maximize: bool,
}

impl Default for Adam {
    /// lr = 0.001, β₁ = 0.9, β₂ = 0.999, ε = 1e-8, no weight decay.
    fn default() -> Self {
        Self {
            learning_rate: 0.001,
            betas: (0.9, 0.999),
            eps: 1e-8,
            weight_decay: WeightDecay::None,
            maximize: false,
        }
    }
}

/// The numbers of a step, rounded to the type of the parameters.
#[derive(Clone, Copy)]
struct Kernel<T> {
    decision: Option<RoundedDecision<T>>,
    sign: T,
    /// Coupled weight decay, and 1 − lr·wd of decoupled.
    decay: T,
    keep: T,
    first: (T, T),
    second: (T, T),
    /// lr/c₁, √c₂ and ε.
    size: T,
    root: T,
    eps: T,
}

impl Adam {
    /// Takes step number `k` along a gradient in one pass, after the guard's decision about it if
    /// there is one.
    pub fn step<T: Real>(
        &self,
        k: f64,
        decision: Option<Decision>,
        x: &mut [T],
        m: &mut [T],
        v: &mut [T],
        g: &[T],
    ) {
        let (beta1, beta2) = self.betas;
        let (decay, keep) = match self.weight_decay {
            WeightDecay::None => (0.0, 1.0),
            WeightDecay::Coupled(decay) => (decay, 1.0),
            WeightDecay::Decoupled(decay) => (0.0, 1.0 - self.learning_rate * decay),
        };
        let kernel = Kernel {
            decision: decision.map(|decision| decision.rounded()),
            sign: T::rounded(if self.maximize { -1.0 } else { 1.0 }),
            decay: T::rounded(decay),
            keep: T::rounded(keep),
            first: (T::rounded(beta1), T::rounded(1.0 - beta1)),
            second: (T::rounded(beta2), T::rounded(1.0 - beta2)),
            size: T::rounded(self.learning_rate / (1.0 - libm::pow(beta1, k))),
            root: T::rounded((1.0 - libm::pow(beta2, k)).sqrt()),
            eps: T::rounded(self.eps),
        };
        // Without weight decay an infinite x must not make g NaN, as 0·x would.
        with_best_instructions(
            #[inline(always)]
            || match self.weight_decay {
                WeightDecay::Coupled(_) => kernel.pass::<true>(x, m, v, g),
                _ => kernel.pass::<false>(x, m, v, g),
            },
        );
    }
}

impl<T: Real> Kernel<T> {
    /// Guards gradients in copies, since the compiler does not vectorise a loop that does both.
    #[inline(always)]
    fn pass<const COUPLED: bool>(self, x: &mut [T], m: &mut [T], v: &mut [T], g: &[T]) {
        let mut guarded = [T::ZERO; COPIED];
        let parts = x.chunks_mut(COPIED).zip(m.chunks_mut(COPIED)).zip(v.chunks_mut(COPIED));
        for (((x, m), v), g) in parts.zip(g.chunks(COPIED)) {
            let guarded = &mut guarded[..g.len()];
            match self.decision {
                Some(decision) => {
                    guarded.iter_mut().zip(g).for_each(|(to, &g)| *to = self.sign * decision.of(g));
                }
                None => guarded.iter_mut().zip(g).for_each(|(to, &g)| *to = self.sign * g),
            }
            for (((x, m), v), &g) in x.iter_mut().zip(m).zip(v).zip(&*guarded) {
                let g = if COUPLED { g + self.decay * *x } else { g };
                *m = self.first.0 * *m + self.first.1 * g;
                *v = self.second.0 * *v + self.second.1 * g * g;
                let scale = T::quotient(v.root(), self.root) + self.eps;
                *x = self.keep * *x - self.size * T::quotient(*m, scale);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps of the textbook's formula in double precision.
    fn textbook(adam: &Adam, gradients: &[f64]) -> f64 {
        let (mut x, mut m, mut v) = (0.5, 0.0, 0.0);
        let (beta1, beta2) = adam.betas;
        for (k, &g) in (1..).zip(gradients) {
            let mut g = if adam.maximize { -g } else { g };
            match adam.weight_decay {
                WeightDecay::None => {}
                WeightDecay::Coupled(decay) => g += decay * x,
                WeightDecay::Decoupled(decay) => x *= 1.0 - adam.learning_rate * decay,
            }
            m = beta1 * m + (1.0 - beta1) * g;
            v = beta2 * v + (1.0 - beta2) * g * g;
            let (mean, square) = (m / (1.0 - beta1.powi(k)), v / (1.0 - beta2.powi(k)));
            x -= adam.learning_rate * mean / (square.sqrt() + adam.eps);
        }
        x
    }

    #[test]
    fn steps_are_those_of_the_textbook() {
        let gradients: Vec<f64> = (0..30).map(|i| (1.7 * f64::from(i)).sin() + 0.3).collect();
        for weight_decay in
            [WeightDecay::None, WeightDecay::Coupled(0.1), WeightDecay::Decoupled(0.1)]
        {
            for maximize in [false, true] {
                let adam = Adam { learning_rate: 0.05, weight_decay, maximize, ..Adam::default() };
                // More than are copied at a time.
                let (mut x, mut m, mut v) = ([0.5; 600], [0.0; 600], [0.0; 600]);
                for (k, g) in (1..).zip(&gradients) {
                    adam.step(f64::from(k), None, &mut x, &mut m, &mut v, &[*g; 600]);
                }
                let expected = textbook(&adam, &gradients);
                assert!(x.iter().all(|x| (x - expected).abs() < 1e-12), "{adam:?}: {}", x[0]);
            }
        }
    }

    #[test]
    fn gradients_are_guarded() {
        let (mut x, mut m, mut v) = ([0.0f32; 20], [0.0; 20], [0.0; 20]);
        let mut g = [1.0f32; 20];
        (g[0], g[3], g[18], g[19]) = (f32::INFINITY, f32::NAN, -1e30, -3.0);
        let decision = Decision { factor: 0.5, limit: 2.0 };
        Adam::default().step(1.0, Some(decision), &mut x, &mut m, &mut v, &g);
        let mut nan = [0.0f32];
        Adam::default().step(1.0, None, &mut nan, &mut [0.0], &mut [0.0], &[f32::NAN]);
        assert!(nan[0].is_nan(), "without a guard, NaN is not hidden");
        let found = [m[0], m[1], m[3], m[18], m[19]].map(|m| 10.0 * m);
        for (found, expected) in found.into_iter().zip([2.0, 0.5, 0.0, -2.0, -1.5]) {
            assert!((found - expected).abs() < 1e-6, "{m:?}");
        }
        assert!(x.iter().all(|x| x.is_finite()));
    }
}
