//! Gradients of potentials on batches of points.

use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput};
use fuld::Potential;
use fuld::potential::{Formula, FromFn1, named};
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
    time("quartic closure", &FromFn1::new(|x| x.powi(4) / 4.0 - x * x / 2.0, |x| x * (x * x - 1.0)), BATCH);
    for batch in [1, 64, BATCH] {
        time("x^4/4 - x^2/2", &formula("x^4/4 - x^2/2"), batch);
    }
    for text in ["log(1+x^2)", "exp(-x^2)", "(1-x)^2 + 100*(y-x^2)^2"] {
        time(text, &formula(text), BATCH);
    }
    for (name, dim) in [
        ("double_well", 1),
        ("harmonic", 1),
        ("cauchy", 1),
        ("mixture", 1),
        ("rosenbrock", 2),
        ("funnel", 10),
    ] {
        time(name, &*named(name, dim, &[]).expect("a known name"), BATCH);
    }
    time("logistic", &*named("logistic", 31, &[]).expect("a known name"), 64);
    time("logistic, batch of 32", &*named("logistic", 31, &[("batch", 32.0)]).expect("a known name"), 64);
    group.finish();
    criterion.final_summary();
}
