//! Every dynamics that the paper names, on one potential.

use crate::distance::{Distance, Sampled};
use crate::drawing::curve;
use crate::quartic::{Length, WINDOW, chains, exact_density, histogram, second_moment, target};
use crate::{CaptionedFigure, Claim, Context, Exhibit, Judgement, TextTable};
use fuld::{Integrator, SystemKind};
use fuld_plot::{Axis, Figure, Hue, Panel};
use fuld_sample::SampleRequest;

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
    (
        "uncorrected, overdamped",
        SystemKind::UncorrectedOverdamped,
        Integrator::TamedEuler,
        0.002,
        false,
    ),
    ("FLMC, approximated", SystemKind::FlmcApproximate, Integrator::TamedEuler, 0.002, false),
];

const HUES: [Hue; 9] = {
    use Hue::{Blue, Green, Orange, Purple, Sky, Vermillion};
    [Blue, Green, Sky, Purple, Orange, Vermillion, Orange, Purple, Green]
};

results! {
    /// Every dynamics the paper names.
    Systems {
        /// A system and the distance of its chains to exp(−f).
        systems: Measured {
            system: String,
            is_exact: bool,
            step: f64,
            ks: f64,
            ks_bootstrap: f64,
            second_moment: f64,
            exact_second_moment: f64,
            diverged: usize,
        },
        densities: Density { system: String, x: f64, density: f64 },
    }
}

impl Measured {
    fn agrees(&self) -> bool {
        Distance { ks: self.ks, ks_bootstrap: self.ks_bootstrap }.agrees()
    }
}

impl Exhibit for Systems {
    const ID: &'static str = "systems";
    const TITLE: &'static str = "Section 2 · Every dynamics the paper names";
    const SHOWS: &'static str = "every dynamics the paper names, on the double well";
    const SECONDS: f64 = 2.0;
    const VERSION: u32 = 2;

    settings! { alpha: ALPHA, gamma: GAMMA, chains: CHAINS, step: SYSTEMS.map(|(.., step, _)| step) }

    fn experiment(context: &Context<'_>) -> anyhow::Result<Self> {
        let target = target(1.0)?;
        let exact_second_moment = target.expectation(|x| x * x);
        let mut results = Self::default();
        for (_, kind, integrator, step, is_exact) in SYSTEMS {
            let system = || kind.name().to_owned();
            let thin = (2.0 / step) as u64;
            let length = Length { chains: CHAINS, warmup: 10 * thin, draws: 10, thin };
            let request = SampleRequest {
                alpha: kind.has_alpha().then_some(ALPHA),
                gamma: kind.has_velocity().then_some(GAMMA),
                ..chains(kind, integrator, step, length)
            };
            let Sampled { draws, distance, diverged } = Sampled::new(context, request, &target)?;
            let Distance { ks, ks_bootstrap } = distance;
            results.systems.push(Measured {
                system: system(),
                is_exact,
                step,
                ks,
                ks_bootstrap,
                second_moment: second_moment(&draws),
                exact_second_moment,
                diverged,
            });
            let bins = histogram(&draws, 70)?.into_iter();
            results.densities.extend(bins.map(|(x, density)| Density {
                system: system(),
                x,
                density,
            }));
            context.progress(results.systems.len() as f64 / SYSTEMS.len() as f64);
        }
        Ok(results)
    }

    fn text(&self) -> String {
        format!(
            "The double well at α = {ALPHA}, β = 1. Left: the dynamics with invariant measure exp(−f). Right: dynamics that replace \
             Gaussian noise by stable noise and correct nothing, or replace the Riesz derivative by a factor, as the authors of FLMC \
             and FHD do in practice. {CHAINS} chains with ten draws each."
        )
    }

