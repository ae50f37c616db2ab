//! Orders of the integrators.
//!
//! From exact to statistical:
//!
//! | test | noise | reference | randomness |
//! |---|---|---|---|
//! | `trajectories_without_noise…` | none, the field ∇G of FULD | Runge–Kutta of the equation of motion | none |
//! | `forced_trajectories…` | a smooth force, the field ∇G of FULD | Runge–Kutta of the equation of motion | none |
//! | `stationary_laws_of_splittings…` | one unit impulse: a linear system's response determines its stationary law | the integral of the exact response | none |
//! | `euler_is_of_first_order…` | stable, the field ∇G of FULD | E x² = 1/λ on a spring | Monte Carlo |
//!
//! The first three cannot fail by chance, and a relaxation over 0.999 η in place of η fails them.
//! The last one confirms Euler's order under stable noise; with a fresh seed its bound is 4
//! standard errors (6e-5 false positives), and the seed is fixed.

use crate::parameters::{alpha, beta, gamma, underdamped};
use fuld::chains::{Control, MemorySink, Start};
use fuld::dynamics::{Newtonian, StableKinetic};
use fuld::potential::{DoubleWell, Harmonic};
use fuld::{Alpha, Integrator, Kinetic, Run, Schedule, System};
use std::sync::atomic::{AtomicU32, Ordering};

/// What stands in for the noise of [`Replaced`].
#[derive(Clone, Copy, PartialEq)]
enum Replacement {
    Nothing,
    /// One unit impulse in the first step.
    Impulse,
    /// The force cos(ωt) on v. The relaxation over each step is exact.
    Force,
}

/// ω of the force.
const FREQUENCY: f64 = 5.0;

/// A kinetic energy whose noise is replaced.
struct Replaced<K> {
    kinetic: K,
    by: Replacement,
    step: AtomicU32,
}

impl<K: Kinetic> Replaced<K> {
    fn by(by: Replacement, kinetic: K) -> Self {
        Self { kinetic, by, step: AtomicU32::new(0) }
    }
}

impl<K: Kinetic> Kinetic for Replaced<K> {
    fn transport(&self, v: &[f64], out: &mut [f64]) {
        self.kinetic.transport(v, out);
    }

    fn friction(&self, v: &[f64], out: &mut [f64]) {
        self.kinetic.friction(v, out);
    }

    /// Euler's scheme reads the amplitude.
    fn amplitude(&self) -> f64 {
        0.0
    }

    fn relax(&self, gamma: f64, t: f64, noise: &[f64], v: &mut [f64]) {
        let step = self.step.fetch_add(1, Ordering::Relaxed);
        let value = if self.by == Replacement::Impulse && step == 0 { 1.0 } else { 0.0 };
        self.kinetic.relax(gamma, t, &vec![value; noise.len()], v);
        if self.by == Replacement::Force {
            // ∫₀ᵗ e^(−γ(t−s)) cos(ω(t₀ + s)) ds by the antiderivative of e^(γs) cos(ωs), times
            // e^(−γs).
            let at = |s: f64| {
                let (sin, cos) = (FREQUENCY * s).sin_cos();
                (gamma * cos + FREQUENCY * sin) / (gamma * gamma + FREQUENCY * FREQUENCY)
            };
            let begin = t * f64::from(step);
            let added = at(begin + t) - (-gamma * t).exp() * at(begin);
            v.iter_mut().for_each(|v| *v += added);
        }
    }

    fn alpha(&self) -> Alpha {
        self.kinetic.alpha()
    }
}

/// Orders between successive steps, each half of the one before: log₂ of the ratio of the errors.
fn orders(errors: &[f64]) -> Vec<f64> {
    errors.windows(2).map(|pair| (pair[0] / pair[1]).abs().log2()).collect()
}

const FRICTION: f64 = 1.5;

fn stable_kinetic() -> StableKinetic {
    StableKinetic::new(alpha(1.4), beta(1.0)).unwrap()
}

