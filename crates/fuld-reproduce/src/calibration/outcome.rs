//! What became of the runs, and how arms compare in them.

use super::arm::Arm;
use super::estimates;
use super::plan::{Run, Study};
use crate::gap::{Gap, mean_and_error};
use crate::guess::{self, has_learned, is_sound};
use fuld_train::spec::{InjectedNoise, TrainSpec};
use fuld_train::train::{FinalMeans, LayerCalibration, RunResult, RunStatus};

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It learned something.
    Learned,
    /// It knows no more than a guess.
    Dead,
    /// Its loss is no number, or in the end much larger than that of a guess.
    Diverged,
}

impl Fate {
    fn of(summary: Option<&FinalMeans>) -> Self {
        match summary {
            Some(summary) if is_sound(summary) && has_learned(summary) => Self::Learned,
            Some(summary) if is_sound(summary) => Self::Dead,
            _ => Self::Diverged,
        }
    }

    /// For files.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Learned => "learned",
            Self::Dead => "dead",
            Self::Diverged => "diverged",
        }
    }
}

/// What runs that differ in arm and seed alone have in common.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cell {
    pub(super) noise: Option<InjectedNoise>,
    pub(super) width: usize,
    pub(super) depth: usize,
    pub(super) lr: f64,
    pub(super) momentum: f64,
}

impl Cell {
    fn of(spec: &TrainSpec) -> Self {
        let TrainSpec { width, depth, inject_noise: noise, .. } = *spec;
        Self { noise, width, depth, lr: spec.step(), momentum: spec.momentum.unwrap_or(0.0) }
    }
}

/// What became of a run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Outcome {
    pub(super) study: Study,
    pub(super) arm: Arm,
    pub(super) cell: Cell,
    pub(super) seed: u64,
    /// Means of the last two measurements; none if its loss ceased to be a number.
    pub(super) summary: Option<FinalMeans>,
    /// Steps that it took.
    pub(super) reached: u64,
    /// What auto found in each layer in the end.
    pub(super) found: Vec<LayerCalibration>,
}

impl Outcome {
    /// Of a run that is done.
    pub(super) fn of(run: &Run, result: &RunResult) -> Self {
        Self {
            study: run.study,
            arm: run.arm,
            cell: Cell::of(&run.spec),
            seed: run.spec.seed,
            summary: result.summary.filter(|_| result.status == RunStatus::Finished),
            reached: result.iterations(),
            found: estimates::of(result),
        }
    }

    /// How it ended.
    pub(super) fn fate(&self) -> Fate {
        Fate::of(self.summary.as_ref())
    }

    /// Whether it is dead or diverged.
    pub(super) fn lost(&self) -> bool {
        self.fate() != Fate::Learned
    }

    /// Test accuracy in percent; of a run that is lost, that of a guess.
    pub(super) fn accuracy(&self) -> f64 {
        match &self.summary {
            Some(summary) if !self.lost() => 100.0 * summary.test_accuracy,
            _ => guess::ACCURACY,
        }
    }
}

/// The runs of a study on a data set.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Results {
    pub(super) outcomes: Vec<Outcome>,
}

/// Which pairs of runs are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pairs {
    /// All; what is lost has the accuracy of a guess.
    All,
    /// Those of which neither is lost.
    Sound,
}

impl Results {
    /// Those of a study.
    pub(super) fn of(&self, study: Study) -> Self {
        Self { outcomes: self.outcomes.iter().filter(|run| run.study == study).cloned().collect() }
    }

    /// The cells that there are, in the order of the plan.
    pub(super) fn cells(&self) -> Vec<Cell> {
        let mut cells: Vec<Cell> = Vec::new();
        for run in &self.outcomes {
            if !cells.contains(&run.cell) {
                cells.push(run.cell);
            }
        }
        cells
    }

    /// The arms that there are, in the order of the plan.
    pub(super) fn arms(&self) -> Vec<Arm> {
        let mut arms: Vec<Arm> = Vec::new();
        for run in &self.outcomes {
            if !arms.contains(&run.arm) {
                arms.push(run.arm);
            }
        }
        arms
    }

