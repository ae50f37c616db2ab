//! Every dynamics that the paper names, on one potential.

use super::claim::{Claim, Verdict};
use super::distance::Distance;
use super::exhibit::{Exhibit, Table};
use super::lab::Lab;
use super::parameters::{overdamped, underdamped, underdamped_gaussian};
use super::quartic::{density, well};
use fuld::diagnostics::{Histogram, Sample};
use fuld::dynamics::Function;
use fuld::gibbs::Gibbs;
use fuld::{Alpha, Beta, Flmc, Integrator, OverdampedGaussian, Run, Schedule, System};
use fuld_plot::{Axis, Figure, Hue, Panel};

const ALPHA: f64 = 1.5;
const GAMMA: f64 = 5.0;
const CHAINS: usize = 4000;

/// A dynamics, and whether it is made to have e^(−f) as its measure.
struct Entry {
    name: &'static str,
    system: System,
    integrator: Integrator,
    eta: f64,
    targets: bool,
}

fn entries() -> anyhow::Result<Vec<Entry>> {
    let well =
        Function { value: |x: f64| 0.25 * x.powi(4) - 0.5 * x * x, derivative: |x: f64| x * x * x - x };
    let flmc =
        Flmc { alpha: Alpha::new(ALPHA)?, beta: Beta::ONE, reach: 6.0, potential: "double well".into() };
    let entry = |name, system, integrator, eta, targets| Entry { name, system, integrator, eta, targets };
    let (split, tamed) = (Integrator::Baoab, Integrator::TamedEuler);
    Ok(vec![
        entry("FULD, stable energy", System::fuld(underdamped(ALPHA, GAMMA)?)?, split, 0.05, true),
        entry("FULD, Gaussian energy", System::fuld_gaussian(underdamped(ALPHA, GAMMA)?)?, split, 0.02, true),
        entry("FLMC, exact drift", System::flmc(flmc, well)?, tamed, 0.002, true),
        entry(
            "underdamped Langevin",
            System::underdamped_langevin(underdamped_gaussian(GAMMA)?)?,
            split,
            0.05,
            true,
        ),
        entry(
            "overdamped Langevin",
            System::overdamped_langevin(OverdampedGaussian { beta: Beta::ONE })?,
            Integrator::Euler,
            0.002,
            true,
        ),
        entry(
            "uncorrected, underdamped",
            System::uncorrected(underdamped(ALPHA, GAMMA)?)?,
            split,
            0.01,
            false,
        ),
        entry("FHD, approximated", System::fhd(underdamped(ALPHA, GAMMA)?)?, split, 0.01, false),
        entry(
            "uncorrected, overdamped",
            System::uncorrected_overdamped(overdamped(ALPHA)?)?,
            tamed,
            0.002,
            false,
        ),
        entry("FLMC, approximated", System::flmc_approximate(overdamped(ALPHA)?)?, tamed, 0.002, false),
    ])
}

