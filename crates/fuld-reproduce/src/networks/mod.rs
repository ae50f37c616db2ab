//! The paper's networks (Figures 5 to 8 and the supplement) with controls that separate the effect of the tail index from that of the
//! learning rate.
//!
//! Each network is trained with α = 2, with α = 1.75 by the paper's formula and by the formula of the authors' code, and for each of
//! these two with SGD with momentum at the step that the field takes for small gradients.

mod claims;
mod figures;
pub(crate) use figures::error_range;
mod momenta;

use crate::context::Context;
use crate::exhibit::{Exhibit, TextTable};
use crate::study::difference::SIGNIFICANT;
use crate::study::driver::{seeds, steps, train_networks};
use crate::study::grid::grid;
use crate::study::network_runs::{Group, Measure, NetworkRuns, Outcome, PlannedRun};
use crate::study::treatment::Treatment;
use crate::table::{TableError, Tables};
use fuld_train::spec::{DataDescription, SpecError, TrainRequest};
use momenta::{Momenta, MomentumRow};
use std::ops::Range;

/// The exhibit.
pub(crate) const EXHIBIT: Exhibit = Exhibit {
    id: "networks",
    title: "Networks",
    shows: "networks, with their controls",
    seconds: 75.0,
    version: 1,
    trains: true,
    settings: |context| Plan::of(context)?.settings(context),
    experiment: |context| experiment(context, &Plan::of(context)?),
    text: |tables| Ok(text(&runs(tables)?)),
    claims: |tables| Ok(claims::claims(&runs(tables)?, &Momenta::of(&tables.rows("momenta")?)?)),
    figures: |tables| Ok(figures::figures(&runs(tables)?)),
    shown: |tables| Ok(vec![differences(&runs(tables)?)]),
};

/// The grid of a data set.
#[derive(Clone, Debug, PartialEq)]
struct Plan {
    /// Units of a hidden layer.
    widths: Vec<usize>,
    /// Linear layers.
    depths: Vec<usize>,
    /// Seeds of each cell and treatment.
    seeds: Range<u64>,
    /// Optimizer steps.
    iterations: u64,
}

impl Plan {
    fn of(context: &Context<'_>) -> anyhow::Result<Self> {
        Ok(Self::new(context.data()?.name, context.is_full(), context.seed()))
    }

    fn new(data: &str, full: bool, seed: u64) -> Self {
        let (widths, depths, count, iterations) = match data {
            _ if full => (vec![32, 64, 128, 256, 512], (2..=10).collect(), 5, 10_000),
            // Deeper networks explode at the paper's step on so few images.
            "digits" => (vec![32, 128, 256], (2..=6).collect(), 5, 600),
            _ => (vec![32, 128, 256], vec![2, 4, 6, 8], 3, 10_000),
        };
        Self { widths, depths, seeds: seeds(seed, count), iterations }
    }

    /// Returns the run of a cell with a seed, with its optimizer left open.
    fn request(&self, width: usize, depth: usize, seed: u64) -> TrainRequest {
        TrainRequest { width: Some(width), depth: Some(depth), seed: Some(seed), ..steps(self.iterations) }
    }

    /// Returns the runs of one treatment in some depths.
    fn runs_of(
        &self,
        treatment: Treatment,
        depths: &[usize],
        data: &DataDescription,
    ) -> Result<Vec<PlannedRun>, SpecError> {
        let mut runs = Vec::new();
        for &width in &self.widths {
            for &depth in depths {
                for seed in self.seeds.clone() {
                    let spec = treatment.spec(&self.request(width, depth, seed), data)?;
                    runs.push(PlannedRun { group: Group::Grid, treatment, spec });
                }
            }
        }
        Ok(runs)
    }

    /// Returns all runs.
    fn runs(&self, data: &DataDescription) -> Result<Vec<PlannedRun>, SpecError> {
        let runs = Treatment::PAPER.map(|treatment| self.runs_of(treatment, &self.depths, data));
        Ok(runs.into_iter().collect::<Result<Vec<_>, _>>()?.concat())
    }

    /// Returns the runs whose momenta are followed: those of the paper's formula at the smallest and the largest depth.
    fn followed(&self, data: &DataDescription) -> Result<Vec<(PlannedRun, u64)>, SpecError> {
        let mut depths: Vec<usize> =
            self.depths.first().into_iter().chain(self.depths.last()).copied().collect();
        depths.dedup();
        let steps = self.iterations.min(momenta::STEPS);
        let runs = self.runs_of(Treatment::PaperFormula, &depths, data)?;
        Ok(runs.into_iter().map(|run| (run, steps)).collect())
    }

