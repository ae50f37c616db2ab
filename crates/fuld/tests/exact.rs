//! Exact sampling: no bias at any step size, adaptation that finds the target, the same draws on
//! any number of threads.
//!
//! Seeds are fixed. The bounds of means are 4 standard errors over chains: false alarms in 6 of
//! 100,000 cases.

use fuld::chains::{Callback, Control, Progress, STATISTICS, WarmState};
use fuld::dynamics::{CustomKinetic, DifferentiableFunction};
use fuld::potential::{DoubleWell, FromFn, FromFn1, LogisticRegression};
use fuld::{
    Alpha, Beta, Friction, Integrator, MemorySink, Polynomial, Potential, Run, Samples, Schedule,
    Start, Step, System, Underdamped, ZarrDraws, ZarrSink,
};

fn fuld(alpha: f64, gamma: f64, beta: f64) -> System {
    let (alpha, gamma, beta) =
        (Alpha::new(alpha).unwrap(), Friction::new(gamma).unwrap(), Beta::new(beta).unwrap());
    System::fuld(Underdamped { alpha, gamma, beta }).unwrap()
}

/// A run without adaptation.
fn fixed(system: System, step: f64, path: f64) -> Run {
    let run = Run::new(system, Integrator::Exact, Schedule::constant(step).unwrap());
    Run { adapt: false, path, chains: 256, warmup: 200, draws: 2000, seed: 5, ..run }
}

