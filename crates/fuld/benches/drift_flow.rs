//! The flow of the Gaussian kinetic energy's drift, and the cost of building it.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use fuld::dynamics::GaussianDrift;
use fuld::{Alpha, Beta};
use std::hint::black_box;

fn drift_flow(criterion: &mut Criterion) {
    let drift = GaussianDrift::new(Alpha::new(1.5).expect("valid"), Beta::ONE);
    let flow = drift.flow().expect("a smooth drift");
    // Velocities of a chain: mostly of order one, some far out.
    let start: Vec<f64> = (0..4096)
        .map(|i| (0.37 * f64::from(i)).sin() * 2.5 + (f64::from(i % 64) - 32.0) / 8.0)
        .collect();
    let mut v = start.clone();
    let mut group = criterion.benchmark_group("drift_flow");
    group.throughput(Throughput::Elements(start.len() as u64));
    group.bench_function("flow", |bencher| {
        bencher.iter(|| {
            v.copy_from_slice(&start);
            flow.flow(black_box(0.05), &mut v);
            black_box(&v);
        });
    });
    group.finish();
    criterion
        .bench_function("drift_flow/build", |bencher| bencher.iter(|| black_box(drift).flow()));
}

criterion_group! { name = benches; config = Criterion::default().sample_size(20); targets = drift_flow }
criterion_main!(benches);
