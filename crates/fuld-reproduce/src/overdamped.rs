//! The footnote to Figure 3: with much friction the uncorrected dynamics is like the overdamped one, whose measure is known.

use super::claim::{Claim, Verdict};
use super::distance::Distance;
use super::exhibit::{Exhibit, Table};
use super::lab::Lab;
use super::parameters::underdamped;
use super::quartic::{mode, well};
use fuld::gibbs::Gibbs;
use fuld::potential::FromFn1;
use fuld::{Integrator, Run, Schedule, System};
use fuld_plot::{Axis, Figure, Hue, Panel};

const FRICTIONS: [f64; 6] = [1.0, 2.0, 5.0, 10.0, 20.0, 50.0];
const ETA: f64 = 0.002;
const CHAINS: usize = 4096;

/// The stationary law of dX = −(X³ − X) dt + σ dL for Cauchy noise L: with p³ + p = σ its density is
/// (σ/π)/(x⁴ − (2 + p²)x² + (p² + 1)²), with modes at ±√(1 + p²/2).
struct CauchyQuartic {
    p: f64,
}

impl CauchyQuartic {
    fn new(sigma: f64) -> Self {
        // Newton's method on a convex increasing function, from above.
        let p =
            (0..60).fold(sigma.cbrt() + sigma, |p: f64, _| p - (p.powi(3) + p - sigma) / (3.0 * p * p + 1.0));
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
        Ok(Gibbs::new(&energy, 1.0)?)
    }
}

/// Makes the exhibit.
pub(super) fn make(lab: &Lab) -> anyhow::Result<Exhibit> {
    let mut table = Table::new(
        "frictions",
        &["γ", "KS to overdamped", "95 % by chance", "modes at ±", "of overdamped", "diverged"],
    );
    let (mut distances, mut modes, mut closed) = (Vec::new(), Vec::new(), Vec::new());
    for gamma in FRICTIONS {
        // In the overdamped limit the clock runs γ times slower, and the noise is γ^(2/α − 1) = γ times as strong.
        let limit = CauchyQuartic::new(gamma);
        let law = limit.law()?;
        let run = Run::new(
            System::uncorrected(underdamped(1.0, gamma)?)?,
            Integrator::Baoab,
            Schedule::constant(ETA)?,
        );
        let run = Run { chains: CHAINS, warmup: 10_000, draws: 20, thin: 500, ..run };
        let (samples, outcome) = lab.run(run, &well()?)?;
        let draws = samples.coordinate(0);
        let distance = Distance::of(&draws, &law)?;
        let (mode, error) = mode(&draws);
        table.row([
            gamma.to_string(),
            format!("{:.4}", distance.value),
            format!("{:.4}", distance.chance),
            format!("{mode:.3} ± {error:.3}"),
            format!("{:.3}", limit.mode()),
            format!("{} of {CHAINS}", outcome.divergences.len()),
        ]);
        distances.push((gamma, distance.value));
        modes.push((gamma, mode, error));
        closed.push((gamma, limit.mode()));
    }
    let left = Panel::new("distance of the two measures")
        .x(Axis::log("friction γ"))
        .y(Axis::log("KS distance"))
        .line(Hue::Vermillion, "", distances.clone())
        .dots(Hue::Vermillion, "uncorrected, underdamped", distances.clone());
    let right = Panel::new("where the modes are")
        .x(Axis::log("friction γ"))
        .y(Axis::linear("mode"))
        .line(Hue::Ink, "uncorrected, overdamped: closed form", closed.clone())
        .error_bars(
            Hue::Vermillion,
            modes.iter().map(|&(gamma, mode, error)| (gamma, mode - error, mode + error)).collect(),
        )
        .dots(
            Hue::Vermillion,
            "uncorrected, underdamped",
            modes.iter().map(|&(gamma, mode, _)| (gamma, mode)).collect(),
        )
        .horizontal(1.0, "minimum of f");
    let mut settings = toml::Table::new();
    settings.insert("alpha".into(), 1.0.into());
    settings.insert("beta".into(), 1.0.into());
    settings.insert("gamma".into(), FRICTIONS.to_vec().into());
    settings.insert("eta".into(), ETA.into());
    settings.insert("integrator".into(), "baoab".into());
    settings.insert("chains".into(), (CHAINS as i64).into());
    Ok(Exhibit {
        id: "overdamped",
        title: "Footnote to Figure 3 · Much friction".into(),
        text: "With Cauchy noise the overdamped uncorrected dynamics on the quartic potential has a stationary law in closed form. As the friction \
               grows, the underdamped one must approach it, with the noise that is left of (γ/β)^(1/α) after the velocity is eliminated: \
               γ^(2/α − 1), which for α < 2 grows with the friction. So the modes of the uncorrected dynamics do not only differ from the \
               minima of f: they move with γ."
            .into(),
        figures: vec![(Figure::new("overdamped").panel(left).panel(right), "α = 1, β = 1.".into())],
        data: vec![table.clone()],
        tables: vec![table],
        settings,
        claims: vec![claim(&distances, &modes, &closed)],
    })
}

fn claim(distances: &[(f64, f64)], modes: &[(f64, f64, f64)], closed: &[(f64, f64)]) -> Claim {
    let (first, last) = (distances[0], distances[distances.len() - 1]);
    let ((_, mode, error), (_, exact)) = (modes[modes.len() - 1], closed[closed.len() - 1]);
    Claim::new(
        "With sufficiently large γ the uncorrected underdamped dynamics behaves like the uncorrected overdamped one.",
        format!(
            "KS distance to the closed form {:.3} at γ = {}, {:.3} at γ = {}; the modes there are at ±{mode:.2} ± {error:.2}, by the closed form at \
             ±{exact:.2}, and the minima of f at ±1.",
            first.1, first.0, last.1, last.0
        ),
        Verdict::of_all([
            last.1 < 0.5 * first.1 && last.1 < 0.05,
            (mode - exact).abs() < 3.0 * error + 0.03 * exact,
        ]),
    )
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
