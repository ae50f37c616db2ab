//! Runs of networks on images: the rows of the table, and comparisons between treatments in it.

use super::difference::{Difference, mean_and_error};
use super::image_set::ImageSet;
use super::treatment::Treatment;
use crate::{Claim, Judgement};
use fuld_plot::Axis;
use fuld_train::spec::{InjectedNoise, TrainSpec};
use fuld_train::train::FinalMeans;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Loss of a network that answers ten classes at random.
const CHANCE_LOSS: f64 = std::f64::consts::LN_10;
/// Accuracy of a random answer among ten classes, in percent.
pub(crate) const CHANCE_ACCURACY: f64 = 10.0;
/// Test accuracies below this, in percent, count as random answers. A network with a constant answer can be right a little more often
/// than one time in ten.
const LEARNED_ACCURACY: f64 = 15.0;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Outcome {
    /// It is better than a random answer on the test set.
    Learned,
    /// Its test accuracy is that of a random answer.
    AtChance,
    /// Its final training loss is more than twice that of a random answer.
    Exploded,
    /// Its loss became infinite or NaN.
    Diverged,
}

impl Outcome {
    /// Judges a run by its final means; `None` for a run that diverged.
    pub(crate) fn of(means: Option<&FinalMeans>) -> Self {
        match means {
            None => Self::Diverged,
            Some(means) if means.train_loss.is_nan() => Self::Diverged,
            Some(means) if means.train_loss > 2.0 * CHANCE_LOSS => Self::Exploded,
            Some(means) if 100.0 * means.test_accuracy >= LEARNED_ACCURACY => Self::Learned,
            Some(_) => Self::AtChance,
        }
    }
}

/// A quantity measured at the end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measure {
    /// Cross entropy on the training set.
    TrainLoss,
    /// Accuracy on the training set, in percent.
    TrainAccuracy,
    /// Cross entropy on the test set.
    TestLoss,
    /// Accuracy on the test set, in percent.
    TestAccuracy,
}

impl Measure {
    pub(crate) const ALL: [Self; 4] =
        [Self::TrainLoss, Self::TrainAccuracy, Self::TestLoss, Self::TestAccuracy];

    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::TrainLoss => "training loss",
            Self::TrainAccuracy => "training accuracy",
            Self::TestLoss => "test loss",
            Self::TestAccuracy => "test accuracy",
        }
    }

    /// Returns whether smaller is better.
    pub(crate) fn is_loss(self) -> bool {
        matches!(self, Self::TrainLoss | Self::TestLoss)
    }
}

/// The experiment that a run belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Group {
    /// The paper's grid of widths and depths.
    Grid,
    /// Stable noise injected into every gradient.
    Noise,
    /// Gaussian noise injected into every gradient.
    Gaussian,
    /// No injected noise, at several widths and depths.
    Clean,
    /// No injected noise, at a step slightly too large for SGDm, with many seeds.
    Edge,
    /// No injected noise, at several learning rates.
    Rates,
}

/// A run to be trained, with its labels.
#[derive(Clone, Debug)]
pub(crate) struct LabelledRun {
    pub(crate) group: Group,
    pub(crate) treatment: Treatment,
    pub(crate) spec: TrainSpec,
}

/// One row of the table of runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct NetworkRow {
    pub(crate) data: ImageSet,
    pub(crate) group: Group,
    pub(crate) treatment: Treatment,
    pub(crate) noise_alpha: Option<f64>,
    pub(crate) noise_scale: Option<f64>,
    pub(crate) width: usize,
    pub(crate) depth: usize,
    pub(crate) batch: usize,
    pub(crate) eta: Option<f64>,
    pub(crate) gamma: Option<f64>,
    pub(crate) lr: Option<f64>,
    pub(crate) momentum: Option<f64>,
    pub(crate) seed: u64,
    /// Steps of a complete run.
    pub(crate) iterations: u64,
    /// Steps taken.
    pub(crate) steps: u64,
    pub(crate) outcome: Outcome,
    pub(crate) train_loss: Option<f64>,
    pub(crate) train_accuracy: Option<f64>,
    pub(crate) test_loss: Option<f64>,
    pub(crate) test_accuracy: Option<f64>,
}

impl NetworkRow {
    /// Makes a row from the number of steps taken and the final means, `None` if the run diverged.
    pub(crate) fn new(run: &LabelledRun, steps: u64, means: Option<FinalMeans>) -> Self {
        let LabelledRun { group, treatment, spec } = run;
        let TrainSpec { width, depth, batch, eta, gamma, lr, momentum, seed, iterations, .. } = *spec;
        Self {
            data: ImageSet::named(&spec.data),
            group: *group,
            treatment: *treatment,
            noise_alpha: spec.inject_noise.map(|noise| noise.alpha),
            noise_scale: spec.inject_noise.map(|noise| noise.scale),
            width,
            depth,
            batch,
            eta,
            gamma,
            lr,
            momentum,
            seed,
            iterations,
            steps,
            outcome: Outcome::of(means.as_ref()),
            train_loss: means.map(|means| means.train_loss),
            train_accuracy: means.map(|means| means.train_accuracy),
            test_loss: means.map(|means| means.test_loss),
            test_accuracy: means.map(|means| means.test_accuracy),
        }
    }

