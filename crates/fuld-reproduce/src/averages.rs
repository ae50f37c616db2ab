//! The corollary: weighted averages with decreasing steps converge.

use super::claim::{Claim, Verdict};
use super::exhibit::{Exhibit, Table};
use super::lab::Lab;
use super::parameters::underdamped;
use super::quartic::well;
use fuld::gibbs::Gibbs;
use fuld::{Integrator, Run, Schedule, System};
use fuld_plot::{Axis, Figure, Hue, Panel};

const ALPHAS: [f64; 2] = [1.0, 1.75];
const LENGTHS: [u64; 7] = [1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000];
const CHAINS: usize = 128;
const GAMMA: f64 = 5.0;
/// ηₖ = η₀ (1 + k/k₀)^(−p).
const START: f64 = 0.1;
const HALF_LIFE: f64 = 1_000.0;
const POWER: f64 = 1.0 / 3.0;

/// Makes the exhibit.
pub(super) fn make(lab: &Lab) -> anyhow::Result<Exhibit> {
    let well = well()?;
    let exact = Gibbs::new(&well, 1.0)?.expectation(|x| x * x);
    let mut panel =
        Panel::new("").x(Axis::log("iterations K")).y(Axis::log("r.m.s. error of the average of x²"));
    let mut data = Table::new("errors", &["alpha", "iterations", "rms_error", "bias"]);
    let mut curves = Vec::new();
    for alpha in ALPHAS {
        let mut curve = Vec::new();
        for length in LENGTHS {
            let schedule = Schedule::polynomial(fuld::Polynomial {
                start: fuld::Step::new(START)?,
                half_life: HALF_LIFE,
                power: POWER,
            })?;
            let run = Run::new(System::fuld(underdamped(alpha, GAMMA)?)?, Integrator::Euler, schedule)
                .averaging("x²", |x| x[0] * x[0]);
            let (_, outcome) =
                lab.run(Run { chains: CHAINS, warmup: 0, draws: 1, thin: length, ..run }, &well)?;
            let chains = &outcome.averages[0].chains;
            let square = chains.iter().map(|c| (c - exact).powi(2)).sum::<f64>() / chains.len() as f64;
            data.numbers(
                alpha.to_string(),
                &[length as f64, square.sqrt(), outcome.averages[0].mean() - exact],
            );
            curve.push((length as f64, square.sqrt()));
        }
        panel = panel.line(Hue::alpha(alpha), "", curve.clone()).dots(
            Hue::alpha(alpha),
            format!("α = {alpha}"),
            curve.clone(),
        );
        curves.push((alpha, curve));
    }
    let mut settings = toml::Table::new();
    settings.insert("potential".into(), "x^4/4 - x^2/2".into());
    settings.insert("alpha".into(), ALPHAS.to_vec().into());
    settings.insert("beta".into(), 1.0.into());
    settings.insert("gamma".into(), GAMMA.into());
    settings.insert("schedule".into(), format!("{START} (1 + k/{HALF_LIFE})^(-{POWER:.4})").into());
    settings.insert("chains".into(), (CHAINS as i64).into());
    Ok(Exhibit {
        id: "averages",
        title: "Corollary 1 · Averages along decreasing steps".into(),
        text: format!(
            "π̄_K(h) = Σ ηₖ h(xᵏ)/Σ ηₖ for h = x² on the double well, Euler's scheme with steps that fall as k^(−1/3) from {START}; \
             {CHAINS} chains. (The corollary asks for a gradient of linear growth; the quartic's grows faster.)"
        ),
        figures: vec![(
            Figure::new("averages").columns(1).panel(panel),
            "Error of the weighted average against the number of iterations.".into(),
        )],
        data: vec![data],
        tables: Vec::new(),
        settings,
        claims: vec![claim(&curves)],
    })
}

/// The power of K as which the error falls over the last decade.
fn power(curve: &[(f64, f64)]) -> f64 {
    let last = curve[curve.len() - 1];
    let first = curve.iter().find(|point| point.0 >= 0.099 * last.0).copied().unwrap_or(curve[0]);
    (last.1 / first.1).ln() / (last.0 / first.0).ln()
}

fn claim(curves: &[(f64, Vec<(f64, f64)>)]) -> Claim {
    // An error that is known from so many chains, at both ends of a decade.
    let uncertainty = (1.0 / CHAINS as f64).sqrt() / 10f64.ln();
    let texts: Vec<String> = curves
        .iter()
        .map(|(alpha, curve)| {
            let (first, last) = (curve[0].1, curve[curve.len() - 1].1);
            format!(
                "from {first:.3} to {last:.4} at α = {alpha}, over the last decade as K^{:.2}",
                power(curve)
            )
        })
        .collect();
    Claim::new(
        "Ergodic averages of the Euler scheme with decreasing steps converge to those under exp(−βf).",
        format!(
            "From 1,000 to 1,000,000 iterations the r.m.s. error falls {} (± {uncertainty:.2}; steps of k^(−1/3) let one expect −1/3).",
            texts.join(", and ")
        ),
        Verdict::of_all(curves.iter().map(|(_, curve)| power(curve) + 2.0 * uncertainty < -0.15)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_that_stay_are_no_convergence() {
        let curve = |floor: f64| {
            let error = |k: f64| 0.3 * (k / 1e3f64).powf(-1.0 / 3.0) + floor;
            vec![(1.5, LENGTHS.map(|k| (k as f64, error(k as f64))).to_vec())]
        };
        assert_eq!(claim(&curve(0.0)).verdict, Verdict::Holds);
        assert_eq!(claim(&curve(0.1)).verdict, Verdict::Fails);
    }
}
