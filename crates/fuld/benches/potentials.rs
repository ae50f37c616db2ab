//! Gradients of potentials on batches of points.

use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput};
use fuld::Potential;
use fuld::potential::{
    Cauchy, DoubleWell, Formula, FromFn1, Funnel, GaussianMixture, Harmonic, LogisticRegression,
    Rosenbrock,
};
use std::hint::black_box;
use std::time::Duration;

/// Points per iteration.
const BATCH: usize = 4096;

fn main() {
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .sample_size(20)
        .without_plots()
        .configure_from_args();
    let mut group = criterion.benchmark_group("gradients");
    group.sampling_mode(SamplingMode::Flat);
    let mut time = |name: &str, f: &dyn Potential, batch: usize| {
        let points: Vec<f64> = (0..batch * f.dim()).map(|i| (i as f64 * 0.7).sin()).collect();
        let (words, mut out) = (vec![7; batch], vec![0.0; points.len()]);
        group.throughput(Throughput::Elements(batch as u64));
        group.bench_function(BenchmarkId::new(name, batch), |b| {
            b.iter(|| f.gradients(black_box(&points), &words, &mut out));
        });
    };
    let formula = |text| Formula::parse(text).expect("a valid formula");
    time(
        "quartic closure",
        &FromFn1::new(|x| x.powi(4) / 4.0 - x * x / 2.0, |x| x * (x * x - 1.0)),
        BATCH,
    );
    for batch in [1, 64, BATCH] {
        time("x^4/4 - x^2/2", &formula("x^4/4 - x^2/2"), batch);
    }
    for text in ["log(1+x^2)", "exp(-x^2)", "(1-x)^2 + 100*(y-x^2)^2"] {
        time(text, &formula(text), BATCH);
    }
    const VALID: &str = "valid parameters";
    let modes = [vec![3.0], vec![-3.0]];
    let mixture = GaussianMixture::new(&[0.5, 0.5], &modes, &[1.0, 1.0]).expect(VALID);
    time("double_well", &DoubleWell::new(1, 1.0, 1.0).expect(VALID), BATCH);
    time("harmonic", &Harmonic::isotropic(1, 1.0).expect(VALID), BATCH);
    time("cauchy", &Cauchy::new(1, 1.0).expect(VALID), BATCH);
    time("mixture", &mixture, BATCH);
    time("rosenbrock", &Rosenbrock::new(2, 1.0, 100.0).expect(VALID), BATCH);
    time("funnel", &Funnel::new(10, 3.0).expect(VALID), BATCH);
    let logistic = LogisticRegression::breast_cancer(1.0).expect(VALID);
    time("logistic", &logistic.clone(), 64);
    time("logistic, batch of 32", &logistic.with_batch(32).expect(VALID), 64);
    group.finish();
    criterion.final_summary();
}
