//! Beyond the paper: the Gaussian kinetic energy, which it gives up, working.

use super::claim::{Claim, Verdict};
use super::distance::Distance;
use super::exhibit::{Exhibit, Table};
use super::lab::Lab;
use super::parameters::underdamped;
use super::quartic::{density, well};
use fuld::diagnostics::{Histogram, Sample};
use fuld::gibbs::Gibbs;
use fuld::potential::Harmonic;
use fuld::{Integrator, Run, Schedule, System};
use fuld_plot::{Axis, Figure, Hue, Panel};

const ALPHAS: [f64; 4] = [1.9, 1.7, 1.5, 1.2];
const GAMMA: f64 = 5.0;
const ETA: f64 = 0.01;
const CHAINS: usize = 2048;

struct Measured {
    alpha: f64,
    /// Of x to e^(−f), of v to N(0, 1).
    position: Distance,
    velocity: Distance,
    largest: f64,
    diverged: usize,
    /// Share of Euler's chains that were gone after the same number of steps.
    euler: f64,
    positions: Vec<(f64, f64)>,
}

fn measure(lab: &Lab, alpha: f64, gibbs: &Gibbs, normal: &Gibbs) -> anyhow::Result<Measured> {
    let well = well()?;
    let system = System::fuld_gaussian(underdamped(alpha, GAMMA)?)?;
    let run = Run::new(system, Integrator::Baoab, Schedule::constant(ETA)?);
    let run = Run { chains: CHAINS, warmup: 2_000, draws: 40, thin: 100, velocities: true, ..run };
    let euler = Run { integrator: Integrator::Euler, velocities: false, ..run.clone() };
    let (samples, outcome) = lab.run(run, &well)?;
    let exploded = lab.run(euler, &well)?.1.divergences.len();
    let draws = samples.coordinate(0);
    let x = Sample::new(draws.iter().flatten().copied().filter(|x| x.is_finite()).collect::<Vec<_>>())?;
    Ok(Measured {
        alpha,
        position: Distance::of(&draws, gibbs)?,
        velocity: Distance::of(&samples.velocity(0).unwrap_or_default(), normal)?,
        largest: x.sorted().iter().fold(0.0, |m, x| m.max(x.abs())),
        diverged: outcome.divergences.len(),
        euler: exploded as f64 / CHAINS as f64,
        positions: Histogram::new(&x, -3.5, 3.5, 100)?.density().collect(),
    })
}