/// x and v after a time of 1 from (1.7, 0), in `steps` steps.
fn trajectory(kinetic: impl Kinetic + 'static, integrator: Integrator, steps: u64) -> [f64; 2] {
    let system = System::underdamped("without noise", kinetic, gamma(FRICTION)).unwrap();
    let run = Run::new(system, integrator, Schedule::constant(1.0 / steps as f64).unwrap());
    let start = Start::Point(vec![1.7]);
    let run = Run {
        chains: 1,
        warmup: 0,
        draws: 1,
        thin: steps,
        start,
        velocities: true,
        threads: 1,
        ..run
    };
    let samples = run.sample(&DoubleWell::new(1, 1.0, 1.0).unwrap()).unwrap();
    [samples.chain(0)[0], samples.chain(0)[1]]
}

/// The same with a force of time on v, by the classical Runge–Kutta method, whose error here is
/// below 1e-11.
fn runge_kutta(force: impl Fn(f64) -> f64) -> [f64; 2] {
    let kinetic = stable_kinetic();
    let field = |time: f64, [x, v]: [f64; 2]| {
        let mut h = [0.0];
        kinetic.transport(&[v], &mut h);
        [h[0], force(time) - FRICTION * v - (x * x * x - x)]
    };
    let along = |[x, v]: [f64; 2], t: f64, [dx, dv]: [f64; 2]| [x + t * dx, v + t * dv];
    let (steps, mut state) = (2000, [1.7, 0.0]);
    let t = 1.0 / f64::from(steps);
    for step in 0..steps {
        let time = t * f64::from(step);
        let a = field(time, state);
        let b = field(time + 0.5 * t, along(state, 0.5 * t, a));
        let c = field(time + 0.5 * t, along(state, 0.5 * t, b));
        let d = field(time + t, along(state, t, c));
        let mean = [0, 1].map(|i| (a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]) / 6.0);
        state = along(state, t, mean);
    }
    state
}

/// Asserts that x and v at the end of trajectories with ever shorter steps converge with the order
/// of the integrator.
fn assert_order<K: Kinetic + 'static>(
    integrator: Integrator,
    kinetic: impl Fn() -> K,
    exact: [f64; 2],
) {
    let at = [64, 128, 256, 512].map(|steps| trajectory(kinetic(), integrator, steps));
    for (coordinate, name) in ["x", "v"].into_iter().enumerate() {
        let errors = at.map(|state| state[coordinate] - exact[coordinate]);
        let orders = orders(&errors);
        println!("{integrator}, {name}: errors {errors:?}, orders {orders:.4?}");
        let nominal = f64::from(integrator.order());
        assert!(
            orders.iter().all(|order| (order - nominal).abs() < 0.01),
            "{integrator}, {name}: {orders:?}"
        );
    }
}

#[test]
fn trajectories_without_noise_have_the_order_of_the_integrator() {
    let exact = runge_kutta(|_| 0.0);
    for integrator in [Integrator::Euler, Integrator::Baoab, Integrator::Aboba] {
        assert_order(integrator, || Replaced::by(Replacement::Nothing, stable_kinetic()), exact);
    }
}

/// The force acts where noise does, in the relaxation.
#[test]
fn forced_trajectories_of_splittings_are_of_second_order() {
    let exact = runge_kutta(|time| (FREQUENCY * time).cos());
    for integrator in [Integrator::Baoab, Integrator::Aboba] {
        assert_order(integrator, || Replaced::by(Replacement::Force, stable_kinetic()), exact);
    }
}

/// λ of f = λx²/2; E x² = 1/λ at β = 1.
const STIFFNESS: f64 = 4.0;

/// σᵅ of the stationary law SαS(σ) of x in the uncorrected system on a spring, by the response to
/// one unit impulse: x is Σ K_n ξ_(−n) with independent ξ ~ SαS(1), so σᵅ = Σ |K_n|ᵅ.
fn stationary_scale(integrator: Integrator, tail: f64, friction: f64, eta: f64) -> f64 {
    let kinetic =
        Replaced::by(Replacement::Impulse, Newtonian::new(alpha(tail), beta(1.0)).unwrap());
    let system = System::underdamped("impulse", kinetic, gamma(friction)).unwrap();
    let run = Run::new(system, integrator, Schedule::constant(eta).unwrap());
    let draws = (60.0 / eta) as u64;
    let start = Start::Point(vec![0.0]);
    let run = Run { chains: 1, warmup: 0, draws, start, threads: 1, ..run };
    let samples = run.sample(&Harmonic::isotropic(1, STIFFNESS).unwrap()).unwrap();
    samples.chain(0).iter().map(|k| k.abs().powf(tail)).sum()
}

