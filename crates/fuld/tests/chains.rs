//! Runs of chains: independence of threads, storage in memory and callbacks, averages, divergence
//! and settings.

use crate::parameters::{overdamped_gaussian, underdamped};
use crate::wells::{Wells, run, wells};
use fuld::chains::{Callback, Control, MemoryDraws, MemorySink, Outcome, Start};
use fuld::{Integrator, Potential, Run, Schedule, Specification, System};
use std::sync::atomic::{AtomicUsize, Ordering};

fn stream(run: &Run, potential: &dyn Potential) -> (MemoryDraws, Outcome) {
    let mut sink = MemorySink::default();
    let outcome = run.stream(potential, &mut sink, &mut |_| Control::Continue).unwrap();
    (sink.into_draws().unwrap(), outcome)
}

#[test]
fn draws_do_not_depend_on_threads() {
    for integrator in [Integrator::Euler, Integrator::Baoab, Integrator::Aboba] {
        for potential in [wells(1), wells(3), Wells { dim: 2, stochastic: true }] {
            let one = stream(&Run { threads: 1, ..run(integrator) }, &potential);
            let three = stream(&Run { threads: 3, ..run(integrator) }, &potential);
            assert_eq!(one, three);
        }
    }
}

#[test]
fn chains_do_not_depend_on_their_neighbours() {
    let few = Run { chains: 5, ..run(Integrator::Baoab) }.sample(&wells(2)).unwrap();
    let many = run(Integrator::Baoab).sample(&wells(2)).unwrap();
    for chain in 0..5 {
        assert_eq!(few.chain(chain), many.chain(chain));
    }
    assert_ne!(many.chain(0), many.chain(1));
    assert_ne!(Run { seed: 12, ..run(Integrator::Baoab) }.sample(&wells(2)).unwrap(), many);
}

#[test]
fn a_subset_of_chains_equals_those_of_the_whole_run() {
    for potential in [wells(2), Wells { dim: 1, stochastic: true }] {
        let whole = run(Integrator::Baoab).sample(&potential).unwrap();
        let part =
            Run { first_chain: 7, chains: 9, ..run(Integrator::Baoab) }.sample(&potential).unwrap();
        for chain in 0..9 {
            assert_eq!(part.chain(chain), whole.chain(7 + chain));
        }
    }
}

#[test]
fn each_chain_may_have_its_own_start() {
    let base = run(Integrator::Baoab);
    let gaussian: Vec<Vec<f64>> =
        (0..base.chains).map(|chain| base.start_of_chain(chain, 2)).collect();
    let whole = Run { start: Start::Points(gaussian), ..run(Integrator::Baoab) };
    let random = base.sample(&wells(2)).unwrap();
    assert_eq!(whole.sample(&wells(2)).unwrap().chain(5), random.chain(5));
    let part = Run { first_chain: 7, chains: 9, ..whole }.sample(&wells(2)).unwrap();
    assert_eq!(part.chain(3), random.chain(10));
}

/// A potential that takes all chains at once gives the same draws.
#[test]
fn a_potential_may_take_all_chains_in_one_call() {
    struct Whole(Wells, AtomicUsize);
    impl Potential for Whole {
        fn dim(&self) -> usize {
            self.0.dim()
        }
        fn specification(&self) -> Option<Specification> {
            self.0.specification()
        }
        fn value(&self, x: &[f64]) -> f64 {
            self.0.value(x)
        }
        fn gradient(&self, x: &[f64], gradient: &mut [f64]) {
            self.0.gradient(x, gradient);
        }
        fn takes_all_chains(&self) -> bool {
            true
        }
        fn gradients(&self, points: &[f64], words: &[u64], gradients: &mut [f64]) {
            self.1.fetch_max(points.len(), Ordering::Relaxed);
            self.0.gradients(points, words, gradients);
        }
    }
    let many = Run { chains: 700, draws: 5, ..run(Integrator::Baoab) };
    let potential = Whole(wells(1), AtomicUsize::new(0));
    assert_eq!(stream(&many, &potential), stream(&many, &wells(1)));
    assert_eq!(potential.1.into_inner(), 700);
}

/// Draws can be requested during a run, not only at the end of a segment.
#[test]
fn draws_are_delivered_on_request() {
    let long = Run { chains: 2, draws: 70_000, thin: 1, ..run(Integrator::Euler) };
    let (whole, mut seen) = (long.sample(&wells(1)).unwrap(), Vec::new());
    let mut sink = Callback(|first, values: &[f64]| {
        seen.push((first as usize, values.to_vec()));
        Ok(())
    });
    let mut asked = 0;
    long.stream(&wells(1), &mut sink, &mut |_| {
        asked += 1;
        if asked % 2 == 0 { Control::Deliver } else { Control::Continue }
    })
    .unwrap();
    assert!(seen.len() > 2, "{}", seen.len());
    for (first, values) in seen {
        let count = values.len() / 2;
        assert_eq!(values[..count], whole.chain(0)[first..first + count]);
        assert_eq!(values[count..], whole.chain(1)[first..first + count]);
    }
}

