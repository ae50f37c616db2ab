//! The guard: optimizers whose gradients are clipped to their own typical size, compared with the
//! same optimizers without it and with tuned clipping.
//!
//! Five groups of runs test five requirements; each has a file of its own with its figure, table
//! and claims. The runs with injected noise have two, one for SGD with momentum and one for Adam.

mod adam;
mod clean;
mod compared;
mod edge;
mod gaussian;
mod grids;
mod noise;
mod rates;

use crate::study::{
    Cell, Grid, Group, NetworkRow, NetworkRuns, Pairs, Treatment, all_runs, to_toml, train_networks,
};
use crate::{CaptionedFigure, Claim, Context, Exhibit, TextTable};
use fuld_plot::{Axis, Panel};
use grids::grids;

results! {
    /// Guarded gradients.
    Guard {
        runs: NetworkRow,
    }
}

/// SGD with momentum and its guard: c = 1, the default for SGD.
const GUARDED_SGDM: Treatment = Treatment::GuardedSgdm(1.0);
/// Adam and its guard: c = 30, the default for Adam.
const GUARDED_ADAM: Treatment = Treatment::GuardedAdam(30.0);
/// Adam with a guard that also clips heavy-tailed noise.
const TIGHTLY_GUARDED_ADAM: Treatment = Treatment::GuardedAdam(3.0);

/// An optimizer with a guard and without.
struct Comparison {
    /// The end of the ids of its claims.
    id: &'static str,
    guarded: Treatment,
    plain: Treatment,
}

/// The comparisons of every group that is not about the learning rate.
const COMPARISONS: [Comparison; 3] = [
    Comparison { id: "sgdm", guarded: GUARDED_SGDM, plain: Treatment::Sgdm },
    Comparison { id: "adam-30", guarded: GUARDED_ADAM, plain: Treatment::Adam },
    Comparison { id: "adam-3", guarded: TIGHTLY_GUARDED_ADAM, plain: Treatment::Adam },
];

/// SGD with momentum, without a guard and with one.
const SGDM: [Treatment; 2] = [Treatment::Sgdm, GUARDED_SGDM];
/// Adam, without a guard and with each of two.
const ADAM: [Treatment; 3] = [Treatment::Adam, GUARDED_ADAM, TIGHTLY_GUARDED_ADAM];

/// What one group of runs shows.
struct GroupSummary {
    figure: Option<CaptionedFigure>,
    table: Option<TextTable>,
    claims: Vec<Claim>,
}

impl Exhibit for Guard {
    const ID: &'static str = "guard";
    const TITLE: &'static str = "The guard";
    const SHOWS: &'static str = "gradients clipped to their own typical size";
    const SECONDS: f64 = 17.0;
    const TRAINS: bool = true;

    fn settings(context: &Context<'_>) -> anyhow::Result<toml::Table> {
        let data = context.data()?;
        to_toml(&all_runs(&grids(data.name, context.full, context.seed), &data.description())?)
    }

    fn experiment(context: &Context<'_>) -> anyhow::Result<Self> {
        Self::of_grids(context, &grids(context.data()?.name, context.full, context.seed))
    }

    fn text(&self) -> String {
        let runs = NetworkRuns { rows: self.runs.clone() };
        let first = |group| runs.rows.iter().find(|run| run.group == group);
        let describe = |group, what: &str| {
            first(group).map_or(String::new(), |NetworkRow { depth, width, iterations, batch, .. }| {
                format!(
                    " {what} use {depth} layers of {width} units, {iterations} steps on batches of {batch}."
                )
            })
        };
        format!(
            "Before every step the guard clips the components of each layer's gradient at c times their usual geometric mean, and scales down \
             gradients that are more than four times their usual size. It is tested on SGD with momentum (SGDm) with c = 1, and on Adam with \
             c = 30 and c = 3. Rivals are the same optimizers without it, SGDm with gradients clipped by component or by joint norm, and FULD \
             that is given the injected noise. All rules with momentum take the same learning rate and momentum; Adam takes 0.001. {} runs on \
             {}, {} seeds each unless the table says otherwise.{}{} The networks of all widths and depths take {} steps. Accuracies are means \
             of the last two measurements, 100 steps apart, with one standard error over seeds. A run is lost if its loss is not finite, if its \
             final training loss is more than twice that of a random answer, or if its test accuracy is that of a random answer.",
            runs.rows.len(),
            runs.data().title(),
            runs.of(Group::Clean).seeds().len(),
            describe(Group::Noise, "Runs with injected noise"),
            describe(Group::Rates, "Runs over learning rates"),
            first(Group::Clean).map_or(0, |run| run.iterations),
        )
    }

    fn figures(&self) -> Vec<CaptionedFigure> {
        self.parts().into_iter().filter_map(|part| part.figure).collect()
    }

    fn shown(&self) -> Vec<TextTable> {
        self.parts().into_iter().filter_map(|part| part.table).collect()
    }

    fn claims(&self) -> Vec<Claim> {
        self.parts().into_iter().flat_map(|part| part.claims).collect()
    }
}

