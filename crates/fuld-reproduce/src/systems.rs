//! Every dynamics that the paper names, on one potential.

use super::claim::{Claim, Judgement};
use super::context::Context;
use super::distance::Distance;
use super::exhibit::{CaptionedFigure, Exhibit, TextTable};
use super::quartic::{WINDOW, chains, exact_density, finite, target};
use super::specification::settings;
use super::table::Tables;
use fuld::diagnostics::{Histogram, Sample};
use fuld::{Integrator, SystemKind};
use fuld_plot::{Axis, Figure, Hue, Panel};
use fuld_sample::SampleRequest;
use serde::{Deserialize, Serialize};

/// The exhibit.
pub(crate) const EXHIBIT: Exhibit = Exhibit {
    id: "systems",
    title: "Section 2 · Every dynamics the paper names",
    shows: "every dynamics the paper names, on the double well",
    seconds: 6.0,
    version: 1,
    trains: false,
    settings: |_| {
        settings([
            ("alpha", ALPHA.into()),
            ("gamma", GAMMA.into()),
            ("chains", (CHAINS as i64).into()),
            ("step", SYSTEMS.map(|(.., step, _)| step).to_vec().into()),
        ])
    },
    experiment,
    text: |_| {
        Ok(format!(
            "The double well at α = {ALPHA}, β = 1. Left: the dynamics with invariant measure exp(−f). Right: dynamics that replace \
             Gaussian noise by stable noise and correct nothing, or replace the Riesz derivative by a factor, as the authors of FLMC \
             and FHD do in practice. {CHAINS} chains with ten draws each."
        ))
    },
    claims,
    figures,
    shown,
};

const ALPHA: f64 = 1.5;
const GAMMA: f64 = 5.0;
const CHAINS: usize = 4000;

/// Name, system, integrator, step, and whether exp(−f) is its invariant measure.
const SYSTEMS: [(&str, SystemKind, Integrator, f64, bool); 9] = [
    ("FULD, stable energy", SystemKind::Fuld, Integrator::Baoab, 0.05, true),
    ("FULD, Gaussian energy", SystemKind::FuldGaussian, Integrator::Baoab, 0.02, true),
    ("FLMC, exact drift", SystemKind::Flmc, Integrator::TamedEuler, 0.002, true),
    ("underdamped Langevin", SystemKind::UnderdampedLangevin, Integrator::Baoab, 0.05, true),
    ("overdamped Langevin", SystemKind::OverdampedLangevin, Integrator::Euler, 0.002, true),
    ("uncorrected, underdamped", SystemKind::Uncorrected, Integrator::Baoab, 0.01, false),
    ("FHD, approximated", SystemKind::Fhd, Integrator::Baoab, 0.01, false),
    ("uncorrected, overdamped", SystemKind::UncorrectedOverdamped, Integrator::TamedEuler, 0.002, false),
    ("FLMC, approximated", SystemKind::FlmcApproximate, Integrator::TamedEuler, 0.002, false),
];

/// A dynamics and the distance of its chains to exp(−f).
#[derive(Serialize, Deserialize)]
struct Measured {
    dynamics: String,
    is_exact: bool,
    step: f64,
    ks: f64,
    ks_noise: f64,
    second_moment: f64,
    exact_second_moment: f64,
    diverged: usize,
}

impl Measured {
    fn agrees(&self) -> bool {
        Distance { ks: self.ks, ks_noise: self.ks_noise }.agrees()
    }
}

#[derive(Serialize, Deserialize)]
struct Density {
    dynamics: String,
    x: f64,
    density: f64,
}

fn experiment(context: &Context<'_>) -> anyhow::Result<Tables> {
    let target = target(1.0)?;
    let exact_second_moment = target.expectation(|x| x * x);
    let (mut systems, mut densities) = (Vec::new(), Vec::new());
    for (i, (name, system, integrator, step, is_exact)) in SYSTEMS.into_iter().enumerate() {
        let thin = (2.0 / step) as u64;
        let request = SampleRequest {
            beta: Some(1.0),
            alpha: system.has_alpha().then_some(ALPHA),
            gamma: system.has_velocity().then_some(GAMMA),
            chains: Some(CHAINS),
            warmup: Some(10 * thin),
            draws: Some(10),
            thin: Some(thin),
            ..chains(system, integrator, step)
        };
        let (samples, outcome) = context.sample(request)?;
        let draws = samples.coordinate(0);
        let Distance { ks, ks_noise } = Distance::of(&draws, &target)?;
        let kept = finite(&draws);
        systems.push(Measured {
            dynamics: name.into(),
            is_exact,
            step,
            ks,
            ks_noise,
            second_moment: kept.iter().map(|x| x * x).sum::<f64>() / kept.len() as f64,
            exact_second_moment,
            diverged: outcome.divergences.len(),
        });
        let bins = Histogram::new(&Sample::new(kept)?, -WINDOW, WINDOW, 70)?;
        densities.extend(bins.density().map(|(x, density)| Density { dynamics: name.into(), x, density }));
        context.progress((i + 1) as f64 / SYSTEMS.len() as f64);
    }
    Ok(Tables::default().with("systems", systems)?.with("densities", densities)?)
}

