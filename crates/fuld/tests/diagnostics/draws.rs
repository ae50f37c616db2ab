//! Seeded draws for the tests.

use levy_stable::SymmetricStable;
use rand::distr::Distribution;
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

pub(crate) fn rng(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

/// Returns numbers that are uniform on (0, 1).
pub(crate) fn uniform(rng: &mut impl Rng, n: usize) -> Vec<f64> {
    (0..n).map(|_| ((rng.next_u64() >> 11) as f64 + 0.5) * (-53f64).exp2()).collect()
}

/// Returns draws from the standard α-stable law.
pub(crate) fn stable(rng: &mut impl Rng, alpha: f64, n: usize) -> Vec<f64> {
    let law = SymmetricStable::new(alpha).unwrap();
    (0..n).map(|_| law.sample(rng)).collect()
}

/// Returns draws from the standard normal law.
pub(crate) fn normal(rng: &mut impl Rng, n: usize) -> Vec<f64> {
    let scale = SymmetricStable::kinetic(2.0).unwrap().scale();
    stable(rng, 2.0, n).into_iter().map(|x| x * scale).collect()
}

/// Returns the stationary chain x ← φx + √(1 − φ²) ξ of unit variance.
pub(crate) fn autoregressive(rng: &mut impl Rng, phi: f64, n: usize) -> Vec<f64> {
    let mut x = normal(rng, n);
    for t in 1..n {
        x[t] = phi * x[t - 1] + (1.0 - phi * phi).sqrt() * x[t];
    }
    x
}