/// Makes the exhibit.
pub(super) fn make(lab: &Lab) -> anyhow::Result<Exhibit> {
    let gibbs = Gibbs::new(&well()?, 1.0)?;
    let normal = Gibbs::new(&Harmonic::isotropic(1, 1.0)?, 1.0)?;
    let all = ALPHAS
        .map(|alpha| measure(lab, alpha, &gibbs, &normal))
        .into_iter()
        .collect::<Result<Vec<_>, _>>()?;
    let exact: Vec<(f64, f64)> = density(&gibbs);
    let mut table = Table::new(
        "summary",
        &["α", "KS of x", "KS of v", "95 % by chance (x)", "largest |x|", "diverged", "Euler diverged"],
    );
    let mut data = Table::new("densities", &["alpha", "x", "density"]);
    let mut left = Panel::new("positions, by the splitting")
        .x(Axis::linear("x").range(-3.5, 3.5))
        .y(Axis::linear("density"))
        .area(Hue::Muted, "exp(−f), normalised", exact);
    for m in &all {
        left = left.line(Hue::alpha(m.alpha), format!("α = {}", m.alpha), m.positions.clone());
        m.positions.iter().for_each(|&(x, density)| data.numbers(m.alpha.to_string(), &[x, density]));
        table.row([
            m.alpha.to_string(),
            format!("{:.4}", m.position.value),
            format!("{:.4}", m.velocity.value),
            format!("{:.4}", m.position.chance),
            format!("{:.2}", m.largest),
            m.diverged.to_string(),
            format!("{:.0} %", 100.0 * m.euler),
        ]);
    }
    let shares: Vec<(f64, f64)> = all.iter().map(|m| (m.alpha, m.euler)).collect();
    let ours: Vec<(f64, f64)> = all.iter().map(|m| (m.alpha, m.diverged as f64 / CHAINS as f64)).collect();
    let right = Panel::new("chains lost")
        .x(Axis::linear("α").ticks(&[1.2, 1.5, 1.7, 1.9]))
        .y(Axis::linear("share diverged").range(-0.03, 1.03))
        .line(Hue::Vermillion, "", shares.clone())
        .dots(Hue::Vermillion, "Euler–Maruyama", shares)
        .line(Hue::Blue, "", ours.clone())
        .dots(Hue::Blue, "splitting with the exact flow of c", ours);
    let mut settings = toml::Table::new();
    settings.insert("potential".into(), "x^4/4 - x^2/2".into());
    settings.insert("alpha".into(), ALPHAS.to_vec().into());
    settings.insert("beta".into(), 1.0.into());
    settings.insert("gamma".into(), GAMMA.into());
    settings.insert("eta".into(), ETA.into());
    settings.insert("integrator".into(), "baoab".into());
    settings.insert("chains".into(), (CHAINS as i64).into());
    Ok(Exhibit {
        id: "gaussian",
        title: "Beyond the paper · The Gaussian kinetic energy, working".into(),
        text: "The paper leaves this energy to theory, because Euler's explicit step explodes on a drift that grows like e^(v²/2). But v′ = −γc(v) is \
               a scalar equation whose flow comes down from any height in no time: with T(v) = ∫_v^∞ du/c(u), v(t) = T⁻¹(T(v₀) + γt). Tabulated once, \
               and put around the jump, it makes a stable second-order scheme."
            .into(),
        figures: vec![(Figure::new("gaussian").panel(left).panel(right), format!("γ = {GAMMA}, η = {ETA}, 6,000 steps."))],
        data: vec![data, table.clone()],
        tables: vec![table],
        settings,
        claims: claims(&all),
    })
}

fn claims(all: &[Measured]) -> Vec<Claim> {
    let share = |m: &Measured| format!("{:.0} % at α = {}", 100.0 * m.euler, m.alpha);
    let texts: Vec<String> = all.iter().map(share).collect();
    let worst = all.iter().map(|m| m.position.value.max(m.velocity.value)).fold(0.0, f64::max);
    let lost: usize = all.iter().map(|m| m.diverged).sum();
    let practical = lost == 0 && all.iter().all(|m| m.position.agrees() && m.velocity.agrees());
    vec![
        Claim::new(
            "The Euler discretisation with the Gaussian kinetic energy does not yield a practical algorithm.",
            format!("Euler at η = {ETA} loses {} of its chains within 6,000 steps.", texts.join(", ")),
            Verdict::of_all(all.iter().map(|m| m.euler > 0.5)),
        ),
        Claim::new(
            "FULD with the Gaussian kinetic energy is mostly of theoretical interest.",
            format!(
                "The splitting loses {lost} of {} chains; x and v are within {worst:.3} of e^(−f) and N(0, 1) in KS distance at all four α.",
                CHAINS * all.len()
            ),
            Verdict::of(!practical),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scheme_that_loses_chains_is_theory() {
        let measured = |diverged: usize, euler: f64| {
            let right = Distance { value: 0.004, chance: 0.005 };
            Measured {
                alpha: 1.5,
                position: right,
                velocity: right,
                largest: 3.0,
                diverged,
                euler,
                positions: Vec::new(),
            }
        };
        let verdicts = |m: Measured| claims(&[m]).iter().map(|claim| claim.verdict).collect::<Vec<_>>();
        assert_eq!(verdicts(measured(0, 1.0)), [Verdict::Holds, Verdict::Fails]);
        assert_eq!(verdicts(measured(3, 0.0)), [Verdict::Fails, Verdict::Holds]);
    }
}
