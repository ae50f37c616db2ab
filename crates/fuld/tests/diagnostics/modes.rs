//! Histograms, densities and modes of samples whose density is known. Seeds are fixed.

use super::draws::{normal, rng, stable, uniform};
use fuld::diagnostics::{Histogram, KernelDensity, Mode, Sample};
use levy_stable::SymmetricStable;

fn modes(draws: Vec<f64>) -> Vec<Mode> {
    let n = draws.len() as f64;
    KernelDensity::new(&Sample::new(draws).unwrap()).unwrap().modes(n).unwrap()
}

/// Moves a share of the draws to the right.
fn mixture(draws: Vec<f64>, share: f64, by: f64) -> Vec<f64> {
    let moved = (share * draws.len() as f64) as usize;
    draws.into_iter().enumerate().map(|(i, x)| if i < moved { x + by } else { x }).collect()
}

/// Each of 300 samples of a unimodal law has one mode. A threshold of four standard deviations
/// without correction for multiple comparisons would find 38 spurious modes.
#[test]
fn unimodal_samples_have_one_mode() {
    let mut rng = rng(21);
    let mut extra = 0;
    for i in 0..300 {
        let n = [300, 3_000, 30_000][i % 3];
        let draws = match i % 4 {
            0 => normal(&mut rng, n),
            1 => stable(&mut rng, 1.0, n),
            2 => stable(&mut rng, 0.6, n),
            _ => stable(&mut rng, 1.7, n),
        };
        extra += modes(draws).len() - 1;
    }
    assert_eq!(extra, 0, "modes that are not there");
}

/// Two wells, found with their places and heights to a few percent, higher one first: thin tails,
/// heavy tails, far apart. A bandwidth made for a single normal law would smear the last into half
/// their height.
#[test]
fn bimodal_samples_have_two_modes() {
    let peak = (2.0 * std::f64::consts::PI).sqrt().recip();
    let n = 100_000;
    let close = modes(mixture(normal(&mut rng(22), n), 0.35, 4.0));
    let heavy = modes(mixture(stable(&mut rng(23), 1.0, n), 0.35, 6.0));
    let narrow = mixture(normal(&mut rng(24), n), 0.35, 300.0);
    let far = modes(narrow.into_iter().map(|x| x / 10.0).collect());
    // The exact modes of the Cauchy mixture, moved and raised by each other's tails.
    let cauchy = |x: f64| 0.65 / (1.0 + x * x) + 0.35 / (1.0 + (x - 6.0).powi(2));
    let cauchy = |x: f64| cauchy(x) / std::f64::consts::PI;
    for (name, modes, at, heights) in [
        ("close", &close, [0.0, 4.0], [0.65 * peak, 0.35 * peak]),
        ("heavy", &heavy, [0.0, 6.0], [cauchy(0.0), cauchy(6.0)]),
        ("far", &far, [0.0, 30.0], [6.5 * peak, 3.5 * peak]),
    ] {
        assert_eq!(modes.len(), 2, "{name}: {modes:?}");
        for (mode, (at, height)) in modes.iter().zip(at.into_iter().zip(heights)) {
            assert!((mode.location - at).abs() < 0.15, "{name}: {mode:?}");
            assert!((mode.height / height - 1.0).abs() < 0.06, "{name}: {mode:?}, height {height}");
        }
    }
    assert!((close[1].prominence / close[1].height - 0.7).abs() < 0.2);
}

/// With fewer effective draws, fewer modes are significant.
#[test]
fn correlated_draws_show_fewer_modes() {
    let draws = mixture(normal(&mut rng(25), 10_000), 0.4, 3.5);
    let density = KernelDensity::new(&Sample::new(draws).unwrap()).unwrap();
    assert_eq!(density.modes(10_000.0).unwrap().len(), 2);
    assert_eq!(density.modes(50.0).unwrap().len(), 1);
    assert!(density.modes(0.0).is_err() && density.modes(f64::NAN).is_err());
}

