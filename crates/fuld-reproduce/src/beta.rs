//! Beyond the paper: the field without β at values of β other than 1.

use crate::distance::{Distance, Sampled};
use crate::drawing::curve;
use crate::quartic::{Length, noisy_chains, second_moment, target};
use crate::{CaptionedFigure, Claim, Context, Exhibit, Judgement};
use fuld::{Integrator, SystemKind};
use fuld_plot::{Axis, Figure, Hue, Panel};
use fuld_sample::SampleRequest;

const ALPHAS: [f64; 2] = [1.0, 1.5];
const BETAS: [f64; 7] = [0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0];
const GAMMA: f64 = 5.0;
const ETA: f64 = 0.02;
const LENGTH: Length = Length { chains: 2048, warmup: 2_000, draws: 20, thin: 100 };
/// Systems, with the labels of their fields in the figure.
const SYSTEMS: [(SystemKind, &str); 2] = [
    (SystemKind::FuldBetaFree, "∇G_{α} without β, as printed"),
    (SystemKind::Fuld, "h_{β}, exact"),
];

results! {
    /// FULD at every β.
    Betas {
        /// One system at one β.
        betas: Measured {
            system: String,
            alpha: f64,
            beta: f64,
            ks: f64,
            ks_bootstrap: f64,
            /// E x² divided by its exact value.
            second_moment_ratio: f64,
            diverged: usize,
        },
    }
}

impl Exhibit for Betas {
    const ID: &'static str = "beta";
    const TITLE: &'static str = "Beyond the paper · FULD at every β";
    const SHOWS: &'static str = "beyond the paper: every inverse temperature β";
    const SECONDS: f64 = 2.0;
    const VERSION: u32 = 2;

    settings! { alpha: ALPHAS, beta: BETAS, gamma: GAMMA, step: ETA, chains: LENGTH.chains }

    fn experiment(context: &Context<'_>) -> anyhow::Result<Self> {
        let mut betas = Vec::new();
        for (kind, _) in SYSTEMS {
            for (alpha, beta) in
                ALPHAS.into_iter().flat_map(|alpha| BETAS.map(|beta| (alpha, beta)))
            {
                let target = target(beta)?;
                let request = noisy_chains(kind, Integrator::Baoab, (alpha, GAMMA), ETA, LENGTH);
                let request = SampleRequest { beta: Some(beta), ..request };
                let Sampled { draws, distance, diverged } =
                    Sampled::new(context, request, &target)?;
                let (Distance { ks, ks_bootstrap }, system) = (distance, kind.name().into());
                let second_moment_ratio = second_moment(&draws) / target.expectation(|x| x * x);
                betas.push(Measured {
                    system,
                    alpha,
                    beta,
                    ks,
                    ks_bootstrap,
                    second_moment_ratio,
                    diverged,
                });
                context.progress(betas.len() as f64 / 28.0);
            }
        }
        Ok(Self { betas })
    }

    fn text(&self) -> String {
        "Theorem 1 is printed with ψ = e^(−g), but its proof uses e^(−βg). With e^(−βg) the transport field of the stable energy depends \
         on β: h_β(v) = β^(1/α − 1) ∇G_α(β^(1/α) v). The paper's algorithm uses ∇G_α for every β, which is the same only at β = 1 or \
         α = 2."
            .into()
    }

    fn figures(&self) -> Vec<CaptionedFigure> {
        let axis = || Axis::log("inverse temperature β").ticks(&BETAS);
        let mut left = Panel::new("distance to exp(−βf)").x(axis()).y(Axis::log("KS distance"));
        let mut right =
            Panel::new("second moment").x(axis()).y(Axis::linear("E x² over its exact value"));
        for (system, label) in SYSTEMS {
            let draw = if system == SystemKind::Fuld { Panel::line } else { Panel::dashed };
            for alpha in ALPHAS {
                let (hue, label) = (Hue::alpha(alpha), format!("{label}, α = {alpha}"));
                let of = |value: fn(&Measured) -> f64| {
                    let is_meant = |m: &Measured| m.system == system.name() && m.alpha == alpha;
                    curve(&self.betas, is_meant, |m| (m.beta, value(m)))
                };
                left = draw(left, hue, label.clone(), of(|m| m.ks));
                right = draw(right, hue, label, of(|m| m.second_moment_ratio));
            }
        }
        let noise = BETAS.map(|beta| {
            let at_beta = self.betas.iter().filter(|m| m.beta == beta);
            (beta, at_beta.map(|m| m.ks_bootstrap).fold(0.0, f64::max))
        });
        left = left.dotted(Hue::Muted, "95 % quantile of Monte Carlo error", noise.to_vec());
        vec![CaptionedFigure::new(
            Figure::new("beta").panel(left).panel(right),
            "The double well at seven values of β, BAOAB; solid: the exact field, dashed: the printed one.",
        )]
    }

    fn claims(&self) -> Vec<Claim> {
        let [printed, exact] = SYSTEMS.map(|(system, _)| self.judged(system));
        let says_paper = "Theorem 1, with ψ = e^(−g) as printed: exp(−βf) is invariant at every β.";
        let says_ours = "With h_β, that is ψ = e^(−βg), exp(−βf) is invariant at every β.";
        vec![
            Claim::paper("without-beta", says_paper, printed.0, printed.1),
            Claim::ours("with-beta", says_ours, exact.0, exact.1),
        ]
    }
}

impl Betas {
    /// Judges a system at β = 1 and elsewhere.
    fn judged(&self, system: SystemKind) -> (String, Judgement) {
        let [one, other] = [true, false].map(|at_one| {
            let is_meant = |m: &&Measured| m.system == system.name() && (m.beta == 1.0) == at_one;
            let all: Vec<&Measured> = self.betas.iter().filter(is_meant).collect();
            let worst = all.iter().max_by(|a, b| a.ks.total_cmp(&b.ks));
            let worst = worst
                .map(|m| format!("{:.3} at β = {} (noise {:.3})", m.ks, m.beta, m.ks_bootstrap));
            let agree = |m: &&Measured| {
                Distance { ks: m.ks, ks_bootstrap: m.ks_bootstrap }.agrees() && m.diverged == 0
            };
            (all.iter().all(agree), worst.unwrap_or_default())
        });
        let measured = format!("KS distance up to {}; elsewhere up to {}.", one.1, other.1);
        let judgement = Judgement::of([
            (one.0, format!("at β = 1 the KS distance reaches {}", one.1)),
            (other.0, format!("away from β = 1 the KS distance reaches {}", other.1)),
        ]);
        (measured, judgement)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    /// A field that is right only at β = 1 holds in part, one that is right nowhere fails, and so
    /// does one that loses chains.
    #[test]
    fn a_bias_at_any_beta_is_seen() {
        let verdict = |rows: &[(f64, f64, usize)]| {
            let measured = |&(beta, ks, diverged)| Measured {
                system: SystemKind::Fuld.name().into(),
                alpha: 1.5,
                beta,
                ks,
                ks_bootstrap: 0.01,
                second_moment_ratio: 1.0,
                diverged,
            };
            Betas { betas: rows.iter().map(measured).collect() }.claims()[1].verdict
        };
        assert_eq!(verdict(&[(0.5, 0.01, 0), (1.0, 0.01, 0)]), Verdict::Holds);
        assert_eq!(verdict(&[(0.5, 0.03, 0), (4.0, 0.001, 0), (1.0, 0.01, 0)]), Verdict::InPart);
        assert_eq!(verdict(&[(0.5, 0.01, 1), (1.0, 0.01, 1)]), Verdict::Fails);
    }
}
