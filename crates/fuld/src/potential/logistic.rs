//! The posterior of Bayesian logistic regression, with minibatches.

use super::error::{at_least, finite, positive};
use super::{Potential, PotentialError};
use crate::Specification;
use crate::random::{Purpose, Stream};
use hmac_sha256::Hash;

const NAME: &str = "the logistic regression";

/// The rows of tools/data/breast_cancer.py: a label, then the features.
const BREAST_CANCER: &str = include_str!("data/breast_cancer.csv");

/// Minus the log posterior of the coefficients β of logistic regression,
///
/// > f(β) = Σⱼ ln(1 + exp(−yⱼ ⟨xⱼ, β⟩)) + |β|²/(2s²).
///
/// There are n rows xⱼ with labels yⱼ = ±1; the first coefficient is the intercept, whose feature
/// is 1; the prior is N(0, s² I). The [sampled gradient](Potential::sampled_gradient) replaces the
/// sum by n/b times the sum over b rows, which the word selects with replacement. It is unbiased
/// and the same on every machine. For b = n it is the full gradient.
#[derive(Clone, Debug, PartialEq)]
pub struct LogisticRegression {
    /// The signed rows yⱼxⱼ one after the other; f depends on the data only through them.
    rows: Vec<f64>,
    dim: usize,
    /// 1/s²
    prior_precision: f64,
    batch: usize,
}

impl LogisticRegression {
    /// Creates the posterior from rows of features, a label for each row, and a prior of standard
    /// deviation `prior_sd`.
    ///
    /// Features are standardised to mean 0 and variance 1. The dimension is the number of features
    /// plus one. A constant feature is set to 0.
    pub fn new(
        features: &[Vec<f64>],
        labels: &[bool],
        prior_sd: f64,
    ) -> Result<Self, PotentialError> {
        let n = features.len();
        let length = |what, expected, given| match given == expected {
            true => Ok(()),
            false => Err(PotentialError::Length { potential: NAME, what, expected, given }),
        };
        length("the number of labels", n, labels.len())?;
        let dim = at_least(NAME, 2, features.first().map_or(0, |row| row.len() + 1))?;
        for row in features {
            length("the features of a row", dim - 1, row.len())?;
            for &x in row {
                finite(NAME, "feature", x)?;
            }
        }
        positive(NAME, "prior_sd", prior_sd)?;
        let prior_precision = finite(NAME, "1/prior_sd^2", 1.0 / (prior_sd * prior_sd))?;
        let scales: Vec<_> =
            (0..dim - 1).map(|i| mean_and_sd(features.iter().map(|row| row[i]))).collect();
        let mut rows = Vec::with_capacity(n * dim);
        for (row, &label) in features.iter().zip(labels) {
            let sign = if label { 1.0 } else { -1.0 };
            rows.push(sign);
            let standard = |(x, (mean, sd)): (&f64, &(f64, f64))| {
                if *sd > 0.0 { (x - mean) / sd } else { 0.0 }
            };
            rows.extend(row.iter().zip(&scales).map(standard).map(|x| sign * x));
        }
        Ok(Self { rows, dim, prior_precision, batch: n })
    }

    /// Creates the posterior for 569 tumours, malignant or benign, with 30 features of their cell
    /// nuclei: dimension 31.
    ///
    /// Breast Cancer Wisconsin (Diagnostic), UCI Machine Learning Repository, doi:10.24432/C5DW2B,
    /// CC BY 4.0.
    pub fn breast_cancer(prior_sd: f64) -> Result<Self, PotentialError> {
        let (mut features, mut labels) = (Vec::new(), Vec::new());
        for line in BREAST_CANCER.lines().filter(|line| !line.starts_with('#')) {
            let (label, row) = line.split_once(',').unwrap_or_default();
            labels.push(label == "1");
            // Text that is not a number becomes NaN, which `new` rejects.
            features.push(row.split(',').map(|x| x.parse().unwrap_or(f64::NAN)).collect());
        }
        Self::new(&features, &labels, prior_sd)
    }

