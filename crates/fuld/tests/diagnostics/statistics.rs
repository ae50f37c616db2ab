//! Diagnostics for draws whose law is known. Seeds are fixed. Unless stated otherwise, a test
//! allows five standard deviations of the measured quantity: false-positive rate 6e-7.

use super::draws::{autoregressive, rng, stable, uniform};
use fuld::diagnostics::{Chains, Sample, Tail, autocorrelation};
use levy_stable::SymmetricStable;
use std::f64::consts::PI;

/// Of p-values under the null, one in twenty is below 0.05. Without Stephens' correction it would
/// be one in thirty at n = 10.
#[test]
fn p_values_have_the_nominal_rejection_rate() {
    let (repeats, mut rng) = (20_000, rng(1));
    let reject = |_| -> bool {
        let sample = Sample::new(uniform(&mut rng, 10)).unwrap();
        sample.kolmogorov_smirnov(|x| x).unwrap().p_value < 0.05
    };
    let seen = (0..repeats).map(reject).filter(|&r| r).count() as f64;
    let expected = 0.05 * f64::from(repeats);
    assert!((seen - expected).abs() < 5.0 * (0.95 * expected).sqrt(), "{seen} for {expected}");
}

/// The same for two samples, where ranks make D discrete and the rate only nearly 0.05: here it is
/// allowed 0.005 more or less, besides the five deviations. n₁ + n₂ in place of n₁n₂/(n₁ + n₂)
/// would reject three times in four.
#[test]
fn p_values_of_two_samples_have_the_nominal_rejection_rate() {
    let (repeats, mut rng) = (10_000, rng(2));
    let mut reject = |shift: f64| -> bool {
        let a = Sample::new(stable(&mut rng, 1.0, 150)).unwrap();
        let b: Vec<f64> = stable(&mut rng, 1.0, 90).iter().map(|x| x + shift).collect();
        a.kolmogorov_smirnov_between(&Sample::new(b).unwrap()).p_value < 0.05
    };
    let seen = (0..repeats).filter(|_| reject(0.0)).count() as f64;
    let expected = 0.05 * f64::from(repeats);
    assert!(
        (seen - expected).abs() < 5.0 * (0.95 * expected).sqrt() + 0.1 * expected,
        "{seen} for {expected}"
    );
    assert!((0..100).filter(|_| reject(1.5)).count() > 90);
}

/// E W₁ → √(2/(πn)) ∫ √(F(1−F)) dx, 1.6147 for the integral of the normal law. W₁ varies by 30
/// percent, its mean over 200 samples by 2; ten are allowed. A law wider by a fifth is 0.16 away.
#[test]
fn the_wasserstein_distance_has_its_expected_value() {
    let normal = SymmetricStable::kinetic(2.0).unwrap();
    let (n, repeats, mut rng) = (400, 200, rng(3));
    let mut mean = |scale: f64| {
        let distance = |_| {
            let draws: Vec<f64> =
                uniform(&mut rng, n).iter().map(|&u| normal.quantile(u)).collect();
            Sample::new(draws).unwrap().wasserstein(|x| normal.cdf(x / scale), -12.0, 12.0).unwrap()
        };
        (0..repeats).map(distance).sum::<f64>() / f64::from(repeats)
    };
    let expected = (2.0 / (PI * n as f64)).sqrt() * 1.6147;
    let (same, wider) = (mean(1.0), mean(1.2));
    assert!((same / expected - 1.0).abs() < 0.1, "{same} for {expected}");
    assert!((wider - 0.16).abs() < 0.02, "{wider}");
}

/// ρₜ = φᵗ, to five of Bartlett's deviations √((1 + φ²)/(1 − φ²)/n).
#[test]
fn autocorrelation_of_an_autoregression() {
    let (phi, n) = (0.8f64, 100_000);
    let rho = autocorrelation(&autoregressive(&mut rng(4), phi, n), 30).unwrap();
    let deviation = ((1.0 + phi * phi) / (1.0 - phi * phi) / n as f64).sqrt();
    for (t, rho) in rho.iter().enumerate() {
        assert!((rho - phi.powi(t as i32)).abs() < 5.0 * deviation, "lag {t}: {rho}");
    }
}

/// τ = (1 + φ)/(1 − φ). Over seeds the estimate varies by 6.4 percent at φ = 0.9 and by 3.5 at
/// ±0.5, five times which are allowed. Without the −1 in τ it would be off by 25 at 0.5. Antithetic
/// chains (φ < 0) are worth more than their length.
#[test]
fn effective_draws_of_an_autoregression() {
    for (phi, allowed, seed) in [(0.9, 0.32, 5), (0.5, 0.175, 6), (-0.5, 0.175, 7)] {
        let mut rng = rng(seed);
        let draws: Vec<Vec<f64>> = (0..4).map(|_| autoregressive(&mut rng, phi, 10_000)).collect();
        let chains = Chains::new(&draws).unwrap();
        let expected = 40_000.0 * (1.0 - phi) / (1.0 + phi);
        for ess in [chains.ess_mean(), chains.ess_bulk()] {
            assert!((ess / expected - 1.0).abs() < allowed, "phi = {phi}: {ess} for {expected}");
        }
    }
}

