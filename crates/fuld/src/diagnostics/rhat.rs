//! The convergence diagnostic R̂.

use super::moments::{mean, variance};
use super::rank::NormalScores;
use levy_stable::quantiles::quantile_by_selection;

use super::{Chains, chains::Split};

/// z = √19 standard errors, which bound the covariance in 95 % of cases for any law, by Cantelli's
/// inequality P ≤ 1/(1 + z²).
const ERRORS: f64 = 4.358_898_943_540_674;

impl Chains<'_> {
    /// Returns the rank-normalised split R̂ of Vehtari, Gelman, Simpson, Carpenter and Bürkner
    /// (2021).
    ///
    /// It is the larger of R̂ of the draws, which detects chains at different locations, and R̂ of
    /// |x − median|, which detects chains of different spread. Each is
    ///
    /// > R̂ = √((B/W + n − 1)/n)
    ///
    /// computed from the normal scores of the halves of all chains, with B/n the variance of their
    /// means and W the mean of their variances. Converged chains give 1 up to noise; above 1.01
    /// they have not converged. No moment of the target need exist.
    ///
    /// As in ArviZ, it is NaN for a single chain, if a draw is NaN, and if all draws are equal. It
    /// is infinite if every half is constant but they differ.
    pub fn r_hat(&self) -> f64 {
        self.larger(reduction)
    }

    /// Returns an upper confidence bound of the part of R̂ that lasts: that comes from differences
    /// which chains keep, or from a drift that all share, and not from the noise of short chains.
    ///
    /// If chains forget their start within a half, the means m₁ and m₂ of their halves have the
    /// variance Wτ/n, for an autocorrelation time of τ draws, so that R̂² is 1 + (τ − 1)/n however
    /// many chains there are. But m₁ and m₂ are nearly uncorrelated then, while their covariance C
    /// is the variance of what differs between chains and lasts. The bound is
    ///
    /// > √(1 + (max(C, 0) + zs + d²/4)/W),
    ///
    /// where s is the standard error of C, estimated from the products of the centred means and at
    /// least that of independent halves; z = √19 makes the bound hold in 95 % of cases whatever the
    /// law of the means; and d is the difference of the mean of all first halves from that of all
    /// second ones. Ranks, folding and special values are those of [`r_hat`](Self::r_hat). With few
    /// chains s is large, and the bound is no smaller than R̂ as a rule.
    pub fn lasting_r_hat(&self) -> f64 {
        self.larger(lasting)
    }

    /// Returns the larger value of a statistic of the normal scores of the draws and of their
    /// distances from the median.
    fn larger(&self, statistic: fn(&Split) -> f64) -> f64 {
        if self.count() < 2 || self.has_nan() {
            return f64::NAN;
        }
        let mut bulk = self.split(|x| x);
        let median = quantile_by_selection(&mut bulk.values.clone(), 0.5);
        let mut folded = bulk.clone();
        folded.values.iter_mut().for_each(|x| *x = (*x - median).abs());
        let scores = NormalScores::new(bulk.values.len());
        scores.replace(&mut bulk.values);
        let bulk = statistic(&bulk);
        // The distance of an infinite draw from an infinite median is undefined.
        if folded.values.iter().any(|x| x.is_nan()) {
            return f64::NAN;
        }
        scores.replace(&mut folded.values);
        let folded = statistic(&folded);
        // If folding makes all draws equal, only the draws themselves are compared.
        if folded > bulk { folded } else { bulk }
    }
}

/// √((B/W + n − 1)/n)
fn reduction(split: &Split) -> f64 {
    let n = split.draws as f64;
    let means: Vec<f64> = split.halves().map(mean).collect();
    let between = n * variance(&means);
    ((between / within(split) + n - 1.0) / n).sqrt()
}

