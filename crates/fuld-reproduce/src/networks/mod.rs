//! The paper's networks (Figures 5 to 8 and the supplement) with controls that separate the effect
//! of the tail index from that of the learning rate.
//!
//! Each network is trained with α = 2, with α = 1.75 by the paper's formula and by the formula of
//! the authors' code, and for each of these two with SGD with momentum at the step that the field
//! takes for small gradients.

mod claims;
mod figures;
mod momenta;

use crate::study::{
    Grid, Group, Measure, NetworkRow, NetworkRuns, RunOutcome, SIGNIFICANT, Treatment, all_runs,
    seeds, to_toml, train_networks,
};
use crate::{CaptionedFigure, Claim, Context, Exhibit, TextTable};
use fuld_train::spec::TrainSpec;
use momenta::Momenta;
use std::ops::Range;

results! {
    /// The paper's networks.
    Networks {
        runs: NetworkRow,
        /// The largest |v| of any weight in the first `steps` of `iterations` steps.
        momenta: MomentumRow {
            width: usize, depth: usize, seed: u64, steps: u64, iterations: u64, largest_v: f64,
        },
    }
}

impl Exhibit for Networks {
    const ID: &'static str = "networks";
    const VERSION: u32 = 2;
    const TITLE: &'static str = "Networks";
    const SHOWS: &'static str = "networks, with their controls";
    const SECONDS: f64 = 25.0;
    const TRAINS: bool = true;

    fn settings(context: &Context<'_>) -> anyhow::Result<toml::Table> {
        let study = NetworkGrids::of(context)?;
        let mut settings = to_toml(&all_runs(&study.grids, &context.data()?.description())?)?;
        settings.insert("momentum_steps".into(), (study.momentum_steps as i64).into());
        Ok(settings)
    }

    fn experiment(context: &Context<'_>) -> anyhow::Result<Self> {
        Self::of_grids(context, &NetworkGrids::of(context)?)
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
    fn of_grids(context: &Context<'_>, study: &NetworkGrids) -> anyhow::Result<Self> {
        let data = context.data()?.description();
        let (runs, followed) = (all_runs(&study.grids, &data)?, study.followed.runs(&data)?);
        let steps = study.momentum_steps;
        let trained = train_networks(context, "networks", &runs, &followed, steps)?;
        let momenta = followed.iter().zip(&trained.largest_v).map(|(run, &largest_v)| {
            let TrainSpec { width, depth, seed, iterations, .. } = run.spec;
            MomentumRow { width, depth, seed, steps, iterations, largest_v }
        });
        Ok(Self { momenta: momenta.collect(), runs: trained.rows })
    }

    fn runs(&self) -> NetworkRuns {
        NetworkRuns { rows: self.runs.clone() }
    }
}

/// The runs on a data set: the grids of all treatments, and the grid of the runs whose momenta are
/// followed.
struct NetworkGrids {
    grids: Vec<Grid>,
    followed: Grid,
    momentum_steps: u64,
}

impl NetworkGrids {
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
        Self::of_sizes(widths, depths, seeds(seed, count), iterations)
    }

    fn of_sizes(
        widths: Vec<usize>,
        depths: Vec<usize>,
        seeds: Range<u64>,
        iterations: u64,
    ) -> Self {
        let mut ends: Vec<usize> =
            depths.first().into_iter().chain(depths.last()).copied().collect();
        ends.dedup();
        let grid = |treatment, depths| Grid {
            group: Group::Grid,
            treatments: vec![treatment],
            noise: vec![None],
            widths: widths.clone(),
            depths,
            batch: None,
            rates: vec![None],
            iterations,
            seeds: seeds.clone(),
        };
        Self {
            grids: Treatment::PAPER.map(|treatment| grid(treatment, depths.clone())).into(),
            followed: grid(Treatment::PaperFormula, ends),
            momentum_steps: iterations.min(momenta::STEPS),
        }
    }
}

fn text(runs: &NetworkRuns) -> String {
    let row = |treatment| runs.rows.iter().find(|run| run.treatment == treatment);
    let number = |value: Option<f64>| value.unwrap_or(f64::NAN);
    let gaussian = row(Treatment::PaperGaussian);
    let eta = number(gaussian.and_then(|run| run.eta));
    let factor = |control| number(row(control).and_then(|run| run.lr)) / (eta * eta);
    let unstable = runs.rows.iter().filter(|run| !run.is_stable()).count();
    let diverged = runs.rows.iter().filter(|run| run.outcome == RunOutcome::Diverged).count();
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
            format!("{:+.digits$} ± {:.digits$}", sign * difference.mean, difference.error)
                .replace('-', "−")
        });
        [name.to_owned()].into_iter().chain(numbers)
    });
    TextTable::new(columns, rows)
}

#[cfg(test)]
mod tests;