/// Makes the exhibit.
pub(super) fn make(lab: &Lab) -> anyhow::Result<Exhibit> {
    let well = well()?;
    let gibbs = Gibbs::new(&well, 1.0)?;
    let exact: Vec<(f64, f64)> = density(&gibbs);
    let panel = |title: &str| {
        let panel = Panel::new(title).x(Axis::linear("x").range(-3.5, 3.5)).y(Axis::linear("density"));
        panel.area(Hue::Muted, "exp(−f), normalised", exact.clone())
    };
    let [mut left, mut right] = ["made to target exp(−f)", "approximated or uncorrected"].map(panel);
    let hues = [
        Hue::Blue,
        Hue::Green,
        Hue::Sky,
        Hue::Purple,
        Hue::Orange,
        Hue::Vermillion,
        Hue::Orange,
        Hue::Purple,
        Hue::Green,
    ];
    let second_moment = format!("E x² (exact {:.3})", gibbs.expectation(|x| x * x));
    let mut table = Table::new(
        "systems",
        &["dynamics", "step", "KS to Gibbs", "95 % by chance", &second_moment, "diverged"],
    );
    let mut data = Table::new("densities", &["dynamics", "x", "density"]);
    let mut measured = Vec::new();
    for (entry, hue) in entries()?.into_iter().zip(hues) {
        let thin = (2.0 / entry.eta) as u64;
        let run = Run::new(entry.system, entry.integrator, Schedule::constant(entry.eta)?);
        let (samples, outcome) =
            lab.run(Run { chains: CHAINS, warmup: 10 * thin, draws: 10, thin, ..run }, &well)?;
        let distance = Distance::of(&samples.coordinate(0), &gibbs)?;
        let kept: Vec<f64> = samples.pooled(0).into_iter().filter(|x| x.is_finite()).collect();
        let second = kept.iter().map(|x| x * x).sum::<f64>() / kept.len() as f64;
        let sample = Sample::new(kept)?;
        let curve: Vec<(f64, f64)> = Histogram::new(&sample, -3.5, 3.5, 70)?.density().collect();
        curve.iter().for_each(|&(x, y)| data.numbers(entry.name, &[x, y]));
        if entry.targets {
            left = left.line(hue, entry.name, curve);
        } else {
            right = right.dashed(hue, entry.name, curve);
        }
        table.row([
            entry.name.into(),
            entry.eta.to_string(),
            format!("{:.4}", distance.value),
            format!("{:.4}", distance.chance),
            format!("{second:.3}"),
            outcome.divergences.len().to_string(),
        ]);
        measured.push((entry.name, entry.targets, distance, outcome.divergences.len()));
    }
    let mut settings = toml::Table::new();
    settings.insert("potential".into(), "x^4/4 - x^2/2".into());
    settings.insert("alpha".into(), ALPHA.into());
    settings.insert("beta".into(), 1.0.into());
    settings.insert("gamma".into(), GAMMA.into());
    settings.insert("chains".into(), (CHAINS as i64).into());
    Ok(Exhibit {
        id: "systems",
        title: "Section 2 · Every dynamics the paper names".into(),
        text: format!(
            "The double well at α = {ALPHA}, β = 1: those that are made to have exp(−f) as their invariant measure, and those that put stable noise where \
             Gaussian noise was, or replace the Riesz derivative by a factor, as the authors of FLMC and FHD do in practice. {CHAINS} chains, ten draws \
             each."
        ),
        figures: vec![(
            Figure::new("systems").panel(left).panel(right),
            "Measures of all dynamics, beside the one that is wanted.".into(),
        )],
        data: vec![data, table.clone()],
        tables: vec![table],
        settings,
        claims: claims(&measured),
    })
}

fn claims(measured: &[(&str, bool, Distance, usize)]) -> Vec<Claim> {
    let of_kind = |targets: bool| measured.iter().filter(move |m| m.1 == targets);
    let told = |targets: bool| {
        let text = |(name, _, distance, _): &(&str, bool, Distance, usize)| {
            format!("{name} {:.3} (by chance {:.3})", distance.value, distance.chance)
        };
        of_kind(targets).map(text).collect::<Vec<_>>().join("; ")
    };
    vec![
        Claim::new(
            "FLMC with its exact drift, and FULD, have exp(−βf) as invariant measure.",
            format!("KS distances: {}.", told(true)),
            Verdict::of_all(of_kind(true).map(|m| m.2.agrees() && m.3 == 0)),
        ),
        Claim::new(
            "Approximating the Riesz derivative by a factor, or leaving the drift uncorrected, induces a bias.",
            format!("KS distances: {}.", told(false)),
            Verdict::of_all(of_kind(false).map(|m| !m.2.agrees())),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bias_decides() {
        let distance = |value: f64| Distance { value, chance: 0.01 };
        let verdicts = |exact: f64, lost: usize, approximate: f64| {
            let claims =
                claims(&[("a", true, distance(exact), lost), ("b", false, distance(approximate), 0)]);
            [claims[0].verdict, claims[1].verdict]
        };
        assert_eq!(verdicts(0.01, 0, 0.05), [Verdict::Holds, Verdict::Holds]);
        assert_eq!(verdicts(0.05, 0, 0.01), [Verdict::Fails, Verdict::Fails]);
        assert_eq!(verdicts(0.01, 9, 0.05), [Verdict::Fails, Verdict::Holds]);
    }
}
