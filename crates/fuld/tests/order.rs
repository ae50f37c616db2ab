//! Measured weak orders: the bias of E x² on a spring against the step, where the exact value is known.

mod parameters;

use fuld::chains::{Control, MemorySink};
use fuld::{Integrator, Potential, Run, Schedule, System};
use parameters::underdamped;

/// λ of f = λx²/2; E x² = 1/λ at β = 1.
const STIFFNESS: f64 = 4.0;

struct Spring;

impl Potential for Spring {
    fn dim(&self) -> usize {
        1
    }

    fn value(&self, x: &[f64]) -> f64 {
        0.5 * STIFFNESS * x[0] * x[0]
    }

    fn gradient(&self, x: &[f64], gradient: &mut [f64]) {
        gradient[0] = STIFFNESS * x[0];
    }

    fn gradients(&self, points: &[f64], _: &[u64], gradients: &mut [f64]) {
        for (g, x) in gradients.iter_mut().zip(points) {
            *g = STIFFNESS * x;
        }
    }
}

/// Bias of E x² and its standard error, over 4096 chains.
fn bias(system: &System, integrator: Integrator, eta: f64, time: f64) -> (f64, f64) {
    let steps = (time / eta) as u64;
    let warmup = (20.0 / eta) as u64;
    let run = Run::new(system.clone(), integrator, Schedule::constant(eta).unwrap())
        .averaging("x²", |x| x[0] * x[0]);
    let run = Run { chains: 4096, warmup, draws: 1, thin: steps, seed: 3, ..run };
    let outcome = run.stream(&Spring, &mut MemorySink::default(), &mut |_| Control::Continue).unwrap();
    let chains = &outcome.averages[0].chains;
    let (n, mean) = (chains.len() as f64, outcome.averages[0].mean());
    let variance = chains.iter().map(|c| (c - mean) * (c - mean)).sum::<f64>() / (n - 1.0);
    (mean - 1.0 / STIFFNESS, (variance / n).sqrt())
}

/// The slope of ln|bias| against ln η between two steps, with its error.
fn slope(system: &System, integrator: Integrator, coarse: f64, fine: f64, time: f64) -> (f64, f64) {
    let (a, da) = bias(system, integrator, coarse, time);
    let (b, db) = bias(system, integrator, fine, time);
    println!("{integrator}: {a:.5} ± {da:.5} at {coarse}, {b:.5} ± {db:.5} at {fine}");
    let width = (coarse / fine).ln();
    ((a / b).ln() / width, ((da / a).powi(2) + (db / b).powi(2)).sqrt() / width)
}

#[test]
fn euler_is_of_first_order() {
    let system = System::fuld(underdamped(1.1, 8.0, 1.0)).unwrap();
    let (order, error) = slope(&system, Integrator::Euler, 0.04, 0.02, 300.0);
    assert!(error < 0.12 && (order - 1.0).abs() < 0.35, "{order} ± {error}");
}

/// Each where its bias is large enough to be measured and of one sign.
#[test]
fn splittings_are_of_second_order() {
    for (integrator, alpha, gamma) in [(Integrator::Baoab, 1.1, 8.0), (Integrator::Aboba, 1.5, 2.0)] {
        let system = System::fuld(underdamped(alpha, gamma, 1.0)).unwrap();
        let (order, error) = slope(&system, integrator, 0.2, 0.1, 4000.0);
        assert!(error < 0.3 && (order - 2.0).abs() < 0.6, "{integrator}: {order} ± {error}");
    }
}
