//! Stationary laws of the systems: the target for corrected systems, closed forms for some that are
//! not corrected.
//!
//! Chains are independent, and each contributes two draws far apart; Kolmogorov distances are
//! compared with the value that N draws exceed with probability 1e-6, plus a stated allowance for
//! the bias of the step. Seeds are fixed.

use crate::parameters::{
    noiseless, overdamped, overdamped_gaussian, underdamped, underdamped_gaussian,
};
use crate::wells::wells;
use fuld::chains::{Control, MemorySink, Samples};
use fuld::dynamics::{CustomKinetic, DifferentiableFunction};
use fuld::{Alpha, Beta, Flmc, Friction, Integrator, Potential, Run, Schedule, System};
use levy_stable::SymmetricStable;
use std::f64::consts::PI;

const CHAINS: usize = 8192;
/// Distance that 2·CHAINS draws exceed with probability 1e-6.
const CHANCE: f64 = 0.0210;

/// Returns two draws of each chain, after `time` and after twice that.
fn equilibrate(
    system: System,
    integrator: Integrator,
    eta: f64,
    time: f64,
    f: &dyn Potential,
) -> Samples {
    let steps = (time / eta) as u64;
    let run = Run::new(system, integrator, Schedule::constant(eta).unwrap());
    let run =
        Run { chains: CHAINS, warmup: 0, draws: 2, thin: steps, velocities: true, seed: 5, ..run };
    run.sample(f).unwrap()
}

/// Returns sup |F_n − F| without diverged draws.
fn kolmogorov(sample: &[f64], cdf: impl Fn(f64) -> f64) -> f64 {
    let mut sample: Vec<f64> = sample.iter().copied().filter(|x| x.is_finite()).collect();
    sample.sort_by(f64::total_cmp);
    let n = sample.len() as f64;
    let gap = |(i, &x): (usize, &f64)| {
        let f = cdf(x);
        (f - i as f64 / n).abs().max((f - (i as f64 + 1.0) / n).abs())
    };
    sample.iter().enumerate().map(gap).fold(0.0, f64::max)
}

/// Returns the distribution function of a density known up to its factor, by the trapezoidal rule
/// on [−reach, reach].
fn distribution(density: impl Fn(f64) -> f64, reach: f64) -> impl Fn(f64) -> f64 {
    let n = 40_000;
    let width = 2.0 * reach / n as f64;
    let mut sum = 0.0;
    let mut cumulated: Vec<f64> = Vec::with_capacity(n + 1);
    for i in 0..=n {
        let here = density(-reach + i as f64 * width);
        cumulated.push(sum + 0.5 * here);
        sum += here;
    }
    move |x: f64| {
        let at = ((x + reach) / width).clamp(0.0, n as f64 - 1e-9);
        let (i, t) = (at as usize, at.fract());
        ((1.0 - t) * cumulated[i] + t * cumulated[i + 1]) / sum
    }
}

/// Returns e^(−βf) of the double well.
fn gibbs(beta: f64) -> impl Fn(f64) -> f64 {
    distribution(move |x| (-beta * (0.25 * x * x * x * x - 0.5 * x * x)).exp(), 8.0)
}

fn pooled_velocity(samples: &Samples) -> Vec<f64> {
    samples.velocity(0).unwrap().concat()
}

/// Returns the pairs of α and β at which corrected systems are tested.
fn grid() -> impl Iterator<Item = (f64, f64)> {
    [0.8, 1.0, 1.2, 1.5, 1.9, 2.0]
        .into_iter()
        .flat_map(|alpha| [0.25, 1.0, 4.0].map(|beta| (alpha, beta)))
}

/// Theorem 1 with the exact field: x ~ e^(−βf), v ~ SαS((αβ)^(−1/α)), and the two independent.
/// Returns the parameters of FLMC.
fn flmc(alpha: f64, beta: f64, reach: f64) -> Flmc {
    let potential = "the potential of the test".into();
    Flmc {
        alpha: crate::parameters::alpha(alpha),
        beta: crate::parameters::beta(beta),
        reach,
        potential,
    }
}

