//! For any input, the tail-index estimators return finite numbers or an error that names the cause.

use levy_stable::SymmetricStable;
use levy_stable::quantiles::quantile_by_selection;
use levy_stable::tail_index::{
    BlockLogMoments, Bootstrap, CharacteristicRegression, Hill, LogMoments, Scaling,
    TailIndexError, TailIndexEstimator, TailSample, gaussian_control,
};
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Runs `check` with each estimator.
fn each(check: impl Fn(&str, &dyn TailIndexEstimator)) {
    check("blocks", &BlockLogMoments::default());
    check("Hill", &Hill::default());
    check("characteristic", &CharacteristicRegression::default());
    check("log-moments", &LogMoments);
}

fn cauchy(n: usize) -> Vec<f64> {
    let mut x = vec![0.0; n];
    SymmetricStable::new(1.0)
        .unwrap()
        .sampler()
        .fill(&mut Xoshiro256PlusPlus::seed_from_u64(9), &mut x);
    x
}

#[test]
fn errors_name_the_index_of_an_invalid_number() {
    each(|name, method| {
        for bad in [f64::INFINITY, f64::NEG_INFINITY, f64::MAX, -1.1e300] {
            let mut x = cauchy(100);
            x[17] = bad;
            assert_eq!(
                method.estimate(&x),
                Err(TailIndexError::Number { index: 17, value: bad }),
                "{name}"
            );
        }
        let mut x = cauchy(100);
        x[99] = f64::NAN;
        let error = method.estimate(&x).unwrap_err();
        assert!(
            matches!(error, TailIndexError::Number { index: 99, value } if value.is_nan()),
            "{name}: {error}"
        );
        assert!(gaussian_control(&x, method, 1).is_err());
    });
}

#[test]
fn too_few_and_constant_data_are_refused() {
    each(|name, method| {
        for n in [0, 1, 2, 9] {
            let error = method.estimate(&cauchy(n)).unwrap_err();
            assert_eq!(error, TailIndexError::TooFew { needed: 10, got: n }, "{name}");
        }
        for value in [0.0, -3.5, 1e300] {
            assert_eq!(
                method.estimate(&[value; 50]),
                Err(TailIndexError::Constant { coordinate: 0, value }),
                "{name}"
            );
        }
    });
    let rows: Vec<f64> = cauchy(50).into_iter().flat_map(|x| [x, 4.0]).collect();
    let error = TailSample::rows(&rows, 2, Scaling::Common).unwrap_err();
    assert_eq!(error.to_string(), "coordinate 1 of the data is constant (4); remove it");
    let error = TailSample::rows(&rows, 3, Scaling::Common).unwrap_err();
    assert_eq!(
        error.to_string(),
        "100 numbers do not form rows of dimension 3; the dimension must divide their number"
    );
    assert!(TailSample::rows(&rows, 0, Scaling::Common).is_err());
    let error = Hill { k: Some(0) }.estimate(&cauchy(50)).unwrap_err();
    assert_eq!(error, TailIndexError::OrderStatistics(0));
    let error = Hill { k: Some(usize::MAX) }.estimate(&cauchy(50)).unwrap_err();
    assert_eq!(error, TailIndexError::TooFew { needed: usize::MAX, got: 50 });
}

/// Zeros are excluded and counted, and a few of them hardly change the estimate.
#[test]
fn zeros_are_counted() {
    // As many negative numbers as positive ones, so that the median is a zero.
    let mut x = cauchy(19_800);
    let median = quantile_by_selection(&mut x.clone(), 0.5);
    x.iter_mut().for_each(|x| *x -= median);
    let x: Vec<f64> = x.chunks(99).flat_map(|chunk| chunk.iter().copied().chain([0.0])).collect();
    each(|name, method| {
        let estimate = method.estimate(&x).unwrap();
        assert!((estimate.alpha - 1.0).abs() < 0.25, "{name}: {estimate:?}");
        assert_eq!(estimate.zeros, if name == "characteristic" { 0 } else { 200 }, "{name}");
    });
    assert_eq!(LogMoments.estimate(&cauchy(1001)).unwrap().zeros, 1, "the median itself");
}

