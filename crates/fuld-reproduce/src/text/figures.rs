//! The pictures: what learning rates do, how the chosen settings learn, and which words they have learnt.

use super::comparison::{Comparison, Tuned};
use super::plan::Plan;
use fuld_plot::{Axis, Figure, Panel};

/// What the vertical axes have.
const EXCESS: &str = "nats above the least loss";
/// Where the three ranges of ranks are drawn: their middles on a scale of logarithms.
const MIDDLES: [f64; 3] = [3.0, 32.0, 320.0];

/// Tuning and its results.
pub(super) fn figure(comparison: &Comparison, plan: &Plan, knowing_nothing: f64) -> Figure {
    // What is far above a model that knows the frequencies only is off the picture.
    let floor = comparison.all.iter().flat_map(|tuned| tuned.trials.iter().map(|trial| trial.1));
    let range = (0.8 * floor.fold(knowing_nothing, f64::min), 1.6 * knowing_nothing);
    let axis = || Axis::log(EXCESS).range(range.0, range.1);
    let mut tuning = Panel::new("tuning: over learning rates").x(Axis::log("learning rate")).y(axis());
    let mut time = Panel::new("chosen settings: over time")
        .x(Axis::linear("steps").range(0.0, 1.05 * plan.steps as f64))
        .y(axis());
    for tuned in &comparison.all {
        let (hue, label) = (tuned.arm.hue(), tuned.arm.label());
        let rates = tuned.by_rate();
        tuning = tuning.line(hue, "", rates.clone()).dots(hue, label, rates);
        time = time.line(hue, "", tuned.curve()).dots(hue, label, tuned.curve());
    }
    // Its name would be in the way of the lines on the left.
    let (tuning, time) =
        (tuning.horizontal(knowing_nothing, ""), time.horizontal(knowing_nothing, "frequencies only"));
    Figure::new("text").panel(tuning).panel(time)
}

/// Which words have been learnt.
pub(super) fn ranks(comparison: &Comparison, plan: &Plan) -> Figure {
    let mut panel = Panel::new("chosen settings: over words")
        .x(Axis::log("rank of the word").range(1.0, 1.2 * plan.shape.words as f64))
        .y(Axis::log(EXCESS));
    let middle = (comparison.all.len() as f64 - 1.0) / 2.0;
    for (place, tuned) in comparison.all.iter().enumerate() {
        let (hue, label) = (tuned.arm.hue(), tuned.arm.label());
        // Apart, so that error bars do not cover each other.
        let shift = 1.06f64.powf(place as f64 - middle);
        let points = points(tuned, shift);
        let line = points.iter().map(|&(x, mean, _)| (x, mean)).collect::<Vec<_>>();
        panel = panel
            .error_bars(hue, points.iter().map(|&(x, mean, error)| (x, mean - error, mean + error)).collect())
            .line(hue, "", line.clone())
            .dots(hue, label, line);
    }
    Figure::new("text-words").columns(1).panel(panel)
}

fn points(tuned: &Tuned, shift: f64) -> Vec<(f64, f64, f64)> {
    let by_rank = tuned.by_rank().into_iter().zip(MIDDLES);
    by_rank.filter(|(gap, _)| gap.mean.is_finite()).map(|(gap, x)| (shift * x, gap.mean, gap.error)).collect()
}