#[test]
fn draws_are_every_thin_th_step() {
    let dense = Run { thin: 1, draws: 120, ..run(Integrator::Euler) }.sample(&wells(1)).unwrap();
    let thin = run(Integrator::Euler).sample(&wells(1)).unwrap();
    let kept: Vec<f64> = dense.chain(4).iter().skip(2).step_by(3).copied().collect();
    assert_eq!(thin.chain(4), kept);
}

/// π̄_K(h) = Σ ηₖ h(xᵏ)/Σ ηₖ, against the same sum over stored draws.
#[test]
fn averages_are_weighted_by_the_steps() {
    let run = Run { thin: 1, draws: 200, ..run(Integrator::Euler) };
    let (samples, outcome) = stream(&run, &wells(1));
    let eta = |i: usize| run.schedule.at(run.warmup + i as u64).unwrap();
    let total: f64 = (0..200).map(eta).sum();
    for chain in [0, 36] {
        let sum: f64 = samples.chain(chain).iter().enumerate().map(|(i, x)| eta(i) * x * x).sum();
        assert!((outcome.averages[0].chains[chain] - sum / total).abs() < 1e-14);
    }
    let unweighted: f64 = samples.chain(0).iter().map(|x| x * x).sum::<f64>() / 200.0;
    assert!((outcome.averages[0].chains[0] - unweighted).abs() > 1e-6);
}

#[test]
fn a_callback_receives_every_draw_once() {
    let mut seen = Vec::new();
    let mut sink = Callback(|first, values: &[f64]| {
        seen.push((first, values.len()));
        Ok(())
    });
    let run = Run { chains: 1, draws: 100_000, thin: 1, ..run(Integrator::Euler) };
    run.stream(&wells(1), &mut sink, &mut |_| Control::Continue).unwrap();
    assert_eq!(seen, [(0, 65536), (65536, 100_000 - 65536)]);
}

/// A chain that diverges is reported with step and value, recorded as NaN, and the others continue.
#[test]
fn divergence_is_reported_and_does_not_affect_other_chains() {
    let system = System::uncorrected(underdamped(1.0, 1.0, 1.0)).unwrap();
    let run = Run::new(system, Integrator::Euler, Schedule::constant(0.05).unwrap())
        .averaging("x", |x| x[0]);
    let (samples, outcome) = stream(&Run { chains: 64, warmup: 0, draws: 200, ..run }, &wells(1));
    let dead = outcome.divergences.len();
    assert!(dead > 0 && dead < 64, "{dead} of 64 diverged");
    for d in &outcome.divergences {
        assert!(d.value.is_nan() || d.value.abs() >= 1e100, "{d:?}");
        assert!(
            samples.chain(d.chain)[199].is_nan() && outcome.averages[0].chains[d.chain].is_nan()
        );
        let finite = samples.chain(d.chain).iter().take_while(|x| x.is_finite()).count();
        assert_eq!(finite as u64, d.step);
    }
    let alive = (0..64).filter(|c| samples.chain(*c).iter().all(|x| x.is_finite())).count();
    assert_eq!(alive, 64 - dead);
    assert!(outcome.averages[0].mean().is_finite());
}

#[test]
fn errors_name_the_invalid_setting() {
    let base = || run(Integrator::Baoab);
    let error = |run: Run| run.sample(&wells(2)).unwrap_err().to_string();
    assert_eq!(error(Run { chains: 0, ..base() }), "the number of chains must be at least 1");
    assert_eq!(error(Run { thin: 0, ..base() }), "the number of steps per draw must be at least 1");
    let nowhere = base().sample(&wells(0)).unwrap_err().to_string();
    assert_eq!(nowhere, "the number of coordinates of the potential must be at least 1");
    assert_eq!(
        error(Run { draws: 1 << 33, thin: 1 << 31, ..base() }),
        "the steps overflow memory or u64"
    );
    assert!(error(Run { warmup: u64::MAX, ..base() }).contains("overflow memory or u64"));
    assert!(error(Run { chains: usize::MAX, ..base() }).contains("overflow memory or u64"));
    assert!(error(Run { draws: 1 << 58, thin: 1, ..base() }).contains("draws cannot be written"));
    let start = |point: Vec<f64>| Run { start: Start::Point(point), ..base() };
    assert_eq!(error(start(vec![1.0])), "the start has 1 coordinates, the potential 2");
    assert_eq!(error(start(vec![1.0, f64::NAN])), "chains cannot start at NaN");
    let starts = |points| Run { start: Start::Points(points), chains: 2, first_chain: 1, ..base() };
    let few = "the start has 2 points, one for each of 3 chains is required";
    assert_eq!(error(starts(vec![vec![1.0; 2]; 2])), few);
    assert_eq!(error(starts(vec![vec![1.0]; 3])), "the start has 1 coordinates, the potential 2");
    let overdamped =
        Run { system: System::overdamped_langevin(overdamped_gaussian(1.0)).unwrap(), ..base() };
    assert!(error(overdamped).contains("use Euler"));
}
