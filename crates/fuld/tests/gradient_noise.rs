//! Noise of stochastic gradients, taken for a part of the driving noise: FULD samples its target,
//! other methods do not.
//!
//! The gradient of every step carries SαS(σ) noise, with σ such that the noise is half of the
//! driving noise of FULD: in one step (ησ)^α = κ^α (1 − e^(−αγη))/2. Errors are standard errors
//! over independent chains. A correct method has to be within 5 of them, over all comparisons with
//! a false-positive rate of 2e-5; a biased one has to be off by more than 10 of them. Seeds are
//! fixed. `cargo test -p fuld --test tests gradient_noise -- --nocapture` prints the measurements.

use crate::parameters::{overdamped_gaussian, underdamped, underdamped_gaussian};
use fuld::gibbs::Gibbs;
use fuld::potential::{FromFn1, Potential};
use fuld::{Beta, Integrator, NoiseScale, Polynomial, Run, Schedule, Start, Step, System};
use levy_stable::{Sampler, SymmetricStable};

const ALPHAS: [f64; 4] = [1.2, 1.5, 1.8, 2.0];
const GAMMA: f64 = 2.0;
const STEP: f64 = 0.04;
/// The part of the driving noise that comes from the gradient.
const SHARE: f64 = 0.5;
const CHAINS: usize = 512;
/// Standard errors within which a correct method is, and those by which a biased one is off at
/// least.
const NEAR: f64 = 5.0;
const FAR: f64 = 10.0;

/// A potential of one coordinate whose gradients carry noise σζ.
struct Noisy<'a> {
    exact: &'a dyn Potential,
    noise: Sampler,
    sigma: f64,
}

impl<'a> Noisy<'a> {
    fn new(exact: &'a dyn Potential, alpha: f64, sigma: f64) -> Self {
        Self { exact, noise: SymmetricStable::new(alpha).unwrap().sampler(), sigma }
    }
}

impl Potential for Noisy<'_> {
    fn dim(&self) -> usize {
        1
    }

    fn value(&self, x: &[f64]) -> f64 {
        self.exact.value(x)
    }

    fn gradient(&self, x: &[f64], gradient: &mut [f64]) {
        self.exact.gradient(x, gradient);
    }

    fn is_stochastic(&self) -> bool {
        true
    }

    fn gradients(&self, points: &[f64], words: &[u64], gradients: &mut [f64]) {
        let mut noise = vec![0.0; words.len()];
        self.noise.transform(words, &mut noise);
        self.exact.gradients(points, words, gradients);
        gradients.iter_mut().zip(noise).for_each(|(gradient, zeta)| *gradient += self.sigma * zeta);
    }
}

/// The σ at which the gradient supplies SHARE of the driving noise at step η.
fn sigma(alpha: f64, eta: f64) -> f64 {
    (SHARE * -f64::exp_m1(-alpha * GAMMA * eta) / alpha).powf(1.0 / alpha) / eta
}

/// A mean with its standard error over chains.
#[derive(Clone, Copy, Debug)]
struct Estimate {
    mean: f64,
    error: f64,
}

impl Estimate {
    fn over(chains: &[f64]) -> Self {
        let n = chains.len() as f64;
        let mean = chains.iter().sum::<f64>() / n;
        let square = chains.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
        Self { mean, error: (square / n).sqrt() }
    }

    /// Returns the distance from the exact value in standard errors.
    fn off(self, exact: f64) -> f64 {
        (self.mean - exact) / self.error
    }
}

fn scale(value: f64) -> NoiseScale {
    NoiseScale::new(value).unwrap()
}

fn run(system: System, integrator: Integrator, noise_scale: f64) -> Run {
    let run = Run::new(system, integrator, Schedule::constant(STEP).unwrap());
    let start = Start::Gaussian(1.0);
    Run {
        noise_scale: scale(noise_scale),
        chains: CHAINS,
        warmup: 500,
        draws: 1,
        thin: 20_000,
        seed: 11,
        start,
        ..run
    }
}

fn fuld(alpha: f64) -> System {
    System::fuld(underdamped(alpha, GAMMA, 1.0)).unwrap()
}

/// E h(x) over all steps of a run, or the number of chains that left for infinity.
fn average(
    run: Run,
    f: &dyn Potential,
    h: impl Fn(f64) -> f64 + Send + Sync + 'static,
) -> Result<Estimate, usize> {
    let outcome = run.averaging("h", move |x| h(x[0])).sample(f).unwrap().outcome;
    let lost = outcome.divergences.len();
    if lost > 0 { Err(lost) } else { Ok(Estimate::over(&outcome.averages[0].chains)) }
}