#[test]
fn fuld_is_exact_at_every_beta() {
    for (alpha, beta) in grid() {
        let system = System::fuld(underdamped(alpha, 4.0, beta)).unwrap();
        let samples = equilibrate(system, Integrator::Baoab, 0.02, 15.0, &wells(1));
        let (x, v) = (samples.pooled(0), pooled_velocity(&samples));
        let d = kolmogorov(&x, gibbs(beta));
        assert!(d < CHANCE + 0.002, "x at alpha = {alpha}, beta = {beta}: {d}");
        let law = SymmetricStable::new(alpha)
            .unwrap()
            .with_scale((alpha * beta).powf(-1.0 / alpha))
            .unwrap();
        let d = kolmogorov(&v, |v| law.cdf(v));
        assert!(d < CHANCE, "v at alpha = {alpha}, beta = {beta}: {d}");
        // Quadrants of (|x| above its median, |v| above its): a quarter each, within five standard
        // deviations.
        let median = |values: &[f64]| {
            let mut sizes: Vec<f64> = values.iter().map(|x| x.abs()).collect();
            sizes.sort_by(f64::total_cmp);
            sizes[sizes.len() / 2]
        };
        let (mx, mv) = (median(&x), median(&v));
        let both = x.iter().zip(&v).filter(|(x, v)| x.abs() > mx && v.abs() > mv).count() as f64;
        let n = x.len() as f64;
        assert!(
            (both - n / 4.0).abs() < 5.0 * (n / 16.0).sqrt(),
            "alpha = {alpha}, beta = {beta}: {both} of {n}"
        );
    }
}

/// The field without β misses e^(−βf) at β = 1/4, by far more than chance.
#[test]
fn the_beta_free_field_fails() {
    for alpha in [1.0, 1.5] {
        let system = System::fuld_beta_free(underdamped(alpha, 4.0, 0.25)).unwrap();
        let samples = equilibrate(system, Integrator::Baoab, 0.02, 15.0, &wells(1));
        let d = kolmogorov(&samples.pooled(0), gibbs(0.25));
        assert!(d > 1.5 * CHANCE, "alpha = {alpha}: {d}");
    }
}

/// The paper's Euler–Maruyama scheme at a small step.
#[test]
fn euler_samples_the_target_at_a_small_step() {
    for (alpha, beta) in [(1.0, 1.0), (1.5, 0.25), (1.9, 4.0)] {
        let samples = equilibrate(
            System::fuld(underdamped(alpha, 4.0, beta)).unwrap(),
            Integrator::Euler,
            0.002,
            12.0,
            &wells(1),
        );
        let d = kolmogorov(&samples.pooled(0), gibbs(beta));
        assert!(d < CHANCE + 0.004, "alpha = {alpha}, beta = {beta}: {d}");
    }
}

#[test]
fn langevin_systems_sample_the_gibbs_law() {
    for beta in [0.25, 1.0, 4.0] {
        let under = equilibrate(
            System::underdamped_langevin(underdamped_gaussian(4.0, beta)).unwrap(),
            Integrator::Aboba,
            0.02,
            15.0,
            &wells(1),
        );
        let gauss = SymmetricStable::new(2.0).unwrap().with_scale((2.0 * beta).powf(-0.5)).unwrap();
        assert!(kolmogorov(&under.pooled(0), gibbs(beta)) < CHANCE + 0.002, "beta = {beta}");
        assert!(kolmogorov(&pooled_velocity(&under), |v| gauss.cdf(v)) < CHANCE, "beta = {beta}");
        let over = equilibrate(
            System::overdamped_langevin(overdamped_gaussian(beta)).unwrap(),
            Integrator::Euler,
            0.002,
            8.0,
            &wells(1),
        );
        assert!(kolmogorov(&over.pooled(0), gibbs(beta)) < CHANCE + 0.004, "beta = {beta}");
    }
}

