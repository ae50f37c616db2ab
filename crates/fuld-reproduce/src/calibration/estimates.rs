//! The noise that auto estimates, compared with the noise that was injected.

use super::{EstimateRow, GroupSummary};
use crate::study::{Cell, NetworkRow, NetworkRuns, Treatment, distinct, mean_and_error, share};
use crate::{CaptionedFigure, Claim, Judgement, Verdict};
use fuld_plot::{Axis, Figure, Hue, Panel};
use fuld_train::spec::InjectedNoise;
use fuld_train::train::{LayerCalibration, RunResult};

/// Largest error of α̂ that counts as near.
const ALPHA_ERROR: f64 = 0.1;
/// Largest relative error of σ̂ that counts as near.
const SCALE_ERROR: f64 = 0.2;

impl EstimateRow {
    fn new(run: &NetworkRow, layer: &LayerCalibration) -> Self {
        Self {
            group: run.group,
            injected_alpha: run.injected_alpha,
            injected_scale: run.injected_scale,
            width: run.width,
            depth: run.depth,
            lr: run.lr,
            momentum: run.momentum,
            seed: run.seed,
            layer: layer.layer,
            noise_alpha: layer.noise_alpha,
            noise_scale: layer.noise_scale,
            alpha: layer.alpha,
            kappa: layer.kappa,
            limit: layer.limit,
            beyond_knee: layer.beyond_knee,
        }
    }

    /// Returns the last recorded estimates of a run.
    pub(super) fn last(run: &NetworkRow, result: &RunResult) -> Vec<Self> {
        let last = result.calibration.iter().map(|layer| layer.iteration).max();
        let layers = result.calibration.iter().filter(|layer| Some(layer.iteration) == last);
        layers.map(|layer| Self::new(run, layer)).collect()
    }

    fn is_of(&self, run: &NetworkRow) -> bool {
        let of_row = (self.group, self.injected_alpha, self.injected_scale, self.width, self.depth);
        of_row == (run.group, run.injected_alpha, run.injected_scale, run.width, run.depth)
            && (self.lr, self.momentum, self.seed) == (run.lr, run.momentum, run.seed)
    }
}

/// The estimates of a layer in a cell: mean over seeds and standard error.
struct LayerEstimate {
    cell: Cell,
    noise: InjectedNoise,
    layer: usize,
    alpha: (f64, f64),
    scale: (f64, f64),
}

impl LayerEstimate {
    fn alpha_is_near(&self) -> bool {
        (self.alpha.0 - self.noise.alpha).abs() <= ALPHA_ERROR
    }

    /// Returns σ̂ / σ with its error.
    fn ratio(&self) -> (f64, f64) {
        (self.scale.0 / self.noise.scale, self.scale.1 / self.noise.scale)
    }

    fn scale_is_near(&self) -> bool {
        (self.ratio().0 - 1.0).abs() <= SCALE_ERROR
    }

    fn label(&self) -> String {
        format!("{} in layer {}", self.cell.noise_label(), self.layer)
    }
}

/// Averages the estimates of every layer in every cell over the runs of auto that learned.
fn estimates(runs: &NetworkRuns, rows: &[EstimateRow]) -> Vec<LayerEstimate> {
    let mut all = Vec::new();
    for cell in runs.cells() {
        let Some(noise) = cell.noise else { continue };
        let learned: Vec<_> = runs.runs(Treatment::Auto, &cell).filter(|run| !run.is_lost()).collect();
        let of_cell = || rows.iter().filter(|row| learned.iter().any(|run| row.is_of(run)));
        for layer in distinct(of_cell().map(|row| row.layer)) {
            let mean = |of: fn(&EstimateRow) -> f64| {
                mean_and_error(&of_cell().filter(|row| row.layer == layer).map(of).collect::<Vec<_>>())
            };
            let alpha = mean(|row| row.noise_alpha);
            let scale = mean(|row| row.noise_scale);
            all.push(LayerEstimate { cell, noise, layer, alpha, scale });
        }
    }
    all
}

