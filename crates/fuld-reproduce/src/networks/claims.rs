//! The claims about networks.

use super::momenta::{LINEAR, Momenta};
use crate::claim::{Claim, Judgement, Verdict, list, sentence};
use crate::study::{
    Cell, Difference, ImageSet, Measure, NetworkRow, NetworkRuns, Pairs, SIGNIFICANT, Treatment,
    mean_and_error,
};
use Treatment::{AuthorsCode, AuthorsControl, PaperControl, PaperFormula, PaperGaussian};

/// The probability below which won cells are not explained by a fair coin.
const LUCK: f64 = 0.05;
/// A remainder of less than this share of a gain counts as nothing.
const TRACE: f64 = 0.1;
/// Widths at which the paper reports α = 1.75 ahead. It reports no difference at width 32, and α =
/// 2 ahead at width 512.
const AHEAD: std::ops::RangeInclusive<usize> = 64..=256;

/// Returns all claims. Claims about widths that were not trained are left out.
pub(super) fn claims(runs: &NetworkRuns, momenta: &Momenta) -> Vec<Claim> {
    let mut claims = Vec::new();
    let widths = runs.widths();
    if widths.iter().any(|width| AHEAD.contains(width)) {
        claims.extend([better(runs, PaperFormula), better(runs, AuthorsCode)]);
    }
    claims.push(learning_rate(runs, PaperFormula, PaperControl));
    claims.push(learning_rate(runs, AuthorsCode, AuthorsControl));
    claims.push(below_knee(runs, momenta));
    if runs.data() == ImageSet::Cifar10 {
        claims.push(largest(runs));
    } else if widths.contains(&256) && widths.len() > 1 {
        claims.push(most_at_256(runs));
    }
    if widths.contains(&32) {
        claims.push(narrow(runs));
    }
    if widths.contains(&512) {
        claims.push(wide(runs));
    }
    claims
}

/// "In most of the cases, α = 1.75 is better": the paper's claim for its formula, and ours for the
/// formula of its authors' code.
fn better(runs: &NetworkRuns, treatment: Treatment) -> Claim {
    let set = runs.data();
    let cells: Vec<Cell> =
        runs.cells().into_iter().filter(|cell| AHEAD.contains(&cell.width)).collect();
    let gaps =
        Measure::ALL.map(|measure| (measure, runs.over(treatment, PaperGaussian, measure, &cells)));
    let won = list(gaps, |(measure, gap)| {
        let chance = probability(gap.chance());
        format!("{} {} of {} (chance {chance})", measure.label(), gap.won, cells.len())
    });
    let measured = format!(
        "Combinations of width and depth in which it is better: {won}. On average {}.{}",
        differences(&gaps),
        unstable(runs, &[treatment, PaperGaussian], &cells)
    );
    let judgement = Judgement::of(gaps.iter().map(|(measure, gap)| {
        let why =
            format!("a fair coin would do as well in {} at least 5 % of the time", measure.label());
        (gap.won > gap.lost && gap.chance() < LUCK, why)
    }));
    let cases = "in most cases at widths 64 to 256, in training and test, in loss and accuracy";
    if treatment == PaperFormula {
        let says = format!("α = 1.75 does better than α = 2 {cases}");
        Claim::paper(
            "better-formula",
            set.paper_claim(&says, "MNIST and CIFAR-10"),
            measured,
            judgement,
        )
    } else {
        let says = format!(
            "α = 1.75 by the formula of the authors' code, s(αv)/2, does what the paper says of its own formula: it is better than α = 2 \
             {cases}."
        );
        runs.claim("better-code", says, measured, judgement)
    }
}

