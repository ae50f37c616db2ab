//! Automatic calibration: FULD whose α and noise scale are estimated from the gradients, compared with FULD that is given them and
//! with tuned SGD with momentum.
//!
//! Five groups of runs test five requirements; each has a file of its own with its figure, table and claims.

mod clean;
mod edge;
mod estimates;
mod gaussian;
mod grids;
mod noise;
mod rates;

use crate::study::{
    Cell, Difference, Grid, Group, NetworkRow, NetworkRuns, Pairs, Treatment, all_runs, to_toml,
    train_networks,
};
use crate::{CaptionedFigure, Claim, Context, Exhibit, TextTable};
use fuld_plot::{Axis, Panel};
use grids::grids;

results! {
    /// α and noise scale estimated from the gradients.
    Calibration {
        runs: NetworkRow,
        /// A layer at the end of a run.
        estimates: EstimateRow {
            group: Group,
            injected_alpha: Option<f64>,
            injected_scale: Option<f64>,
            width: usize,
            depth: usize,
            lr: Option<f64>,
            momentum: Option<f64>,
            seed: u64,
            layer: usize,
            noise_alpha: f64,
            noise_scale: f64,
            /// Tail index in use.
            alpha: f64,
            kappa: f64,
            limit: f64,
            /// Share of the weights beyond the knee.
            beyond_knee: f64,
        },
    }
}

/// The two treatments of every comparison without injected stable noise.
const PAIR: [Treatment; 2] = [Treatment::Sgdm, Treatment::Auto];

/// What one group of runs shows.
struct GroupSummary {
    figure: Option<CaptionedFigure>,
    table: Option<TextTable>,
    claims: Vec<Claim>,
}

impl Exhibit for Calibration {
    const ID: &'static str = "calibration";
    const VERSION: u32 = 2;
    const TITLE: &'static str = "Calibration";
    const SHOWS: &'static str = "α and noise scale estimated from the gradients";
    const SECONDS: f64 = 70.0;
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
            "FULD auto estimates the tail index α and the noise scale σ of the gradient noise from the gradients. It is compared with SGD \
             with momentum, with and without clipping, and with FULD that is given the injected noise, all at the same learning rate. {} runs \
             on {}, {} seeds each unless the table says otherwise.{}{} The networks of all widths and depths take {} steps. Accuracies are \
             means of the last two measurements, 100 steps apart, with one standard error over seeds. A run is lost if its loss is not finite, \
             if its final training loss is more than twice that of a random answer, or if its test accuracy is that of a random answer.",
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

impl Calibration {
    fn of_grids(context: &Context<'_>, grids: &[Grid]) -> anyhow::Result<Self> {
        let runs = all_runs(grids, &context.data()?.description())?;
        let trained = train_networks(context, "calibration", &runs, &[], 0)?;
        let both = trained.rows.iter().zip(&trained.results);
        let estimates = both.flat_map(|(row, result)| EstimateRow::last(row, result)).collect();
        Ok(Self { estimates, runs: trained.rows })
    }

    fn parts(&self) -> Vec<GroupSummary> {
        type MakePart = fn(&NetworkRuns, &[EstimateRow]) -> GroupSummary;
        let groups: [(Group, MakePart); 6] = [
            (Group::Noise, |runs, _| noise::part(runs)),
            (Group::Noise, estimates::part),
            (Group::Gaussian, gaussian::part),
            (Group::Clean, |runs, _| clean::part(runs)),
            (Group::Edge, |runs, _| edge::part(runs)),
            (Group::Rates, |runs, _| rates::part(runs)),
        ];
        let all = NetworkRuns { rows: self.runs.clone() };
        let of_group = groups.into_iter().map(|(group, part)| (all.of(group), part));
        let made = of_group.filter(|(runs, _)| !runs.rows.is_empty());
        made.map(|(runs, part)| part(&runs, &self.estimates)).collect()
    }
}

/// Returns the mean test error of a treatment in a cell, in percent, and its standard error.
fn test_error(runs: &NetworkRuns, treatment: Treatment, cell: &Cell) -> (f64, f64) {
    let (mean, error) = runs.mean_accuracy(treatment, cell);
    (100.0 - mean, error)
}

/// Returns a logarithmic axis that holds the errors of all treatments in all cells: it shows small differences between good rules as
/// well as lost runs.
fn error_axis(runs: &NetworkRuns) -> Axis {
    let cells = runs.cells();
    let all = cells.iter().flat_map(|cell| runs.treatments().into_iter().map(move |t| (t, cell)));
    let errors =
        all.map(|(treatment, cell)| test_error(runs, treatment, cell).0).filter(|error| !error.is_nan());
    let (least, most) = errors.fold((f64::INFINITY, 0.0f64), |(low, high), x| (low.min(x), high.max(x)));
    let ticks: &[f64] = if most > 8.0 * least {
        &[0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 90.0]
    } else {
        &[1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 90.0]
    };
    Axis::log("test error, %").range(least / 1.2, 1.2 * most).ticks(ticks)
}

/// Compares the test accuracy of auto with that of SGDm in a cell.
fn auto_ahead(runs: &NetworkRuns, cell: &Cell, pairs: Pairs) -> Difference {
    runs.ahead(Treatment::Auto, Treatment::Sgdm, cell, pairs)
}

/// Adds the curves of SGDm and auto over some cells: a mean and its error at `x`, slightly to the left for SGDm (side −1) and to the
/// right for auto (side 1).
fn pair_series(
    mut panel: Panel,
    runs: &NetworkRuns,
    cells: &[Cell],
    x: impl Fn(&Cell, f64) -> f64,
    of: fn(&NetworkRuns, Treatment, &Cell) -> (f64, f64),
) -> Panel {
    for (treatment, side) in PAIR.into_iter().zip([-1.0, 1.0]) {
        let point = |cell: &Cell| {
            let (mean, error) = of(runs, treatment, cell);
            (x(cell, side), mean, error)
        };
        let points: Vec<_> = cells.iter().map(point).collect();
        panel = panel.means(treatment.hue(), treatment.label(), treatment.is_control(), &points);
    }
    panel
}

/// Returns a table of SGDm and auto in all cells, with columns that name the cell before and, if pairs are given, the difference after.
fn pair_table<const N: usize>(
    runs: &NetworkRuns,
    cell_columns: [&str; N],
    cell_labels: impl Fn(&Cell) -> [String; N],
    difference: Option<(&str, Pairs)>,
) -> TextTable {
    let columns = cell_columns.into_iter().chain(["SGDm", "auto"]).chain(difference.map(|(title, _)| title));
    let cells = runs.cells();
    let rows = cells.iter().map(|cell| {
        let accuracies = PAIR.map(|treatment| runs.accuracy_text(treatment, cell));
        let gap = difference.map(|(_, pairs)| auto_ahead(runs, cell, pairs).signed(2));
        cell_labels(cell).into_iter().chain(accuracies).chain(gap)
    });
    TextTable::new(columns, rows)
}

#[cfg(test)]
mod tests;