pub(super) fn part(runs: &NetworkRuns, rows: &[EstimateRow]) -> GroupSummary {
    let estimates = estimates(runs, rows);
    let caption = "The noise of each layer that auto estimates at the end, mean over seeds with one standard error: α̂, and below it σ̂ in \
                   units of the injected σ. Shaded: within 0.1 of α, within 20 % of σ. The minibatches add noise of their own.";
    let figure = figure(&format!("calibration-{}-estimates", runs.data().id()), &estimates);
    GroupSummary {
        figure: Some(CaptionedFigure::new(figure, caption)),
        table: None,
        claims: vec![alpha_is_estimated(runs, &estimates), scale_is_estimated(runs, &estimates)],
    }
}

/// Draws a column for each tail index and a curve for each noise scale.
fn figure(name: &str, estimates: &[LayerEstimate]) -> Figure {
    let sorted = |of: fn(&LayerEstimate) -> f64| {
        let mut values = distinct(estimates.iter().map(of));
        values.sort_by(f64::total_cmp);
        values
    };
    let (alphas, scales) = (sorted(|e| e.noise.alpha), sorted(|e| e.noise.scale));
    let last = estimates.iter().map(|estimate| estimate.layer).max().unwrap_or(1) as f64;
    let ticks: Vec<f64> = (1..=last as usize).map(|layer| layer as f64).collect();
    let layers = || Axis::linear("layer").range(0.5, last + 0.5).ticks(&ticks);
    let across = |low: f64, high: f64| vec![(0.0, low, high), (last + 1.0, low, high)];
    let curves = |mut panel: Panel, alpha: f64, of: fn(&LayerEstimate) -> (f64, f64)| {
        for (place, &scale) in scales.iter().enumerate() {
            let these = estimates.iter().filter(|e| (e.noise.alpha, e.noise.scale) == (alpha, scale));
            let shift = 0.12 * (place as f64 - 0.5 * (scales.len() - 1) as f64);
            let point = |e: &LayerEstimate| (e.layer as f64 + shift, of(e).0, of(e).1);
            let points: Vec<_> = these.map(point).collect();
            let hue = [Hue::Blue, Hue::Green, Hue::Purple, Hue::Orange][place % 4];
            panel = panel.means(hue, &format!("σ = {scale}"), false, &points);
        }
        panel
    };
    let mut figure = Figure::new(name).columns(alphas.len().max(2)).panel_height(220.0);
    let least = estimates.iter().map(|estimate| estimate.alpha.0).fold(1.0, f64::min);
    for &alpha in &alphas {
        let panel = Panel::new(format!("α = {alpha}"))
            .x(layers())
            .y(Axis::linear("α̂").range(least - 0.05, 2.05))
            .band(Hue::Muted, "", across(alpha - ALPHA_ERROR, alpha + ALPHA_ERROR));
        figure = figure.panel(curves(panel, alpha, |estimate| estimate.alpha));
    }
    let ratios = estimates.iter().map(|estimate| estimate.ratio().0);
    let (low, high) = ratios.fold((0.5f64, 2.0f64), |(low, high), x| (low.min(x), high.max(x)));
    for &alpha in &alphas {
        let panel = Panel::new(format!("α = {alpha}"))
            .x(layers())
            .y(Axis::log("σ̂ / σ").range(low / 1.1, 1.1 * high))
            .band(Hue::Muted, "", across(1.0 - SCALE_ERROR, 1.0 + SCALE_ERROR));
        figure = figure.panel(curves(panel, alpha, LayerEstimate::ratio));
    }
    figure
}

/// "The estimates themselves within 0.1 of α."
fn alpha_is_estimated(runs: &NetworkRuns, estimates: &[LayerEstimate]) -> Claim {
    let miss = |estimate: &LayerEstimate| (estimate.alpha.0 - estimate.noise.alpha).abs();
    let worst = estimates.iter().max_by(|a, b| miss(a).total_cmp(&miss(b)));
    let worst = worst.map(|e| format!("{}, {:.2} ± {:.2}", e.label(), e.alpha.0, e.alpha.1));
    let says = format!("auto estimates the α of the noise to within {ALPHA_ERROR} in every layer.");
    claim(runs, ("estimates-alpha", says), estimates, LayerEstimate::alpha_is_near, worst)
}