/// No gain remains once the learning rate is the same.
fn learning_rate(runs: &NetworkRuns, treatment: Treatment, control: Treatment) -> Claim {
    let cells = runs.cells();
    let (mut verdicts, mut measured, mut remains) = (Vec::new(), String::new(), Vec::new());
    for measure in [Measure::TrainLoss, Measure::TestLoss, Measure::TestAccuracy] {
        let [gain, rest] =
            [PaperGaussian, control].map(|rival| runs.over(treatment, rival, measure, &cells));
        verdicts.push(nothing_remains(gain, rest));
        if verdicts.last() != Some(&Verdict::Holds) {
            remains.push(measure.label());
        }
        let share = if gain.is_gain() && rest.is_known() {
            format!(", {:.0} % of the gain", 100.0 * rest.mean / gain.mean).replace('-', "−")
        } else {
            String::new()
        };
        let [over_gaussian, over_control] = [gain, rest].map(|gap| amount(measure, gap));
        measured += &sentence(&format!(
            "{}, against α = 2: {over_gaussian}; against SGDm at the matched step: {over_control}{share}",
            measure.label()
        ));
        measured += " ";
    }
    let verdict = match verdicts[0] {
        first if verdicts.iter().all(|&verdict| verdict == first) => first,
        _ => Verdict::InPart,
    };
    let remains = remains.join(", ");
    let why =
        format!("α = 1.75 is also ahead of the control, or too few runs are stable, in {remains}");
    let (id, field) = match treatment {
        AuthorsCode => ("learning-rate-code", "by the formula of the authors' code"),
        _ => ("learning-rate-formula", "by the paper's formula"),
    };
    let says = format!(
        "α = 1.75 {field} does no better than SGDm with equally large small steps: its gain over α = 2, if any, is due to the learning rate."
    );
    let measured = measured.trim_end().to_owned()
        + &unstable(runs, &[treatment, PaperGaussian, control], &cells);
    runs.claim(id, says, measured, Judgement::new(verdict, why))
}

/// Judges whether nothing of a gain remains against the control. It holds in part if more than a
/// trace but less than half remains, or if the control is beaten where there was no gain over α =
/// 2.
fn nothing_remains(gain: Difference, rest: Difference) -> Verdict {
    let share = rest.mean / gain.mean;
    match () {
        () if !rest.is_known() => Verdict::Fails,
        () if !rest.is_gain() => Verdict::Holds,
        () if !gain.is_gain() => Verdict::InPart,
        () if share <= TRACE => Verdict::Holds,
        () if share < 0.5 => Verdict::InPart,
        () => Verdict::Fails,
    }
}

/// Where the field is linear, α only scales the learning rate.
fn below_knee(runs: &NetworkRuns, momenta: &Momenta) -> Claim {
    let Momenta { networks, linear, steps, iterations, median, largest, deviation } = *momenta;
    let why = format!(
        "momenta reach the nonlinear part of the field in {} of {networks} networks",
        networks - linear
    );
    runs.claim(
        "below-knee",
        format!(
            "momenta stay so far below the knee of ∇G_α at |v| ~ 1 that the field is linear to within {:.0} %, and α = 1.75 only changes the \
             learning rate.",
            100.0 * LINEAR
        ),
        format!(
            "This is so in {linear} of {networks} networks (the shallowest and the deepest of each width, with every seed), followed for \
             {steps} of {iterations} steps. The largest |v| of any weight at any step of any of them was {}, where the field deviates from \
             its tangent by {:.2} %; in the median network it was {}.",
            number(largest),
            100.0 * deviation,
            number(median)
        ),
        Judgement::new(Verdict::of_count(linear, networks), why),
    )
}

fn number(v: f64) -> String {
    if v.is_finite() { format!("{v:.3}") } else { "infinite".into() }
}