/// More than half zeros: no interquartile range, which only scaling and the control need.
#[test]
fn mostly_zeros_have_no_spread() {
    let mut x = cauchy(1000);
    x[..800].fill(0.0);
    assert!(LogMoments.estimate(&x).is_ok());
    assert_eq!(
        gaussian_control(&x, &LogMoments, 1),
        Err(TailIndexError::NoSpread { coordinate: 0 })
    );
    let error = TailSample::rows(&x, 1, Scaling::PerCoordinate).unwrap_err();
    assert_eq!(error, TailIndexError::NoSpread { coordinate: 0 });
}

#[test]
fn equal_sizes_have_no_tail() {
    let signs: Vec<f64> = (0..100).map(|i| if i % 2 == 0 { 3.0 } else { -3.0 }).collect();
    assert_eq!(Hill::default().estimate(&signs), Err(TailIndexError::NoTail(3.0)));
}

/// Numbers of every size, with repetitions and zeros, in short samples.
#[test]
fn strange_data_give_numbers_or_errors() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(2);
    let pool =
        [0.0, -0.0, 1.0, -1.0, 5e-324, -5e-324, 1e-300, 1e300, -1e300, 3.0, f64::EPSILON, 1e150];
    for round in 0..150 {
        let n = 10 + (rng.next_u64() % 60) as usize;
        let kinds = 2 + round % (pool.len() - 1);
        let x: Vec<f64> =
            (0..2 * n).map(|_| pool[(rng.next_u64() % kinds as u64) as usize]).collect();
        for scaling in [Scaling::Common, Scaling::PerCoordinate] {
            let Ok(sample) = TailSample::rows(&x, 2, scaling) else { continue };
            let twin = if round % 10 == 0 { sample.gaussian_twin(1).ok() } else { None };
            each(|name, method| {
                let bootstrap = Bootstrap { resamples: 19, ..Bootstrap::default() };
                for estimate in [
                    method.fit(&sample).ok(),
                    method.with_interval(&sample, &bootstrap).ok().map(|found| found.estimate),
                    twin.as_ref().and_then(|twin| method.fit(twin).ok()),
                ]
                .into_iter()
                .flatten()
                {
                    let scale = estimate.scale.unwrap_or(1.0);
                    assert!(
                        estimate.alpha > 0.0 && estimate.alpha.is_finite(),
                        "{name}: {estimate:?} of {x:?}"
                    );
                    assert!(scale > 0.0 && scale.is_finite(), "{name}: {estimate:?} of {x:?}");
                }
            });
        }
    }
}

/// A change of unit changes only σ, and the order of rows affects only the estimate by blocks.
#[test]
fn estimates_are_equivariant() {
    let x = cauchy(3000);
    each(|name, method| {
        let plain = method.estimate(&x).unwrap();
        for unit in [1e-200, 1e-3, 64.0, 1e150] {
            let scaled: Vec<f64> = x.iter().map(|x| unit * x).collect();
            let estimate = method.estimate(&scaled).unwrap();
            assert!((estimate.alpha - plain.alpha).abs() < 1e-9, "{name}: {estimate:?} {plain:?}");
            if let (Some(a), Some(b)) = (estimate.scale, plain.scale) {
                assert!((a / unit / b - 1.0).abs() < 1e-9, "{name}: {estimate:?} {plain:?}");
            }
        }
        let moved: Vec<f64> = x.iter().rev().map(|x| x + 1000.0).collect();
        let estimate = method.estimate(&moved).unwrap();
        let tolerance = if name == "blocks" { 0.1 } else { 1e-6 };
        assert!((estimate.alpha - plain.alpha).abs() < tolerance, "{name}: {estimate:?} {plain:?}");
    });
}
