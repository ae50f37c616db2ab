//! Beyond the paper: the field without β at values of β other than 1.

use super::claim::{Claim, Judgement};
use super::context::Context;
use super::distance::Distance;
use super::exhibit::{CaptionedFigure, Exhibit};
use super::quartic::{chains, finite, target};
use super::specification::settings;
use super::table::Tables;
use fuld::{Integrator, SystemKind};
use fuld_plot::{Axis, Figure, Hue, Panel};
use fuld_sample::SampleRequest;
use serde::{Deserialize, Serialize};

/// The exhibit.
pub(crate) const EXHIBIT: Exhibit = Exhibit {
    id: "beta",
    title: "Beyond the paper · FULD at every β",
    shows: "beyond the paper: every inverse temperature β",
    seconds: 6.0,
    version: 1,
    trains: false,
    settings: |_| {
        settings([
            ("alpha", ALPHAS.to_vec().into()),
            ("beta", BETAS.to_vec().into()),
            ("gamma", GAMMA.into()),
            ("step", ETA.into()),
            ("chains", (CHAINS as i64).into()),
        ])
    },
    experiment,
    text: |_| {
        Ok("Theorem 1 is printed with ψ = e^(−g), but its proof uses e^(−βg). With e^(−βg) the transport field of the stable energy depends \
            on β: h_β(v) = β^(1/α − 1) ∇G_α(β^(1/α) v). The paper's algorithm uses ∇G_α for every β, which is the same only at β = 1 or \
            α = 2."
            .into())
    },
    claims,
    figures,
    shown: |_| Ok(Vec::new()),
};

const ALPHAS: [f64; 2] = [1.0, 1.5];
const BETAS: [f64; 7] = [0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0];
const GAMMA: f64 = 5.0;
const ETA: f64 = 0.02;
const CHAINS: usize = 4096;
/// Name in the table, label in the figure, system.
const FIELDS: [(&str, &str, SystemKind); 2] = [
    ("without-beta", "∇G_{α} without β, as printed", SystemKind::FuldBetaFree),
    ("exact", "h_{β}, exact", SystemKind::Fuld),
];

/// One field at one β.
#[derive(Serialize, Deserialize)]
struct Measured {
    field: String,
    alpha: f64,
    beta: f64,
    ks: f64,
    ks_noise: f64,
    /// E x² divided by its exact value.
    second_moment_ratio: f64,
    diverged: usize,
}

impl Measured {
    fn agrees(&self) -> bool {
        Distance { ks: self.ks, ks_noise: self.ks_noise }.agrees() && self.diverged == 0
    }
}

fn experiment(context: &Context<'_>) -> anyhow::Result<Tables> {
    let mut all = Vec::new();
    for (field, _, system) in FIELDS {
        for alpha in ALPHAS {
            for beta in BETAS {
                let target = target(beta)?;
                let request = SampleRequest {
                    alpha: Some(alpha),
                    gamma: Some(GAMMA),
                    beta: Some(beta),
                    chains: Some(CHAINS),
                    warmup: Some(2_000),
                    draws: Some(20),
                    thin: Some(100),
                    ..chains(system, Integrator::Baoab, ETA)
                };
                let (samples, outcome) = context.sample(request)?;
                let draws = samples.coordinate(0);
                let kept = finite(&draws);
                let second_moment = kept.iter().map(|x| x * x).sum::<f64>() / kept.len() as f64;
                let Distance { ks, ks_noise } = Distance::of(&draws, &target)?;
                all.push(Measured {
                    field: field.into(),
                    alpha,
                    beta,
                    ks,
                    ks_noise,
                    second_moment_ratio: second_moment / target.expectation(|x| x * x),
                    diverged: outcome.divergences.len(),
                });
                context.progress(all.len() as f64 / 28.0);
            }
        }
    }
    Ok(Tables::default().with("betas", all)?)
}

