//! Corollary 1: weighted averages along decreasing steps converge.

use super::claim::{Claim, Judgement};
use super::context::Context;
use super::exhibit::{CaptionedFigure, Exhibit};
use super::quartic::{chains, target};
use super::specification::settings;
use super::table::Tables;
use fuld::{Integrator, SystemKind};
use fuld_plot::{Axis, Figure, Hue, Panel};
use fuld_sample::SampleRequest;
use serde::{Deserialize, Serialize};

/// The exhibit.
pub(crate) const EXHIBIT: Exhibit = Exhibit {
    id: "averages",
    title: "Corollary 1 · Averages along decreasing steps",
    shows: "Corollary 1: averages along decreasing steps",
    seconds: 5.0,
    version: 1,
    trains: false,
    settings: |_| {
        settings([
            ("alpha", ALPHAS.to_vec().into()),
            ("gamma", GAMMA.into()),
            ("step", START.into()),
            ("half_life", HALF_LIFE.into()),
            ("step_power", POWER.into()),
            ("iterations", LENGTHS.map(|length| length as i64).to_vec().into()),
            ("chains", (CHAINS as i64).into()),
        ])
    },
    experiment,
    text: |_| {
        Ok(format!(
            "π̄_K(h) = Σ ηₖ h(xᵏ)/Σ ηₖ for h = x² on the double well, by Euler's scheme with steps that fall as k^(−1/3) from {START}; \
             {CHAINS} chains. The corollary assumes a gradient of linear growth; the gradient of the quartic potential grows faster."
        ))
    },
    claims,
    figures,
    shown: |_| Ok(Vec::new()),
};

const ALPHAS: [f64; 2] = [1.0, 1.75];
const LENGTHS: [u64; 7] = [1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000];
const CHAINS: usize = 128;
const GAMMA: f64 = 5.0;
/// Steps are ηₖ = START (1 + k/HALF_LIFE)^(−POWER).
const START: f64 = 0.1;
const HALF_LIFE: f64 = 1_000.0;
const POWER: f64 = 1.0 / 3.0;
/// `fuld sample` keeps at least four draws; averages use every step.
const DRAWS: u64 = 10;

/// The error of the average of x² after K iterations, over chains.
#[derive(Clone, Serialize, Deserialize)]
struct AverageError {
    alpha: f64,
    iterations: u64,
    rms_error: f64,
    bias: f64,
}

fn experiment(context: &Context<'_>) -> anyhow::Result<Tables> {
    let exact = target(1.0)?.expectation(|x| x * x);
    let mut errors = Vec::new();
    for alpha in ALPHAS {
        for iterations in LENGTHS {
            let request = SampleRequest {
                alpha: Some(alpha),
                gamma: Some(GAMMA),
                beta: Some(1.0),
                step_power: Some(POWER),
                half_life: Some(HALF_LIFE),
                chains: Some(CHAINS),
                warmup: Some(0),
                draws: Some(DRAWS),
                thin: Some(iterations / DRAWS),
                ..chains(SystemKind::Fuld, Integrator::Euler, START)
            };
            let (_, outcome) = context.sample_with(request, |run| run.averaging("x²", |x| x[0] * x[0]))?;
            let average = &outcome.averages[0];
            let square = average.chains.iter().map(|mean| (mean - exact).powi(2)).sum::<f64>();
            let rms_error = (square / average.chains.len() as f64).sqrt();
            errors.push(AverageError { alpha, iterations, rms_error, bias: average.mean() - exact });
            context.progress(errors.len() as f64 / (ALPHAS.len() * LENGTHS.len()) as f64);
        }
    }
    Ok(Tables::default().with("errors", errors)?)
}

fn figures(tables: &Tables) -> anyhow::Result<Vec<CaptionedFigure>> {
    let errors: Vec<AverageError> = tables.rows("errors")?;
    let mut panel =
        Panel::new("").x(Axis::log("iterations K")).y(Axis::log("r.m.s. error of the average of x²"));
    for alpha in ALPHAS {
        let of_alpha = errors.iter().filter(|e| e.alpha == alpha);
        let curve: Vec<(f64, f64)> = of_alpha.map(|e| (e.iterations as f64, e.rms_error)).collect();
        let hue = Hue::alpha(alpha);
        panel = panel.line(hue, "", curve.clone()).dots(hue, format!("α = {alpha}"), curve);
    }
    let figure = Figure::new("averages").columns(1).panel(panel);
    Ok(vec![CaptionedFigure::new(figure, "Error of the weighted average against the number of iterations.")])
}

/// The exponent of K with which the error falls over the last decade.
fn exponent(curve: &[AverageError]) -> f64 {
    let [first, .., last] = curve else { return f64::NAN };
    let decade =
        curve.iter().find(|e| e.iterations as f64 >= 0.099 * last.iterations as f64).unwrap_or(first);
    (last.rms_error / decade.rms_error).ln() / (last.iterations as f64 / decade.iterations as f64).ln()
}

fn claims(tables: &Tables) -> anyhow::Result<Vec<Claim>> {
    let errors: Vec<AverageError> = tables.rows("errors")?;
    // The standard error of an exponent between two r.m.s. errors of so many chains, a decade apart.
    let uncertainty = (1.0 / CHAINS as f64).sqrt() / 10f64.ln();
    let (mut texts, mut checks) = (Vec::new(), Vec::new());
    for curve in errors.chunk_by(|a, b| a.alpha == b.alpha) {
        let ([first, .., last], exponent) = (curve, exponent(curve)) else { continue };
        texts.push(format!(
            "from {:.3} to {:.4} at α = {}, over the last decade as K^{exponent:.2}",
            first.rms_error, last.rms_error, last.alpha
        ));
        let why =
            format!("at α = {} the error falls only as K^{exponent:.2} over the last decade", last.alpha);
        checks.push((exponent + 2.0 * uncertainty < -0.15, why));
    }
    Ok(vec![Claim::paper(
        "convergence",
        "Ergodic averages of the Euler scheme with decreasing steps converge to those under exp(−βf).",
        format!(
            "From 1,000 to 1,000,000 iterations the r.m.s. error falls {} (± {uncertainty:.2}; steps of k^(−1/3) suggest −1/3).",
            texts.join(", and ")
        ),
        Judgement::of(checks),
    )])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    #[test]
    fn errors_that_stay_are_no_convergence() {
        let verdict = |floor: f64| {
            let errors = LENGTHS.map(|iterations| {
                let rms_error = 0.3 * (iterations as f64 / 1e3).powf(-1.0 / 3.0) + floor;
                AverageError { alpha: 1.5, iterations, rms_error, bias: 0.0 }
            });
            claims(&Tables::default().with("errors", errors).unwrap()).unwrap()[0].verdict
        };
        assert_eq!(verdict(0.0), Verdict::Holds);
        assert_eq!(verdict(0.1), Verdict::Fails);
    }
}