/// λx²/2 in one dimension.
struct Spring(f64);

impl Potential for Spring {
    fn dim(&self) -> usize {
        1
    }

    fn value(&self, x: &[f64]) -> f64 {
        0.5 * self.0 * x[0] * x[0]
    }

    fn gradient(&self, x: &[f64], gradient: &mut [f64]) {
        gradient[0] = self.0 * x[0];
    }
}

/// Uncorrected on a spring, overdamped: SαS(σ(αλ)^(−1/α)).
#[test]
fn uncorrected_overdamped_spring() {
    let (lambda, beta) = (1.5, 2.0);
    for alpha in [0.8, 1.3, 1.9] {
        let system = System::uncorrected_overdamped(overdamped(alpha, beta)).unwrap();
        let samples = equilibrate(system, Integrator::Euler, 0.01, 10.0, &Spring(lambda));
        let scale = beta.powf(-1.0 / alpha) * (alpha * lambda).powf(-1.0 / alpha);
        let law = SymmetricStable::new(alpha).unwrap().with_scale(scale).unwrap();
        let d = kolmogorov(&samples.pooled(0), |x| law.cdf(x));
        assert!(d < CHANCE + 0.004, "alpha = {alpha}: {d}");
    }
}

/// Uncorrected on a spring, underdamped, α = 1, critical damping: scales σ/ω² of x and 2σ/(eω) of
/// v, with σ = γ/β.
#[test]
fn uncorrected_underdamped_spring() {
    let (omega, beta) = (1.5, 2.0);
    let gamma = 2.0 * omega;
    let system = System::uncorrected(underdamped(1.0, gamma, beta)).unwrap();
    let samples = equilibrate(system, Integrator::Baoab, 0.02, 12.0, &Spring(omega * omega));
    let sigma = gamma / beta;
    for (sample, scale) in [
        (samples.pooled(0), sigma / (omega * omega)),
        (pooled_velocity(&samples), 2.0 * sigma / (std::f64::consts::E * omega)),
    ] {
        let law = SymmetricStable::new(1.0).unwrap().with_scale(scale).unwrap();
        let d = kolmogorov(&sample, |x| law.cdf(x));
        assert!(d < CHANCE + 0.002, "scale {scale}: {d}");
    }
}

/// Uncorrected, overdamped, Cauchy noise on the quartic: with p³ + p = σ the stationary density is
/// (σ/π)/(x⁴ − (2 + p²)x² + (1 + p²)²), whose modes are not those of the potential.
#[test]
fn uncorrected_cauchy_quartic() {
    let p: f64 = 0.6823278038280193; // p³ + p = 1
    let density =
        move |x: f64| 1.0 / (PI * (x.powi(4) - (2.0 + p * p) * x * x + (1.0 + p * p).powi(2)));
    let system = System::uncorrected_overdamped(overdamped(1.0, 1.0)).unwrap();
    // The untamed step diverges after a jump beyond √(2/η).
    let samples = equilibrate(system, Integrator::TamedEuler, 1e-3, 4.0, &wells(1));
    let x = samples.pooled(0);
    assert!(x.iter().all(|x| x.is_finite()));
    let d = kolmogorov(&x, distribution(density, 400.0));
    assert!(d < CHANCE + 0.008, "{d}");
    assert!(kolmogorov(&x, gibbs(1.0)) > 2.0 * CHANCE);
}

