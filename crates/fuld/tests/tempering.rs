//! Parallel tempering: right weights of many modes, the same draws on any number of threads and
//! after interruptions.

use fuld::chains::Samples;
use fuld::potential::{FromFn, Harmonic};
use fuld::{
    Alpha, Beta, Control, Friction, Integrator, Potential, Run, Schedule, System, Underdamped,
    ZarrDraws, ZarrSink,
};

fn run(alpha: f64, temper: usize) -> Run {
    let parameters = Underdamped {
        alpha: Alpha::new(alpha).unwrap(),
        gamma: Friction::COMPLETE,
        beta: Beta::ONE,
    };
    let system = System::fuld(parameters).unwrap();
    let run = Run::new(system, Integrator::Exact, Schedule::constant(0.1).unwrap());
    Run { chains: 64, warmup: 500, draws: 1000, temper, path: 1.0, ..run }
}

/// Modes per side of the grid.
const SIDE: usize = 5;
/// Distance of neighbouring modes, in standard deviations.
const DISTANCE: f64 = 8.0;

/// Returns the weight of a mode: they differ by up to a factor of 16.
fn weight(mode: usize) -> f64 {
    f64::from(1 << (mode % SIDE)) / 155.0
}

/// A mixture of 25 Gaussians on a grid.
fn mixture() -> impl Potential {
    let centre = |mode: usize| {
        let at = |i: usize| DISTANCE * (i as f64 - 2.0);
        [at(mode / SIDE), at(mode % SIDE)]
    };
    let terms = move |x: &[f64]| -> Vec<(f64, [f64; 2])> {
        (0..SIDE * SIDE)
            .map(|mode| {
                let [a, b] = centre(mode);
                let (dx, dy) = (x[0] - a, x[1] - b);
                (weight(mode).ln() - 0.5 * (dx * dx + dy * dy), [dx, dy])
            })
            .collect()
    };
    let largest = |terms: &[(f64, [f64; 2])]| {
        terms.iter().map(|term| term.0).fold(f64::NEG_INFINITY, f64::max)
    };
    FromFn::new(
        2,
        move |x: &[f64]| {
            let terms = terms(x);
            let largest = largest(&terms);
            -largest - terms.iter().map(|term| (term.0 - largest).exp()).sum::<f64>().ln()
        },
        move |x: &[f64], gradient: &mut [f64]| {
            let terms = terms(x);
            let largest = largest(&terms);
            let mut sum = 0.0;
            gradient.fill(0.0);
            for (log, [dx, dy]) in terms {
                let p = (log - largest).exp();
                sum += p;
                gradient[0] += p * dx;
                gradient[1] += p * dy;
            }
            gradient.iter_mut().for_each(|g| *g /= sum);
        },
    )
    .unwrap()
    .named("25 modes")
}

/// Returns the share of the draws next to each mode.
fn shares(samples: &Samples) -> Vec<f64> {
    let mut counts = vec![0.0; SIDE * SIDE];
    let cell = |x: f64| (x / DISTANCE + 2.0).round().clamp(0.0, 4.0) as usize;
    let (x, y) = (samples.pooled(0), samples.pooled(1));
    for (a, b) in x.iter().zip(&y) {
        counts[cell(*a) * SIDE + cell(*b)] += 1.0 / x.len() as f64;
    }
    counts
}

