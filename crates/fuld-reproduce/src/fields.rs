//! Figure 2: the drift c of the Gaussian kinetic energy, and the field ∇G_α of the stable one.

use crate::drawing::by_alpha;
use crate::{CaptionedFigure, Claim, Context, Exhibit, Judgement, list};
use fuld::dynamics::{CustomKinetic, DifferentiableFunction, GaussianDrift};
use fuld::{Alpha, Beta};
use fuld_plot::{Axis, Figure, Panel};
use levy_stable::{FieldTable, SymmetricStable};
use std::f64::consts::PI;

const ALPHAS: [f64; 5] = [2.0, 1.9, 1.75, 1.5, 1.0];

results! {
    /// The drift and the field.
    Fig2 {
        drift: DriftPoint { alpha: f64, v: f64, c: f64 },
        field: FieldPoint { alpha: f64, v: f64, grad_g: f64 },
        /// The growth rate of ln c with v² between v = 20 and 40.
        growth: Growth { alpha: f64, rate: f64 },
        /// The largest |c(v)/v − 1| for 0.01 ≤ v ≤ 100, with c by numerical Riesz integrals.
        identity: Identity { alpha: f64, error: f64 },
        /// The shape of ∇G_α: its slope at 0, where it is 10 % below the line, and v∇G_α far out.
        shape: Shape { alpha: f64, slope: f64, departure: f64, linearity_error: f64, far: f64 },
        /// The largest |∇G_α′| on a grid, and on a grid four times as fine.
        steepness: Steepness { alpha: f64, coarse: f64, fine: f64 },
        /// The largest relative difference of the supplement's Bessel form to ₁F₁ on 0 < v ≤ 5.
        bessel_forms: BesselForm { alpha: f64, error: f64 },
    }
}

impl Exhibit for Fig2 {
    const ID: &'static str = "fig2";
    const TITLE: &'static str = "Figure 2 · What corrects the dynamics";
    const SHOWS: &'static str = "the drift c and the field ∇G";
    const SECONDS: f64 = 0.5;

    settings! { alpha: ALPHAS, beta: 1.0 }

    fn experiment(context: &Context<'_>) -> anyhow::Result<Self> {
        let mut results = Self { bessel_forms: bessel_forms()?, ..Self::default() };
        for alpha in ALPHAS {
            context.check_stop()?;
            let c = drift(alpha)?;
            let points = (-250..=250).map(|i| f64::from(i) / 50.0);
            results.drift.extend(points.map(|v| DriftPoint { alpha, v, c: c.at(v) }));
            let grad_g = FieldTable::new(alpha)?;
            let points = (-400..=400).map(|i| f64::from(i) / 50.0);
            results.field.extend(points.map(|v| FieldPoint { alpha, v, grad_g: grad_g.at(v) }));
        }
        for alpha in [1.9, 1.7, 1.5, 1.0] {
            let c = drift(alpha)?;
            let rate = (c.ln_at(40.0) - c.ln_at(20.0)) / (40.0f64.powi(2) - 20.0f64.powi(2));
            results.growth.push(Growth { alpha, rate });
        }
        for alpha in [1.2, 1.5, 1.8] {
            context.check_stop()?;
            results.identity.push(Identity { alpha, error: identity_error(alpha)? });
        }
        for alpha in [1.9, 1.75, 1.5, 1.0] {
            results.shape.push(shape(alpha)?);
        }
        for alpha in [0.2, 0.5, 1.0, 1.5, 1.9, 1.999_999, 2.0] {
            context.check_stop()?;
            results.steepness.push(steepness(alpha)?);
        }
        Ok(results)
    }

    fn text(&self) -> String {
        "Theorem 1 ties the friction c to the kinetic energy g. With the Gaussian energy the friction has to stop every jump at once \
         and grows like e^(v²/2). With the α-stable energy the friction is v itself, and the correction is in the transport \
         dx = ∇G_α(v) dt, under which large velocities move the position little. The Lipschitz constant of ∇G_α is finite for each α, \
         but not uniformly: it grows without bound as α → 0, at v = 0, and slowly as α → 2, where the field falls from v to \
         (1 + α)/v ever more steeply."
            .into()
    }