    fn figures(&self) -> Vec<CaptionedFigure> {
        let exact = exact_density().unwrap_or_default();
        let [mut left, mut right] = ["invariant measure exp(−f)", "approximated or uncorrected"]
            .map(|title| {
                let panel = Panel::new(title)
                    .x(Axis::linear("x").range(-WINDOW, WINDOW))
                    .y(Axis::linear("density"));
                panel.area(Hue::Muted, "exp(−f), normalised", exact.clone())
            });
        for (Measured { system, is_exact, .. }, hue) in self.systems.iter().zip(HUES) {
            let density = curve(&self.densities, |p| p.system == *system, |p| (p.x, p.density));
            let name = title(system);
            if *is_exact {
                left = left.line(hue, name, density);
            } else {
                right = right.dashed(hue, name, density);
            }
        }
        let figure = Figure::new("systems").panel(left).panel(right);
        vec![CaptionedFigure::new(
            figure,
            "Estimated invariant measures of all dynamics, over the target.",
        )]
    }

    fn shown(&self) -> Vec<TextTable> {
        let exact = self.systems.first().map_or(f64::NAN, |system| system.exact_second_moment);
        let second_moment = format!("E x² (exact {exact:.3})");
        vec![TextTable::of(
            &self.systems,
            &[
                ("system", |m| title(&m.system).into()),
                ("step", |m| m.step.to_string()),
                ("KS to target", |m| format!("{:.4}", m.ks)),
                ("95 % of noise", |m| format!("{:.4}", m.ks_bootstrap)),
                (&second_moment, |m| format!("{:.3}", m.second_moment)),
                ("diverged", |m| m.diverged.to_string()),
            ],
        )]
    }

    fn claims(&self) -> Vec<Claim> {
        let (exact, other): (Vec<_>, Vec<_>) = self.systems.iter().partition(|m| m.is_exact);
        let text = |all: &[&Measured]| {
            let of = |m: &&Measured| {
                format!("{} {:.3} (noise {:.3})", title(&m.system), m.ks, m.ks_bootstrap)
            };
            format!("KS distances: {}.", all.iter().map(of).collect::<Vec<_>>().join("; "))
        };
        let exact_checks = exact.iter().map(|m| {
            let why = format!(
                "{} is {:.3} from exp(−f) with {} of {CHAINS} chains diverged",
                title(&m.system),
                m.ks,
                m.diverged
            );
            (m.agrees() && m.diverged == 0, why)
        });
        let other_checks = other
            .iter()
            .map(|m| (!m.agrees(), format!("no bias of {} can be seen", title(&m.system))));
        vec![
            Claim::paper(
                "exact",
                "FLMC with its exact drift, and FULD, have exp(−βf) as invariant measure.",
                text(&exact),
                Judgement::of(exact_checks),
            ),
            Claim::paper(
                "biased",
                "Approximating the Riesz derivative by a factor, or leaving the drift uncorrected, induces a bias.",
                text(&other),
                Judgement::of(other_checks),
            ),
        ]
    }
}

/// Returns the name of a system in figures and texts.
fn title(system: &str) -> &'static str {
    SYSTEMS.into_iter().find(|(_, kind, ..)| kind.name() == system).map_or("", |(title, ..)| title)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    #[test]
    fn bias_decides() {
        let measured = |is_exact: bool, ks: f64, diverged: usize| Measured {
            system: SystemKind::Fuld.name().into(),
            is_exact,
            step: 0.1,
            ks,
            ks_bootstrap: 0.01,
            second_moment: 1.0,
            exact_second_moment: 1.0,
            diverged,
        };
        let verdicts = |exact: f64, diverged: usize, approximate: f64| {
            let systems = vec![measured(true, exact, diverged), measured(false, approximate, 0)];
            let claims = Systems { systems, densities: Vec::new() }.claims();
            [claims[0].verdict, claims[1].verdict]
        };
        assert_eq!(verdicts(0.01, 0, 0.05), [Verdict::Holds, Verdict::Holds]);
        assert_eq!(verdicts(0.05, 0, 0.01), [Verdict::Fails, Verdict::Fails]);
        assert_eq!(verdicts(0.01, 9, 0.05), [Verdict::Fails, Verdict::Holds]);
    }
}
