//! Estimates, intervals and errors of the tail-index estimators.
//!
//! Seeds are fixed. Bands are five standard deviations of the estimator (probability 6e-7 of
//! failing a correct one, each), as measured by the example `tail_index_table`.

use levy_stable::tail_index::{
    BlockLogMoments, Bootstrap, CharacteristicRegression, Hill, LogMoments, Scaling,
    TailIndexEstimator, TailSample, gaussian_control,
};
use levy_stable::{Sampler, SymmetricStable};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

const ALPHAS: [f64; 7] = [0.6, 1.0, 1.2, 1.5, 1.75, 1.9, 2.0];
const SCALE: f64 = 2.5;

/// Returns stable numbers centred at 7, so that estimators must remove the centre.
fn stable(alpha: f64, n: usize, seed: u64) -> Vec<f64> {
    draw(&SymmetricStable::new(alpha).unwrap().with_scale(SCALE).unwrap().sampler(), n, seed)
}

fn draw(sampler: &Sampler, n: usize, seed: u64) -> Vec<f64> {
    let mut x = vec![0.0; n];
    sampler.fill(&mut Xoshiro256PlusPlus::seed_from_u64(seed), &mut x);
    x.iter_mut().for_each(|x| *x += 7.0);
    x
}

/// α̂ within `bands` for the α of [`ALPHAS`], σ̂ within `scale_bands` relatively, n = 20 000.
fn recovers(method: &dyn TailIndexEstimator, bands: [f64; 7], scale_bands: [f64; 7]) {
    for (i, alpha) in ALPHAS.into_iter().enumerate() {
        let estimate = method.estimate(&stable(alpha, 20_000, 10 + i as u64)).unwrap();
        assert!((estimate.alpha - alpha).abs() < bands[i], "alpha = {alpha}: {estimate:?}");
        let scale = estimate.scale.unwrap();
        assert!((scale / SCALE).ln().abs() < scale_bands[i], "alpha = {alpha}: {estimate:?}");
    }
}

#[test]
fn blocks_recover() {
    let scale_bands = [0.09, 0.065, 0.06, 0.055, 0.055, 0.055, 0.05];
    recovers(&BlockLogMoments::default(), [0.03, 0.05, 0.065, 0.08, 0.09, 0.1, 0.1], scale_bands);
}

/// The original method with one lag and larger blocks, which is less accurate.
#[test]
fn blocks_of_any_size_recover() {
    for m in [2, 3, 10, 40] {
        let method = BlockLogMoments { sizes: vec![m], lags: 1 };
        let estimate = method.estimate(&stable(1.2, 20_000, 20)).unwrap();
        assert!((estimate.alpha - 1.2).abs() < 0.15, "m = {m}: {estimate:?}");
    }
}

#[test]
fn characteristic_regression_recovers() {
    let scale_bands = [0.08, 0.055, 0.05, 0.045, 0.04, 0.035, 0.03];
    recovers(
        &CharacteristicRegression::default(),
        [0.035, 0.045, 0.055, 0.06, 0.055, 0.05, 0.02],
        scale_bands,
    );
}

#[test]
fn log_moments_recover() {
    let scale_bands = [0.085, 0.065, 0.065, 0.065, 0.07, 0.07, 0.07];
    recovers(&LogMoments, [0.025, 0.055, 0.08, 0.13, 0.19, 0.24, 0.25], scale_bands);
}

/// Hill's estimator is accurate for small α and has the documented bias for large α.
#[test]
fn hill_recovers_small_indices_and_overestimates_large_ones() {
    let hill = |alpha| Hill::default().estimate(&stable(alpha, 20_000, 30)).unwrap();
    for (alpha, bias, sd) in
        [(0.6, 0.0, 0.03), (1.0, 0.0, 0.05), (1.2, 0.01, 0.062), (1.5, 0.06, 0.081)]
    {
        let estimate = hill(alpha);
        assert!((estimate.alpha - alpha - bias).abs() < 5.0 * sd, "alpha = {alpha}: {estimate:?}");
        assert_eq!(estimate.scale, None);
    }
    assert!((2.1..4.2).contains(&hill(1.9).alpha), "3.1 and not 1.9: {:?}", hill(1.9));
    assert!((6.0..9.7).contains(&hill(2.0).alpha), "7.9 and not 2: {:?}", hill(2.0));
}

/// How many of 60 intervals of 90 % cover α, and σ, for each of three α; n = 2000.
fn coverage(method: &dyn TailIndexEstimator, alphas: [f64; 3]) -> [[usize; 2]; 3] {
    alphas.map(|alpha| {
        let (sampler, mut covered) =
            (SymmetricStable::new(alpha).unwrap().with_scale(SCALE).unwrap().sampler(), [0; 2]);
        for seed in 0..60 {
            let sample = TailSample::scalars(&draw(&sampler, 2000, 1000 + seed)).unwrap();
            let found = method
                .with_interval(&sample, &Bootstrap { resamples: 99, level: 0.9, seed })
                .unwrap();
            covered[0] += usize::from(found.alpha.contains(alpha));
            covered[1] += usize::from(found.scale.is_some_and(|scale| scale.contains(SCALE)));
        }
        covered
    })
}