/// "And 20 % of σ."
fn scale_is_estimated(runs: &NetworkRuns, estimates: &[LayerEstimate]) -> Claim {
    let miss = |estimate: &LayerEstimate| estimate.ratio().0.ln().abs();
    let worst = estimates.iter().max_by(|a, b| miss(a).total_cmp(&miss(b)));
    let worst = worst.map(|e| format!("{}, {:.2} ± {:.2} times σ", e.label(), e.ratio().0, e.ratio().1));
    let percent = 100.0 * SCALE_ERROR;
    let says = format!("auto estimates the σ of the noise to within {percent:.0} % in every layer.");
    claim(runs, ("estimates-noise-scale", says), estimates, LayerEstimate::scale_is_near, worst)
}

fn claim(
    runs: &NetworkRuns,
    (id, says): (&str, String),
    estimates: &[LayerEstimate],
    near: fn(&LayerEstimate) -> bool,
    worst: Option<String>,
) -> Claim {
    let count = estimates.iter().filter(|estimate| near(estimate)).count();
    let worst = worst.map_or(String::new(), |worst| format!("; the largest error is with {worst}"));
    let measured =
        format!("This is so in {} layers of all laws of the noise{worst}.", share(count, estimates.len()));
    let why = format!("{} layers are further off{worst}", share(estimates.len() - count, estimates.len()));
    let verdict = Verdict::of_count(count, estimates.len());
    runs.claim(id, says, measured, Judgement::new(verdict, why))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::test_rows::{accuracies, noisy};
    use crate::study::{Group, RunOutcome};

    /// Two laws, two layers; the second layer under the second law is off by this much.
    fn runs_and_estimates(alpha: f64, factor: f64) -> (NetworkRuns, Vec<EstimateRow>) {
        let cells = [noisy(1.2, 0.001), noisy(1.5, 0.002)];
        let runs = accuracies(Group::Noise, &[Treatment::Auto], &cells, |_, _, _| 97.0);
        let mut rows = Vec::new();
        for run in &runs.rows {
            let (noise, jitter) = (run.cell().noise.unwrap(), 0.01 * (run.seed as f64 - 2.0));
            for layer in [1, 2] {
                let is_off = layer == 2 && noise.alpha == 1.5;
                let (alpha, factor) = if is_off { (alpha, factor) } else { (0.0, 1.0) };
                let estimate = LayerCalibration {
                    iteration: 100,
                    layer,
                    noise_alpha: noise.alpha + jitter + alpha,
                    noise_scale: noise.scale * factor,
                    alpha: noise.alpha,
                    kappa: 1.0,
                    limit: 1.0,
                    beyond_knee: 0.1,
                };
                rows.push(EstimateRow::new(run, &estimate));
            }
        }
        (runs, rows)
    }

    fn claims(alpha: f64, factor: f64) -> [Claim; 2] {
        let (runs, rows) = runs_and_estimates(alpha, factor);
        let estimates = estimates(&runs, &rows);
        [alpha_is_estimated(&runs, &estimates), scale_is_estimated(&runs, &estimates)]
    }

    #[test]
    fn one_layer_that_is_off_is_named() {
        assert!(claims(0.09, 1.19).iter().all(|claim| claim.verdict == Verdict::Holds));
        let [alpha, scale] = claims(-0.12, 0.7);
        assert_eq!((alpha.verdict, scale.verdict), (Verdict::InPart, Verdict::InPart));
        assert!(
            alpha.measured.contains("3 of 4")
                && alpha.measured.contains("α = 1.5, σ = 0.002 in layer 2, 1.38")
        );
        assert!(scale.measured.contains("in layer 2, 0.70 ± 0.00 times σ"), "{}", scale.measured);
        assert!(scale.why.unwrap().starts_with("1 of 4 layers are further off"));
    }

    #[test]
    fn a_lost_run_has_no_estimates() {
        let (mut runs, rows) = runs_and_estimates(5.0, 9.0);
        let off = runs.rows.iter_mut().filter(|run| run.injected_alpha == Some(1.5));
        off.for_each(|run| run.outcome = RunOutcome::Diverged);
        let estimates = estimates(&runs, &rows);
        assert!(estimates.len() == 2 && estimates.iter().all(LayerEstimate::alpha_is_near));
    }
}
