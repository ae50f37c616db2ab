//! The way from the starting points to the neighbourhood of the typical set: descent by L-BFGS,
//! each chain for itself.
//!
//! Far from the typical set the stable kinetic energy is slow, because its velocities are bounded.
//! A chain stops descending where the typical set of a Gaussian would be: there ∇fᵀH⁻¹∇f, with H
//! the Hessian, has mean d.

use crate::Potential;
use std::collections::VecDeque;

/// Pairs of displacements and changes of the gradient from which the Hessian is approximated.
const MEMORY: usize = 10;
/// Most descents of one chain.
const MOST_ITERATIONS: usize = 200;
/// Most trials of a step; each is a quarter as long as the one before.
const MOST_TRIALS: usize = 40;
/// Fraction of the decrease predicted by the gradient that a step must reach (Armijo's rule).
const SUFFICIENT: f64 = 1e-4;

/// Moves the positions `x` of some chains downhill in βf until they are near the typical set.
/// Chains do not depend on each other.
pub(crate) fn descend(potential: &dyn Potential, beta: f64, x: &mut [f64]) {
    let dim = potential.dim();
    let count = x.len() / dim;
    let (mut values, mut gradient) = (vec![0.0; count], vec![0.0; x.len()]);
    potential.evaluate(x, &mut values, &mut gradient);
    let mut chains: Vec<Chain> = (0..count).map(|_| Chain::default()).collect();
    let (mut trial, mut trial_values, mut trial_gradient) =
        (x.to_vec(), values.clone(), gradient.clone());
    for _ in 0..MOST_ITERATIONS {
        for (i, chain) in chains.iter_mut().enumerate() {
            chain.choose_direction(&gradient[i * dim..][..dim], beta);
        }
        for _ in 0..MOST_TRIALS {
            if chains.iter().all(|chain| !chain.searching) {
                break;
            }
            trial.copy_from_slice(x);
            for (chain, trial) in
                chains.iter().zip(trial.chunks_exact_mut(dim)).filter(|(c, _)| c.searching)
            {
                trial.iter_mut().zip(&chain.direction).for_each(|(x, d)| *x -= chain.length * d);
            }
            potential.evaluate(&trial, &mut trial_values, &mut trial_gradient);
            for (i, chain) in chains.iter_mut().enumerate().filter(|(_, chain)| chain.searching) {
                let here = i * dim..(i + 1) * dim;
                let enough = values[i] - SUFFICIENT * chain.length * chain.decrement / beta;
                let finite = trial_gradient[here.clone()].iter().all(|g| g.is_finite());
                if finite && trial_values[i] <= enough {
                    chain.accept(
                        [&x[here.clone()], &trial[here.clone()]],
                        [&gradient[here.clone()], &trial_gradient[here.clone()]],
                        beta * (values[i] - trial_values[i]),
                    );
                    x[here.clone()].copy_from_slice(&trial[here.clone()]);
                    gradient[here.clone()].copy_from_slice(&trial_gradient[here]);
                    values[i] = trial_values[i];
                } else {
                    chain.length *= 0.25;
                }
            }
        }
        chains.iter_mut().for_each(Chain::end_search);
        if chains.iter().all(|chain| chain.done) {
            return;
        }
    }
}

/// The descent of one chain.
#[derive(Debug, Default)]
struct Chain {
    /// Displacement, change of the gradient, and the inverse of their product; the newest first.
    pairs: VecDeque<(Vec<f64>, Vec<f64>, f64)>,
    /// H⁻¹∇f, as far as the pairs know it.
    direction: Vec<f64>,
    /// β∇fᵀH⁻¹∇f
    decrement: f64,
    /// Decrease of βf in the last step.
    decrease: Option<f64>,
    /// Length of the next trial, in units of the direction.
    length: f64,
    searching: bool,
    done: bool,
}