    /// Returns the same posterior with minibatches of `batch` rows, 1 ≤ batch ≤ n.
    pub fn with_batch(self, batch: usize) -> Result<Self, PotentialError> {
        if !(1..=self.len()).contains(&batch) {
            let allowed = "between 1 and the number of rows";
            let given = batch as f64;
            return Err(PotentialError::Parameter {
                potential: NAME,
                parameter: "batch",
                allowed,
                given,
            });
        }
        Ok(Self { batch, ..self })
    }

    /// Returns the number of rows n.
    #[allow(clippy::len_without_is_empty, reason = "there is always a row")]
    pub fn len(&self) -> usize {
        self.rows.len() / self.dim
    }

    /// Returns the size b of a minibatch.
    pub fn batch(&self) -> usize {
        self.batch
    }

    /// Returns the rows of the minibatch that `word` selects.
    fn chosen(&self, word: u64) -> impl Iterator<Item = usize> {
        let n = self.len() as u128;
        // The high word of word·n is uniform up to n/2⁶⁴.
        let words = Stream::new(word, 0, Purpose::Gradient).words();
        words.take(self.batch).map(move |word| ((u128::from(word) * n) >> 64) as usize)
    }

    /// Returns the SHA-256 hash of the signed rows, in hexadecimal.
    fn data_sha256(&self) -> String {
        let mut hash = Hash::new();
        self.rows.iter().for_each(|x| hash.update(x.to_le_bytes()));
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn row(&self, j: usize) -> &[f64] {
        &self.rows[j * self.dim..][..self.dim]
    }

    /// Writes the gradient of the prior plus `factor` times the gradient of the given rows.
    fn sum(
        &self,
        rows: impl Iterator<Item = usize>,
        factor: f64,
        beta: &[f64],
        gradient: &mut [f64],
    ) {
        gradient.fill(0.0);
        for row in rows.map(|j| self.row(j)) {
            // d/dm ln(1 + e^(−m)) = −1/(1 + e^m), which is correct also where e^m overflows.
            let weight = 1.0 / (1.0 + libm::exp(dot(row, beta)));
            for (g, x) in gradient.iter_mut().zip(row) {
                *g -= weight * x;
            }
        }
        for (g, beta) in gradient.iter_mut().zip(beta) {
            *g = factor * *g + self.prior_precision * beta;
        }
    }
}

impl Potential for LogisticRegression {
    fn dim(&self) -> usize {
        self.dim
    }

    fn specification(&self) -> Option<Specification> {
        Some(
            Specification::new("logistic_regression")
                .with("rows", self.len())
                .with("prior_precision", self.prior_precision)
                .with("batch", self.batch)
                .with("data_sha256", self.data_sha256()),
        )
    }

    fn value(&self, beta: &[f64]) -> f64 {
        let loss: f64 = self.rows.chunks_exact(self.dim).map(|row| softplus(-dot(row, beta))).sum();
        loss + 0.5 * self.prior_precision * dot(beta, beta)
    }

    fn gradient(&self, beta: &[f64], gradient: &mut [f64]) {
        self.sum(0..self.len(), 1.0, beta, gradient);
    }

    fn is_stochastic(&self) -> bool {
        self.batch < self.len()
    }

