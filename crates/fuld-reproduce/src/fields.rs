//! Figure 2: the drift c of the Gaussian kinetic energy, and ∇G_α of the stable one.

use super::claim::{Claim, Verdict};
use super::exhibit::{Exhibit, Table};
use fuld::dynamics::{CustomKinetic, Function, GaussianDrift};
use fuld::{Alpha, Beta};
use fuld_plot::{Axis, Figure, Hue, Panel};
use levy_stable::{FieldTable, SymmetricStable};
use std::f64::consts::PI;

const ALPHAS: [f64; 5] = [2.0, 1.9, 1.75, 1.5, 1.0];

/// Makes the exhibit.
pub(super) fn make() -> anyhow::Result<Exhibit> {
    let mut left = Panel::new("(a) the drift c, Gaussian kinetic energy")
        .x(Axis::linear("v").range(-5.0, 5.0))
        .y(Axis::linear("c(v, α)").range(-25.0, 25.0));
    let mut right = Panel::new("(b) ∇G_{α}, stable kinetic energy")
        .x(Axis::linear("v").range(-8.0, 8.0))
        .y(Axis::linear("∇G_{α}(v)").range(-4.0, 4.0));
    let mut drift_data = Table::new("drift", &["alpha", "v", "c"]);
    let mut field_data = Table::new("field", &["alpha", "v", "grad_g"]);
    for alpha in ALPHAS {
        let drift = GaussianDrift::new(Alpha::new(alpha)?, Beta::ONE);
        let curve: Vec<(f64, f64)> =
            (-250..=250).map(|i| f64::from(i) / 50.0).map(|v| (v, drift.at(v))).collect();
        curve.iter().for_each(|&(v, c)| drift_data.numbers(alpha.to_string(), &[v, c]));
        left = left.line(Hue::alpha(alpha), format!("α = {alpha}"), curve);
    }
    for alpha in ALPHAS {
        let table = FieldTable::new(alpha)?;
        let curve: Vec<(f64, f64)> =
            (-400..=400).map(|i| f64::from(i) / 50.0).map(|v| (v, table.at(v))).collect();
        curve.iter().for_each(|&(v, g)| field_data.numbers(alpha.to_string(), &[v, g]));
        right = right.line(Hue::alpha(alpha), format!("α = {alpha}"), curve);
    }
    let mut settings = toml::Table::new();
    settings.insert("alpha".into(), ALPHAS.to_vec().into());
    settings.insert("beta".into(), 1.0.into());
    Ok(Exhibit {
        id: "fig2",
        title: "Figure 2 · What corrects the dynamics".into(),
        text: "Theorem 1 ties the friction c to the kinetic energy g. With the Gaussian energy the friction must stop every \
               jump at once and grows like e^(v²/2); with the α-stable energy it is v itself, and the correction sits in \
               the transport dx = ∇G_α(v) dt, which lets large velocities move the position little. Its Lipschitz constant is finite for each α, but not \
               uniformly: it grows without bound as α → 0, at v = 0, and, slowly, as α → 2, where the field falls from v to (1 + α)/v ever more steeply."
            .into(),
        figures: vec![(Figure::new("fig2").panel(left).panel(right), "Both at β = 1.".into())],
        data: vec![drift_data, field_data],
        tables: Vec::new(),
        settings,
        claims: vec![exponential()?, identity()?, linear_then_vanishing()?, lipschitz()?, alternative_forms()?],
    })
}

/// ln c grows as v²/2.
fn exponential() -> anyhow::Result<Claim> {
    let (mut texts, mut right) = (Vec::new(), Vec::new());
    for alpha in [1.9, 1.7, 1.5, 1.0] {
        let drift = GaussianDrift::new(Alpha::new(alpha)?, Beta::ONE);
        let rate = (drift.ln_at(40.0) - drift.ln_at(20.0)) / (40.0f64.powi(2) - 20.0f64.powi(2));
        texts.push(format!("{rate:.4} (α = {alpha})"));
        right.push((rate - 0.5).abs() < 0.01);
    }
    Ok(Claim::new(
        "With the Gaussian kinetic energy the drift grows exponentially fast in |v| for every α < 2.",
        format!("Between v = 20 and 40, ln c grows with v² at the rate {}.", texts.join(", ")),
        Verdict::of_all(right),
    ))
}