/// Coverage of 90 % leaves this with probability 3e-5 (180 intervals) or 1e-4 (60 of them,
/// downwards).
fn assert_covers(counts: [usize; 3]) {
    let total: usize = counts.iter().sum();
    assert!(
        (144..=176).contains(&total) && counts.iter().all(|&c| c >= 45),
        "{counts:?} of 60 each"
    );
}

#[test]
fn intervals_of_characteristic_regression_cover() {
    let counts = coverage(&CharacteristicRegression::default(), [1.0, 1.5, 1.9]);
    assert_covers(counts.map(|c| c[0]));
    assert_covers(counts.map(|c| c[1]));
}

#[test]
fn intervals_of_log_moments_cover() {
    let counts = coverage(&LogMoments, [0.6, 1.2, 1.75]);
    assert_covers(counts.map(|c| c[0]));
    assert_covers(counts.map(|c| c[1]));
}

/// For α they are wide: a resample shuffles the blocks too, so every 90 % interval near 2 may
/// cover.
#[test]
fn intervals_of_blocks_cover() {
    let counts = coverage(&BlockLogMoments::default(), [0.6, 1.0, 1.5]);
    let alpha = counts.map(|c| c[0]);
    assert!(
        alpha.iter().sum::<usize>() >= 144 && alpha.iter().all(|&c| c >= 45),
        "{alpha:?} of 60 each"
    );
    assert_covers(counts.map(|c| c[1]));
}

#[test]
fn intervals_of_hill_cover_where_it_is_unbiased() {
    let counts = coverage(&Hill::default(), [0.6, 0.8, 1.0]);
    assert_covers(counts.map(|c| c[0]));
    assert!(counts.iter().all(|c| c[1] == 0), "Hill gives no scale");
    // The interval does not include the bias.
    assert!(coverage(&Hill::default(), [1.9; 3])[0][0] <= 3);
}

/// Three coordinates of different centre and scale: scaled they give α and the geometric mean of
/// the scales, unscaled they look heavier-tailed than they are.
#[test]
fn rows_are_centred_and_scaled_by_coordinate() {
    let columns = [stable(1.7, 8000, 41), stable(1.7, 8000, 42), stable(1.7, 8000, 43)];
    let rows: Vec<f64> = (0..8000)
        .flat_map(|i| [columns[0][i], 1e3 + 20.0 * columns[1][i], -0.1 * columns[2][i]])
        .collect();
    let blocks = BlockLogMoments::default();
    let characteristic = CharacteristicRegression::default();
    for method in [&blocks as &dyn TailIndexEstimator, &characteristic, &LogMoments] {
        let scaled =
            method.fit(&TailSample::rows(&rows, 3, Scaling::PerCoordinate).unwrap()).unwrap();
        assert!((scaled.alpha - 1.7).abs() < 0.17, "{scaled:?}");
        let mean = SCALE * 2f64.cbrt();
        assert!((scaled.scale.unwrap() / mean).ln().abs() < 0.07, "{scaled:?} for {mean}");
    }
    let mixed = LogMoments.fit(&TailSample::rows(&rows, 3, Scaling::Common).unwrap()).unwrap();
    assert!(mixed.alpha < 0.9, "{mixed:?}");
}

/// A coordinate that only repeats another adds no information: the interval must not shrink, as it
/// would if numbers were drawn instead of rows; and sums must not run across coordinates.
#[test]
fn repeated_coordinates_do_not_narrow_the_interval() {
    let x = stable(1.4, 2000, 50);
    let pairs: Vec<f64> = x.iter().flat_map(|&x| [x, x]).collect();
    let bootstrap = Bootstrap { resamples: 99, level: 0.9, seed: 3 };
    for method in [&BlockLogMoments::default() as &dyn TailIndexEstimator, &LogMoments] {
        let once = method.with_interval(&TailSample::scalars(&x).unwrap(), &bootstrap).unwrap();
        let sample = TailSample::rows(&pairs, 2, Scaling::Common).unwrap();
        let twice = method.with_interval(&sample, &bootstrap).unwrap();
        assert!((once.alpha.low - twice.alpha.low).abs() < 2e-3, "{once:?} {twice:?}");
        assert!((once.alpha.high - twice.alpha.high).abs() < 2e-3, "{once:?} {twice:?}");
    }
}

/// The control depends only on the number of data, not on their tail, and every method estimates
/// for it what it does for Gaussian data.
#[test]
fn the_control_is_gaussian() {
    let x = stable(1.3, 20_000, 60);
    let alpha = |method: &dyn TailIndexEstimator| gaussian_control(&x, method, 1).unwrap().alpha;
    assert!(alpha(&BlockLogMoments::default()) > 1.9);
    assert!(alpha(&CharacteristicRegression::default()) > 1.98);
    assert!(alpha(&LogMoments) > 1.75);
    assert!(alpha(&Hill::default()) > 6.0);
    let control = |seed| gaussian_control(&x, &LogMoments, seed).unwrap();
    assert_eq!(control(1), control(1));
    assert_ne!(control(1), control(2));
    // Interquartile range 2.0 of SαS(1) at α = 1.3 against 1.91 at α = 2.
    let scale =
        gaussian_control(&x, &CharacteristicRegression::default(), 1).unwrap().scale.unwrap();
    let range = |alpha| 2.0 * levy_stable::SymmetricStable::new(alpha).unwrap().isf(0.25);
    let expected = SCALE * range(1.3) / range(2.0);
    assert!((scale / expected).ln().abs() < 0.06, "{scale} for {expected}");
}
