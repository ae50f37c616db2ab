//! The figures: the effect of the learning rate, the progress of the best settings, and the words they have learned.

use super::tuning::{Tuned, Tuning};
use super::{CurveRow, TaskRow};
use crate::exhibit::CaptionedFigure;
use crate::study::mean_and_error;
use fuld_plot::{Axis, Figure, Panel};

const EXCESS: &str = "nats above the lowest loss";
/// Middles of the three ranges of ranks on a logarithmic axis.
const MIDDLES: [f64; 3] = [3.0, 32.0, 320.0];

pub(super) fn figures(tuning: &Tuning, curves: &[CurveRow], task: &TaskRow) -> Vec<CaptionedFigure> {
    vec![
        CaptionedFigure::new(
            losses(tuning, curves, task),
            "Left: every learning rate that was tried, with the best limit where gradients are clipped; validation text, one seed. Right: the \
             best settings, means over seeds; test text.",
        ),
        CaptionedFigure::new(
            ranks(tuning, task),
            "The same runs at the end, by the frequency of the word to be predicted: ranks 1 to 10, 11 to 100 and all others, each about a \
             third of the text. One standard error over seeds.",
        ),
    ]
}

/// Draws tuning and its results.
fn losses(tuning: &Tuning, curves: &[CurveRow], task: &TaskRow) -> Figure {
    // Losses far above that of a model that knows only the frequencies are outside the axes.
    let frequencies = task.unigram_excess();
    let floor = tuning.all.iter().flat_map(|tuned| tuned.trials.iter().map(|row| row.excess));
    let (low, high) = (0.8 * floor.fold(frequencies, f64::min), 1.6 * frequencies);
    let axis = || Axis::log(EXCESS).range(low, high);
    let mut rates = Panel::new("tuning: over learning rates").x(Axis::log("learning rate")).y(axis());
    let mut time = Panel::new("best settings: over time")
        .x(Axis::linear("steps").range(0.0, 1.05 * task.steps as f64))
        .y(axis());
    for tuned in &tuning.all {
        let (hue, label) = (tuned.chosen.treatment.hue(), tuned.label());
        rates = rates.joined(hue, label, tuned.by_rate());
        time = time.joined(hue, label, mean_curve(tuned, curves));
    }
    // The label would cover the curves on the left.
    let (rates, time) = (rates.horizontal(frequencies, ""), time.horizontal(frequencies, "frequencies only"));
    Figure::new("text").panel(rates).panel(time)
}

/// Returns the mean over seeds of the excess loss during training, as far as all seeds got.
fn mean_curve(tuned: &Tuned, curves: &[CurveRow]) -> Vec<(f64, f64)> {
    let of_seed = |seed: u64| -> Vec<&CurveRow> {
        curves.iter().filter(|row| row.treatment == tuned.chosen.treatment && row.seed == seed).collect()
    };
    let runs: Vec<Vec<&CurveRow>> = tuned.tests.iter().map(|run| of_seed(run.seed)).collect();
    let shortest = runs.iter().map(Vec::len).min().unwrap_or(0);
    let point = |n: usize| {
        let losses: Vec<f64> = runs.iter().map(|run| run[n].excess).collect();
        (runs[0][n].step as f64, mean_and_error(&losses).0)
    };
    (0..shortest).map(point).collect()
}

/// Draws the excess loss over the rank of the word.
fn ranks(tuning: &Tuning, task: &TaskRow) -> Figure {
    let mut panel = Panel::new("best settings: over words")
        .x(Axis::log("rank of the word").range(1.0, 1.2 * task.words as f64))
        .y(Axis::log(EXCESS));
    let middle = (tuning.all.len() as f64 - 1.0) / 2.0;
    for (place, tuned) in tuning.all.iter().enumerate() {
        // Shifted, so that error bars do not cover each other.
        let shift = 1.06f64.powf(place as f64 - middle);
        let by_rank = tuned.by_rank().into_iter().zip(MIDDLES).filter(|((mean, _), _)| mean.is_finite());
        let points: Vec<_> = by_rank.map(|((mean, error), x)| (shift * x, mean, error)).collect();
        panel = panel.means(tuned.chosen.treatment.hue(), tuned.label(), false, &points);
    }
    Figure::new("text-words").columns(1).panel(panel)
}