/// Theorem 3: c(v) = v when e^(−g) is the stable density itself, by numerical Riesz integrals that know nothing of it.
fn identity() -> anyhow::Result<Claim> {
    let (mut texts, mut right) = (Vec::new(), Vec::new());
    for alpha in [1.2, 1.5, 1.8] {
        let law = SymmetricStable::kinetic(alpha)?;
        let kinetic = CustomKinetic::new(
            Alpha::new(alpha)?,
            Beta::ONE,
            Function { value: |v| -law.ln_pdf(v), derivative: |v| -law.score(v) },
        )?;
        let points = (1..=400).map(|i| 10f64.powf(f64::from(i - 200) / 100.0));
        let error = points.map(|v| (kinetic.friction(v) / v - 1.0).abs()).fold(0.0, f64::max);
        texts.push(format!("{error:.0e} (α = {alpha})"));
        right.push(error < 1e-8);
    }
    Ok(Claim::new(
        "Theorem 3: with the α-stable kinetic energy the drift is the identity, c(v) = v.",
        format!(
            "c = 𝒟^(α−2)(ψg′)/ψ, integrated numerically for 0.01 ≤ v ≤ 100, differs from v by at most {} of it.",
            texts.join(", ")
        ),
        Verdict::of_all(right),
    ))
}

fn linear_then_vanishing() -> anyhow::Result<Claim> {
    let (mut texts, mut right) = (Vec::new(), Vec::new());
    for alpha in [1.9, 1.75, 1.5, 1.0] {
        let law = SymmetricStable::kinetic(alpha)?;
        let slope = -law.score_derivative(0.0);
        let bend = (1..4000).map(|i| f64::from(i) / 1000.0).find(|&v| -law.score(v) < 0.9 * slope * v);
        let far = -1e6 * law.score(1e6);
        texts.push(format!(
            "α = {alpha}: slope {slope:.3}, 10 % below the line from v = {:.2} on, v∇G → {far:.3}",
            bend.unwrap_or(f64::NAN)
        ));
        right
            .push((law.score(1e-4) / (-1e-4 * slope) - 1.0).abs() < 1e-6 && (far - 1.0 - alpha).abs() < 1e-2);
    }
    Ok(Claim::new(
        "∇G_α is linear for small |v| and vanishes at infinity, as soon as α < 2.",
        format!("{}. In theory v∇G → 1 + α.", texts.join("; ")),
        Verdict::of_all(right),
    ))
}

/// The largest |g″| over a dense grid of v, for several α; and again on a grid four times as fine.
fn lipschitz() -> anyhow::Result<Claim> {
    let steepest = |law: &SymmetricStable, fineness: i32| {
        let points = (0..500 * fineness).map(|i| 10f64.powf(-4.0 + f64::from(i) / f64::from(62 * fineness)));
        points.map(|v| law.score_derivative(v).abs()).fold(-law.score_derivative(0.0), f64::max)
    };
    let (mut texts, mut right) = (Vec::new(), Vec::new());
    for (alpha, name) in [
        (0.2, "0.2"),
        (0.5, "0.5"),
        (1.0, "1"),
        (1.5, "1.5"),
        (1.9, "1.9"),
        (1.999_999, "2 − 10⁻⁶"),
        (2.0, "2"),
    ] {
        let law = SymmetricStable::kinetic(alpha)?;
        let (coarse, fine) = (steepest(&law, 1), steepest(&law, 4));
        texts.push(format!("{fine:.3} (α = {name})"));
        right.push(fine.is_finite() && (fine / coarse - 1.0).abs() < 0.02);
    }
    Ok(Claim::new(
        "Proposition 1: ∇G_α is Lipschitz continuous for every 0 < α ≤ 2.",
        format!("Largest |∇G_α′|: {}.", texts.join(", ")),
        Verdict::of_all(right),
    ))
}

/// The supplement's Bessel forms of c at α = 3/2 and 1/2, as printed.
fn alternative_forms() -> anyhow::Result<Claim> {
    let gammas = libm::tgamma(1.25) * libm::tgamma(0.75) / PI.sqrt();
    let three_halves = |v: f64| {
        let z = 0.25 * v * v;
        2f64.powf(0.25) * v * gammas * z.exp() * (2.0 * z).powf(0.25) * (bessel(-0.25, z) - bessel(0.75, z))
    };
    let half = |v: f64| {
        let z = 0.25 * v * v;
        2f64.powf(0.75) * v * gammas * (2.0 * z).powf(-0.25) * z.exp() * bessel(0.25, z)
    };
    let error = |alpha: f64, printed: &dyn Fn(f64) -> f64| -> anyhow::Result<f64> {
        let drift = GaussianDrift::new(Alpha::new(alpha)?, Beta::ONE);
        let points = (1..=500).map(|i| f64::from(i) / 100.0);
        Ok(points.map(|v| (printed(v) / drift.at(v) - 1.0).abs()).fold(0.0, f64::max))
    };
    let (a, b) = (error(1.5, &three_halves)?, error(0.5, &half)?);
    Ok(Claim::new(
        "Supplement: at α = 3/2 and α = 1/2 the drift has closed forms in Bessel functions.",
        format!("As printed they agree with ₁F₁ to {a:.0e} and {b:.0e} on 0 < v ≤ 5."),
        Verdict::of_all([a < 1e-10, b < 1e-10]),
    ))
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
