//! Settings, seeds and timing shared by the benchmarks.

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, SamplingMode, Throughput};
use levy_stable::SymmetricStable;
use rand::SeedableRng;
use rand::distr::Distribution;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::time::Duration;

/// Points per iteration.
pub(crate) const BATCH: usize = 4096;

/// Settings that keep all benchmarks together under two minutes.
pub(crate) fn criterion() -> Criterion {
    Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .sample_size(20)
        .without_plots()
        .configure_from_args()
}

/// A group whose samples all take as many iterations as fit: batches are long enough for the clock.
pub(crate) fn group<'a>(criterion: &'a mut Criterion, name: &str) -> BenchmarkGroup<'a, WallTime> {
    let mut group = criterion.benchmark_group(name);
    group.sampling_mode(SamplingMode::Flat);
    group
}

/// Times `work`, which handles `count` elements each time it is called.
pub(crate) fn time(
    group: &mut BenchmarkGroup<'_, WallTime>,
    (function, alpha): (&str, f64),
    count: usize,
    mut work: impl FnMut(),
) {
    group.throughput(Throughput::Elements(count as u64));
    group.bench_function(BenchmarkId::new(function, alpha), |b| b.iter(&mut work));
}

/// Returns the generator, which is the same in every run.
pub(crate) fn rng() -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(20260)
}

/// Returns a batch of draws from the law.
#[allow(dead_code, reason = "not every benchmark draws its points")]
pub(crate) fn drawn(law: &SymmetricStable) -> Vec<f64> {
    law.sample_iter(rng()).take(BATCH).collect()
}
