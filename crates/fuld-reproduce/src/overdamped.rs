//! The footnote to Figure 3: with large friction the uncorrected dynamics resembles the overdamped
//! one, whose law is known.

use crate::distance::{Distance, Sampled};
use crate::drawing::curve;
use crate::quartic::{Length, mode, noisy_chains};
use crate::{CaptionedFigure, Claim, Context, Exhibit, Judgement, TextTable};
use fuld::gibbs::Gibbs;
use fuld::potential::FromFn1;
use fuld::{Beta, Integrator, SystemKind};
use fuld_plot::{Axis, Figure, Hue, Panel};

const FRICTIONS: [f64; 6] = [1.0, 2.0, 5.0, 10.0, 20.0, 50.0];
const ETA: f64 = 0.002;
const CHAINS: usize = 4096;
const LENGTH: Length = Length { chains: CHAINS, warmup: 10_000, draws: 20, thin: 500 };

results! {
    /// Large friction.
    Overdamped {
        /// The underdamped dynamics at one friction, against the overdamped law.
        frictions: Measured {
            gamma: f64,
            ks: f64,
            ks_bootstrap: f64,
            mode: f64,
            mode_error: f64,
            overdamped_mode: f64,
            diverged: usize,
        },
    }
}

/// The stationary law of dX = −(X³ − X) dt + σ dL for Cauchy noise L: with p³ + p = σ its density
/// is (σ/π)/(x⁴ − (2 + p²)x² + (p² + 1)²), with modes at ±√(1 + p²/2).
struct CauchyQuartic {
    p: f64,
}

impl CauchyQuartic {
    fn new(sigma: f64) -> Self {
        // Newton's method on a convex increasing function, from above.
        let p = (0..60).fold(sigma.cbrt() + sigma, |p: f64, _| {
            p - (p.powi(3) + p - sigma) / (3.0 * p * p + 1.0)
        });
        Self { p }
    }

    fn mode(&self) -> f64 {
        (1.0 + 0.5 * self.p * self.p).sqrt()
    }

    fn law(&self) -> anyhow::Result<Gibbs> {
        let (a, b) = (2.0 + self.p * self.p, (self.p * self.p + 1.0).powi(2));
        let value = move |x: f64| x.powi(4) - a * x * x + b;
        let energy = FromFn1::new(
            move |x: f64| value(x).ln(),
            move |x: f64| (4.0 * x.powi(3) - 2.0 * a * x) / value(x),
        );
        Ok(Gibbs::new(&energy, Beta::ONE)?)
    }
}

impl Exhibit for Overdamped {
    const ID: &'static str = "overdamped";
    const TITLE: &'static str = "Footnote to Figure 3 · Large friction";
    const SHOWS: &'static str = "the footnote on large friction";
    const SECONDS: f64 = 1.0;
    const VERSION: u32 = 2;

    settings! { alpha: 1.0, gamma: FRICTIONS, step: ETA, chains: CHAINS }

    fn experiment(context: &Context<'_>) -> anyhow::Result<Self> {
        let mut frictions = Vec::new();
        for gamma in FRICTIONS {
            // In the overdamped limit time runs γ times slower, and the noise is γ^(2/α − 1) = γ
            // times as strong.
            let limit = CauchyQuartic::new(gamma);
            let request =
                noisy_chains(SystemKind::Uncorrected, Integrator::Baoab, (1.0, gamma), ETA, LENGTH);
            let Sampled { draws, distance, diverged } =
                Sampled::new(context, request, &limit.law()?)?;
            let Distance { ks, ks_bootstrap } = distance;
            let ((mode, mode_error), overdamped_mode) = (mode(&draws), limit.mode());
            frictions.push(Measured {
                gamma,
                ks,
                ks_bootstrap,
                mode,
                mode_error,
                overdamped_mode,
                diverged,
            });
            context.progress(frictions.len() as f64 / FRICTIONS.len() as f64);
        }
        Ok(Self { frictions })
    }