    fn figures(&self) -> Vec<CaptionedFigure> {
        let left = Panel::new("(a) the drift c, Gaussian kinetic energy")
            .x(Axis::linear("v").range(-5.0, 5.0))
            .y(Axis::linear("c(v, α)").range(-25.0, 25.0));
        let right = Panel::new("(b) ∇G_{α}, stable kinetic energy")
            .x(Axis::linear("v").range(-8.0, 8.0))
            .y(Axis::linear("∇G_{α}(v)").range(-4.0, 4.0));
        let left = by_alpha(left, Panel::line, &self.drift, |p| (p.alpha, p.v, p.c));
        let right = by_alpha(right, Panel::line, &self.field, |p| (p.alpha, p.v, p.grad_g));
        vec![CaptionedFigure::new(Figure::new("fig2").panel(left).panel(right), "Both at β = 1.")]
    }

    fn claims(&self) -> Vec<Claim> {
        let growth = Claim::paper(
            "growth",
            "With the Gaussian kinetic energy the drift grows exponentially fast in |v| for every α < 2.",
            format!(
                "Between v = 20 and 40, ln c grows with v² at the rate {}.",
                list(&self.growth, |g| format!("{:.4} (α = {})", g.rate, g.alpha))
            ),
            Judgement::of(self.growth.iter().map(|Growth { alpha, rate }| {
                (
                    (rate - 0.5).abs() < 0.01,
                    format!("at α = {alpha} the rate is {rate:.4}, not 1/2"),
                )
            })),
        );
        let identity = Claim::paper(
            "identity",
            "Theorem 3: with the α-stable kinetic energy the drift is the identity, c(v) = v.",
            format!(
                "c = 𝒟^(α−2)(ψg′)/ψ, integrated numerically for 0.01 ≤ v ≤ 100, differs from v by a relative error of at most {}.",
                list(&self.identity, |i| format!("{:.0e} (α = {})", i.error, i.alpha))
            ),
            Judgement::of(self.identity.iter().map(|Identity { alpha, error }| {
                (*error < 1e-8, format!("at α = {alpha} the relative difference is {error:.0e}"))
            })),
        );
        let text = |s: &Shape| {
            format!(
                "α = {}: slope {:.3}, 10 % below the line from v = {:.2} on, v∇G → {:.3}",
                s.alpha, s.slope, s.departure, s.far
            )
        };
        let texts: Vec<String> = self.shape.iter().map(text).collect();
        let shape = Claim::paper(
            "shape",
            "∇G_α is linear for small |v| and vanishes at infinity, as soon as α < 2.",
            format!("{}. In theory v∇G → 1 + α.", texts.join("; ")),
            Judgement::of(self.shape.iter().map(|s| {
                let holds = s.linearity_error < 1e-6 && (s.far - 1.0 - s.alpha).abs() < 1e-2;
                (
                    holds,
                    format!(
                        "at α = {} it is not linear at 0 or v∇G tends to {:.3}",
                        s.alpha, s.far
                    ),
                )
            })),
        );
        let name = |alpha: f64| {
            if alpha == 1.999_999 { "2 − 10⁻⁶".into() } else { alpha.to_string() }
        };
        let lipschitz = Claim::paper(
            "lipschitz",
            "Proposition 1: ∇G_α is Lipschitz continuous for every 0 < α ≤ 2.",
            format!(
                "Largest |∇G_α′|: {}.",
                list(&self.steepness, |s| format!("{:.3} (α = {})", s.fine, name(s.alpha)))
            ),
            Judgement::of(self.steepness.iter().map(|s| {
                let holds = s.fine.is_finite() && (s.fine / s.coarse - 1.0).abs() < 0.02;
                (
                    holds,
                    format!("at α = {} the largest slope grows with a finer grid", name(s.alpha)),
                )
            })),
        );
        let errors = self.bessel_forms.iter().map(|f| format!("{:.0e} (α = {})", f.error, f.alpha));
        let bessel = Claim::paper(
            "bessel-forms",
            "Supplement: at α = 3/2 and α = 1/2 the drift has closed forms in Bessel functions.",
            format!(
                "As printed they agree with ₁F₁ on 0 < v ≤ 5 to {}.",
                errors.collect::<Vec<_>>().join(" and ")
            ),
            Judgement::of(self.bessel_forms.iter().map(|BesselForm { alpha, error }| {
                (*error < 1e-10, format!("the form printed for α = {alpha} differs by {error:.0e}"))
            })),
        );
        vec![growth, identity, shape, lipschitz, bessel]
    }
}

