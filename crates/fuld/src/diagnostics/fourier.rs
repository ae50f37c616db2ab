//! Autocovariance by the fast Fourier transform of `rustfft`.
//!
//! Two chains are the real and imaginary part of one signal z: the inverse transform of |ẑ|² has
//! real part Σ aₜaₜ₊ₗ + Σ bₜbₜ₊ₗ, which is all that their mean autocovariance requires. The scalar
//! planner is used because its results do not depend on the vector instructions of the processor.

use super::moments::mean;
use rustfft::FftPlannerScalar;
use rustfft::num_complex::Complex;

/// Returns the autocovariance at lags 0 … n−1, averaged over chains of n draws each:
///
///   (1/m) Σ_chains (1/n) Σₜ (xₜ − x̄)(xₜ₊ₗ − x̄),  x̄ the mean of the chain.
pub(super) fn mean_autocovariance<'a>(chains: impl Iterator<Item = &'a [f64]>) -> Vec<f64> {
    let chains: Vec<&[f64]> = chains.collect();
    let n = chains.first().map_or(0, |chain| chain.len());
    if n == 0 {
        return Vec::new();
    }
    // Padding with zeros to twice the length separates the end of a chain from its beginning.
    let length = (2 * n).next_power_of_two();
    let mut planner = FftPlannerScalar::new();
    let (forward, inverse) = (planner.plan_fft_forward(length), planner.plan_fft_inverse(length));
    let zero = Complex::new(0.0, 0.0);
    let mut power = vec![zero; length];
    let mut z = vec![zero; length];
    for pair in chains.chunks(2) {
        z.fill(zero);
        centred(pair[0]).zip(&mut z).for_each(|(x, z)| z.re = x);
        if let Some(second) = pair.get(1) {
            centred(second).zip(&mut z).for_each(|(x, z)| z.im = x);
        }
        forward.process(&mut z);
        power.iter_mut().zip(&z).for_each(|(power, z)| power.re += z.norm_sqr());
    }
    inverse.process(&mut power);
    let scale = 1.0 / (length as f64 * n as f64 * chains.len() as f64);
    power[..n].iter().map(|c| c.re * scale).collect()
}

/// Returns the values of a chain minus their mean.
fn centred(chain: &[f64]) -> impl Iterator<Item = f64> {
    let mean = mean(chain);
    chain.iter().map(move |x| x - mean)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with the double sum, for lengths around a power of two and odd and even numbers of
    /// chains.
    #[test]
    fn transform_equals_the_sum() {
        for n in [2, 3, 7, 8, 9, 100] {
            for m in [1, 2, 3] {
                let chain = |k: usize| -> Vec<f64> {
                    (0..n).map(|t| ((t * t * 7 + 3 * k * t + k) % 11) as f64 - 4.0).collect()
                };
                let chains: Vec<Vec<f64>> = (0..m).map(chain).collect();
                let fast = mean_autocovariance(chains.iter().map(Vec::as_slice));
                assert_eq!(fast.len(), n);
                for (lag, fast) in fast.iter().enumerate() {
                    let of = |x: &Vec<f64>| -> f64 {
                        let mean = mean(x);
                        x.iter().zip(&x[lag..]).map(|(a, b)| (a - mean) * (b - mean)).sum()
                    };
                    let slow = chains.iter().map(of).sum::<f64>() / (n * m) as f64;
                    assert!(
                        (fast - slow).abs() < 1e-13,
                        "n = {n}, m = {m}, lag {lag}: {fast} {slow}"
                    );
                }
            }
        }
    }
}