/// Mean over chains of the averages of h, with its standard error.
fn mean(samples: &Samples, h: impl Fn(f64) -> f64) -> (f64, f64) {
    let averages: Vec<f64> = samples
        .coordinate(0)
        .iter()
        .map(|chain| chain.iter().map(|&x| h(x)).sum::<f64>() / chain.len() as f64)
        .collect();
    let n = averages.len() as f64;
    let mean = averages.iter().sum::<f64>() / n;
    let variance = averages.iter().map(|a| (a - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}

fn acceptance(samples: &Samples) -> f64 {
    let all = samples.statistic(1).unwrap().concat();
    all.iter().sum::<f64>() / all.len() as f64
}

/// The kinetic energy of special relativity, as a user would supply it.
fn relativistic(gamma: Friction) -> System {
    let energy = DifferentiableFunction {
        value: |v: f64| (1.0 + v * v).sqrt(),
        derivative: |v: f64| v / (1.0 + v * v).sqrt(),
    };
    let kinetic = CustomKinetic::new(Alpha::new(1.5).unwrap(), Beta::ONE, energy).unwrap();
    System::underdamped("relativistic", kinetic, gamma).unwrap()
}

/// At step 1, where the splittings are wrong by half, E x² is exact for every α and β and for the
/// Gaussian and a custom kinetic energy.
#[test]
fn no_bias_at_any_step() {
    let well = DoubleWell::new(1, 1.0, 1.0).unwrap();
    // With Gaussian velocities step 1 is too long for this well: chains would stay far out for
    // thousands of iterations.
    for (system, step, exact) in [
        (fuld(1.5, 2.0, 1.0), 1.0, 1.041_797),
        (fuld(1.0, 2.0, 1.0), 1.0, 1.041_797),
        (fuld(2.0, 2.0, 1.0), 0.5, 1.041_797),
        (fuld(1.5, 2.0, 0.25), 1.0, 1.666_114),
        (relativistic(Friction::new(2.0).unwrap()), 1.0, 1.041_797),
        (relativistic(Friction::COMPLETE), 1.0, 1.041_797),
        (
            System::fuld_gaussian(Underdamped {
                alpha: Alpha::new(1.5).unwrap(),
                gamma: Friction::new(2.0).unwrap(),
                beta: Beta::ONE,
            })
            .unwrap(),
            0.5,
            1.041_797,
        ),
    ] {
        let name = system.to_string();
        for path in [0.0, 2.5] {
            let samples = fixed(system.clone(), step, path).sample(&well).unwrap();
            let (value, error) = mean(&samples, |x| x * x);
            println!(
                "{name}, path {path}: {value:.5} ± {error:.5}, accepted {:.3}",
                acceptance(&samples)
            );
            assert!(
                (value - exact).abs() < 4.0 * error && error < 0.01,
                "{name}: {value} ± {error}"
            );
        }
    }
}

/// A run that adapts itself, from the default start.
fn adapted(alpha: f64) -> Run {
    let run = Run::new(fuld(alpha, 2.0, 1.0), Integrator::Exact, Schedule::constant(0.1).unwrap());
    Run { chains: 64, warmup: 500, draws: 500, seed: 3, ..run }
}

/// Independent Gaussians with scales from 0.01 to 100.
fn scaled_gaussians() -> impl Potential {
    let scale = |i: usize| 10f64.powi(i as i32 - 2);
    FromFn::new(
        5,
        move |x: &[f64]| x.iter().enumerate().map(|(i, x)| 0.5 * (x / scale(i)).powi(2)).sum(),
        move |x: &[f64], g: &mut [f64]| (0..5).for_each(|i| g[i] = x[i] / scale(i).powi(2)),
    )
    .unwrap()
    .named("scaled gaussians")
}

/// Step, scales and path are found from a start that is far from the target, and the draws have the
/// right variances.
#[test]
fn adaptation_finds_scales_from_afar() {
    for alpha in [1.5, 2.0] {
        let run = Run { start: Start::Point(vec![100.0; 5]), ..adapted(alpha) };
        let samples = run.sample(&scaled_gaussians()).unwrap();
        let tuning = samples.outcome.tuning.clone().unwrap();
        println!("{alpha}: {tuning:?}, accepted {:.3}", acceptance(&samples));
        for (i, scale) in tuning.scales.iter().enumerate() {
            let exact = 10f64.powi(i as i32 - 2);
            assert!((scale / exact - 1.0).abs() < 0.2, "{alpha}: scale {i} is {scale}");
            let draws = samples.pooled(i);
            let variance =
                draws.iter().map(|x| (x / exact).powi(2)).sum::<f64>() / draws.len() as f64;
            assert!((variance - 1.0).abs() < 0.05, "{alpha}: variance {i} is {variance}");
        }
        assert!((acceptance(&samples) - 0.9).abs() < 0.05, "{}", acceptance(&samples));
    }
}

/// A density on the half-line: f is NaN beyond the wall, where proposals are rejected. Gamma(2, 1)
/// has mean 2 and variance 2.
#[test]
fn walls_reject_proposals() {
    let gamma = FromFn1::new(|x: f64| x - x.ln(), |x: f64| 1.0 - 1.0 / x);
    // Half of the random starting points are beyond the wall: they are drawn again.
    let samples = Run { draws: 2000, ..adapted(1.5) }.sample(&gamma).unwrap();
    let (value, error) = mean(&samples, |x| x);
    assert!((value - 2.0).abs() < 4.0 * error && error < 0.05, "{value} ± {error}");
    let (square, error) = mean(&samples, |x| (x - 2.0).powi(2));
    assert!((square - 2.0).abs() < 4.0 * error && error < 0.2, "{square} ± {error}");
    assert!(samples.pooled(0).iter().all(|&x| x > 0.0));
    // Turning times end at the wall: beyond it trajectories never turn.
    assert!(
        samples.outcome.gradients_per_iteration().unwrap() < 10.0,
        "{:?}",
        samples.outcome.tuning
    );
    // These proposals did not diverge: their acceptance probability is 0.
    assert!(samples.statistic(1).unwrap().concat().contains(&0.0));
    assert!(!samples.statistic(3).unwrap().concat().contains(&1.0));
    let outside = Run { start: Start::Point(vec![-1.0]), ..adapted(1.5) };
    let error = outside.sample(&gamma).unwrap_err().to_string();
    assert!(error.contains("not finite where chain 0 starts, at [-1.0]"), "{error}");
}

/// Draws, statistics and tuning depend on neither threads nor interruptions, in the warmup or after
/// it.
#[test]
fn threads_and_interruptions_change_nothing() {
    let target = scaled_gaussians();
    let run = Run { chains: 150, warmup: 100, draws: 60, velocities: true, ..adapted(1.5) };
    let whole = Run { threads: 1, ..run.clone() }.sample(&target).unwrap();
    let parallel = Run { threads: 4, ..run.clone() }.sample(&target).unwrap();
    assert!(whole == parallel);

    let folder = crate::resumption::scratch("exact");
    let store = folder.join("draws.zarr");
    let run = Run { checkpoint: Some(folder.join("checkpoint")), ..run };
    let mut stops = 0;
    loop {
        // Stopped after every call: some are in the warmup, some after it.
        let mut sink = ZarrSink::new(&store);
        let outcome = run.stream(&target, &mut sink, &mut |_| Control::Stop).unwrap();
        if !outcome.stopped {
            assert_eq!(outcome.tuning, whole.outcome.tuning);
            break;
        }
        stops += 1;
    }
    assert!(stops > 2, "{stops}");
    let stored = ZarrDraws::open(&store).unwrap();
    assert_eq!(
        stored.positions().unwrap(),
        (0..150).flat_map(|c| positions(&whole, c)).collect::<Vec<_>>()
    );
    for number in 0..STATISTICS.len() {
        assert_eq!(
            stored.statistic(number).unwrap().unwrap(),
            whole.statistic(number).unwrap().concat()
        );
    }
    assert!(whole.statistic(STATISTICS.len()).is_none());
}

/// Every iteration has the step of its own number, however the iterations are divided into
/// intervals of time.
#[test]
fn falling_steps_do_not_depend_on_the_clock() {
    let schedule = Schedule::polynomial(Polynomial {
        start: Step::new(1.0).unwrap(),
        half_life: 50.0,
        power: 0.5,
    });
    let run =
        Run { schedule: schedule.unwrap(), chains: 4, ..fixed(fuld(1.5, 2.0, 1.0), 1.0, 0.0) };
    let well = DoubleWell::new(1, 1.0, 1.0).unwrap();
    let whole = run.sample(&well).unwrap();
    let run =
        Run { checkpoint: Some(crate::resumption::scratch("falling").join("checkpoint")), ..run };
    let mut values = Vec::new();
    while run
        .stream(
            &well,
            &mut Callback(|first, draws: &[f64]| {
                values.push((first, draws.to_vec()));
                Ok(())
            }),
            &mut |_| Control::Stop,
        )
        .unwrap()
        .stopped
    {}
    let (first, last) = values.last().unwrap();
    let (width, count) = (whole.layout().width(), last.len() / 4);
    for (chain, draws) in last.chunks_exact(count).enumerate() {
        assert_eq!(&whole.chain(chain)[*first as usize * width..][..count], draws);
    }
}

fn positions(samples: &Samples, chain: usize) -> Vec<f64> {
    samples
        .chain(chain)
        .chunks_exact(samples.layout().width())
        .flat_map(|draw| draw[..5].to_vec())
        .collect()
}

/// The statistics of a draw are those of its own position.
#[test]
fn statistics_belong_to_their_draws() {
    let well = DoubleWell::new(1, 1.0, 1.0).unwrap();
    let samples = fixed(fuld(1.5, 2.0, 1.0), 1.0, 0.0).sample(&well).unwrap();
    let (x, lp) = (samples.coordinate(0), samples.statistic(0).unwrap());
    for (x, lp) in x.concat().iter().zip(lp.concat()) {
        assert_eq!(-well.value(&[*x]), lp);
    }
    assert!(samples.statistic(3).unwrap().concat().iter().all(|&diverging| diverging == 0.0));
}

/// Systems without an exact refreshment, and gradients of minibatches, are refused.
#[test]
fn unsuited_systems_and_potentials_are_refused() {
    let parameters = Underdamped {
        alpha: Alpha::new(1.5).unwrap(),
        gamma: Friction::new(1.0).unwrap(),
        beta: Beta::ONE,
    };
    let run = Run { system: System::uncorrected(parameters).unwrap(), ..adapted(1.5) };
    let error = run.sample(&DoubleWell::new(1, 1.0, 1.0).unwrap()).unwrap_err().to_string();
    assert!(error.contains("leave the law of v invariant"), "{error}");
    let minibatches = LogisticRegression::breast_cancer(10.0).unwrap().with_batch(64).unwrap();
    let error = adapted(1.5).sample(&minibatches).unwrap_err().to_string();
    assert!(error.contains("minibatches"), "{error}");
    let run = Run { path: f64::NAN, ..adapted(1.5) };
    assert!(
        run.stream(&scaled_gaussians(), &mut MemorySink::default(), &mut |_| Control::Stop)
            .is_err()
    );
}

/// Parts that continue from the state after the warm-up have the draws of the whole run; other
/// states are refused.
#[test]
fn parts_continue_from_the_warm_state() {
    let well = DoubleWell::new(2, 1.0, 1.0).unwrap();
    for (gamma, warmup) in
        [(Friction::COMPLETE, 120), (Friction::new(1.0).unwrap(), 120), (Friction::COMPLETE, 0)]
    {
        let system =
            System::fuld(Underdamped { alpha: Alpha::new(1.8).unwrap(), gamma, beta: Beta::ONE })
                .unwrap();
        let run = Run::new(system, Integrator::Exact, Schedule::constant(0.1).unwrap());
        let run = Run { chains: 6, warmup, draws: 40, path: 1.0, ..run };
        let whole = run.sample(&well).unwrap();
        let state = run.warm_up(&well, &mut |_| Control::Continue).unwrap().unwrap();
        let state = WarmState::from_bytes(&state.to_bytes()).unwrap();
        assert_eq!(state.tuning(), whole.outcome.tuning.clone().filter(|_| warmup > 0));
        for (first_chain, chains) in [(0, 1), (1, 3), (4, 2)] {
            let mut sink = MemorySink::default();
            let part = Run { first_chain, chains, ..run.clone() };
            part.continue_from(&state, &well, &mut sink, &mut |_| Control::Continue).unwrap();
            let part = sink.into_draws().unwrap();
            for chain in 0..chains {
                assert_eq!(
                    part.chain(chain),
                    whole.chain(first_chain + chain),
                    "chain {chain} of {first_chain}"
                );
            }
        }
        let refused = |run: Run, says: &str| {
            let mut sink = MemorySink::default();
            let error = run
                .continue_from(&state, &well, &mut sink, &mut |_| Control::Continue)
                .unwrap_err();
            assert!(error.to_string().contains(says), "{error}");
        };
        refused(Run { seed: 1, ..run.clone() }, "stored seed: 0, requested seed: 1");
        refused(Run { first_chain: 5, chains: 2, ..run.clone() }, "has 12 positions, expected 14");
        assert!(WarmState::from_bytes(&state.to_bytes()[1..]).is_err());
        assert!(run.warm_up(&well, &mut |_| Control::Stop).unwrap().is_none() || warmup == 0);
    }
}

/// Reports of progress have the acceptance of recent iterations, which without adaptation at a
/// short step is close to 1.
#[test]
fn progress_has_the_acceptance() {
    let well = DoubleWell::new(1, 1.0, 1.0).unwrap();
    let reported = |run: Run| {
        let mut last = None;
        let mut watch = |progress: &Progress| {
            last = progress.acceptance;
            Control::Continue
        };
        run.stream(&well, &mut MemorySink::default(), &mut watch).unwrap();
        last
    };
    let short = fixed(fuld(1.5, 2.0, 1.0), 0.05, 0.0);
    assert!(reported(short.clone()).is_some_and(|acceptance| (0.95..=1.0).contains(&acceptance)));
    // At step 2 a third or so of the proposals are rejected.
    let long = fixed(fuld(1.5, 2.0, 1.0), 2.0, 0.0);
    assert!(reported(long).is_some_and(|acceptance| (0.2..0.9).contains(&acceptance)));
    assert_eq!(reported(Run { integrator: Integrator::Baoab, ..short }), None);
}

/// Short warm-ups end with a step whose acceptance is near the target of 90 %: within 70 to 98 %,
/// outside of which users are warned.
#[test]
fn short_warm_ups_find_the_step() {
    let run = Run { adapt: true, chains: 64, draws: 100, ..fixed(fuld(1.8, 1e9, 1.0), 0.1, 1.0) };
    let normal = FromFn1::new(|x: f64| 0.5 * x * x, |x: f64| x);
    let of = |warmup| acceptance(&Run { warmup, ..run.clone() }.sample(&normal).unwrap());
    let all: Vec<(u64, f64)> = (1..=40).map(|warmup| (warmup, of(warmup))).collect();
    println!("{all:.2?}");
    assert!(all.iter().all(|(_, accepted)| (0.7..0.98).contains(accepted)), "{all:.2?}");
}