/// √(1 + (max(C, 0) + zs + d²/4)/W)
fn lasting(split: &Split) -> f64 {
    let means: Vec<f64> = split.halves().map(mean).collect();
    let (first, second): (Vec<f64>, Vec<f64>) =
        means.as_chunks().0.iter().map(|&[a, b]| (a, b)).unzip();
    let (a, b, chains) = (mean(&first), mean(&second), first.len() as f64);
    let products: Vec<f64> = first.iter().zip(&second).map(|(x, y)| (x - a) * (y - b)).collect();
    let covariance = mean(&products) * chains / (chains - 1.0);
    // Few chains with rare excursions may have no large product, so the error is not taken below
    // that of independent halves.
    let error = (variance(&products).max(variance(&first) * variance(&second)) / chains).sqrt();
    let drift = 0.5 * (a - b);
    (1.0 + (covariance.max(0.0) + ERRORS * error + drift * drift) / within(split)).sqrt()
}

/// Returns W, the mean of the variances of the halves.
fn within(split: &Split) -> f64 {
    let variances: Vec<f64> = split.halves().map(variance).collect();
    mean(&variances)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Stream};

    /// Returns chains of draws that keep the fraction `rho` of the one before, from N(0, 1);
    /// `shift` moves whole chains.
    fn autoregressive(
        chains: u64,
        draws: usize,
        rho: f64,
        shift: impl Fn(u64, usize) -> f64,
    ) -> Vec<Vec<f64>> {
        let normal = levy_stable::SymmetricStable::kinetic(2.0).unwrap();
        let chain = |chain: u64| {
            let words = Stream::new(5, chain, Purpose::Start).words();
            let mut noise = words
                .map(|word| normal.quantile(((word >> 11) as f64 + 0.5) / (1u64 << 53) as f64));
            let mut x = noise.next().unwrap();
            let step = |(i, noise): (usize, f64)| {
                x = rho * x + (1.0 - rho * rho).sqrt() * noise;
                x + shift(chain, i)
            };
            noise.enumerate().take(draws).map(step).collect()
        };
        (0..chains).map(chain).collect()
    }

    /// R̂ of many short chains that mix is above 1.01, because each has few effective draws; the
    /// part that lasts is not. Chains in another mode, of another spread, a drift, and slow mixing
    /// last.
    #[test]
    fn noise_of_short_chains_does_not_last() {
        let of = |draws: Vec<Vec<f64>>| {
            let chains = Chains::new(&draws).unwrap();
            (chains.r_hat(), chains.lasting_r_hat())
        };
        let (r_hat, lasting) = of(autoregressive(4096, 50, 0.5, |_, _| 0.0));
        assert!(r_hat > 1.02 && lasting < 1.01, "{r_hat} {lasting}");
        for (name, draws) in [
            (
                "another mode",
                autoregressive(4096, 50, 0.5, |chain, _| if chain % 50 == 0 { 8.0 } else { 0.0 }),
            ),
            ("drift", autoregressive(4096, 50, 0.5, |_, i| if i < 25 { 0.0 } else { 0.4 })),
            ("slow", autoregressive(4096, 50, 0.95, |_, _| 0.0)),
            ("few", autoregressive(4, 50, 0.8, |_, _| 0.0)),
            // As with the default settings: not enough chains to trust an R̂ of 1.02.
            ("64 chains", autoregressive(64, 1000, 0.93, |_, _| 0.0)),
        ] {
            let (r_hat, lasting) = of(draws);
            assert!(r_hat > 1.01 && lasting > 1.01, "{name}: {r_hat} {lasting}");
        }
        let mut spread = autoregressive(4096, 50, 0.5, |_, _| 0.0);
        spread.iter_mut().step_by(50).flatten().for_each(|x| *x *= 8.0);
        let (r_hat, lasting) = of(spread);
        assert!(r_hat > 1.01 && lasting > 1.01, "{r_hat} {lasting}");
        assert!(of(vec![vec![1.0; 4], vec![2.0; 4]]).1 > 1.01);
    }
}
