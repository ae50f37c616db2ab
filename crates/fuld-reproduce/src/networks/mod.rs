//! The paper's networks (Figures 5 to 8 and the supplement) with controls that separate the effect of the tail index from that of the
//! learning rate.
//!
//! Each network is trained with α = 2, with α = 1.75 by the paper's formula and by the formula of the authors' code, and for each of
//! these two with SGD with momentum at the step that the field takes for small gradients.

mod claims;
mod figures;
mod momenta;

use crate::study::difference::SIGNIFICANT;
use crate::study::driver::{seeds, steps, train_networks};
use crate::study::grid::grid;
use crate::study::network_runs::{Group, Measure, NetworkRow, NetworkRuns, Outcome, PlannedRun};
use crate::study::treatment::Treatment;
use crate::{CaptionedFigure, Claim, Context, Exhibit, TextTable};
use fuld_train::spec::{DataDescription, SpecError, TrainRequest};
use momenta::Momenta;
use std::ops::Range;

results! {
    /// The paper's networks.
    Networks {
        runs: NetworkRow,
        /// The largest |v| of any weight at any of the steps that were followed, of so many in a complete run.
        momenta: MomentumRow {
            width: usize, depth: usize, seed: u64, steps: u64, iterations: u64, largest_v: f64,
        },
    }
}

impl Exhibit for Networks {
    const ID: &'static str = "networks";
    const TITLE: &'static str = "Networks";
    const SHOWS: &'static str = "networks, with their controls";
    const SECONDS: f64 = 75.0;
    const TRAINS: bool = true;

    fn settings(context: &Context<'_>) -> anyhow::Result<toml::Table> {
        let plan = Plan::of(context)?;
        let mut settings = grid(&plan.runs(&context.data()?.description())?)?;
        settings.insert("momentum_steps".into(), (plan.iterations.min(momenta::STEPS) as i64).into());
        Ok(settings)
    }

    fn experiment(context: &Context<'_>) -> anyhow::Result<Self> {
        Self::of_plan(context, &Plan::of(context)?)
    }

    fn text(&self) -> String {
        text(&self.runs())
    }

    fn figures(&self) -> Vec<CaptionedFigure> {
        figures::figures(&self.runs())
    }

    fn shown(&self) -> Vec<TextTable> {
        vec![differences(&self.runs())]
    }

    fn claims(&self) -> Vec<Claim> {
        claims::claims(&self.runs(), &Momenta::of(&self.momenta))
    }
}

impl Networks {
    fn of_plan(context: &Context<'_>, plan: &Plan) -> anyhow::Result<Self> {
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
        Ok(Self { momenta: momenta.collect(), runs: trained.rows })
    }

    fn runs(&self) -> NetworkRuns {
        NetworkRuns { rows: self.runs.clone() }
    }
}

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
        Ok(Self::new(context.data()?.name, context.full, context.seed))
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
    let columns = ["difference"].into_iter().chain(Measure::ALL.map(Measure::label));
    let rows = pairs.map(|(name, treatment, other)| {
        let numbers = Measure::ALL.map(|measure| {
            let difference = runs.over(treatment, other, measure, &cells);
            let (sign, digits) = if measure.is_loss() { (-1.0, 4) } else { (1.0, 2) };
            format!("{:+.digits$} ± {:.digits$}", sign * difference.mean, difference.error).replace('-', "−")
        });
        [name.to_owned()].into_iter().chain(numbers)
    });
    TextTable::new(columns, rows)
}

#[cfg(test)]
mod tests;
