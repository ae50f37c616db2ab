//! What auto takes the noise for, beside what it is.

use super::arm::Arm;
use super::outcome::{Cell, Outcome, Results};
use super::words::{law, share};
use crate::Verdict;
use crate::gap::mean_and_error;
use crate::series::series;
use crate::set::Set;
use crate::unported::{Claim, Exhibit, Table};
use fuld_plot::{Axis, Figure, Hue, Panel};
use fuld_train::spec::InjectedNoise;
use fuld_train::train::{LayerCalibration, RunResult};

/// By how much α may be missed.
const ALPHA: f64 = 0.1;
/// By what part of itself σ may be missed.
const SCALE: f64 = 0.2;

/// What auto found in each layer of a run, when it was last recorded.
pub(super) fn of(result: &RunResult) -> Vec<LayerCalibration> {
    let last = result.calibration.iter().map(|found| found.iteration).max();
    result.calibration.iter().filter(|found| Some(found.iteration) == last).copied().collect()
}

/// The estimates of a layer in a cell, mean over seeds with the error of the mean.
struct Found {
    cell: Cell,
    noise: InjectedNoise,
    layer: usize,
    alpha: (f64, f64),
    scale: (f64, f64),
}

impl Found {
    fn alpha_is_near(&self) -> bool {
        (self.alpha.0 - self.noise.alpha).abs() <= ALPHA
    }

    /// σ̂ in units of σ, with its error.
    fn ratio(&self) -> (f64, f64) {
        (self.scale.0 / self.noise.scale, self.scale.1 / self.noise.scale)
    }

    fn scale_is_near(&self) -> bool {
        (self.ratio().0 - 1.0).abs() <= SCALE
    }
}

/// Of every layer in every cell, from the runs of auto that learned something.
fn found(results: &Results) -> Vec<Found> {
    let mut all = Vec::new();
    for cell in results.cells() {
        let Some(noise) = cell.noise else { continue };
        let runs: Vec<_> = results.runs(Arm::Auto, &cell).filter(|run| !run.lost()).collect();
        let layers = runs.iter().map(|run| run.found.len()).min().unwrap_or(0);
        for layer in 0..layers {
            let mean = |of: fn(&LayerCalibration) -> f64| {
                mean_and_error(&runs.iter().map(|run| of(&run.found[layer])).collect::<Vec<_>>())
            };
            let (alpha, scale) = (mean(|found| found.noise_alpha), mean(|found| found.noise_scale));
            all.push(Found { cell, noise, layer, alpha, scale });
        }
    }
    all
}

/// Adds what auto found under stable noise.
pub(super) fn show(exhibit: &mut Exhibit, set: Set, results: &Results) {
    let found = found(results);
    let name = format!("{}-estimates", exhibit.id);
    let caption = "What auto takes the noise of each layer for at the end, mean over seeds with one standard error: α̂, and below it σ̂ in units of the \
                   σ that was added. Shaded: within 0.1 of α, within 20 % of σ. The gradients have noise of their own, from the minibatches.";
    exhibit.figures.push((figure(&name, &found), caption.into()));
    exhibit.claims.extend([alpha_is_found(set, &found), scale_is_found(set, &found)]);
}

/// A column for each tail index, a curve for each scale.
fn figure(name: &str, found: &[Found]) -> Figure {
    let mut alphas: Vec<f64> = found.iter().map(|found| found.noise.alpha).collect();
    alphas.sort_by(f64::total_cmp);
    alphas.dedup();
    let mut scales: Vec<f64> = found.iter().map(|found| found.noise.scale).collect();
    scales.sort_by(f64::total_cmp);
    scales.dedup();
    let last = found.iter().map(|found| found.layer).max().unwrap_or(0) as f64 + 1.0;
    let ticks: Vec<f64> = (1..=last as usize).map(|layer| layer as f64).collect();
    let layers = || Axis::linear("layer").range(0.5, last + 0.5).ticks(&ticks);
    let across = |low: f64, high: f64| vec![(0.0, low, high), (last + 1.0, low, high)];
    let curves = |mut panel: Panel, alpha: f64, of: fn(&Found) -> (f64, f64)| {
        for (place, &scale) in scales.iter().enumerate() {
            let these = found.iter().filter(|found| (found.noise.alpha, found.noise.scale) == (alpha, scale));
            let aside = 0.12 * (place as f64 - 0.5 * (scales.len() - 1) as f64);
            let points: Vec<_> = these
                .map(|found| {
                    let (mean, error) = of(found);
                    (found.layer as f64 + 1.0 + aside, mean, error)
                })
                .collect();
            let hue = [Hue::Blue, Hue::Green, Hue::Purple, Hue::Orange][place % 4];
            panel = series(panel, hue, &format!("σ = {scale}"), false, &points);
        }
        panel
    };
    let mut figure = Figure::new(name).columns(alphas.len().max(2)).panel_height(220.0);
    let least = found.iter().map(|found| found.alpha.0).fold(1.0, f64::min);
    for &alpha in &alphas {
        let panel = Panel::new(format!("α = {alpha}"))
            .x(layers())
            .y(Axis::linear("α̂").range(least - 0.05, 2.05))
            .band(Hue::Muted, "", across(alpha - ALPHA, alpha + ALPHA));
        figure = figure.panel(curves(panel, alpha, |found| found.alpha));
    }
    let ratios = found.iter().map(|found| found.ratio().0);
    let (low, high) = ratios.fold((0.5f64, 2.0f64), |(low, high), x| (low.min(x), high.max(x)));
    for &alpha in &alphas {
        let panel = Panel::new(format!("α = {alpha}"))
            .x(layers())
            .y(Axis::log("σ̂ / σ").range(low / 1.1, 1.1 * high))
            .band(Hue::Muted, "", across(1.0 - SCALE, 1.0 + SCALE));
        figure = figure.panel(curves(panel, alpha, Found::ratio));
    }
    figure
}

