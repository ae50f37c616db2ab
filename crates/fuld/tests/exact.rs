//! Exact sampling: no bias at any step size, adaptation that finds the target, the same draws on any number of threads.
//!
//! Seeds are fixed. The bounds of means are 4 standard errors over chains: false alarms in 6 of 100,000 cases.

use fuld::potential::DoubleWell;
use fuld::{Alpha, Beta, Friction, Integrator, Run, Samples, Schedule, System, Underdamped};

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

/// At step 1, where the splittings are wrong by half, E x² is exact for every α and β and for the Gaussian kinetic energy.
#[test]
fn no_bias_at_any_step() {
    let well = DoubleWell::new(1, 1.0, 1.0).unwrap();
    for (system, exact) in [
        (fuld(1.5, 2.0, 1.0), 1.041_797),
        (fuld(1.0, 2.0, 1.0), 1.041_797),
        (fuld(2.0, 2.0, 1.0), 1.041_797),
        (fuld(1.5, 2.0, 0.25), 1.666_114),
        (
            System::fuld_gaussian(Underdamped {
                alpha: Alpha::new(1.5).unwrap(),
                gamma: Friction::new(2.0).unwrap(),
                beta: Beta::ONE,
            })
            .unwrap(),
            1.041_797,
        ),
    ] {
        let name = system.to_string();
        for path in [0.0, 2.5] {
            let samples = fixed(system.clone(), 1.0, path).sample(&well).unwrap();
            let (value, error) = mean(&samples, |x| x * x);
            println!("{name}, path {path}: {value:.5} ± {error:.5}, accepted {:.3}", acceptance(&samples));
            assert!((value - exact).abs() < 4.0 * error && error < 0.01, "{name}: {value} ± {error}");
        }
    }
}