    /// Returns the cell. In the paper's grid, treatments of one cell differ in their learning rates.
    pub(crate) fn cell(&self) -> Cell {
        let rates = self.group != Group::Grid;
        Cell {
            noise: self
                .noise_alpha
                .zip(self.noise_scale)
                .map(|(alpha, scale)| InjectedNoise { alpha, scale }),
            width: self.width,
            depth: self.depth,
            lr: self.lr.filter(|_| rates),
            momentum: self.momentum.filter(|_| rates),
        }
    }

    /// Returns whether the run neither diverged nor exploded.
    pub(crate) fn is_stable(&self) -> bool {
        matches!(self.outcome, Outcome::Learned | Outcome::AtChance)
    }

    /// Returns whether the run learned nothing.
    pub(crate) fn is_lost(&self) -> bool {
        self.outcome != Outcome::Learned
    }

    /// Returns a measured quantity; accuracies in percent.
    pub(crate) fn value(&self, measure: Measure) -> Option<f64> {
        match measure {
            Measure::TrainLoss => self.train_loss,
            Measure::TrainAccuracy => self.train_accuracy.map(|x| 100.0 * x),
            Measure::TestLoss => self.test_loss,
            Measure::TestAccuracy => self.test_accuracy.map(|x| 100.0 * x),
        }
    }

    /// Returns the test accuracy in percent, that of a random answer for a lost run.
    pub(crate) fn accuracy(&self) -> f64 {
        let accuracy = self.value(Measure::TestAccuracy).filter(|_| !self.is_lost());
        accuracy.unwrap_or(CHANCE_ACCURACY)
    }
}

/// What runs have in common that differ only in treatment and seed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cell {
    pub(crate) noise: Option<InjectedNoise>,
    pub(crate) width: usize,
    pub(crate) depth: usize,
    pub(crate) lr: Option<f64>,
    pub(crate) momentum: Option<f64>,
}

impl Cell {
    /// Returns the injected noise for readers.
    pub(crate) fn noise_label(&self) -> String {
        self.noise.map_or("no noise".into(), |noise| format!("α = {}, σ = {}", noise.alpha, noise.scale))
    }

    /// Returns the size of the network for readers.
    pub(crate) fn size_label(&self) -> String {
        format!("width {}, depth {}", self.width, self.depth)
    }
}

/// Which pairs of runs a comparison uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pairs {
    /// Pairs of stable runs. The treatment with fewer unstable runs wins the cell.
    Stable,
    /// Pairs of runs that learned.
    Learned,
    /// All pairs; the test accuracy of a lost run is that of a random answer.
    All,
}

impl Pairs {
    fn value(self, run: &NetworkRow, measure: Measure) -> Option<f64> {
        match self {
            Self::Stable => run.value(measure).filter(|_| run.is_stable()),
            Self::Learned => run.value(measure).filter(|_| !run.is_lost()),
            Self::All if measure == Measure::TestAccuracy => Some(run.accuracy()),
            Self::All => run.value(measure),
        }
    }
}

/// The table of runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct NetworkRuns {
    pub(crate) rows: Vec<NetworkRow>,
}

impl NetworkRuns {
    pub(crate) fn of(&self, group: Group) -> Self {
        Self { rows: self.rows.iter().filter(|run| run.group == group).cloned().collect() }
    }

    pub(crate) fn data(&self) -> ImageSet {
        self.rows.first().map_or(ImageSet::Digits, |run| run.data)
    }

    /// Returns the cells, in the order of the rows.
    pub(crate) fn cells(&self) -> Vec<Cell> {
        distinct(self.rows.iter().map(NetworkRow::cell))
    }

    /// Returns the cells of a width.
    pub(crate) fn cells_of_width(&self, width: usize) -> Vec<Cell> {
        self.cells().into_iter().filter(|cell| cell.width == width).collect()
    }

    pub(crate) fn widths(&self) -> Vec<usize> {
        distinct(self.rows.iter().map(|run| run.width))
    }

    pub(crate) fn treatments(&self) -> Vec<Treatment> {
        distinct(self.rows.iter().map(|run| run.treatment))
    }

    pub(crate) fn seeds(&self) -> Vec<u64> {
        distinct(self.rows.iter().map(|run| run.seed))
    }

    /// Returns an axis of the depths of a width, with a margin.
    pub(crate) fn depth_axis(&self, width: usize, margin: f64) -> Axis {
        let ticks: Vec<f64> = self.cells_of_width(width).iter().map(|cell| cell.depth as f64).collect();
        let (low, high) = (ticks.first().copied().unwrap_or(0.0), ticks.last().copied().unwrap_or(1.0));
        Axis::linear("depth").range(low - margin, high + margin).ticks(&ticks)
    }