/// For a normal law Sheather and Jones find the bandwidth that minimises the integrated error,
/// (4/(3n))^(1/5), to a few percent.
#[test]
fn bandwidth_of_the_normal_law() {
    for (n, seed) in [(1_000, 26), (10_000, 27), (100_000, 28)] {
        let density = KernelDensity::new(&Sample::new(normal(&mut rng(seed), n)).unwrap()).unwrap();
        let best = (4.0 / (3.0 * n as f64)).powf(0.2);
        let ratio = density.bandwidth() / best;
        assert!((ratio - 1.0).abs() < 0.15, "n = {n}: {ratio}");
    }
}

/// The estimate is the density of the law within some standard errors, also at the ends of the
/// body, where draws beyond reach in.
#[test]
fn density_and_histogram_follow_the_law() {
    let law = SymmetricStable::new(1.4).unwrap();
    let n = 400_000;
    let sample = Sample::new(stable(&mut rng(29), 1.4, n)).unwrap();
    let density = KernelDensity::new(&sample).unwrap();
    for (x, f) in density.grid().step_by(50) {
        let exact = law.pdf(x);
        // Some 40 points: five deviations of each, and the bias of a second derivative.
        let deviation =
            (exact / (2.0 * std::f64::consts::PI.sqrt() * n as f64 * density.bandwidth())).sqrt();
        let bias = 0.005 * law.pdf(0.0);
        assert!(
            (f - exact).abs() < 5.0 * deviation + bias.min(0.05 * exact),
            "{x}: {f} for {exact}"
        );
    }
    let histogram = Histogram::automatic(&sample).unwrap();
    assert_eq!(histogram.total(), n);
    let width = histogram.width();
    for ((x, f), &count) in histogram.density().zip(histogram.counts()) {
        let probability = law.cdf(x + 0.5 * width) - law.cdf(x - 0.5 * width);
        let expected = probability * n as f64;
        // Some 300 bins: 5.5 deviations each, 1e-5 in all.
        assert!(
            (count as f64 - expected).abs() < 5.5 * expected.sqrt(),
            "{x}: {count} for {expected}"
        );
        assert!((f * n as f64 * width - count as f64).abs() < 1e-9);
    }
    let beyond = (histogram.below() + histogram.above()) as f64;
    let expected = (law.cdf(histogram.low()) + law.sf(histogram.high())) * n as f64;
    assert!((beyond - expected).abs() < 5.0 * expected.sqrt(), "{beyond} for {expected}");
}

/// No sample panics: numbers at the ends of the range of doubles, ties, two draws.
#[test]
fn unusual_samples_do_not_panic() {
    let tiny: Vec<f64> = uniform(&mut rng(30), 50).iter().map(|u| u * 1e-310).collect();
    let huge: Vec<f64> =
        uniform(&mut rng(31), 50).iter().map(|u| (u - 0.5) * 1.5e308 * 2.0).collect();
    let large: Vec<f64> = uniform(&mut rng(32), 50).iter().map(|u| (u - 0.5) * 1e200).collect();
    let offset: Vec<f64> = (0..50).map(|i| 1e16 + 2.0 * f64::from(i % 2)).collect();
    for draws in
        [tiny, huge, large, offset, vec![1.0], vec![1.0, 2.0], vec![0.0; 9], vec![-0.0, 0.0, 0.0]]
    {
        let sample = Sample::new(draws.clone()).unwrap();
        let _ = Histogram::automatic(&sample);
        let _ = KernelDensity::new(&sample).map(|density| density.modes(50.0));
        let _ = sample.wasserstein(|x| if x < 0.0 { 0.0 } else { 1.0 }, -1e300, 1e300);
        let _ = sample.pareto_k(fuld::diagnostics::Tail::Both, 1e-300);
        let _ = fuld::diagnostics::autocorrelation(&draws, usize::MAX);
        if let Ok(chains) = fuld::diagnostics::Chains::new(&[draws.clone(), draws]) {
            let _ =
                (chains.r_hat(), chains.ess_bulk(), chains.ess_mean(), chains.mcse_quantile(1.0));
        }
    }
}