/// The targets by name: a Gaussian one, and the double well.
fn targets() -> [(&'static str, Box<dyn Potential>); 2] {
    [
        ("x^2/2", Box::new(FromFn1::new(|x| 0.5 * x * x, |x| x))),
        (
            "x^4/4 - x^2/2",
            Box::new(FromFn1::new(|x| 0.25 * x.powi(4) - 0.5 * x * x, |x| x * (x * x - 1.0))),
        ),
    ]
}

/// Prints a measurement, and checks that a correct method is near the exact value and a biased one
/// far from it.
fn judge(line: &str, exact: f64, measured: Result<Estimate, usize>, correct: bool) {
    let off = measured.map_or(f64::INFINITY, |measured| measured.off(exact));
    let text = match measured {
        Ok(Estimate { mean, error }) => format!("{mean:.4} ± {error:.4} | {off:+.1}"),
        Err(lost) => format!("{lost} of {CHAINS} chains left for infinity |"),
    };
    println!("| {line} | {exact:.4} | {text} |");
    assert!(if correct { off.abs() < NEAR } else { off.abs() > FAR }, "{line}: {off}");
}

/// E x² of FULD that knows the noise is right; of FULD that does not, it is far off.
#[test]
fn fuld_with_the_scale_of_the_noise_has_the_right_second_moment() {
    println!("| target | alpha | method | exact E x² | measured | standard errors off |");
    for (name, f) in targets() {
        let exact = Gibbs::new(&*f, Beta::ONE).unwrap().expectation(|x| x * x);
        for alpha in ALPHAS {
            let noisy = Noisy::new(&*f, alpha, sigma(alpha, STEP));
            for (title, integrator, noise_scale, correct) in [
                ("FULD, BAOAB, noise_scale", Integrator::Baoab, noisy.sigma, true),
                ("FULD, ABOBA, noise_scale", Integrator::Aboba, noisy.sigma, true),
                ("FULD, BAOAB", Integrator::Baoab, 0.0, false),
            ] {
                let measured =
                    average(run(fuld(alpha), integrator, noise_scale), &noisy, |x| x * x);
                judge(&format!("{name} | {alpha} | {title}"), exact, measured, correct);
            }
            let clean = average(run(fuld(alpha), Integrator::Baoab, 0.0), &*f, |x| x * x);
            judge(&format!("{name} | {alpha} | FULD, BAOAB, exact gradients"), exact, clean, true);
        }
    }
}

/// The probability that |x| exceeds its 0.9-quantile is 0.1. E x² of the other methods need not
/// exist.
#[test]
fn other_methods_have_too_heavy_tails() {
    println!("| target | alpha | method | exact P(abs(x) > q) | measured | standard errors off |");
    for (name, f) in targets() {
        let quantile = Gibbs::new(&*f, Beta::ONE).unwrap().quantile(0.95);
        let beyond = move |x: f64| f64::from(x.abs() > quantile);
        // A control: the step of SGLD explains little of its error.
        let sgld = System::overdamped_langevin(overdamped_gaussian(1.0)).unwrap();
        let Estimate { mean, error } =
            average(run(sgld, Integrator::TamedEuler, 0.0), &*f, beyond).unwrap();
        println!("| {name} | | SGLD, exact gradients | 0.1000 | {mean:.4} ± {error:.4} | |");
        assert!((mean - 0.1).abs() < 0.02, "{name}: {mean}");
        for alpha in ALPHAS {
            let sigma = sigma(alpha, STEP);
            let noisy = Noisy::new(&*f, alpha, sigma);
            let sghmc = || System::underdamped_langevin(underdamped_gaussian(GAMMA, 1.0)).unwrap();
            let sgld = || System::overdamped_langevin(overdamped_gaussian(1.0)).unwrap();
            for (title, run, correct) in [
                ("FULD, noise_scale", run(fuld(alpha), Integrator::Baoab, sigma), true),
                ("FULD", run(fuld(alpha), Integrator::Baoab, 0.0), false),
                ("SGLD", run(sgld(), Integrator::TamedEuler, 0.0), false),
                ("SGHMC", run(sghmc(), Integrator::Baoab, 0.0), false),
                // Its estimate is the variance of Gaussian noise, here of the scale σ, and right at
                // α = 2.
                ("SGHMC, noise_scale", run(sghmc(), Integrator::Baoab, sigma), alpha == 2.0),
            ] {
                let measured = average(run, &noisy, beyond);
                judge(&format!("{name} | {alpha} | {title}"), 0.1, measured, correct);
            }
        }
    }
}

/// Corollary 1: with decreasing steps, averages weighted with the steps converge also if the scale
/// of the noise is unknown, because its part in the driving noise falls as η^(α − 1). With
/// `noise_scale` they are right from the beginning.
#[test]
fn decreasing_steps_remove_the_bias_of_unknown_noise() {
    let (alpha, steps) = (1.8, 64_000);
    let [_, (name, f)] = targets();
    let exact = Gibbs::new(&*f, Beta::ONE).unwrap().expectation(|x| x * x);
    let noisy = Noisy::new(&*f, alpha, sigma(alpha, STEP));
    let run = |noise_scale| run(fuld(alpha), Integrator::Baoab, noise_scale);
    let steps_fall = Polynomial { start: Step::new(STEP).unwrap(), half_life: 250.0, power: 0.5 };
    let falling = Schedule::polynomial(steps_fall).unwrap();
    let fallen = |noise_scale| {
        let run = Run { schedule: falling.clone(), thin: steps, ..run(noise_scale) };
        average(run, &noisy, |x| x * x)
    };
    println!("| target | alpha | method | exact E x² | measured | standard errors off |");
    let line = |title: &str| format!("{name} | {alpha} | FULD, {title}");
    judge(&line("decreasing steps, noise_scale"), exact, fallen(noisy.sigma), true);
    let constant = average(run(0.0), &noisy, |x| x * x);
    judge(&line("constant steps"), exact, constant, false);
    let (constant, unknown) = (constant.unwrap().mean - exact, fallen(0.0).unwrap());
    println!(
        "| {} | {exact:.4} | {:.4} ± {:.4} | |",
        line("decreasing steps"),
        unknown.mean,
        unknown.error
    );
    // The mean of (ηₖ/η₀)^(α − 1) over these steps, with weights ηₖ: 0.22.
    let sum =
        |power: f64| (500..500 + steps).map(|k| falling.at(k).unwrap().powf(power)).sum::<f64>();
    let expected = constant * sum(alpha) / sum(1.0) / STEP.powf(alpha - 1.0);
    let bias = unknown.mean - exact;
    assert!((bias - expected).abs() < NEAR * unknown.error, "{bias} {expected} {unknown:?}");
    assert!(bias < constant - FAR * unknown.error, "{bias} {constant}");
}