/// "More visible at width 256", where the difference reaches about 2 % on MNIST.
///
/// The best of many cells is ahead by chance. So widths are compared by their means over depths,
/// and the size of the difference is that of a cell that other seeds chose.
fn most_at_256(runs: &NetworkRuns) -> Claim {
    let set = runs.data();
    let means = by_width(runs, PaperFormula);
    let (at, others): (Vec<_>, Vec<_>) = means.iter().partition(|(width, _)| *width == 256);
    let gained = at.iter().any(|(_, gap)| gap.is_gain());
    let most =
        gained && at.iter().all(|(_, here)| others.iter().all(|(_, there)| here.exceeds(there)));
    let peak = peak(runs, PaperFormula, &runs.cells_of_width(256));
    let measured = format!(
        "Means over depths of the difference in test accuracy, by the paper's formula: {}; by the authors' code: {}. It is largest at 256 if \
         it exceeds each of the others by {SIGNIFICANT} standard errors.",
        listed(&means),
        listed(&by_width(runs, AuthorsCode)),
    );
    let why = "the difference at width 256 is not significantly larger than at every other width";
    let (mut says, mut measured) =
        ("the difference is more visible at width 256".to_owned(), measured);
    let mut checks = vec![(most, why.to_owned())];
    if set == ImageSet::Mnist {
        says += ", where it reaches about 2 points of accuracy";
        measured = format!("{measured} {}", chosen("At that width, it", peak));
        let why = format!("at width 256 it is {}, not between 1 and 4 points", peak.points());
        checks.push((gained && about(2.0, peak), why));
    }
    Claim::paper("width-256", set.paper_claim(&says, "MNIST"), measured, Judgement::of(checks))
}

/// "The maximum accuracy difference being about 4.5 %", at any width.
fn largest(runs: &NetworkRuns) -> Claim {
    let means = by_width(runs, PaperFormula);
    let peak = peak(runs, PaperFormula, &runs.cells());
    let gained = means.iter().any(|(_, gap)| gap.is_gain());
    let judgement = Judgement::of([
        (gained, "there is no significant difference at any width".to_owned()),
        (gained && about(4.5, peak), format!("its largest value is {}", peak.points())),
    ]);
    Claim::paper(
        "largest-difference",
        ImageSet::Cifar10
            .paper_claim("the largest difference in accuracy is about 4.5 points", "CIFAR-10"),
        format!(
            "{} By width, mean over depths: {}; there is a difference if one of these exceeds {SIGNIFICANT} standard errors.",
            chosen("The largest difference in test accuracy by the paper's formula", peak),
            listed(&means)
        ),
        judgement,
    )
}

/// Returns whether a difference is between half and twice the paper's number.
fn about(paper: f64, gap: Difference) -> bool {
    (0.5 * paper..=2.0 * paper).contains(&gap.mean)
}

fn chosen(what: &str, peak: Difference) -> String {
    format!(
        "{what} is {} in the combination of width and depth that the other seeds choose.",
        peak.points()
    )
}

/// Returns how far a treatment is ahead of α = 2 in test accuracy in its best cell.
///
/// The largest of many differences is also large by chance. So for each seed the other seeds choose
/// the cell: chosen by some runs and measured by another, the difference is not too large on
/// average. Its error is somewhat too small, because the choices are dependent.
fn peak(runs: &NetworkRuns, treatment: Treatment, cells: &[Cell]) -> Difference {
    let gap = |runs: &NetworkRuns, cell: &Cell| {
        runs.ahead(treatment, PaperGaussian, cell, Pairs::Stable).mean
    };
    let mut differences = Vec::new();
    for seed in runs.seeds() {
        let (one, others): (Vec<NetworkRow>, Vec<NetworkRow>) =
            runs.rows.iter().cloned().partition(|run| run.seed == seed);
        let (one, others) = (NetworkRuns { rows: one }, NetworkRuns { rows: others });
        let known =
            cells.iter().map(|cell| (cell, gap(&others, cell))).filter(|(_, mean)| !mean.is_nan());
        if let Some((cell, _)) = known.max_by(|a, b| a.1.total_cmp(&b.1)) {
            differences.extend(Some(gap(&one, cell)).filter(|mean| !mean.is_nan()));
        }
    }
    let (mean, error) = mean_and_error(&differences);
    Difference { mean, error, won: 0, lost: 0 }
}