    /// Makes a claim of this project about the data set; `says` continues "On MNIST, ".
    pub(crate) fn claim(
        &self,
        id: &str,
        says: impl fmt::Display,
        measured: String,
        judgement: Judgement,
    ) -> Claim {
        Claim::ours(id, format!("On {}, {says}", self.data().title()), measured, judgement)
    }

    /// Returns the runs of a treatment in a cell.
    pub(crate) fn runs(&self, treatment: Treatment, cell: &Cell) -> impl Iterator<Item = &NetworkRow> {
        self.rows.iter().filter(move |run| run.treatment == treatment && run.cell() == *cell)
    }

    /// Returns the number of lost runs of a treatment in a cell.
    pub(crate) fn lost(&self, treatment: Treatment, cell: &Cell) -> usize {
        self.runs(treatment, cell).filter(|run| run.is_lost()).count()
    }

    /// Returns the numbers of lost and of all runs of a treatment.
    pub(crate) fn lost_of_all(&self, treatment: Treatment) -> (usize, usize) {
        let runs = || self.rows.iter().filter(|run| run.treatment == treatment);
        (runs().filter(|run| run.is_lost()).count(), runs().count())
    }

    /// Returns the mean over the stable runs of a cell with its standard error; `None` if there is none.
    pub(crate) fn mean(&self, treatment: Treatment, cell: &Cell, measure: Measure) -> Option<(f64, f64)> {
        let values: Vec<f64> =
            self.runs(treatment, cell).filter_map(|run| Pairs::Stable.value(run, measure)).collect();
        (!values.is_empty()).then(|| mean_and_error(&values))
    }

    /// Returns the mean test accuracy in percent with its standard error, counting lost runs as random answers.
    pub(crate) fn mean_accuracy(&self, treatment: Treatment, cell: &Cell) -> (f64, f64) {
        mean_and_error(&self.runs(treatment, cell).map(NetworkRow::accuracy).collect::<Vec<_>>())
    }

    /// Returns the mean accuracy for readers, with the number of lost runs.
    pub(crate) fn accuracy_text(&self, treatment: Treatment, cell: &Cell) -> String {
        let (lost, all) = (self.lost(treatment, cell), self.runs(treatment, cell).count());
        match (lost, self.mean_accuracy(treatment, cell)) {
            (0, (mean, error)) if error.is_finite() => format!("{mean:.2} ± {error:.2}"),
            (0, (mean, _)) => format!("{mean:.2}"),
            (lost, _) if lost == all => "all lost".into(),
            (lost, (mean, _)) => format!("{mean:.1}, {lost} lost"),
        }
    }

    /// Compares two treatments, each in a cell of its own, seed by seed.
    pub(crate) fn between(
        &self,
        (treatment, cell): (Treatment, &Cell),
        (other, other_cell): (Treatment, &Cell),
        measure: Measure,
        pairs: Pairs,
    ) -> Difference {
        let sign = if measure.is_loss() { -1.0 } else { 1.0 };
        let (mut differences, mut ahead) = (Vec::new(), 0i64);
        for run in self.runs(treatment, cell) {
            let Some(rival) = self.runs(other, other_cell).find(|rival| rival.seed == run.seed) else {
                continue;
            };
            match (pairs.value(run, measure), pairs.value(rival, measure)) {
                (Some(a), Some(b)) => differences.push(sign * (a - b)),
                (a, b) => ahead += i64::from(a.is_some()) - i64::from(b.is_some()),
            }
        }
        let difference = Difference::of(&differences);
        match ahead {
            0 => difference,
            _ => Difference { won: usize::from(ahead > 0), lost: usize::from(ahead < 0), ..difference },
        }
    }

    /// Compares the test accuracy of two treatments in a cell.
    pub(crate) fn ahead(
        &self,
        treatment: Treatment,
        other: Treatment,
        cell: &Cell,
        pairs: Pairs,
    ) -> Difference {
        self.between((treatment, cell), (other, cell), Measure::TestAccuracy, pairs)
    }

    /// Compares two treatments by the stable runs of some cells.
    pub(crate) fn over(
        &self,
        treatment: Treatment,
        other: Treatment,
        measure: Measure,
        cells: &[Cell],
    ) -> Difference {
        let one = |cell| self.between((treatment, cell), (other, cell), measure, Pairs::Stable);
        Difference::average(cells.iter().map(one))
    }

    /// Returns the treatment with the largest mean accuracy.
    pub(crate) fn best(&self, treatments: &[Treatment], cell: &Cell) -> Option<Treatment> {
        let accuracy = |treatment| self.mean_accuracy(treatment, cell).0;
        treatments.iter().copied().max_by(|&a, &b| accuracy(a).total_cmp(&accuracy(b)))
    }
}

/// Returns the distinct values in the order of their first appearance.
pub(crate) fn distinct<T: PartialEq>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut all: Vec<T> = Vec::new();
    for value in values {
        if !all.contains(&value) {
            all.push(value);
        }
    }
    all
}

#[cfg(test)]
pub(crate) mod test_rows;
#[cfg(test)]
mod tests;