const HUES: [Hue; 9] = [
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

fn figures(tables: &Tables) -> anyhow::Result<Vec<CaptionedFigure>> {
    let (systems, densities): (Vec<Measured>, Vec<Density>) =
        (tables.rows("systems")?, tables.rows("densities")?);
    let exact = exact_density()?;
    let [mut left, mut right] = ["invariant measure exp(−f)", "approximated or uncorrected"].map(|title| {
        Panel::new(title).x(Axis::linear("x").range(-WINDOW, WINDOW)).y(Axis::linear("density")).area(
            Hue::Muted,
            "exp(−f), normalised",
            exact.clone(),
        )
    });
    for (system, hue) in systems.iter().zip(HUES) {
        let name = system.dynamics.as_str();
        let curve = densities.iter().filter(|p| p.dynamics == name).map(|p| (p.x, p.density)).collect();
        if system.is_exact {
            left = left.line(hue, name, curve);
        } else {
            right = right.dashed(hue, name, curve);
        }
    }
    let figure = Figure::new("systems").panel(left).panel(right);
    Ok(vec![CaptionedFigure::new(figure, "Estimated invariant measures of all dynamics, over the target.")])
}

fn shown(tables: &Tables) -> anyhow::Result<Vec<TextTable>> {
    let systems: Vec<Measured> = tables.rows("systems")?;
    let exact = systems.first().map_or(f64::NAN, |system| system.exact_second_moment);
    let second_moment = format!("E x² (exact {exact:.3})");
    let columns = ["dynamics", "step", "KS to target", "95 % of noise", &second_moment, "diverged"];
    Ok(vec![systems.iter().fold(TextTable::new(columns), |table, m| {
        table.row([
            m.dynamics.clone(),
            m.step.to_string(),
            format!("{:.4}", m.ks),
            format!("{:.4}", m.ks_noise),
            format!("{:.3}", m.second_moment),
            m.diverged.to_string(),
        ])
    })])
}

fn claims(tables: &Tables) -> anyhow::Result<Vec<Claim>> {
    let systems: Vec<Measured> = tables.rows("systems")?;
    let (exact, other): (Vec<Measured>, Vec<Measured>) = systems.into_iter().partition(|m| m.is_exact);
    let text = |all: &[Measured]| {
        let of = |m: &Measured| format!("{} {:.3} (noise {:.3})", m.dynamics, m.ks, m.ks_noise);
        format!("KS distances: {}.", all.iter().map(of).collect::<Vec<_>>().join("; "))
    };
    Ok(vec![
        Claim::paper(
            "exact",
            "FLMC with its exact drift, and FULD, have exp(−βf) as invariant measure.",
            text(&exact),
            Judgement::of(exact.iter().map(|m| {
                let why = format!(
                    "{} is {:.3} from exp(−f) with {} of {CHAINS} chains diverged",
                    m.dynamics, m.ks, m.diverged
                );
                (m.agrees() && m.diverged == 0, why)
            })),
        ),
        Claim::paper(
            "biased",
            "Approximating the Riesz derivative by a factor, or leaving the drift uncorrected, induces a bias.",
            text(&other),
            Judgement::of(
                other.iter().map(|m| (!m.agrees(), format!("no bias of {} can be seen", m.dynamics))),
            ),
        ),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    #[test]
    fn bias_decides() {
        let measured = |is_exact: bool, ks: f64, diverged: usize| Measured {
            dynamics: "a".into(),
            is_exact,
            step: 0.1,
            ks,
            ks_noise: 0.01,
            second_moment: 1.0,
            exact_second_moment: 1.0,
            diverged,
        };
        let verdicts = |exact: f64, diverged: usize, approximate: f64| {
            let rows = [measured(true, exact, diverged), measured(false, approximate, 0)];
            let claims = claims(&Tables::default().with("systems", rows).unwrap()).unwrap();
            [claims[0].verdict, claims[1].verdict]
        };
        assert_eq!(verdicts(0.01, 0, 0.05), [Verdict::Holds, Verdict::Holds]);
        assert_eq!(verdicts(0.05, 0, 0.01), [Verdict::Fails, Verdict::Fails]);
        assert_eq!(verdicts(0.01, 9, 0.05), [Verdict::Fails, Verdict::Holds]);
    }
}