    /// The runs of an arm in a cell.
    pub(super) fn runs(&self, arm: Arm, cell: &Cell) -> impl Iterator<Item = &Outcome> {
        self.outcomes.iter().filter(move |run| run.arm == arm && run.cell == *cell)
    }

    /// How many of them are lost.
    pub(super) fn lost(&self, arm: Arm, cell: &Cell) -> usize {
        self.runs(arm, cell).filter(|run| run.lost()).count()
    }

    /// Their mean accuracy, a guess for those that are lost, and its standard error.
    pub(super) fn mean(&self, arm: Arm, cell: &Cell) -> (f64, f64) {
        mean_and_error(&self.runs(arm, cell).map(Outcome::accuracy).collect::<Vec<_>>())
    }

    /// By how many points of accuracy an arm is ahead of another, seed by seed, each in a cell of its own.
    pub(super) fn between(
        &self,
        (arm, cell): (Arm, &Cell),
        (other, there): (Arm, &Cell),
        pairs: Pairs,
    ) -> Gap {
        let pair = |run: &Outcome| {
            let against = self.runs(other, there).find(|against| against.seed == run.seed)?;
            let sound = pairs == Pairs::All || !(run.lost() || against.lost());
            sound.then(|| run.accuracy() - against.accuracy())
        };
        Gap::of(&self.runs(arm, cell).filter_map(pair).collect::<Vec<_>>())
    }

    /// By how many points of accuracy an arm is ahead of another in a cell.
    pub(super) fn ahead(&self, arm: Arm, other: Arm, cell: &Cell, pairs: Pairs) -> Gap {
        self.between((arm, cell), (other, cell), pairs)
    }

    /// The arm with the largest mean accuracy of some.
    pub(super) fn best(&self, arms: impl IntoIterator<Item = Arm>, cell: &Cell) -> Option<Arm> {
        arms.into_iter().max_by(|&a, &b| self.mean(a, cell).0.total_cmp(&self.mean(b, cell).0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::made::{PLAIN, made, outcome};

    #[test]
    fn what_learned_nothing_is_a_guess() {
        let run = |accuracy| outcome(Study::Clean, Arm::Auto, PLAIN, 0, accuracy);
        let dead = run(11.35);
        let exploded =
            Outcome { summary: run(60.0).summary.map(|s| FinalMeans { train_loss: 1e6, ..s }), ..run(0.0) };
        let diverged = Outcome { summary: None, ..run(97.0) };
        assert_eq!((run(97.0).fate(), run(97.0).accuracy()), (Fate::Learned, 97.0));
        assert_eq!((dead.fate(), dead.accuracy()), (Fate::Dead, 10.0));
        assert_eq!((exploded.fate(), exploded.accuracy()), (Fate::Diverged, 10.0));
        assert_eq!((diverged.fate(), diverged.accuracy()), (Fate::Diverged, 10.0));
    }

    #[test]
    fn arms_are_compared_seed_by_seed() {
        // Seeds differ by far more than arms.
        let accuracy = |arm, _: &Cell, seed: u64| match (arm, seed) {
            (Arm::Sgdm, 4) => 10.0,
            (Arm::Auto, seed) => 80.5 + seed as f64,
            (_, seed) => 80.0 + seed as f64,
        };
        let results = made(Study::Clean, &[Arm::Sgdm, Arm::Auto], &[PLAIN], accuracy);
        let ahead = |pairs| results.ahead(Arm::Auto, Arm::Sgdm, &PLAIN, pairs);
        let sound = ahead(Pairs::Sound);
        assert!((sound.mean - 0.5).abs() < 1e-9 && sound.error < 1e-9, "{sound:?}");
        assert!((ahead(Pairs::All).mean - (4.0 * 0.5 + 74.5) / 5.0).abs() < 1e-9);
        assert_eq!((results.lost(Arm::Sgdm, &PLAIN), results.lost(Arm::Auto, &PLAIN)), (1, 0));
        assert_eq!(results.best([Arm::Sgdm, Arm::Auto], &PLAIN), Some(Arm::Auto));
    }
}