    fn settings(&self, context: &Context<'_>) -> anyhow::Result<toml::Table> {
        let mut settings = grid(&self.runs(&context.data()?.description())?)?;
        settings.insert("momentum_steps".into(), (self.iterations.min(momenta::STEPS) as i64).into());
        Ok(settings)
    }
}

fn experiment(context: &Context<'_>, plan: &Plan) -> anyhow::Result<Tables> {
    let data = context.data()?.description();
    let followed = plan.followed(&data)?;
    let trained = train_networks(context, "networks", &plan.runs(&data)?, &followed)?;
    let momenta = followed.iter().zip(&trained.largest_v).map(|((run, steps), &largest_v)| MomentumRow {
        width: run.spec.width,
        depth: run.spec.depth,
        seed: run.spec.seed,
        steps: *steps,
        iterations: run.spec.iterations,
        largest_v,
    });
    Ok(Tables::default().with("runs", &trained.rows)?.with("momenta", momenta)?)
}

fn runs(tables: &Tables) -> Result<NetworkRuns, TableError> {
    Ok(NetworkRuns { rows: tables.rows("runs")? })
}

fn text(runs: &NetworkRuns) -> String {
    let row = |treatment| runs.rows.iter().find(|run| run.treatment == treatment);
    let number = |value: Option<f64>| value.unwrap_or(f64::NAN);
    let gaussian = row(Treatment::PaperGaussian);
    let eta = number(gaussian.and_then(|run| run.eta));
    let factor = |control| number(row(control).and_then(|run| run.lr)) / (eta * eta);
    let unstable = runs.rows.iter().filter(|run| !run.is_stable()).count();
    let diverged = runs.rows.iter().filter(|run| run.outcome == Outcome::Diverged).count();
    format!(
        "Fully connected ReLU networks on {}: {} runs, {} seeds for each width, depth and optimizer, {} iterations with η = {eta}, \
         γ = {}, batches of {}. Numbers are means of the last two measurements, 100 iterations apart, with one standard error over \
         seeds. α = 1.75 is trained by the paper's formula and by the formula of the authors' code, s(αv)/2. The control of each is SGD \
         with momentum at the step that the field takes for small gradients, {:.2} and {:.2} times the step of α = 2. A gain over α = 2 \
         that is no gain over the control is due to the learning rate. {} A difference counts if it exceeds {SIGNIFICANT} standard \
         errors.",
        runs.data().title(),
        runs.rows.len(),
        runs.seeds().len(),
        gaussian.map_or(0, |run| run.iterations),
        number(gaussian.and_then(|run| run.gamma)),
        gaussian.map_or(0, |run| run.batch),
        factor(Treatment::PaperControl),
        factor(Treatment::AuthorsControl),
        match unstable {
            0 => "No run diverged.".into(),
            n => format!(
                "{n} runs ended with a loss more than twice that of a random answer, {diverged} of them with one that is not finite. They \
                 enter no mean, and their optimizer loses the cell to one with fewer such runs."
            ),
        },
    )
}

/// Returns the table of the report: each comparison, averaged over all widths and depths.
fn differences(runs: &NetworkRuns) -> TextTable {
    use Treatment::{AuthorsCode, AuthorsControl, PaperControl, PaperFormula, PaperGaussian};
    let pairs = [
        ("formula − α = 2", PaperFormula, PaperGaussian),
        ("formula − SGDm at its step", PaperFormula, PaperControl),
        ("code − α = 2", AuthorsCode, PaperGaussian),
        ("code − SGDm at its step", AuthorsCode, AuthorsControl),
    ];
    let cells = runs.cells();
    let mut table = TextTable::new(["difference"].into_iter().chain(Measure::ALL.map(Measure::label)));
    for (name, treatment, other) in pairs {
        let numbers = Measure::ALL.map(|measure| {
            let difference = runs.over(treatment, other, measure, &cells);
            let (sign, digits) = if measure.is_loss() { (-1.0, 4) } else { (1.0, 2) };
            format!("{:+.digits$} ± {:.digits$}", sign * difference.mean, difference.error).replace('-', "−")
        });
        table = table.row([name.to_owned()].into_iter().chain(numbers));
    }
    table
}

#[cfg(test)]
mod tests;
