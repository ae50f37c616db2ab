//! Every potential: its gradient matches its value, batches equal single points, and no input
//! panics.

use crate::differences::{Random, difference, gradient, gradients, same};
use fuld::Potential;
use fuld::potential::{
    Cauchy, DoubleWell, Formula, FromFn, FromFn1, Funnel, GaussianMixture, Harmonic,
    LogisticRegression, PotentialError, Rosenbrock,
};

/// A potential with its name and a radius on which differences are accurate.
type Case = (&'static str, Box<dyn Potential>, f64);

/// Returns one potential of each kind.
fn all() -> Result<Vec<Case>, PotentialError> {
    let means = [vec![1.0, 2.0, -1.0], vec![-2.0, 0.0, 0.5], vec![0.0, -3.0, 1.0]];
    let mixture = GaussianMixture::new(&[1.0, 2.0, 0.5], &means, &[1.0, 0.5, 2.0])?;
    let closure = FromFn::new(
        2,
        |x: &[f64]| x[0].sin() * x[1],
        |x: &[f64], g: &mut [f64]| {
            g[0] = x[0].cos() * x[1];
            g[1] = x[0].sin();
        },
    )?;
    let far_apart = [vec![3.0, 0.0, 0.0], vec![-3.0, 0.0, 0.0]];
    let two_modes = GaussianMixture::new(&[0.5, 0.5], &far_apart, &[1.0, 1.0])?;
    Ok(vec![
        ("double well", Box::new(DoubleWell::new(1, 2.0, 0.5)?), 3.0),
        ("double wells", Box::new(DoubleWell::new(5, 0.3, -1.0)?), 3.0),
        ("harmonic", Box::new(Harmonic::new([0.1, 2.0, 30.0])?), 3.0),
        ("isotropic", Box::new(Harmonic::isotropic(4, 2.5)?), 3.0),
        ("cauchy", Box::new(Cauchy::new(3, 2.0)?), 8.0),
        ("mixture", Box::new(mixture), 4.0),
        ("rosenbrock", Box::new(Rosenbrock::new(5, 1.5, 10.0)?), 2.0),
        ("rosenbrock", Box::new(Rosenbrock::new(2, 1.0, 100.0)?), 2.0),
        ("funnel", Box::new(Funnel::new(4, 3.0)?), 3.0),
        ("logistic", Box::new(LogisticRegression::breast_cancer(1.5)?), 1.0),
        ("closure", Box::new(closure), 2.0),
        ("line", Box::new(FromFn1::new(f64::cosh, f64::sinh)), 2.0),
        ("formula", Box::new(Formula::parse("log(1+x^2) + exp(-y^2)*x").unwrap()), 2.0),
        ("double wells", Box::new(DoubleWell::new(3, 1.0, 1.0)?), 2.0),
        ("isotropic", Box::new(Harmonic::isotropic(3, 1.0)?), 2.0),
        ("cauchy", Box::new(Cauchy::new(3, 1.0)?), 2.0),
        ("two modes", Box::new(two_modes), 2.0),
        ("rosenbrock", Box::new(Rosenbrock::new(3, 1.0, 100.0)?), 2.0),
        ("funnel", Box::new(Funnel::new(3, 3.0)?), 2.0),
        ("logistic", Box::new(LogisticRegression::breast_cancer(1.0)?), 2.0),
    ])
}

#[test]
fn gradients_match_central_differences() {
    let mut random = Random(1);
    for (name, f, radius) in all().unwrap() {
        for _ in 0..20 {
            let x = random.points(f.dim(), -radius, radius);
            let g = gradient(&*f, &x);
            for (i, g) in g.iter().enumerate() {
                let h = 0.01;
                let expected = difference(&*f, &x, i, h);
                // Rounding of the values, and the truncation error of the differences.
                let tolerance = 1e-13 * f.value(&x).abs() / h + 1e-8 * (1.0 + expected.abs());
                assert!(
                    (g - expected).abs() < tolerance,
                    "{name} at {x:?}, {i}: {g}, not {expected}"
                );
            }
        }
    }
}

#[test]
fn batches_equal_single_points_bit_for_bit() {
    let mut random = Random(2);
    for (name, f, radius) in all().unwrap() {
        let d = f.dim();
        for n in [0, 1, 2, 255, 256, 257, 600] {
            let mut points = random.points(n * d, -radius, radius);
            for x in points.iter_mut().step_by(17) {
                *x = [0.0, f64::INFINITY, f64::NAN, -1e200][random.below(4)];
            }
            let batch = gradients(&*f, &points);
            for (x, batch) in points.chunks(d).zip(batch.chunks(d)) {
                let single = gradient(&*f, x);
                assert!(
                    single.iter().zip(batch).all(|(&a, &b)| same(a, b)),
                    "{name} at {x:?}: {single:?}, {batch:?}"
                );
            }
        }
    }
}

#[test]
fn no_input_panics_and_nan_is_passed_on() {
    for (name, f, _) in all().unwrap() {
        for bad in
            [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, -f64::MAX, f64::MIN_POSITIVE]
        {
            let x = vec![bad; f.dim()];
            let (value, g) = (f.value(&x), gradient(&*f, &x));
            if bad.is_nan() {
                assert!(value.is_nan() && g.iter().all(|g| g.is_nan()), "{name}: {value} {g:?}");
            }
        }
    }
}

#[test]
fn minima_are_at_their_known_positions() {
    let well = DoubleWell::new(1, 2.0, 8.0).unwrap();
    assert_eq!((gradient(&well, &[2.0]), well.value(&[2.0])), (vec![0.0], -8.0));
    let valley = Rosenbrock::new(6, 1.0, 100.0).unwrap();
    assert_eq!((gradient(&valley, &[1.0; 6]), valley.value(&[1.0; 6])), (vec![0.0; 6], 0.0));
    // Given the first coordinate the others are normal with variance e^x₁: f differs by 1/2 between
    // 0 and one deviation.
    let funnel = Funnel::new(2, 3.0).unwrap();
    assert!((funnel.value(&[2.0, 1f64.exp()]) - funnel.value(&[2.0, 0.0]) - 0.5).abs() < 1e-14);
}

#[test]
fn stochastic_gradients_depend_only_on_the_word() {
    let f = LogisticRegression::breast_cancer(1.0).unwrap().with_batch(16).unwrap();
    let x = [0.1; 31];
    let (mut one, mut again, mut other) = ([0.0; 31], [0.0; 31], [0.0; 31]);
    f.sampled_gradient(&x, 7, &mut one);
    f.sampled_gradient(&x, 7, &mut again);
    f.sampled_gradient(&x, 8, &mut other);
    assert!(one == again && one != other);
    let mut batch = [0.0; 62];
    f.gradients(&[0.1; 62], &[7, 8], &mut batch);
    assert!(batch[..31] == one && batch[31..] == other);
}