fn figures(tables: &Tables) -> anyhow::Result<Vec<CaptionedFigure>> {
    let all: Vec<Measured> = tables.rows("betas")?;
    let axis = || Axis::log("inverse temperature β").ticks(&BETAS);
    let mut left = Panel::new("distance to exp(−βf)").x(axis()).y(Axis::log("KS distance"));
    let mut right = Panel::new("second moment").x(axis()).y(Axis::linear("E x² over its exact value"));
    for (field, label, _) in FIELDS {
        for alpha in ALPHAS {
            let of = || all.iter().filter(|m| m.field == field && m.alpha == alpha);
            let (hue, label) = (Hue::alpha(alpha), format!("{label}, α = {alpha}"));
            let distances = of().map(|m| (m.beta, m.ks)).collect();
            let ratios = of().map(|m| (m.beta, m.second_moment_ratio)).collect();
            (left, right) = if field == "exact" {
                (left.line(hue, label.clone(), distances), right.line(hue, label, ratios))
            } else {
                (left.dashed(hue, label.clone(), distances), right.dashed(hue, label, ratios))
            };
        }
    }
    let noise = BETAS.map(|beta| {
        let largest = all.iter().filter(|m| m.beta == beta).map(|m| m.ks_noise).fold(0.0, f64::max);
        (beta, largest)
    });
    left = left.dotted(Hue::Muted, "95 % quantile of Monte Carlo error", noise.to_vec());
    Ok(vec![CaptionedFigure::new(
        Figure::new("beta").panel(left).panel(right),
        "The double well at seven values of β, BAOAB; solid: the exact field, dashed: the printed one.",
    )])
}

fn claims(tables: &Tables) -> anyhow::Result<Vec<Claim>> {
    let all: Vec<Measured> = tables.rows("betas")?;
    let of = |field: &'static str, at_one: bool| {
        all.iter().filter(move |m| m.field == field && (m.beta == 1.0) == at_one)
    };
    let worst = |field, at_one| {
        let worst = of(field, at_one).max_by(|a, b| a.ks.total_cmp(&b.ks));
        worst.map_or(String::new(), |m| format!("{:.3} at β = {} (noise {:.3})", m.ks, m.beta, m.ks_noise))
    };
    let measured =
        |field| format!("KS distance up to {}; elsewhere up to {}.", worst(field, true), worst(field, false));
    let judged = |field| {
        let agree = |at_one| of(field, at_one).all(Measured::agrees);
        Judgement::of([
            (agree(true), format!("at β = 1 the KS distance reaches {}", worst(field, true))),
            (agree(false), format!("away from β = 1 the KS distance reaches {}", worst(field, false))),
        ])
    };
    Ok(vec![
        Claim::paper(
            "without-beta",
            "Theorem 1, with ψ = e^(−g) as printed: exp(−βf) is invariant at every β.",
            measured("without-beta"),
            judged("without-beta"),
        ),
        Claim::ours(
            "with-beta",
            "With h_β, that is ψ = e^(−βg), exp(−βf) is invariant at every β.",
            measured("exact"),
            judged("exact"),
        ),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    /// A field that is right only at β = 1 holds in part, one that is right nowhere fails, and so does one that loses chains.
    #[test]
    fn a_bias_at_any_beta_is_seen() {
        let measured = |beta: f64, ks: f64, diverged: usize| Measured {
            field: "exact".into(),
            alpha: 1.5,
            beta,
            ks,
            ks_noise: 0.01,
            second_moment_ratio: 1.0,
            diverged,
        };
        let verdict =
            |rows: Vec<Measured>| claims(&Tables::default().with("betas", rows).unwrap()).unwrap()[1].verdict;
        assert_eq!(verdict(vec![measured(0.5, 0.01, 0), measured(1.0, 0.01, 0)]), Verdict::Holds);
        assert_eq!(
            verdict(vec![measured(0.5, 0.03, 0), measured(4.0, 0.001, 0), measured(1.0, 0.01, 0)]),
            Verdict::InPart
        );
        assert_eq!(verdict(vec![measured(0.5, 0.01, 1), measured(1.0, 0.01, 1)]), Verdict::Fails);
    }
}