/// σᵅ of dv = −γv dt − λx dt + γ^(1/α) dL, dx = v dt: γ ∫ k(t)ᵅ dt with the response k = (e^(−at) −
/// e^(−bt))/(b − a), where a and b are the roots of r² − γr + λ. With t = u² the midpoint rule
/// converges at every α.
fn exact_scale(tail: f64, friction: f64) -> f64 {
    let root = (friction * friction - 4.0 * STIFFNESS).sqrt();
    let (a, b) = (0.5 * (friction - root), 0.5 * (friction + root));
    let response = |t: f64| ((-a * t).exp() - (-b * t).exp()) / (b - a);
    let (points, end) = (200_000, 60f64.sqrt());
    let width = end / f64::from(points);
    let at = |i: i32| {
        let u = (f64::from(i) + 0.5) * width;
        2.0 * u * response(u * u).powf(tail)
    };
    friction * width * (0..points).map(at).sum::<f64>()
}

#[test]
fn stationary_laws_of_splittings_are_of_second_order() {
    let friction = 5.0;
    for integrator in [Integrator::Baoab, Integrator::Aboba] {
        for tail in [1.2, 1.6] {
            let exact = exact_scale(tail, friction);
            let errors = [0.04, 0.02, 0.01, 0.005]
                .map(|eta| stationary_scale(integrator, tail, friction, eta) / exact - 1.0);
            let orders = orders(&errors);
            println!("{integrator}, alpha {tail}: errors {errors:?}, orders {orders:.4?}");
            assert!(
                orders.iter().all(|order| (order - 2.0).abs() < 0.03),
                "{integrator}, {tail}: {orders:?}"
            );
        }
    }
}

/// With Gaussian noise BAOAB has the exact law of x on a spring, whatever the step.
#[test]
fn baoab_is_exact_for_positions_on_a_spring() {
    for eta in [0.01, 0.1, 0.5] {
        // SαS(σ) at α = 2 has the variance 2σ².
        let variance = 2.0 * stationary_scale(Integrator::Baoab, 2.0, 5.0, eta);
        assert!((variance * STIFFNESS - 1.0).abs() < 1e-10, "{eta}: {variance}");
    }
}

/// Bias of E x² and its standard error, over 4096 chains.
fn bias(system: &System, integrator: Integrator, eta: f64, time: f64) -> (f64, f64) {
    let steps = (time / eta) as u64;
    let warmup = (20.0 / eta) as u64;
    let run = Run::new(system.clone(), integrator, Schedule::constant(eta).unwrap())
        .averaging("x²", |x| x[0] * x[0]);
    let run = Run { chains: 4096, warmup, draws: 1, thin: steps, seed: 3, ..run };
    let spring = Harmonic::isotropic(1, STIFFNESS).unwrap();
    let outcome =
        run.stream(&spring, &mut MemorySink::default(), &mut |_| Control::Continue).unwrap();
    let chains = &outcome.averages[0].chains;
    let (n, mean) = (chains.len() as f64, outcome.averages[0].mean());
    let variance = chains.iter().map(|c| (c - mean) * (c - mean)).sum::<f64>() / (n - 1.0);
    (mean - 1.0 / STIFFNESS, (variance / n).sqrt())
}

/// The slope of ln|bias| against ln η between two steps, with its standard error.
fn slope(system: &System, integrator: Integrator, coarse: f64, fine: f64, time: f64) -> (f64, f64) {
    let (a, da) = bias(system, integrator, coarse, time);
    let (b, db) = bias(system, integrator, fine, time);
    println!("{integrator}: {a:.5} ± {da:.5} at {coarse}, {b:.5} ± {db:.5} at {fine}");
    let width = (coarse / fine).ln();
    ((a / b).ln() / width, ((da / a).powi(2) + (db / b).powi(2)).sqrt() / width)
}

#[test]
fn euler_is_of_first_order_under_stable_noise() {
    let system = System::fuld(underdamped(1.1, 8.0, 1.0)).unwrap();
    let (order, error) = slope(&system, Integrator::Euler, 0.04, 0.02, 300.0);
    println!("Euler: {order:.3} ± {error:.3}");
    assert!(error < 0.06 && (order - 1.0).abs() < 0.24, "{order} ± {error}");
}