/// Returns the difference in test accuracy of each width, mean over depths.
fn by_width(runs: &NetworkRuns, treatment: Treatment) -> Vec<(usize, Difference)> {
    let gap = |width| {
        runs.over(treatment, PaperGaussian, Measure::TestAccuracy, &runs.cells_of_width(width))
    };
    runs.widths().into_iter().map(|width| (width, gap(width))).collect()
}

fn listed(means: &[(usize, Difference)]) -> String {
    list(means, |(width, gap)| format!("width {width} {}", gap.points()))
}

/// "No significant difference at width 32."
fn narrow(runs: &NetworkRuns) -> Claim {
    // An unknown difference is not known to be small.
    let none = |gap: Difference| gap.is_known() && !gap.is_gain() && !gap.is_loss();
    at_width(runs, 32, "there is no significant difference at width 32", none)
}

/// "At width 512 α = 2 is slightly better."
fn wide(runs: &NetworkRuns) -> Claim {
    at_width(runs, 512, "α = 2 is slightly better at width 512", |gap| gap.is_loss())
}

/// Makes a claim about the mean over depths of each measure at a width.
fn at_width(
    runs: &NetworkRuns,
    width: usize,
    says: &str,
    holds: impl Fn(Difference) -> bool,
) -> Claim {
    let cells = runs.cells_of_width(width);
    let gaps = Measure::ALL
        .map(|measure| (measure, runs.over(PaperFormula, PaperGaussian, measure, &cells)));
    let measured = format!(
        "α = 1.75 against 2, mean over depths: {}.{}",
        differences(&gaps),
        unstable(runs, &[PaperFormula, PaperGaussian], &cells)
    );
    let judgement = Judgement::of(gaps.iter().map(|&(measure, gap)| {
        (holds(gap), format!("with α = 1.75, {} is {}", measure.label(), amount(measure, gap)))
    }));
    let says = runs.data().paper_claim(says, "MNIST and CIFAR-10");
    Claim::paper(format!("width-{width}"), says, measured, judgement)
}

/// Lists differences with their measures.
fn differences(gaps: &[(Measure, Difference)]) -> String {
    list(gaps, |&(measure, gap)| format!("{} {}", measure.label(), amount(measure, gap)))
}

/// Says by how much the first of two treatments is higher or lower.
fn amount(measure: Measure, gap: Difference) -> String {
    let (size, error) = (gap.mean.abs(), gap.error);
    let direction = if measure.is_loss() == (gap.mean < 0.0) { "higher" } else { "lower" };
    match (measure.is_loss(), gap.is_known()) {
        (_, false) => "unknown: too few runs converged".into(),
        (true, _) => format!("{size:.4} ± {error:.4} {direction}"),
        (false, _) => format!("{size:.2} ± {error:.2} points {direction}"),
    }
}

fn probability(chance: f64) -> String {
    if chance < 0.001 { "below 0.001".into() } else { format!("{chance:.3}") }
}

/// Says which runs of these cells exploded or diverged, and so enter no mean.
fn unstable(runs: &NetworkRuns, treatments: &[Treatment], cells: &[Cell]) -> String {
    let count = |&treatment: &Treatment| {
        let all: Vec<&NetworkRow> =
            cells.iter().flat_map(|cell| runs.runs(treatment, cell)).collect();
        let count = all.iter().filter(|run| !run.is_stable()).count();
        (count > 0).then(|| format!("{count} of {} runs of {}", all.len(), treatment.label()))
    };
    let texts: Vec<String> = treatments.iter().filter_map(count).collect();
    if texts.is_empty() {
        String::new()
    } else {
        format!(" Exploded, and so in no mean: {}.", texts.join(", "))
    }
}

#[cfg(test)]
mod tests;