/// FULD with the Gaussian kinetic energy, which the paper gives up: stable for all α at η = 0.02, γ
/// = 10, with x as it should be and v ~ N(0, 1/β).
#[test]
fn gaussian_energy_is_stable_and_exact() {
    for (alpha, beta) in grid() {
        let system = System::fuld_gaussian(underdamped(alpha, 10.0, beta)).unwrap();
        let samples = equilibrate(system, Integrator::Baoab, 0.02, 30.0, &wells(1));
        let (x, v) = (samples.pooled(0), pooled_velocity(&samples));
        assert!(x.iter().all(|x| x.abs() < 20.0), "alpha = {alpha}, beta = {beta}");
        let gauss = SymmetricStable::new(2.0).unwrap().with_scale((2.0 * beta).powf(-0.5)).unwrap();
        let d = kolmogorov(&v, |v| gauss.cdf(v));
        // At this step the jumps of heavy noise at small β are visible in v before the friction has
        // damped them.
        let bias = if alpha <= 1.0 && beta < 1.0 { 0.03 } else { 0.006 };
        assert!(d < CHANCE + bias, "v at alpha = {alpha}, beta = {beta}: {d}");
        let d = kolmogorov(&x, gibbs(beta));
        assert!(d < CHANCE + 0.002, "x at alpha = {alpha}, beta = {beta}: {d}");
    }
}

/// Explicit Euler diverges with the same friction.
#[test]
fn explicit_euler_explodes_on_the_gaussian_energy() {
    let run = Run::new(
        System::fuld_gaussian(underdamped(1.5, 10.0, 1.0)).unwrap(),
        Integrator::Euler,
        Schedule::constant(0.02).unwrap(),
    );
    let run = Run { chains: 200, warmup: 0, draws: 1, thin: 1000, ..run };
    let outcome =
        run.stream(&wells(1), &mut MemorySink::default(), &mut |_| Control::Continue).unwrap();
    assert!(outcome.divergences.len() > 100, "{} of 200 diverged", outcome.divergences.len());
}

/// A user-defined kinetic energy, √(1+v²): x ~ e^(−βf) and v ~ e^(−βg).
#[test]
fn custom_energy_is_exact() {
    let (alpha, beta) = (1.4, 2.0);
    let g = |v: f64| (1.0 + v * v).sqrt();
    let energy = DifferentiableFunction { value: g, derivative: |v: f64| v / (1.0 + v * v).sqrt() };
    let kinetic =
        CustomKinetic::new(crate::parameters::alpha(alpha), crate::parameters::beta(beta), energy)
            .unwrap();
    let system =
        System::underdamped("relativistic", kinetic, crate::parameters::gamma(4.0)).unwrap();
    let samples = equilibrate(system, Integrator::Baoab, 0.02, 20.0, &wells(1));
    let d = kolmogorov(&samples.pooled(0), gibbs(beta));
    assert!(d < CHANCE + 0.004, "x: {d}");
    let d = kolmogorov(&pooled_velocity(&samples), distribution(|v| (-beta * g(v)).exp(), 40.0));
    assert!(d < CHANCE + 0.004, "v: {d}");
}

/// FLMC samples the Gibbs law with its exact Riesz drift, but not with the factor c_α instead.
#[test]
fn flmc_is_exact_and_its_approximation_is_not() {
    let f = |x: f64| 0.25 * x.powi(4) - 0.5 * x * x;
    for (alpha, beta) in grid() {
        // The range on which the drift is tabulated, where βf reaches about 100.
        let reach = (400.0 / beta).powf(0.25);
        let parameters = flmc(alpha, beta, reach);
        let well = DifferentiableFunction { value: f, derivative: |x: f64| x * x * x - x };
        let system = System::flmc(parameters, well).unwrap();
        let samples = equilibrate(system, Integrator::TamedEuler, 1e-3, 5.0, &wells(1));
        let d = kolmogorov(&samples.pooled(0), gibbs(beta));
        assert!(d < CHANCE + 0.006, "alpha = {alpha}, beta = {beta}: {d}");
    }
    // A well that is not at 0: nothing in the tamed step may take 0 for the middle.
    let well = DifferentiableFunction {
        value: |x: f64| 0.5 * (x - 7.0) * (x - 7.0),
        derivative: |x: f64| x - 7.0,
    };
    let shifted = System::flmc(flmc(1.5, 1.0, 14.0), well).unwrap();
    let samples = equilibrate(shifted, Integrator::TamedEuler, 1e-3, 5.0, &wells(1));
    let normal = SymmetricStable::new(2.0).unwrap().with_scale(0.5f64.sqrt()).unwrap();
    let d = kolmogorov(&samples.pooled(0), |x| normal.cdf(x - 7.0));
    assert!(d < CHANCE + 0.01, "shifted: {d}");
    let system = System::flmc_approximate(overdamped(1.2, 1.0)).unwrap();
    let samples = equilibrate(system, Integrator::TamedEuler, 1e-3, 5.0, &wells(1));
    assert!(kolmogorov(&samples.pooled(0), gibbs(1.0)) > 2.0 * CHANCE);
}