    fn text(&self) -> String {
        "With Cauchy noise the overdamped uncorrected dynamics on the quartic potential has a stationary law in closed form. As the \
         friction grows, the underdamped dynamics must approach it. Eliminating the velocity turns the amplitude (γ/β)^(1/α) into \
         γ^(2/α − 1), which for α < 2 grows with the friction. So the modes of the uncorrected dynamics not only differ from the \
         minima of f: they move with γ."
            .into()
    }

    fn figures(&self) -> Vec<CaptionedFigure> {
        let of =
            |value: fn(&Measured) -> f64| curve(&self.frictions, |_| true, |m| (m.gamma, value(m)));
        let left = Panel::new("distance of the two measures")
            .x(Axis::log("friction γ"))
            .y(Axis::log("KS distance"))
            .joined(Hue::Vermillion, "uncorrected, underdamped", of(|m| m.ks));
        let bar = |m: &Measured| (m.gamma, m.mode - m.mode_error, m.mode + m.mode_error);
        let right = Panel::new("modes")
            .x(Axis::log("friction γ"))
            .y(Axis::linear("mode"))
            .line(Hue::Ink, "uncorrected, overdamped: closed form", of(|m| m.overdamped_mode))
            .error_bars(Hue::Vermillion, self.frictions.iter().map(bar).collect())
            .dots(Hue::Vermillion, "uncorrected, underdamped", of(|m| m.mode))
            .horizontal(1.0, "minimum of f");
        vec![CaptionedFigure::new(
            Figure::new("overdamped").panel(left).panel(right),
            "α = 1, β = 1.",
        )]
    }

    fn shown(&self) -> Vec<TextTable> {
        vec![TextTable::of(
            &self.frictions,
            &[
                ("γ", |m| m.gamma.to_string()),
                ("KS to overdamped", |m| format!("{:.4}", m.ks)),
                ("95 % of noise", |m| format!("{:.4}", m.ks_bootstrap)),
                ("modes at ±", |m| format!("{:.3} ± {:.3}", m.mode, m.mode_error)),
                ("overdamped modes", |m| format!("{:.3}", m.overdamped_mode)),
                ("diverged", |m| format!("{} of {CHAINS}", m.diverged)),
            ],
        )]
    }

    fn claims(&self) -> Vec<Claim> {
        let [first, .., last] = &self.frictions[..] else { return Vec::new() };
        let Measured { gamma, ks, mode, mode_error, overdamped_mode: exact, .. } = last;
        vec![Claim::paper(
            "limit",
            "With sufficiently large γ the uncorrected underdamped dynamics behaves like the uncorrected overdamped one.",
            format!(
                "KS distance to the closed form {:.3} at γ = {}, {ks:.3} at γ = {gamma}; there the modes are at ±{mode:.2} ± \
                 {mode_error:.2}, those of the closed form at ±{exact:.2}, and the minima of f at ±1.",
                first.ks, first.gamma
            ),
            Judgement::of([
                (
                    *ks < 0.5 * first.ks && *ks < 0.05,
                    format!("the KS distance at γ = {gamma} is still {ks:.3}"),
                ),
                (
                    (mode - exact).abs() < 3.0 * mode_error + 0.03 * exact,
                    format!("the modes are at ±{mode:.2}, not at ±{exact:.2}"),
                ),
            ]),
        )]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closed_form_is_a_law() {
        // p³ + p = 10 at p = 2.
        let limit = CauchyQuartic::new(10.0);
        assert!((limit.p - 2.0).abs() < 1e-12 && (limit.mode() - 3f64.sqrt()).abs() < 1e-12);
        let law = limit.law().unwrap();
        // E X² = p² + 1 and the factor σ/π.
        assert!((law.expectation(|x| x * x) - 5.0).abs() < 1e-3, "{}", law.expectation(|x| x * x));
        assert!((law.density(0.0) - 10.0 / std::f64::consts::PI / 25.0).abs() < 1e-6);
    }
}
