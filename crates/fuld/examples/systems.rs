//! Every system on the double well f = x⁴/4 − x²/2: where its chains end up, against e^(−βf).
//!
//! Usage: cargo run --release -p fuld --example systems [ALPHA [BETA]]

use fuld::diagnostics::{KernelDensity, Sample};
use fuld::dynamics::{CustomKinetic, DifferentiableFunction};
use fuld::gibbs::Gibbs;
use fuld::potential::DoubleWell;
use fuld::{
    Alpha, Beta, Flmc, Friction, Integrator, Overdamped, OverdampedGaussian, Run, Schedule, System,
    Underdamped, UnderdampedGaussian,
};
use std::error::Error;
use std::process::ExitCode;

const GAMMA: f64 = 5.0;

type Named = (&'static str, Result<System, Box<dyn Error>>, Integrator, f64);

fn main() -> ExitCode {
    match compare() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn compare() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args()
        .skip(1)
        .map(|a| a.parse::<f64>().map_err(|_| format!("expected a number, got {a:?}")));
    let alpha = Alpha::new(arguments.next().transpose()?.unwrap_or(1.5))?;
    let beta = Beta::new(arguments.next().transpose()?.unwrap_or(1.0))?;
    let gamma = Friction::new(GAMMA)?;
    let parameters = Underdamped { alpha, gamma, beta };
    // Parameters that no system accepts are an error; a system that does not accept them says so in
    // its line.
    System::uncorrected(parameters)?;
    let well = DifferentiableFunction {
        value: |x: f64| 0.25 * x.powi(4) - 0.5 * x * x,
        derivative: |x: f64| x * x * x - x,
    };
    let flmc = Flmc { alpha, beta, reach: 6.0, potential: "double well".into() };
    let systems: [Named; 11] = [
        (
            "FULD, stable kinetic energy",
            System::fuld(parameters).map_err(Box::from),
            Integrator::Baoab,
            0.05,
        ),
        (
            "the same, the paper's field",
            System::fuld_beta_free(parameters).map_err(Box::from),
            Integrator::Baoab,
            0.05,
        ),
        (
            "FULD, Gaussian kinetic energy",
            System::fuld_gaussian(parameters).map_err(Box::from),
            Integrator::Baoab,
            0.02,
        ),
        ("FULD, an energy of one's own", relativistic(parameters), Integrator::Baoab, 0.02),
        (
            "FLMC, exact drift",
            System::flmc(flmc, well).map_err(Box::from),
            Integrator::TamedEuler,
            0.001,
        ),
        (
            "uncorrected, underdamped",
            System::uncorrected(parameters).map_err(Box::from),
            Integrator::Baoab,
            0.01,
        ),
        (
            "FHD, as its authors run it",
            System::fhd(parameters).map_err(Box::from),
            Integrator::Baoab,
            0.01,
        ),
        (
            "uncorrected, overdamped",
            System::uncorrected_overdamped(Overdamped { alpha, beta }).map_err(Box::from),
            Integrator::TamedEuler,
            0.001,
        ),
        (
            "FLMC, as its authors run it",
            System::flmc_approximate(Overdamped { alpha, beta }).map_err(Box::from),
            Integrator::TamedEuler,
            0.001,
        ),
        (
            "underdamped Langevin",
            System::underdamped_langevin(UnderdampedGaussian { gamma, beta }).map_err(Box::from),
            Integrator::Baoab,
            0.05,
        ),
        (
            "overdamped Langevin",
            System::overdamped_langevin(OverdampedGaussian { beta }).map_err(Box::from),
            Integrator::Euler,
            0.001,
        ),
    ];
    let exact = Gibbs::new(&DoubleWell::new(1, 1.0, 1.0)?, beta)?;
    let second_moment = exact.expectation(|x| x * x);
    println!(
        "double well, alpha = {}, beta = {}: E x² = {second_moment:.4}, modes at ±1\n",
        alpha.get(),
        beta.get()
    );
    println!("{:30} {:>6} {:>8} {:>8} {:>9}  modes", "system", "step", "E x²", "KS", "diverged");
    for (name, system, integrator, eta) in systems {
        match system {
            Ok(system) => show(name, system, integrator, eta, &exact)?,
            Err(error) => println!("{name:30} {error}"),
        }
    }
    Ok(())
}

/// g = √(1 + v²), as in special relativity: velocities of the position stay below 1.
fn relativistic(parameters: Underdamped) -> Result<System, Box<dyn Error>> {
    let Underdamped { alpha, gamma, beta } = parameters;
    let energy = DifferentiableFunction {
        value: |v: f64| (1.0 + v * v).sqrt(),
        derivative: |v: f64| v / (1.0 + v * v).sqrt(),
    };
    let kinetic = CustomKinetic::new(alpha, beta, energy)?;
    Ok(System::underdamped("relativistic FULD", kinetic, gamma)?)
}

/// One line: two thousand chains, ten draws each over a time of 40.
fn show(
    name: &str,
    system: System,
    integrator: Integrator,
    eta: f64,
    exact: &Gibbs,
) -> Result<(), Box<dyn Error>> {
    let thin = (2.0 / eta) as u64;
    let run = Run::new(system, integrator, Schedule::constant(eta)?);
    let run = Run { chains: 2000, warmup: 10 * thin, draws: 10, thin, ..run };
    let samples = run.sample(&DoubleWell::new(1, 1.0, 1.0)?)?;
    let kept: Vec<f64> = samples.pooled(0).into_iter().filter(|x| x.is_finite()).collect();
    let second = kept.iter().map(|x| x * x).sum::<f64>() / kept.len() as f64;
    let count = kept.len() as f64;
    let sample = Sample::new(kept)?;
    let distance = sample.kolmogorov_smirnov(|x| exact.cdf(x))?.distance;
    let density = KernelDensity::new(&sample)?;
    let modes: Vec<String> =
        density.modes(count)?.iter().map(|m| format!("{:+.2}", m.location)).collect();
    let diverged = samples.outcome.divergences.len();
    let second = if second < 1e3 { format!("{second:.4}") } else { format!("{second:.0e}") };
    println!("{name:30} {eta:>6} {second:>8} {distance:>8.4} {diverged:>9}  {}", modes.join(" "));
    Ok(())
}
