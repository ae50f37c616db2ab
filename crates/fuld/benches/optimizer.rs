//! A step of the rule compared with a plain pass of SGD with momentum over the same arrays of ten
//! million parameters.
//!
//! Both read three arrays and write two, and neither should wait for anything but memory. After
//! criterion's times a line per case gives the ratio of the speeds, each the best of many passes
//! taken in turn.

use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput};
use fuld::guard::{Guard, GuardState, LogSum};
use fuld::optimizer::{Coordinates, Matched, Options, Rule};
use levy_stable::SymmetricStable;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::hint::black_box;
use std::time::{Duration, Instant};

const COUNT: usize = 10_000_000;
const LEARNING_RATE: f64 = 0.01;
const MOMENTUM: f64 = 0.9;
const ALPHA: f64 = 1.5;

/// Parameters, buffer, gradient.
struct Arrays {
    x: Vec<f32>,
    b: Vec<f32>,
    g: Vec<f32>,
}

impl Arrays {
    /// SαS gradients of a scale, and the buffer they lead to if they stay the same.
    fn new(scale: f64) -> Self {
        let mut g = vec![0.0; COUNT];
        let sampler = SymmetricStable::new(ALPHA)
            .expect("a valid alpha")
            .with_scale(scale)
            .expect("a valid scale")
            .sampler();
        sampler.fill_f32(&mut Xoshiro256PlusPlus::seed_from_u64(1), &mut g);
        let b = g.iter().map(|g| g / (1.0 - MOMENTUM) as f32).collect();
        Self { x: vec![0.1; COUNT], b, g }
    }

    fn plain(&mut self) {
        let (momentum, rate) = (MOMENTUM as f32, LEARNING_RATE as f32);
        for ((x, b), &g) in self.x.iter_mut().zip(&mut self.b).zip(&self.g) {
            *b = momentum * *b + g;
            *x -= rate * *b;
        }
        black_box(&self.x);
    }

    fn step(&mut self, rule: &Rule) {
        rule.step(&mut self.x, &mut self.b, &self.g);
        black_box(&self.x);
    }
}

/// Compares steps with a guard to steps without one, on the same tensors: the guard within the pass
/// of the step, and as a pass before it. Takes the best of many repetitions.
fn compare_guard(name: &str, rule: &Rule) {
    for size in [COUNT, 1_000_000, 65_536, 4_096] {
        for guard in [Guard::FOR_SGD, Guard::FOR_ADAM] {
            let mut arrays = Arrays::new(1e-3);
            let mut states = vec![GuardState::new(); COUNT / size];
            let [mut plain, mut fused, mut before] = [f64::INFINITY; 3];
            for _ in 0..20 {
                let Arrays { x, b, g } = &mut arrays;
                let tensors = || (0..COUNT / size).map(|i| i * size..(i + 1) * size);
                plain = plain.min(seconds(|| {
                    tensors().for_each(|part| {
                        rule.step(&mut x[part.clone()], &mut b[part.clone()], &g[part])
                    });
                }));
                fused = fused.min(seconds(|| {
                    for (state, part) in states.iter_mut().zip(tensors()) {
                        let decision = guard.observe(state, LogSum::of(&g[part.clone()]));
                        rule.guarded(decision).step(
                            &mut x[part.clone()],
                            &mut b[part.clone()],
                            &g[part],
                        );
                    }
                }));
                let mut copy = g.clone();
                before = before.min(seconds(|| {
                    for (state, part) in states.iter_mut().zip(tensors()) {
                        guard.apply(state, &mut copy[part.clone()]);
                        rule.step(&mut x[part.clone()], &mut b[part.clone()], &copy[part]);
                    }
                }));
                black_box(&x);
            }
            println!(
                "{name}, guard c = {}, tensors of {size:>8}: {:.2} × the time without, {:.2} × as a pass of its own",
                guard.clip(),
                fused / plain,
                before / plain
            );
        }
    }
}

fn seconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

fn main() {
    let mut c = Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .sample_size(20)
        .without_plots()
        .configure_from_args();
    // κ for which v/κ has the law whose negative score the field is; then one so large that the
    // field is straight for all of them.
    let scale = 1e-3;
    let kappa = LEARNING_RATE.sqrt() * scale / (1.0 - MOMENTUM) * ALPHA.powf(1.0 / ALPHA);
    let rule = |alpha, kappa| {
        let coordinates = Coordinates::matched(Matched {
            alpha,
            learning_rate: LEARNING_RATE,
            momentum: MOMENTUM,
            kappa,
        })
        .expect("valid coordinates");
        Rule::new(coordinates, Options::default()).expect("no options")
    };
    let cases = [
        ("stationary", rule(ALPHA, kappa)),
        ("calm", rule(ALPHA, 1e3 * kappa)),
        ("alpha 2", rule(2.0, kappa)),
    ];
    let mut arrays = Arrays::new(scale);
    let mut group = c.benchmark_group("optimizer");
    group.sampling_mode(SamplingMode::Flat).throughput(Throughput::Elements(COUNT as u64));
    group.bench_function("plain", |b| b.iter(|| arrays.plain()));
    for (name, rule) in &cases {
        group.bench_function(BenchmarkId::new("rule", name), |b| b.iter(|| arrays.step(rule)));
    }
    group.finish();
    c.final_summary();
    for (name, rule) in &cases {
        let (mut plain, mut ours) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..30 {
            plain = plain.min(seconds(|| arrays.plain()));
            ours = ours.min(seconds(|| arrays.step(rule)));
        }
        let speed = |seconds: f64| COUNT as f64 / seconds / 1e6;
        println!(
            "{name}: rule {:.0} M/s, plain {:.0} M/s, ratio {:.2}",
            speed(ours),
            speed(plain),
            plain / ours
        );
    }
    for (name, rule) in &cases {
        compare_guard(name, rule);
    }
}
