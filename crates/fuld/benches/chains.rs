//! Steps of many chains on one core: the paper's Euler scheme on the quartic, and a Gaussian in a
//! thousand dimensions.

use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput};
use fuld::chains::{Callback, Control};
use fuld::potential::{DoubleWell, Harmonic};
use fuld::{Alpha, Beta, Friction, Integrator, Potential, Run, Schedule, System, Underdamped};
use std::time::Duration;

/// Enough steps that building the tables, some milliseconds per run, is negligible.
const STEPS: u64 = 8000;

/// One run of `STEPS` steps, discarding the draws.
fn go(chains: usize, threads: usize, integrator: Integrator, potential: &dyn Potential) {
    let run = Run::new(
        System::fuld(Underdamped {
            alpha: Alpha::new(1.5).expect("valid"),
            gamma: Friction::new(10.0).expect("valid"),
            beta: Beta::ONE,
        })
        .expect("valid parameters"),
        integrator,
        Schedule::constant(0.01).expect("a valid step"),
    );
    let run = Run { chains, warmup: 0, draws: 1, thin: STEPS, threads, ..run };
    run.stream(potential, &mut Callback(|_, _: &[f64]| Ok(())), &mut |_| Control::Continue)
        .expect("a run");
}

fn main() {
    let mut c = Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(2))
        .sample_size(10)
        .without_plots()
        .configure_from_args();
    let well = DoubleWell::new(1, 1.0, 1.0).expect("valid parameters");
    let gauss = Harmonic::isotropic(1000, 1.0).expect("valid parameters");
    let mut group = c.benchmark_group("chains");
    group.sampling_mode(SamplingMode::Flat);
    group.throughput(Throughput::Elements(4096 * STEPS));
    for integrator in [Integrator::Euler, Integrator::Baoab] {
        for threads in [1, 2] {
            let id = BenchmarkId::new(format!("quartic, {integrator}, {threads} threads"), 1.5);
            group.bench_function(id, |b| b.iter(|| go(4096, threads, integrator, &well)));
        }
    }
    group.throughput(Throughput::Elements(4 * 1000 * STEPS));
    let id = BenchmarkId::new("d = 1000, Euler, 1 threads", 1.5);
    group.bench_function(id, |b| b.iter(|| go(4, 1, Integrator::Euler, &gauss)));
    group.finish();
    c.final_summary();
}
