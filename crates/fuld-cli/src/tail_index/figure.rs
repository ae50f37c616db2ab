//! The figure of `fuld tail-index`: tail probabilities of the data, of the fitted stable law and of
//! the Gaussian.

use super::estimates::SampleEstimates;
use fuld_plot::{Axis, Figure, Hue, Panel};
use levy_stable::SymmetricStable;
use levy_stable::tail_index::{Method, TailSample};

/// Dots per sample, evenly spaced on the logarithmic axis.
const DOTS: usize = 160;
/// Points per curve.
const CURVE_POINTS: usize = 400;

/// Draws a panel for each sample, titled with its name.
pub(super) fn figure(samples: &[(String, TailSample, SampleEstimates)]) -> Figure {
    let height = if samples.len() > 1 { 300.0 } else { 440.0 };
    let figure = Figure::new("tail-index").columns(samples.len().min(2)).panel_height(height);
    samples.iter().fold(figure, |figure, (name, sample, estimates)| {
        figure.panel(panel(name, sample, estimates))
    })
}

fn panel(name: &str, sample: &TailSample, estimates: &SampleEstimates) -> Panel {
    let mut sizes: Vec<f64> =
        sample.pooled().iter().map(|x| x.abs()).filter(|&x| x > 0.0).collect();
    sizes.sort_unstable_by(|a, b| b.total_cmp(a));
    let n = sample.pooled().len() as f64;
    // From a fifth of the median size, where the tail has not begun, to twice the largest.
    let median = sizes[sizes.len() / 2];
    let (from, to) = (0.2 * median, 2.0 * sizes[0].max(median));
    let mut panel = Panel::new(name)
        .x(Axis::log("x").range(from, to))
        .y(Axis::log("P(|X − median| > x)").range(0.3 / n, 1.5));
    // Logarithms, because the quotient of the ends may overflow.
    let (first, last) = (from.ln(), to.ln());
    let at = |t: f64| (first * (1.0 - t) + last * t).exp();
    let xs: Vec<f64> =
        (0..CURVE_POINTS).map(|i| at(i as f64 / (CURVE_POINTS - 1) as f64)).collect();
    let beyond = |law: &SymmetricStable| {
        xs.iter().map(|&x| (x, 2.0 * law.sf(x))).collect::<Vec<(f64, f64)>>()
    };
    panel = panel.dots(Hue::Muted, "data", dots(&sizes, n));
    let fitted = estimates.by(Method::Characteristic).map(|found| found.data.estimate);
    if let Some(law) =
        fitted.and_then(|fit| SymmetricStable::new(fit.alpha).ok()?.with_scale(fit.scale?).ok())
    {
        let label = format!("stable law, α = {:.2}", law.alpha());
        panel = panel.line(Hue::alpha(law.alpha()), label, beyond(&law));
    }
    // The Gaussian has the median of |X| of the data: P(|X| > median) = 1/2.
    if let Ok(gauss) =
        SymmetricStable::new(2.0).and_then(|unit| unit.with_scale(median / unit.isf(0.25)))
    {
        panel = panel.dashed(Hue::alpha(2.0), "Gaussian of the same median size", beyond(&gauss));
    }
    panel
}

/// Returns the share of numbers beyond some of the numbers, whose ranks are evenly spaced on a
/// logarithmic scale.
fn dots(sizes: &[f64], n: f64) -> Vec<(f64, f64)> {
    let last = sizes.len() as f64;
    let mut ranks: Vec<usize> =
        (0..DOTS).map(|i| last.powf(i as f64 / (DOTS - 1) as f64).round() as usize).collect();
    ranks.dedup();
    let dot = |rank: usize| Some((*sizes.get(rank - 1)?, (rank as f64 - 0.5) / n));
    ranks.into_iter().filter_map(dot).collect()
}