/// At α = 2 the corrected, the uncorrected and the approximate systems are equal, bit for bit.
#[test]
fn systems_are_equal_at_alpha_2() {
    let numbers = |samples: Samples| (samples.coordinate(0), samples.velocity(0));
    let draws =
        |system: System| numbers(equilibrate(system, Integrator::Baoab, 0.05, 1.0, &wells(1)));
    let langevin = draws(System::underdamped_langevin(underdamped_gaussian(3.0, 1.0)).unwrap());
    assert!(draws(System::fuld(underdamped(2.0, 3.0, 1.0)).unwrap()) == langevin);
    assert!(draws(System::uncorrected(underdamped(2.0, 3.0, 1.0)).unwrap()) == langevin);
    assert!(draws(System::fhd(underdamped(2.0, 3.0, 1.0)).unwrap()) == langevin);
    assert!(draws(System::fuld_beta_free(underdamped(2.0, 3.0, 1.0)).unwrap()) == langevin);
    let over =
        |system: System| numbers(equilibrate(system, Integrator::Euler, 0.05, 1.0, &wells(1)));
    let langevin = over(System::overdamped_langevin(overdamped_gaussian(1.0)).unwrap());
    assert!(over(System::flmc_approximate(overdamped(2.0, 1.0)).unwrap()) == langevin);
    assert!(over(System::uncorrected_overdamped(overdamped(2.0, 1.0)).unwrap()) == langevin);
}

/// SGD with momentum (eq. sgdm_common): ṽ ← γ̃ṽ − η̃∇f, x ← x + ṽ with ṽ = ηv, γ̃ = 1 − ηγ, η̃ =
/// η².
#[test]
fn momentum_is_sgdm() {
    let (eta, gamma) = (0.1, 0.9);
    let run = Run::new(
        System::momentum(noiseless(gamma)).unwrap(),
        Integrator::Euler,
        Schedule::constant(eta).unwrap(),
    );
    let samples = Run { chains: 1, warmup: 0, draws: 300, ..run }.sample(&wells(1)).unwrap();
    let chain = samples.chain(0);
    let mut x = chain[0];
    let mut velocity = 0.0;
    for (k, &seen) in chain.iter().enumerate().skip(1) {
        if k == 1 {
            velocity = chain[1] - chain[0];
        } else {
            velocity = (1.0 - eta * gamma) * velocity - eta * eta * (x * x * x - x);
        }
        x += velocity;
        assert!((x - seen).abs() < 1e-12, "step {k}: {x} for {seen}");
    }
}

#[test]
fn approximations_require_alpha_above_1() {
    assert!(System::fhd(underdamped(1.0, 1.0, 1.0)).unwrap_err().to_string().contains("got 1"));
    assert!(System::flmc_approximate(overdamped(0.9, 1.0)).is_err());
    assert!(Alpha::new(2.1).unwrap_err().to_string().contains("2.1"));
    assert!(Friction::new(-1.0).unwrap_err().to_string().contains("-1"));
    assert!(Beta::new(0.0).unwrap_err().to_string().contains("got 0"));
}
