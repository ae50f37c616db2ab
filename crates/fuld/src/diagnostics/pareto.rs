//! The shape k̂ of a generalised Pareto law fitted to the tail of a sample.

use super::error::efficiency;
use super::{DiagnosticError, Sample};

/// The tail of a sample that is fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tail {
    /// Small values.
    Left,
    /// Large values.
    Right,
    /// The heavier of the two.
    Both,
}

/// A generalised Pareto law, P(X > x) = (1 + kx/σ)^(−1/k).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GeneralizedPareto {
    /// The shape k. Moments of order 1/k and above do not exist; an α-stable law has k = 1/α.
    pub k: f64,
    /// The scale σ.
    pub scale: f64,
}

impl GeneralizedPareto {
    /// Smallest number of excesses for a fit.
    pub const LEAST: usize = 5;

    /// Fits the law to positive numbers in ascending order, by the method of Zhang and Stephens
    /// (2009) with the weak prior of Pareto-smoothed importance sampling (Vehtari, Simpson, Gelman,
    /// Yao and Gabry 2024), as in ArviZ.
    ///
    /// With θ = −k/σ, the log-likelihood at its maximum k(θ) = (1/n) Σ ln(1 − θxᵢ) is L(θ) =
    /// n(ln(−θ/k) − k − 1). The estimate θ̂ is the mean of 30 + √n values θⱼ = 1/xₙ + (1 − √(m/(j −
    /// ½)))/(3x_q), x_q the first quartile, weighted by their likelihood; k̂ = (n k(θ̂) + 5)/(n +
    /// 10) is shrunk slightly towards ½.
    pub fn fit(excesses: &[f64]) -> Result<Self, DiagnosticError> {
        let n = excesses.len();
        if n < Self::LEAST {
            return Err(DiagnosticError::TooFewDraws { needed: Self::LEAST, got: n });
        }
        let least = |i: usize| if i == 0 { f64::MIN_POSITIVE } else { excesses[i - 1] };
        if let Some(index) =
            (0..n).find(|&i| !(excesses[i] >= least(i) && excesses[i] < f64::INFINITY))
        {
            return Err(DiagnosticError::Excess { index, value: excesses[index] });
        }
        let size = n as f64;
        let shape =
            |theta: f64| excesses.iter().map(|x| libm::log1p(-theta * x)).sum::<f64>() / size;
        let m = 30 + n.isqrt();
        let quartile = excesses[(size / 4.0 + 0.5) as usize - 1];
        let theta = |j: usize| {
            (1.0 - (m as f64 / (j as f64 + 0.5)).sqrt()) / (3.0 * quartile) + 1.0 / excesses[n - 1]
        };
        let grid: Vec<(f64, f64)> = (0..m)
            .map(|j| {
                let k = shape(theta(j));
                (theta(j), size * (libm::log(-theta(j) / k) - k - 1.0))
            })
            .collect();
        let best = grid.iter().map(|g| g.1).fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = grid.iter().map(|g| libm::exp(g.1 - best)).sum();
        // Weights below rounding are omitted, as in ArviZ.
        let kept = grid
            .iter()
            .map(|g| (g.0, libm::exp(g.1 - best) / total))
            .filter(|g| g.1 >= 10.0 * f64::EPSILON);
        let (sum, weight) = kept.fold((0.0, 0.0), |(s, w), g| (s + g.0 * g.1, w + g.1));
        let theta = sum / weight;
        let k = shape(theta);
        Ok(Self { k: (size * k + 5.0) / (size + 10.0), scale: -k / theta })
    }
}

impl Sample {
    /// Returns the shape k̂ of a generalised Pareto law fitted to the largest (or smallest)
    /// ⌈min(S/5, 3√(S/r))⌉ draws, S their number and r the relative efficiency of the chain,
    /// effective draws over draws (1 for independent ones).
    ///
    /// k̂ ≥ 1/p indicates that the moment of order p does not exist. For draws of an α-stable law
    /// k̂ → 1/α, though slowly for α near 2. At least five draws must lie beyond the threshold.
    ///
    /// ```
    /// use fuld::diagnostics::{Sample, Tail};
    /// # fn main() -> Result<(), fuld::diagnostics::DiagnosticError> {
    /// let quantiles: Vec<f64> = (1..1000).map(|i| 1000.0 / i as f64).collect();
    /// let k = Sample::new(quantiles)?.pareto_k(Tail::Right, 1.0)?;
    /// assert!((k - 1.0).abs() < 0.2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn pareto_k(&self, tail: Tail, relative_efficiency: f64) -> Result<f64, DiagnosticError> {
        let r = efficiency(relative_efficiency)?;
        let n = self.len();
        let length = (n as f64 / 5.0).min(3.0 * (n as f64 / r).sqrt()).ceil() as usize;
        let sorted = self.sorted();
        if length >= n {
            return Err(DiagnosticError::TooFewDraws { needed: GeneralizedPareto::LEAST, got: n });
        }
        let right = || excesses(sorted[n - length - 1], sorted[n - length..].iter().copied());
        let left = || excesses(-sorted[length], sorted[..length].iter().rev().map(|x| -x));
        match tail {
            Tail::Right => fit(right()),
            Tail::Left => fit(left()),
            Tail::Both => Ok(fit(left())?.max(fit(right())?)),
        }
    }
}

fn fit(excesses: Vec<f64>) -> Result<f64, DiagnosticError> {
    GeneralizedPareto::fit(&excesses).map(|law| law.k)
}

/// Returns the excesses over the threshold, without ties with it.
fn excesses(cut: f64, tail: impl Iterator<Item = f64>) -> Vec<f64> {
    tail.map(|x| x - cut).filter(|&x| x >= f64::MIN_POSITIVE).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_fitted_is_refused() {
        let least = |got| DiagnosticError::TooFewDraws { needed: 5, got };
        assert_eq!(GeneralizedPareto::fit(&[1.0; 4]).unwrap_err(), least(4));
        assert!(GeneralizedPareto::fit(&[1.0, 2.0, -3.0, 4.0, 5.0]).is_err());
        let error = GeneralizedPareto::fit(&[1.0, 2.0, 9.0, 4.0, 10.0]).unwrap_err();
        assert_eq!(error, DiagnosticError::Excess { index: 3, value: 4.0 });
        let constant = Sample::new(vec![3.0; 100]).unwrap();
        assert_eq!(constant.pareto_k(Tail::Both, 1.0).unwrap_err(), least(0));
        assert!(Sample::new([1.0]).unwrap().pareto_k(Tail::Left, 1.0).is_err());
        assert_eq!(
            constant.pareto_k(Tail::Left, 0.0).unwrap_err(),
            DiagnosticError::Efficiency(0.0)
        );
    }

    #[test]
    fn ends_are_mirror_images() {
        let draws: Vec<f64> = (1..500).map(|i| 500.0 / i as f64).collect();
        let mirrored = Sample::new(draws.iter().map(|x| -x).collect::<Vec<_>>()).unwrap();
        let sample = Sample::new(draws).unwrap();
        let right = sample.pareto_k(Tail::Right, 0.7).unwrap();
        assert_eq!(right, mirrored.pareto_k(Tail::Left, 0.7).unwrap());
        assert_eq!(right, mirrored.pareto_k(Tail::Both, 0.7).unwrap());
        assert!(sample.pareto_k(Tail::Left, 0.7).unwrap() < right);
    }
}
