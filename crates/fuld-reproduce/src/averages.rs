//! Corollary 1: weighted averages along decreasing steps converge.

use crate::drawing::by_alpha;
use crate::quartic::{Length, noisy_chains, target};
use crate::{CaptionedFigure, Claim, Context, Exhibit, Judgement};
use fuld::{Integrator, SystemKind};
use fuld_plot::{Axis, Figure, Panel};
use fuld_sample::SampleRequest;

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

results! {
    /// Averages along decreasing steps.
    Averages {
        /// The error of the average of x² after K iterations, over chains.
        errors: AverageError { alpha: f64, iterations: u64, rms_error: f64, bias: f64 },
    }
}

impl Exhibit for Averages {
    const ID: &'static str = "averages";
    const TITLE: &'static str = "Corollary 1 · Averages along decreasing steps";
    const SHOWS: &'static str = "Corollary 1: averages along decreasing steps";
    const SECONDS: f64 = 2.5;

    settings! {
        alpha: ALPHAS, gamma: GAMMA, step: START, half_life: HALF_LIFE, step_power: POWER,
        iterations: LENGTHS, chains: CHAINS,
    }

    fn experiment(context: &Context<'_>) -> anyhow::Result<Self> {
        let exact = target(1.0)?.expectation(|x| x * x);
        let mut errors = Vec::new();
        for alpha in ALPHAS {
            for iterations in LENGTHS {
                let length =
                    Length { chains: CHAINS, warmup: 0, draws: DRAWS, thin: iterations / DRAWS };
                let request = noisy_chains(
                    SystemKind::Fuld,
                    Integrator::Euler,
                    (alpha, GAMMA),
                    START,
                    length,
                );
                let (step_power, half_life) = (Some(POWER), Some(HALF_LIFE));
                let average =
                    context.second_moments(SampleRequest { step_power, half_life, ..request })?;
                let square = average.chains.iter().map(|mean| (mean - exact).powi(2)).sum::<f64>();
                let rms_error = (square / average.chains.len() as f64).sqrt();
                errors.push(AverageError {
                    alpha,
                    iterations,
                    rms_error,
                    bias: average.mean() - exact,
                });
                context.progress(errors.len() as f64 / (ALPHAS.len() * LENGTHS.len()) as f64);
            }
        }
        Ok(Self { errors })
    }

    fn text(&self) -> String {
        format!(
            "π̄_K(h) = Σ ηₖ h(xᵏ)/Σ ηₖ for h = x² on the double well, by Euler's scheme with steps that fall as k^(−1/3) from {START}; \
             {CHAINS} chains. The corollary assumes a gradient of linear growth; the gradient of the quartic potential grows faster."
        )
    }

    fn figures(&self) -> Vec<CaptionedFigure> {
        let panel = Panel::new("")
            .x(Axis::log("iterations K"))
            .y(Axis::log("r.m.s. error of the average of x²"));
        let point = |e: &AverageError| (e.alpha, e.iterations as f64, e.rms_error);
        let panel = by_alpha(panel, Panel::joined, &self.errors, point);
        let figure = Figure::new("averages").columns(1).panel(panel);
        vec![CaptionedFigure::new(
            figure,
            "Error of the weighted average against the number of iterations.",
        )]
    }

    fn claims(&self) -> Vec<Claim> {
        // The standard error of an exponent between two r.m.s. errors of this many chains, a decade
        // apart.
        let uncertainty = (1.0 / CHAINS as f64).sqrt() / 10f64.ln();
        let (mut texts, mut checks) = (Vec::new(), Vec::new());
        for curve in self.errors.chunk_by(|a, b| a.alpha == b.alpha) {
            let ([first, .., last], exponent) = (curve, exponent(curve)) else { continue };
            texts.push(format!(
                "from {:.3} to {:.4} at α = {}, over the last decade as K^{exponent:.2}",
                first.rms_error, last.rms_error, last.alpha
            ));
            let why = format!(
                "at α = {} the error falls only as K^{exponent:.2} over the last decade",
                last.alpha
            );
            checks.push((exponent + 2.0 * uncertainty < -0.15, why));
        }
        vec![Claim::paper(
            "convergence",
            "Ergodic averages of the Euler scheme with decreasing steps converge to those under exp(−βf).",
            format!(
                "From 1,000 to 1,000,000 iterations the r.m.s. error falls {} (± {uncertainty:.2}; steps of k^(−1/3) suggest −1/3).",
                texts.join(", and ")
            ),
            Judgement::of(checks),
        )]
    }
}

/// The exponent of K with which the error falls over the last decade.
fn exponent(curve: &[AverageError]) -> f64 {
    let [first, .., last] = curve else { return f64::NAN };
    let is_decade = |e: &&AverageError| e.iterations as f64 >= 0.099 * last.iterations as f64;
    let decade = curve.iter().find(is_decade).unwrap_or(first);
    (last.rms_error / decade.rms_error).ln()
        / (last.iterations as f64 / decade.iterations as f64).ln()
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
            Averages { errors: errors.into() }.claims()[0].verdict
        };
        assert_eq!(verdict(0.0), Verdict::Holds);
        assert_eq!(verdict(0.1), Verdict::Fails);
    }
}
