//! Automatic calibration: FULD whose α and noise scale are estimated from the gradients, compared with FULD that is given them and
//! with tuned SGD with momentum.
//!
//! Five groups of runs test five requirements; each has a file of its own with its figure, table and claims.

mod clean;
mod edge;
mod error_axis;
mod estimates;
mod gaussian;
mod noise;
mod plan;
mod rates;

use crate::claim::Claim;
use crate::context::Context;
use crate::exhibit::{CaptionedFigure, Exhibit, TextTable};
use crate::study::driver::train_networks;
use crate::study::grid::grid;
use crate::study::network_runs::{Group, NetworkRow, NetworkRuns};
use crate::study::treatment::Treatment;
use crate::table::{TableError, Tables};
use estimates::EstimateRow;
use plan::Plan;

/// The exhibit.
pub(crate) const EXHIBIT: Exhibit = Exhibit {
    id: "calibration",
    title: "Calibration",
    shows: "α and noise scale estimated from the gradients",
    seconds: 70.0,
    version: 1,
    trains: true,
    settings: |context| grid(&Plan::of(context)?.runs(&context.data()?.description())?),
    experiment: |context| experiment(context, &Plan::of(context)?),
    text: |tables| Ok(text(&runs(tables)?)),
    claims: |tables| Ok(parts(tables)?.into_iter().flat_map(|part| part.claims).collect()),
    figures: |tables| Ok(parts(tables)?.into_iter().filter_map(|part| part.figure).collect()),
    shown: |tables| Ok(parts(tables)?.into_iter().filter_map(|part| part.table).collect()),
};

/// The two treatments of every comparison without injected stable noise.
const PAIR: [Treatment; 2] = [Treatment::Sgdm, Treatment::Auto];

/// What one group of runs shows.
#[derive(Default)]
struct Part {
    figure: Option<CaptionedFigure>,
    table: Option<TextTable>,
    claims: Vec<Claim>,
}

/// Makes the part of a group from its runs.
type MakePart<'a> = &'a dyn Fn(&NetworkRuns) -> Part;

fn experiment(context: &Context<'_>, plan: &Plan) -> anyhow::Result<Tables> {
    let trained = train_networks(context, "calibration", &plan.runs(&context.data()?.description())?, &[])?;
    let estimates =
        trained.rows.iter().zip(&trained.results).flat_map(|(row, result)| EstimateRow::last(row, result));
    Ok(Tables::default().with("runs", &trained.rows)?.with("estimates", estimates)?)
}

fn runs(tables: &Tables) -> Result<NetworkRuns, TableError> {
    Ok(NetworkRuns { rows: tables.rows("runs")? })
}

fn parts(tables: &Tables) -> anyhow::Result<Vec<Part>> {
    let (runs, estimates): (_, Vec<EstimateRow>) = (runs(tables)?, tables.rows("estimates")?);
    let groups: [(Group, MakePart<'_>); 6] = [
        (Group::Noise, &noise::part),
        (Group::Noise, &|runs| estimates::part(runs, &estimates)),
        (Group::Gaussian, &|runs| gaussian::part(runs, &estimates)),
        (Group::Clean, &clean::part),
        (Group::Edge, &edge::part),
        (Group::Rates, &rates::part),
    ];
    let of_group = groups.into_iter().map(|(group, part)| (runs.of(group), part));
    Ok(of_group.filter(|(runs, _)| !runs.rows.is_empty()).map(|(runs, part)| part(&runs)).collect())
}

fn text(runs: &NetworkRuns) -> String {
    let first = |group| runs.rows.iter().find(|run| run.group == group);
    let network = |run: &NetworkRow| {
        format!(
            "{} layers of {} units, {} steps on batches of {}",
            run.depth, run.width, run.iterations, run.batch
        )
    };
    let describe = |group, what: &str| {
        first(group).map_or(String::new(), |run| format!(" {what} use {}.", network(run)))
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

#[cfg(test)]
mod tests;