    fn sampled_gradient(&self, beta: &[f64], word: u64, gradient: &mut [f64]) {
        if self.batch == self.len() {
            return self.gradient(beta, gradient);
        }
        let factor = self.len() as f64 / self.batch as f64;
        self.sum(self.chosen(word), factor, beta, gradient);
    }
}

/// Returns a scalar product by four partial sums, in an order that does not depend on the machine.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (a4, b4) = (a.chunks_exact(4), b.chunks_exact(4));
    let rest: f64 = a4.remainder().iter().zip(b4.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a4.zip(b4) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// Returns ln(1 + eᵗ) without overflow.
fn softplus(t: f64) -> f64 {
    let tail = libm::log1p(libm::exp(-t.abs()));
    if t > 0.0 { t + tail } else { tail }
}

fn mean_and_sd(values: impl ExactSizeIterator<Item = f64> + Clone) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.clone().sum::<f64>() / n;
    (mean, (values.map(|x| (x - mean) * (x - mean)).sum::<f64>() / n).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn posterior() -> LogisticRegression {
        LogisticRegression::breast_cancer(2.0).unwrap()
    }

    #[test]
    fn the_data_are_all_there() {
        let f = posterior();
        assert_eq!((f.dim(), f.len(), f.batch()), (31, 569, 569));
        let malignant = f.rows.chunks_exact(31).filter(|row| row[0] > 0.0).count();
        assert_eq!(malignant, 212);
        for i in 1..31 {
            let (mean, sd) = mean_and_sd((0..569).map(|j| f.row(j)[0] * f.row(j)[i]));
            assert!(mean.abs() < 1e-12 && (sd - 1.0).abs() < 1e-12, "feature {i}");
        }
        assert!((f.value(&[0.0; 31]) - 569.0 * 2f64.ln()).abs() < 1e-10);
    }

    #[test]
    fn chosen_rows_are_pinned() {
        let f = posterior().with_batch(5).unwrap();
        assert_eq!(f.chosen(7).collect::<Vec<_>>(), [95, 505, 501, 296, 322]);
        assert!((0..10_000).all(|word| f.chosen(word).all(|j| j < 569)));
    }

    /// Returns the largest deviation of the mean over `n` words from the full gradient, in standard
    /// errors.
    fn bias(f: &LogisticRegression, full: &[f64], beta: &[f64], n: usize) -> f64 {
        let (mut sum, mut square, mut g) = (vec![0.0; 31], vec![0.0; 31], vec![0.0; 31]);
        for word in Stream::new(99, 0, Purpose::Gradient).words().take(n) {
            f.sampled_gradient(beta, word, &mut g);
            for i in 0..31 {
                sum[i] += g[i] - full[i];
                square[i] += (g[i] - full[i]).powi(2);
            }
        }
        (0..31).map(|i| sum[i].abs() / square[i].sqrt()).fold(0.0, f64::max)
    }

    /// The bound of five standard errors in 31 coordinates fails for one seed in 56,000. It detects
    /// a gradient scaled by (n − 40)/b instead of n/b.
    #[test]
    fn minibatches_are_unbiased() {
        let f = posterior().with_batch(32).unwrap();
        let beta: Vec<f64> = (0..31).map(|i| 0.3 * (i as f64).sin()).collect();
        let mut full = vec![0.0; 31];
        f.gradient(&beta, &mut full);
        assert!(bias(&f, &full, &beta, 20_000) < 5.0);
        let off: Vec<f64> = full.iter().map(|g| g * 529.0 / 569.0).collect();
        assert!(bias(&f, &off, &beta, 20_000) > 5.0);
    }

    #[test]
    fn all_rows_are_the_full_gradient() {
        let f = posterior();
        let (mut full, mut sampled) = (vec![0.0; 31], vec![1.0; 31]);
        f.gradient(&[0.1; 31], &mut full);
        f.sampled_gradient(&[0.1; 31], 5, &mut sampled);
        assert_eq!(full, sampled);
    }

    #[test]
    fn extremes_stay_finite() {
        assert_eq!((softplus(1e6), softplus(-1e6)), (1e6, 0.0));
        assert!(softplus(f64::NAN).is_nan());
        let (f, mut g) = (posterior(), vec![0.0; 31]);
        f.gradient(&[1e200; 31], &mut g);
        assert!(g.iter().all(|g| g.is_finite()));
    }

    #[test]
    fn bad_data_are_named() {
        let text = |features: &[Vec<f64>], labels: &[bool], sd: f64| {
            LogisticRegression::new(features, labels, sd).unwrap_err().to_string()
        };
        assert!(text(&[vec![1.0]], &[], 1.0).contains("labels"));
        assert!(
            text(&[vec![1.0], vec![1.0, 2.0]], &[true, false], 1.0).contains("expected 1, got 2")
        );
        assert!(text(&[vec![f64::NAN]], &[true], 1.0).contains("NaN"));
        assert!(text(&[vec![1.0]], &[true], 0.0).contains("prior_sd"));
        assert!(text(&[], &[], 1.0).contains("dimension"));
        assert!(posterior().with_batch(0).is_err() && posterior().with_batch(570).is_err());
    }
}