/// Everything that auto found, run by run.
pub(super) fn table(id: &str, results: &Results) -> Table {
    let columns = [
        "study",
        "noise_alpha",
        "noise_scale",
        "width",
        "depth",
        "lr",
        "momentum",
        "seed",
        "layer",
        "found_noise_alpha",
        "found_noise_scale",
        "alpha",
        "kappa",
        "limit",
        "bent",
    ];
    let mut table = Table::new(format!("{id}-found"), &columns);
    for Outcome { study, cell, seed, found, .. } in &results.outcomes {
        let noise =
            |of: fn(InjectedNoise) -> f64| cell.noise.map_or(String::new(), |noise| of(noise).to_string());
        for layer in found {
            table.row([
                study.name().into(),
                noise(|noise| noise.alpha),
                noise(|noise| noise.scale),
                cell.width.to_string(),
                cell.depth.to_string(),
                cell.lr.to_string(),
                cell.momentum.to_string(),
                seed.to_string(),
                layer.layer.to_string(),
                layer.noise_alpha.to_string(),
                layer.noise_scale.to_string(),
                layer.alpha.to_string(),
                layer.kappa.to_string(),
                layer.limit.to_string(),
                layer.beyond_knee.to_string(),
            ]);
        }
    }
    table
}

/// "The estimates themselves within 0.1 of α."
fn alpha_is_found(set: Set, found: &[Found]) -> Claim {
    let miss = |found: &Found| (found.alpha.0 - found.noise.alpha).abs();
    let worst = found.iter().max_by(|a, b| miss(a).total_cmp(&miss(b)));
    let worst = worst.map_or(String::new(), |worst| {
        format!(
            "; furthest off with {} in layer {}, {:.2} ± {:.2}",
            law(&worst.cell),
            worst.layer + 1,
            worst.alpha.0,
            worst.alpha.1
        )
    });
    told(
        format!("On {}, auto finds the α of the noise to within {ALPHA} in every layer.", set.name()),
        found,
        Found::alpha_is_near,
        &worst,
    )
}

/// "And 20 % of σ."
fn scale_is_found(set: Set, found: &[Found]) -> Claim {
    let miss = |found: &Found| found.ratio().0.ln().abs();
    let worst = found.iter().max_by(|a, b| miss(a).total_cmp(&miss(b)));
    let worst = worst.map_or(String::new(), |worst| {
        let (ratio, error) = worst.ratio();
        format!(
            "; furthest off with {} in layer {}, {ratio:.2} ± {error:.2} times it",
            law(&worst.cell),
            worst.layer + 1
        )
    });
    told(
        format!(
            "On {}, auto finds the σ of the noise to within {:.0} % in every layer.",
            set.name(),
            100.0 * SCALE
        ),
        found,
        Found::scale_is_near,
        &worst,
    )
}

fn told(says: String, found: &[Found], near: fn(&Found) -> bool, worst: &str) -> Claim {
    let count = found.iter().filter(|found| near(found)).count();
    Claim::ours(
        says,
        format!("So in {} layers of all laws of the noise{worst}.", share(count, found.len())),
        Verdict::of_all(found.iter().map(near)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::made::{found_in_layer, made, noisy};
    use crate::calibration::plan::Study;

    /// Two laws, two layers; the second layer of the second is off by this much.
    fn results(alpha: f64, factor: f64) -> Results {
        let cells = [noisy(1.2, 0.001), noisy(1.5, 0.002)];
        let mut results = made(Study::Noise, &[Arm::Auto], &cells, |_, _, _| 97.0);
        for run in &mut results.outcomes {
            let (noise, wobble) = (run.cell.noise.unwrap(), 0.01 * (run.seed as f64 - 2.0));
            let right = found_in_layer(1, noise.alpha + wobble, noise.scale);
            let off = found_in_layer(2, right.noise_alpha + alpha, factor * right.noise_scale);
            run.found = vec![right, if noise.alpha == 1.5 { off } else { right }];
        }
        results
    }

    fn claims(alpha: f64, factor: f64) -> [Claim; 2] {
        let found = found(&results(alpha, factor));
        [alpha_is_found(Set::Mnist, &found), scale_is_found(Set::Mnist, &found)]
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
        assert!(scale.measured.contains("in layer 2, 0.70 ± 0.00 times it"), "{}", scale.measured);
    }

    #[test]
    fn what_died_has_found_nothing() {
        let mut results = results(5.0, 9.0);
        results
            .outcomes
            .iter_mut()
            .filter(|run| run.cell.noise.unwrap().alpha == 1.5)
            .for_each(|run| run.summary = None);
        let found = found(&results);
        assert!(found.len() == 2 && found.iter().all(Found::alpha_is_near));
    }
}