fn drift(alpha: f64) -> anyhow::Result<GaussianDrift> {
    Ok(GaussianDrift::new(Alpha::new(alpha)?, Beta::ONE))
}

/// Theorem 3: c(v) = v when e^(−g) is the stable density, here by numerical Riesz integrals that do
/// not use the theorem.
fn identity_error(alpha: f64) -> anyhow::Result<f64> {
    let law = SymmetricStable::kinetic(alpha)?;
    let energy =
        DifferentiableFunction { value: |v| -law.ln_pdf(v), derivative: |v| -law.score(v) };
    let kinetic = CustomKinetic::new(Alpha::new(alpha)?, Beta::ONE, energy)?;
    let points = (1..=400).map(|i| 10f64.powf(f64::from(i - 200) / 100.0));
    Ok(points.map(|v| (kinetic.friction(v) / v - 1.0).abs()).fold(0.0, f64::max))
}

fn shape(alpha: f64) -> anyhow::Result<Shape> {
    let law = SymmetricStable::kinetic(alpha)?;
    // ∇G_α is minus the score.
    let slope = -law.score_derivative(0.0);
    let departure =
        (1..4000).map(|i| f64::from(i) / 1000.0).find(|&v| -law.score(v) < 0.9 * slope * v);
    Ok(Shape {
        alpha,
        slope,
        departure: departure.unwrap_or(f64::NAN),
        linearity_error: (law.score(1e-4) / (-1e-4 * slope) - 1.0).abs(),
        far: -1e6 * law.score(1e6),
    })
}

fn steepness(alpha: f64) -> anyhow::Result<Steepness> {
    let law = SymmetricStable::kinetic(alpha)?;
    let steepest = |fineness: i32| {
        let points =
            (0..500 * fineness).map(|i| 10f64.powf(-4.0 + f64::from(i) / f64::from(62 * fineness)));
        points
            .map(|v| law.score_derivative(v).abs())
            .fold(law.score_derivative(0.0).abs(), f64::max)
    };
    Ok(Steepness { alpha, coarse: steepest(1), fine: steepest(4) })
}

/// The supplement's Bessel forms of c at α = 3/2 and 1/2, as printed, against ₁F₁.
fn bessel_forms() -> anyhow::Result<Vec<BesselForm>> {
    let gammas = libm::tgamma(1.25) * libm::tgamma(0.75) / PI.sqrt();
    let three_halves = |v: f64| {
        let z = 0.25 * v * v;
        2f64.powf(0.25)
            * v
            * gammas
            * z.exp()
            * (2.0 * z).powf(0.25)
            * (bessel(-0.25, z) - bessel(0.75, z))
    };
    let half = |v: f64| {
        let z = 0.25 * v * v;
        2f64.powf(0.75) * v * gammas * (2.0 * z).powf(-0.25) * z.exp() * bessel(0.25, z)
    };
    let form = |alpha: f64, printed: &dyn Fn(f64) -> f64| -> anyhow::Result<BesselForm> {
        let drift = drift(alpha)?;
        let points = (1..=500).map(|i| f64::from(i) / 100.0);
        let error = points.map(|v| (printed(v) / drift.at(v) - 1.0).abs()).fold(0.0, f64::max);
        Ok(BesselForm { alpha, error })
    };
    Ok(vec![form(1.5, &three_halves)?, form(0.5, &half)?])
}

/// I_ν(z) by its series, for moderate z.
fn bessel(nu: f64, z: f64) -> f64 {
    let half = 0.5 * z;
    let mut term = half.powf(nu) / libm::tgamma(nu + 1.0);
    let mut sum = term;
    for k in 1..200 {
        term *= half * half / (f64::from(k) * (f64::from(k) + nu));
        sum += term;
    }
    sum
}