/// Ranks do not change under an increasing map, so rank statistics are equal bit for bit.
#[test]
fn rank_statistics_are_invariant_under_increasing_maps() {
    let mut rng = rng(8);
    let draws: Vec<Vec<f64>> = (0..4).map(|_| autoregressive(&mut rng, 0.6, 500)).collect();
    let heavy: Vec<Vec<f64>> =
        draws.iter().map(|c| c.iter().map(|x| x.powi(9) * 1e30).collect()).collect();
    let (a, b) = (Chains::new(&draws).unwrap(), Chains::new(&heavy).unwrap());
    assert_eq!(a.ess_bulk(), b.ess_bulk());
    assert_eq!(a.ess_tail(), b.ess_tail());
}

/// Estimates over their standard errors have unit variance: that of 1000 has a deviation of 0.045,
/// five of which are allowed, and 0.1 for the error of the standard errors. Taking draws for
/// independent would make it 9.
#[test]
fn standard_errors_are_as_large_as_errors() {
    let (phi, repeats, mut rng) = (0.8f64, 1000, rng(10));
    let (mut mean, mut median, mut upper) = (0.0, 0.0, 0.0);
    let normal = SymmetricStable::kinetic(2.0).unwrap();
    // x³ of a normal draw has tails heavier than exponential; its quantiles are cubes of quantiles.
    let exact = normal.quantile(0.9).powi(3);
    for _ in 0..repeats {
        let draws: Vec<Vec<f64>> = (0..4).map(|_| autoregressive(&mut rng, phi, 1000)).collect();
        let cubes: Vec<Vec<f64>> =
            draws.iter().map(|c| c.iter().map(|x| x.powi(3)).collect()).collect();
        let (plain, cubes) = (Chains::new(&draws).unwrap(), Chains::new(&cubes).unwrap());
        let all = plain.pooled();
        mean += (all.iter().sum::<f64>() / all.len() as f64 / plain.mcse_mean()).powi(2);
        median += (Sample::new(all).unwrap().quantile(0.5).unwrap()
            / plain.mcse_quantile(0.5).unwrap())
        .powi(2);
        let q = Sample::new(cubes.pooled()).unwrap().quantile(0.9).unwrap();
        upper += ((q - exact) / cubes.mcse_quantile(0.9).unwrap()).powi(2);
    }
    for (name, sum) in [("mean", mean), ("median", median), ("0.9 quantile", upper)] {
        let variance = sum / f64::from(repeats);
        assert!((variance - 1.0).abs() < 5.0 * 0.045 + 0.1, "{name}: {variance}");
    }
}

/// Chains of one law give R̂ < 1.0033 in 2000 samples, so 1.01 is far out; a chain elsewhere, one
/// wider, and one that drifts are found. Without folding the wider one would not be.
#[test]
fn r_hat_detects_chains_that_differ() {
    let mut rng = rng(11);
    let draws: Vec<Vec<f64>> = (0..4).map(|_| stable(&mut rng, 1.0, 1000)).collect();
    let r_hat = |change: &dyn Fn(usize, f64) -> f64| {
        let mut changed = draws.clone();
        changed[0].iter_mut().enumerate().for_each(|(t, x)| *x = change(t, *x));
        Chains::new(&changed).unwrap().r_hat()
    };
    let good = r_hat(&|_, x| x);
    assert!((0.999..1.01).contains(&good), "{good}");
    for (name, bad) in [
        ("elsewhere", r_hat(&|_, x| x + 2.0)),
        ("wider", r_hat(&|_, x| 4.0 * x)),
        ("drifting", r_hat(&|t, x| x + 0.004 * t as f64)),
    ] {
        assert!(bad > 1.03, "{name}: {bad}");
    }
}

/// k̂ has deviation (1 + k)/√m on m = 3√n excesses of a Pareto law, and is drawn to ½ by 10/m.
/// Excesses measured from 0 and not from the cut would leave k̂ < 0 here; 1/k in place of k would
/// fail at all but k = 1.
#[test]
fn pareto_k_of_a_pareto_law() {
    let n = 100_000;
    let m = 3.0 * (n as f64).sqrt();
    for (k, seed) in [(0.25, 12), (0.5, 13), (1.0, 14), (2.0, 15)] {
        let draws: Vec<f64> = uniform(&mut rng(seed), n).iter().map(|u| u.powf(-k)).collect();
        let seen = Sample::new(draws).unwrap().pareto_k(Tail::Right, 1.0).unwrap();
        let allowed = 5.0 * (1.0 + k) / m.sqrt() + 10.0 / m * (k - 0.5f64).abs();
        assert!((seen - k).abs() < allowed, "k = {k}: {seen}");
    }
}

/// k̂ → 1/α on both sides of an α-stable law; α near 2 needs more draws than these.
#[test]
fn pareto_k_of_stable_laws() {
    for (alpha, seed) in [(0.7, 16), (1.0, 17), (1.3, 18)] {
        let sample = Sample::new(stable(&mut rng(seed), alpha, 400_000)).unwrap();
        let deviation = (1.0 + 1.0 / alpha) / (3.0 * 400_000f64.sqrt()).sqrt();
        for tail in [Tail::Left, Tail::Right] {
            let k = sample.pareto_k(tail, 1.0).unwrap();
            assert!((k - 1.0 / alpha).abs() < 5.0 * deviation, "alpha = {alpha}, {tail:?}: {k}");
        }
    }
}
