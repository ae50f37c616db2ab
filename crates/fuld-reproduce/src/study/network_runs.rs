//! The table of runs of networks, and comparisons between treatments in it.

use super::difference::{Difference, mean_and_error};
use super::image_set::ImageSet;
use super::network_row::{Cell, Group, Measure, NetworkRow};
use super::treatment::Treatment;
use crate::{Claim, Judgement};
use fuld_plot::Axis;
use std::fmt;

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
        let ticks: Vec<f64> =
            self.cells_of_width(width).iter().map(|cell| cell.depth as f64).collect();
        let (low, high) =
            (ticks.first().copied().unwrap_or(0.0), ticks.last().copied().unwrap_or(1.0));
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
    pub(crate) fn runs(
        &self,
        treatment: Treatment,
        cell: &Cell,
    ) -> impl Iterator<Item = &NetworkRow> {
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

    /// Returns the mean over the stable runs of a cell with its standard error; `None` if there is
    /// none.
    pub(crate) fn mean(
        &self,
        treatment: Treatment,
        cell: &Cell,
        measure: Measure,
    ) -> Option<(f64, f64)> {
        let values: Vec<f64> = self
            .runs(treatment, cell)
            .filter_map(|run| Pairs::Stable.value(run, measure))
            .collect();
        (!values.is_empty()).then(|| mean_and_error(&values))
    }

    /// Returns the mean test accuracy in percent with its standard error, counting lost runs as
    /// random answers.
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
            let Some(rival) = self.runs(other, other_cell).find(|rival| rival.seed == run.seed)
            else {
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
            _ => Difference {
                won: usize::from(ahead > 0),
                lost: usize::from(ahead < 0),
                ..difference
            },
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
