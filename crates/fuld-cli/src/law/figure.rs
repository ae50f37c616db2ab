//! Figures of a function of the stable law, or of draws.

use super::function::LawFunction;
use super::points::Points;
use crate::grouped::grouped;
use fuld_plot::{Axis, Figure, Hue, Panel};
use levy_stable::SymmetricStable;

/// Points per curve.
const CURVE_POINTS: usize = 600;
/// The largest number of points that are drawn as dots. More dots would hide the curve.
const MOST_DOTS: usize = 40;
/// The ratio of largest and smallest point above which the axis is logarithmic.
const LOGARITHMIC_FROM: f64 = 1e3;

impl LawFunction {
    /// Returns the default range of a figure, in which the function visibly differs from that of
    /// the Gaussian.
    pub(super) fn range(self, law: &SymmetricStable) -> (f64, f64) {
        let around = |size: f64| (-size * law.scale(), size * law.scale());
        match self {
            Self::Quantile | Self::Isf => (0.02, 0.98),
            Self::GradG => (-10.0, 10.0),
            Self::Sf => (0.0, 20.0 * law.scale()),
            Self::Score => around(10.0),
            Self::ScoreDerivative => around(6.0),
            Self::Logpdf => around(20.0),
            Self::Pdf | Self::Cdf | Self::Sample => around(8.0),
        }
    }

    /// Returns whether the function decreases over many decades, so that its logarithm is shown.
    pub(super) fn spans_decades(self) -> bool {
        matches!(self, Self::Pdf | Self::Sf)
    }

    fn label(self) -> &'static str {
        match self {
            Self::Pdf | Self::Sample => "density ψ(x)",
            Self::Logpdf => "ln ψ(x)",
            Self::Cdf => "P(X ≤ x)",
            Self::Sf => "P(X > x)",
            Self::Quantile => "x with P(X ≤ x) = p",
            Self::Isf => "x with P(X > x) = q",
            Self::Score => "score ψ′(x)/ψ(x)",
            Self::ScoreDerivative => "derivative of the score",
            Self::GradG => "∇G_{α}(v)",
        }
    }
}

/// Draws a function of every law and of the Gaussian, over the points or over the default range.
pub(super) fn curves(function: LawFunction, laws: &[SymmetricStable], points: &[f64]) -> Figure {
    let (mut from, mut to) = function.range(&laws[0]);
    let finite = || points.iter().copied().filter(|x| x.is_finite());
    let (low, high) = extremes(finite());
    if low < high {
        (from, to) = (low, high);
    }
    let panel = |logarithmic: bool, (from, to): (f64, f64)| {
        let wide = from > 0.0 && to / from > LOGARITHMIC_FROM;
        let xs = between(from, to, wide);
        let axis = if wide { Axis::log } else { Axis::linear };
        let mut panel = Panel::new("").x(axis(function.argument()));
        let mut heights = Vec::new();
        for law in laws {
            let line = over(function, law, &xs);
            heights.extend(line.iter().map(|&(_, y)| y).filter(|y| y.is_finite()));
            panel = panel.line(Hue::alpha(law.alpha()), label(law), line);
            if points.len() <= MOST_DOTS {
                panel = panel.dots(
                    Hue::alpha(law.alpha()),
                    "",
                    finite().map(|x| (x, function.at(law, x))).collect(),
                );
            }
        }
        if let Some(gauss) = gauss(function, laws) {
            panel = panel.dashed(Hue::alpha(2.0), "Gaussian (α = 2)", over(function, &gauss, &xs));
        }
        // The other laws determine the range, because the Gaussian would dominate it.
        let (low, high) = extremes(heights.into_iter().filter(|&y| !logarithmic || y > 0.0));
        let room = 0.15 * (high - low);
        let label = function.label();
        let y = match logarithmic {
            true => Axis::log(label).range(0.5 * low, 2.0 * high),
            false if room > 0.0 => Axis::linear(label).range(low - room, high + room),
            false => Axis::linear(label),
        };
        panel.y(y)
    };
    let figure = Figure::new(function.name()).panel_height(340.0).panel(panel(false, (from, to)));
    match function {
        _ if !function.spans_decades() => figure.columns(1).panel_height(420.0),
        // Without points, the second panel shows seven decades of the tail.
        _ if points.is_empty() => {
            let far = 1e3 * laws[0].scale();
            figure.panel(panel(true, (1e-4 * far, far)))
        }
        _ => figure.panel(panel(true, (from, to))),
    }
}

/// Draws a histogram of the draws and the density of each law, one panel per law.
pub(super) fn histograms(laws: &[SymmetricStable], draws: &[Vec<f64>]) -> Figure {
    const BINS: usize = 80;
    let mut figure = Figure::new("sample").columns(laws.len().min(2)).panel_height(340.0);
    for (law, draws) in laws.iter().zip(draws) {
        let (from, to) = (-law.isf(0.01), law.isf(0.01));
        let width = (to - from) / BINS as f64;
        let mut counts = [0usize; BINS];
        for &x in draws {
            if let Some(count) =
                counts.get_mut(((x - from) / width).floor() as usize).filter(|_| x >= from)
            {
                *count += 1;
            }
        }
        let unit = 1.0 / (draws.len() as f64 * width);
        let bin =
            |(i, &count): (usize, &usize)| (from + (i as f64 + 0.5) * width, count as f64 * unit);
        let bins: Vec<(f64, f64)> = counts.iter().enumerate().map(bin).collect();
        let xs = between(from, to, false);
        let mut panel = Panel::new(format!("{} draws", grouped(draws.len())))
            .x(Axis::linear("x").range(from, to))
            .y(Axis::linear(LawFunction::Sample.label()))
            .steps(Hue::Muted, "draws", &bins)
            .line(Hue::alpha(law.alpha()), label(law), over(LawFunction::Pdf, law, &xs));
        if let Some(gauss) = gauss(LawFunction::Pdf, std::slice::from_ref(law)) {
            panel = panel.dashed(
                Hue::alpha(2.0),
                "Gaussian (α = 2)",
                over(LawFunction::Pdf, &gauss, &xs),
            );
        }
        figure = figure.panel(panel);
    }
    figure
}

fn extremes(numbers: impl Iterator<Item = f64>) -> (f64, f64) {
    numbers.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)))
}

/// Returns the Gaussian of the same scale, unless it is among the laws.
pub(super) fn gauss(function: LawFunction, laws: &[SymmetricStable]) -> Option<SymmetricStable> {
    let present = laws.iter().any(|law| law.alpha() == 2.0);
    if present { None } else { function.law(2.0, laws[0].scale()).ok() }
}

fn label(law: &SymmetricStable) -> String {
    format!("α = {}", law.alpha())
}

fn over(function: LawFunction, law: &SymmetricStable, xs: &[f64]) -> Vec<(f64, f64)> {
    xs.iter().map(|&x| (x, function.at(law, x))).collect()
}

fn between(from: f64, to: f64, logarithmic: bool) -> Vec<f64> {
    Points::Range { from, to, count: CURVE_POINTS, logarithmic }.numbers().collect()
}