/// The shares are within 2 % of all draws of the weights in 20 of 20 seeds, at the default
/// settings, and the mean of all seeds within five standard deviations, as those of 20 × 6,000
/// independent draws (a run has about 8,000 effective ones). False-positive rate: below 1e-4.
#[test]
fn modes_have_their_weights() {
    let mixture = mixture();
    let mut means = vec![0.0; SIDE * SIDE];
    for seed in 0..20 {
        let samples = Run { seed, ..run(1.8, 6) }.sample(&mixture).unwrap();
        for (mode, share) in shares(&samples).into_iter().enumerate() {
            assert!((share - weight(mode)).abs() < 0.02, "seed {seed}, mode {mode}: {share}");
            means[mode] += share / 20.0;
        }
        let tempering = samples.outcome.tempering.unwrap();
        assert!(tempering.acceptance.iter().all(|rate| (0.4..0.6).contains(rate)), "{tempering:?}");
    }
    for (mode, mean) in means.into_iter().enumerate() {
        let error = (weight(mode) / (20.0 * 6000.0)).sqrt();
        println!(
            "mode {mode}: {mean:.5}, {:.2} standard deviations",
            (mean - weight(mode)) / error
        );
        assert!((mean - weight(mode)).abs() < 5.0 * error, "mode {mode}: {mean}");
    }
}

/// The hottest of many levels are reached too, though they are thousands of times as wide as the
/// first.
#[test]
fn many_levels_are_connected() {
    let samples = run(1.8, 16).sample(&Harmonic::isotropic(2, 1.0).unwrap()).unwrap();
    let tempering = samples.outcome.tempering.unwrap();
    // In the plane an exchange between λ and λ/r is accepted with probability 2/(1 + r), which is
    // 1/2 for r = 3.
    for (level, factor) in tempering.factors.iter().enumerate() {
        assert!(
            (factor.ln() / -3f64.ln() - level as f64).abs() < 0.1 * level as f64 + 1e-9,
            "{tempering:?}"
        );
    }
    assert!(tempering.acceptance.iter().all(|rate| (rate - 0.5).abs() < 0.05), "{tempering:?}");
    assert!(tempering.gradients < 200.0, "{tempering:?}");
    // Exchanges of acceptance 1/2 that alternate between even and odd pairs make one round trip of
    // some position per 2K alternations, and an iteration has two (Syed and others 2022). That is
    // the most: it assumes that f is drawn anew before each alternation.
    let expected = 64.0 * 1000.0 / 16.0;
    assert!((0.3..1.0).contains(&(tempering.round_trips as f64 / expected)), "{tempering:?}");
}

/// Draws and temperatures depend on neither threads nor interruptions.
#[test]
fn threads_and_interruptions_change_nothing() {
    let mixture = mixture();
    let run = Run { chains: 70, warmup: 60, draws: 40, ..run(1.5, 3) };
    let whole = Run { threads: 1, ..run.clone() }.sample(&mixture).unwrap();
    assert!(whole == Run { threads: 4, ..run.clone() }.sample(&mixture).unwrap());
    let folder = crate::resumption::scratch("tempering");
    let store = folder.join("draws.zarr");
    let run = Run { checkpoint: Some(folder.join("checkpoint")), ..run };
    let mut stops = 0;
    let outcome = loop {
        let outcome =
            run.stream(&mixture, &mut ZarrSink::new(&store), &mut |_| Control::Stop).unwrap();
        if !outcome.stopped {
            break outcome;
        }
        stops += 1;
    };
    assert!(stops > 2 && outcome == whole.outcome, "{stops}: {outcome:?}");
    let positions = |chain| whole.chain(chain).chunks_exact(6).flat_map(|draw| draw[..2].to_vec());
    let expected: Vec<f64> = (0..70).flat_map(positions).collect();
    assert_eq!(ZarrDraws::open(&store).unwrap().positions().unwrap(), expected);
}

#[test]
fn temperatures_require_adaptation() {
    let refuse =
        |run: Run| run.sample(&Harmonic::isotropic(1, 1.0).unwrap()).unwrap_err().to_string();
    let fixed = Run { adapt: false, ..run(1.5, 3) };
    assert!(
        refuse(fixed).contains("3 temperatures require the integrator exact and its adaptation")
    );
    assert!(refuse(run(1.5, 0)).contains("the number of temperatures must be at least 1"));
    assert!(refuse(run(1.5, 1000)).contains("the temperatures overflow"));
}