impl Guard {
    fn of_grids(context: &Context<'_>, grids: &[Grid]) -> anyhow::Result<Self> {
        let runs = all_runs(grids, &context.data()?.description())?;
        Ok(Self { runs: train_networks(context, "guard", &runs, &[], 0)?.rows })
    }

    fn parts(&self) -> Vec<GroupSummary> {
        type MakePart = fn(&NetworkRuns) -> GroupSummary;
        let groups: [(Group, MakePart); 6] = [
            (Group::Noise, noise::part),
            (Group::Noise, adam::part),
            (Group::Gaussian, gaussian::part),
            (Group::Clean, clean::part),
            (Group::Edge, edge::part),
            (Group::Rates, rates::part),
        ];
        let all = NetworkRuns { rows: self.runs.clone() };
        let of_group = groups.into_iter().map(|(group, part)| (all.of(group), part));
        of_group.filter(|(runs, _)| !runs.rows.is_empty()).map(|(runs, part)| part(&runs)).collect()
    }
}

/// Returns the mean test error of a treatment in a cell, in percent, and its standard error.
fn test_error(runs: &NetworkRuns, treatment: Treatment, cell: &Cell) -> (f64, f64) {
    let (mean, error) = runs.mean_accuracy(treatment, cell);
    (100.0 - mean, error)
}

/// Returns a logarithmic axis that holds the errors of some treatments in all cells: it shows small
/// differences between good rules as well as lost runs.
fn error_axis(runs: &NetworkRuns, treatments: &[Treatment]) -> Axis {
    let cells = runs.cells();
    let all =
        cells.iter().flat_map(|cell| treatments.iter().map(move |&treatment| (treatment, cell)));
    let errors = all
        .map(|(treatment, cell)| test_error(runs, treatment, cell).0)
        .filter(|error| !error.is_nan());
    let (least, most) =
        errors.fold((f64::INFINITY, 0.0f64), |(low, high), x| (low.min(x), high.max(x)));
    let ticks: &[f64] = if most > 8.0 * least {
        &[0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 90.0]
    } else {
        &[
            1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0,
            90.0,
        ]
    };
    Axis::log("test error, %").range(least / 1.2, 1.2 * most).ticks(ticks)
}

/// Adds the curves of some treatments over some cells: the mean test error with its standard error
/// at `x`. The second argument of `x` shifts the curves against each other: it is −1 for the first
/// treatment and 1 for the last.
fn error_curves(
    mut panel: Panel,
    runs: &NetworkRuns,
    treatments: &[Treatment],
    cells: &[Cell],
    x: impl Fn(&Cell, f64) -> f64,
) -> Panel {
    let steps = (treatments.len().max(2) - 1) as f64;
    for (place, &treatment) in treatments.iter().enumerate() {
        let shift = 2.0 * place as f64 / steps - 1.0;
        let point = |cell: &Cell| {
            let (mean, error) = test_error(runs, treatment, cell);
            (x(cell, shift), mean, error)
        };
        let points: Vec<_> = cells.iter().map(point).collect();
        panel = panel.means(treatment.hue(), &treatment.label(), treatment.is_control(), &points);
    }
    panel
}

/// Returns a table of some treatments in all cells, with columns that name the cell before and the
/// differences of some comparisons after.
fn accuracy_table<const N: usize>(
    runs: &NetworkRuns,
    treatments: &[Treatment],
    (cell_columns, cell_labels): ([&str; N], impl Fn(&Cell) -> [String; N]),
    (differences, pairs): (&[Comparison], Pairs),
) -> TextTable {
    let difference = |it: &Comparison| format!("{} − {}", it.guarded.label(), it.plain.label());
    let columns = cell_columns.into_iter().map(String::from);
    let columns = columns
        .chain(treatments.iter().map(|it| it.label()))
        .chain(differences.iter().map(difference));
    let cells = runs.cells();
    let rows = cells.iter().map(|cell| {
        let accuracies = treatments.iter().map(|&treatment| runs.accuracy_text(treatment, cell));
        let gaps =
            differences.iter().map(|it| runs.ahead(it.guarded, it.plain, cell, pairs).signed(2));
        cell_labels(cell).into_iter().chain(accuracies).chain(gaps).collect::<Vec<_>>()
    });
    TextTable::new(columns, rows)
}

/// Returns the scale of the noise of a cell.
fn noise_scale(cell: &Cell) -> f64 {
    cell.noise.map_or(f64::NAN, |noise| noise.scale)
}

/// Returns a panel of test errors over the noise scales of some cells.
fn panel_over_scales(
    title: impl Into<String>,
    runs: &NetworkRuns,
    treatments: &[Treatment],
    cells: &[Cell],
) -> Panel {
    let scales: Vec<f64> = cells.iter().map(noise_scale).collect();
    let (low, high) =
        scales.iter().fold((f64::INFINITY, 0.0f64), |(a, b), &x| (a.min(x), b.max(x)));
    let panel = Panel::new(title)
        .x(Axis::log("noise scale").range(low / 1.5, 1.5 * high).ticks(&scales))
        .y(error_axis(runs, treatments));
    error_curves(panel, runs, treatments, cells, |cell, shift| {
        (1.0 + 0.03 * shift) * noise_scale(cell)
    })
}

#[cfg(test)]
mod tests;
