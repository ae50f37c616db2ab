//! The bandwidth of a kernel density estimate.

use super::moments::variance;
use std::f64::consts::PI;

/// Returns the bandwidth of Sheather and Jones (1991) for a Gaussian kernel, from counts of n draws
/// in bins of a given width.
///
/// It solves h = (2√π n S(γ(h)))^(−1/5) for an estimate S of ∫ f″², itself a kernel estimate with
/// bandwidth γ(h) = 1.357 (S(a)/T(b))^(1/7) h^(5/7), where T estimates ∫ f‴². Unlike rules that
/// assume a normal law, it does not merge several modes into one. If the equation has no solution,
/// the result is Silverman's 0.9 s n^(−1/5).
///
/// `scale` is the smaller of the standard deviation and the interquartile range / 1.349.
pub(super) fn sheather_jones(counts: &[f64], width: f64, scale: f64) -> f64 {
    let n: f64 = counts.iter().sum();
    let pairs = Pairs::new(counts, width, n);
    let a = 1.24 * scale * libm::pow(n, -1.0 / 7.0);
    let b = 1.23 * scale * libm::pow(n, -1.0 / 9.0);
    let ratio = 1.357 * libm::pow(pairs.curvature(a) / pairs.third(b), 1.0 / 7.0);
    let excess = |h: f64| {
        let curvature = pairs.curvature(ratio * libm::pow(h, 5.0 / 7.0));
        libm::pow(2.0 * PI.sqrt() * n * curvature, -0.2) - h
    };
    let silverman = 0.9 * scale * libm::pow(n, -0.2);
    // The upper end is the oversmoothing bound; the lower end is far below the resolution of the
    // grid.
    let (mut low, mut high) = (0.1 * width, 1.144 * scale * libm::pow(n, -0.2));
    if !(low < high && excess(low) > 0.0 && excess(high) < 0.0) {
        return silverman.max(width);
    }
    while high - low > 1e-6 * high {
        let middle = 0.5 * (low + high);
        if excess(middle) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// Returns the smaller of the standard deviation and the interquartile range / 1.349, or the former
/// if half of the draws are ties.
pub(super) fn robust_scale(draws: &[f64], interquartile: f64) -> f64 {
    let deviation = variance(draws).sqrt();
    if interquartile > 0.0 { deviation.min(interquartile / 1.349) } else { deviation }
}

/// The number of pairs of draws at each distance in bins.
struct Pairs {
    apart: Vec<f64>,
    width: f64,
    n: f64,
}

impl Pairs {
    fn new(counts: &[f64], width: f64, n: f64) -> Self {
        let mut apart = vec![0.0; counts.len()];
        for (i, &c) in counts.iter().enumerate().filter(|(_, c)| **c > 0.0) {
            apart[0] += 0.5 * c * (c - 1.0);
            for (a, other) in apart[1..].iter_mut().zip(&counts[i + 1..]) {
                *a += c * other;
            }
        }
        Self { apart, width, n }
    }

    /// Returns the mean over all pairs, including each draw with itself, of a function of the
    /// squared distance in units of h.
    fn mean(&self, h: f64, of: impl Fn(f64) -> f64) -> f64 {
        let term = |(i, &pairs): (usize, &f64)| {
            let distance = i as f64 * self.width / h;
            let square = distance * distance;
            if square < 1000.0 { pairs * libm::exp(-0.5 * square) * of(square) } else { 0.0 }
        };
        let sum = 2.0 * self.apart.iter().enumerate().map(term).sum::<f64>() + self.n * of(0.0);
        sum / (self.n * (self.n - 1.0) * (2.0 * PI).sqrt())
    }

    /// Returns S(h), an estimate of ∫ f″² by the fourth derivative of the normal density.
    fn curvature(&self, h: f64) -> f64 {
        self.mean(h, |d| d * d - 6.0 * d + 3.0) / libm::pow(h, 5.0)
    }

    /// Returns T(h), an estimate of ∫ f‴² by the sixth derivative.
    fn third(&self, h: f64) -> f64 {
        -self.mean(h, |d| d * d * d - 15.0 * d * d + 45.0 * d - 15.0) / libm::pow(h, 7.0)
    }
}