impl Chain {
    /// Computes H⁻¹∇f by the two-loop recursion of L-BFGS, and decides whether the chain has
    /// arrived.
    fn choose_direction(&mut self, gradient: &[f64], beta: f64) {
        if self.done {
            return;
        }
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let subtract = |factor: f64, from: &mut [f64], what: &[f64]| {
            from.iter_mut().zip(what).for_each(|(a, b)| *a -= factor * b);
        };
        let mut q = gradient.to_vec();
        let mut factors = Vec::with_capacity(self.pairs.len());
        for (s, y, inverse) in &self.pairs {
            let factor = inverse * dot(s, &q);
            subtract(factor, &mut q, y);
            factors.push(factor);
        }
        // Without pairs the first step has length 1.
        let scale = match self.pairs.front() {
            Some((_, y, inverse)) => 1.0 / (inverse * dot(y, y)),
            None => 1.0 / dot(gradient, gradient).sqrt(),
        };
        q.iter_mut().for_each(|q| *q *= scale);
        for ((s, y, inverse), factor) in self.pairs.iter().zip(factors).rev() {
            subtract(inverse * dot(y, &q) - factor, &mut q, s);
        }
        self.decrement = beta * dot(gradient, &q);
        self.direction = q;
        self.length = 1.0;
        let dim = gradient.len() as f64;
        let arrived =
            self.decrement <= dim && self.decrease.is_some_and(|decrease| decrease <= 0.5 * dim);
        // A gradient that is 0 or not finite gives no direction.
        self.done = arrived || !(self.decrement > 0.0 && self.decrement.is_finite());
        self.searching = !self.done;
    }

    fn accept(&mut self, x: [&[f64]; 2], gradient: [&[f64]; 2], decrease: f64) {
        let difference =
            |[old, new]: [&[f64]; 2]| new.iter().zip(old).map(|(n, o)| n - o).collect::<Vec<_>>();
        let (s, y) = (difference(x), difference(gradient));
        let [sy, ss, yy] = [(&s, &y), (&s, &s), (&y, &y)]
            .map(|(a, b)| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>());
        // The approximation stays positive definite if only pairs of positive curvature enter it.
        if sy > 1e-10 * (ss * yy).sqrt() {
            self.pairs.push_front((s, y, 1.0 / sy));
            self.pairs.truncate(MEMORY);
        }
        self.decrease = Some(decrease);
        self.searching = false;
    }

    /// Ends a search. If no step was short enough, the chain tries the gradient's direction, and
    /// stops if that fails too.
    fn end_search(&mut self) {
        if self.searching {
            self.done = self.pairs.is_empty();
            self.pairs.clear();
            self.searching = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::potential::{FromFn, FromFn1, Harmonic};

    #[test]
    fn arrives_near_the_typical_set_from_afar() {
        let gaussian = Harmonic::isotropic(1, 1.0).unwrap();
        let mut x = [100.0, -1e8, 0.5, 1e-9];
        descend(&gaussian, 1.0, &mut x);
        assert!(x.iter().all(|x| x.abs() <= 1.5), "{x:?}");

        // Scales from 0.01 to 100.
        let scale = |i: usize| libm::exp10(i as f64 - 2.0);
        let narrow = FromFn::new(
            5,
            move |x: &[f64]| x.iter().enumerate().map(|(i, x)| 0.5 * (x / scale(i)).powi(2)).sum(),
            move |x: &[f64], g: &mut [f64]| (0..5).for_each(|i| g[i] = x[i] / scale(i).powi(2)),
        )
        .unwrap();
        let mut x = [50.0; 10];
        descend(&narrow, 1.0, &mut x);
        assert!(crate::Potential::value(&narrow, &x[..5]) < 500.0, "{x:?}");
        assert_eq!(x[..5], x[5..]);
    }

    #[test]
    fn steps_into_walls_are_shortened() {
        // Gamma(2, 1) on the half-line: f is NaN for x < 0.
        let gamma = FromFn1::new(|x: f64| x - x.ln(), |x: f64| 1.0 - 1.0 / x);
        let mut x = [1e-6, 1e4, 1.0];
        descend(&gamma, 1.0, &mut x);
        assert!(x.iter().all(|x| (0.05..20.0).contains(x)), "{x:?}");
    }
}
