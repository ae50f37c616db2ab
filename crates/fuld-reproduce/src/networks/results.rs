//! What the runs came to, and by how much one arm differs from another in them.

use super::arm::Arm;
use crate::gap::{Gap, mean_and_error};
use crate::guess::is_sound;
use fuld_train::train::FinalMeans;

/// What is measured of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Measure {
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
    /// All of them.
    pub(super) const ALL: [Self; 4] =
        [Self::TrainLoss, Self::TrainAccuracy, Self::TestLoss, Self::TestAccuracy];

    /// In words.
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::TrainLoss => "training loss",
            Self::TrainAccuracy => "training accuracy",
            Self::TestLoss => "test loss",
            Self::TestAccuracy => "test accuracy",
        }
    }

    /// Its value.
    pub(super) fn of(self, summary: &FinalMeans) -> f64 {
        match self {
            Self::TrainLoss => summary.train_loss,
            Self::TrainAccuracy => 100.0 * summary.train_accuracy,
            Self::TestLoss => summary.test_loss,
            Self::TestAccuracy => 100.0 * summary.test_accuracy,
        }
    }

    /// Whether small is good.
    pub(super) fn is_loss(self) -> bool {
        matches!(self, Self::TrainLoss | Self::TestLoss)
    }
}

/// What became of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Outcome {
    /// Its optimizer.
    pub(super) arm: Arm,
    /// Units of a hidden layer.
    pub(super) width: usize,
    /// Linear layers.
    pub(super) depth: usize,
    /// Of weights and minibatches.
    pub(super) seed: u64,
    /// Means of the last two measurements; none if its loss ceased to be a number.
    pub(super) summary: Option<FinalMeans>,
    /// Steps that it took.
    pub(super) reached: u64,
}

impl Outcome {
    /// What it came to, unless it exploded: its loss is no number, or in the end more than twice that of a guess.
    pub(super) fn sound(&self) -> Option<&FinalMeans> {
        self.summary.as_ref().filter(|summary| is_sound(summary))
    }
}

/// The runs of a data set.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Results {
    /// Every run.
    pub(super) outcomes: Vec<Outcome>,
}

impl Results {
    /// The runs of an arm in a cell.
    pub(super) fn of(&self, arm: Arm, (width, depth): (usize, usize)) -> impl Iterator<Item = &Outcome> {
        self.outcomes.iter().filter(move |run| (run.arm, run.width, run.depth) == (arm, width, depth))
    }

    /// The widths and depths that there are, in order.
    pub(super) fn cells(&self) -> Vec<(usize, usize)> {
        let mut cells: Vec<_> = self.outcomes.iter().map(|run| (run.width, run.depth)).collect();
        cells.sort_unstable();
        cells.dedup();
        cells
    }

    /// The widths that there are, in order.
    pub(super) fn widths(&self) -> Vec<usize> {
        let mut widths: Vec<usize> = self.cells().iter().map(|cell| cell.0).collect();
        widths.dedup();
        widths
    }

    /// Runs of an arm that exploded.
    pub(super) fn exploded(&self, arm: Arm) -> usize {
        self.outcomes.iter().filter(|run| run.arm == arm && run.sound().is_none()).count()
    }

    /// Mean of a cell over its runs that did not explode, and the standard error of the mean; none if all did.
    pub(super) fn mean(&self, arm: Arm, cell: (usize, usize), measure: Measure) -> Option<(f64, f64)> {
        let values: Vec<f64> = self.of(arm, cell).filter_map(Outcome::sound).map(|s| measure.of(s)).collect();
        (!values.is_empty()).then(|| mean_and_error(&values))
    }

    /// How much better an arm is than another in these cells.
    ///
    /// Where a run of a pair exploded there is no difference to take the mean of; but of two arms the one that exploded more often has
    /// lost the cell.
    pub(super) fn gap(&self, arm: Arm, other: Arm, measure: Measure, cells: &[(usize, usize)]) -> Gap {
        let sign = if measure.is_loss() { -1.0 } else { 1.0 };
        let (mut means, mut variance, mut won, mut lost) = (Vec::new(), 0.0, 0, 0);
        for &cell in cells {
            let (mut differences, mut ahead) = (Vec::new(), 0i64);
            for run in self.of(arm, cell) {
                let Some(against) = self.of(other, cell).find(|against| against.seed == run.seed) else {
                    continue;
                };
                match (run.sound(), against.sound()) {
                    (Some(a), Some(b)) => differences.push(sign * (measure.of(a) - measure.of(b))),
                    (Some(_), None) => ahead += 1,
                    (None, Some(_)) => ahead -= 1,
                    (None, None) => {}
                }
            }
            let mut verdict = ahead as f64;
            if !differences.is_empty() {
                let (mean, error) = mean_and_error(&differences);
                means.push(mean);
                variance += error * error;
                if ahead == 0 {
                    verdict = mean;
                }
            }
            won += usize::from(verdict > 0.0);
            lost += usize::from(verdict < 0.0);
        }
        let count = means.len() as f64;
        Gap { mean: means.iter().sum::<f64>() / count, error: variance.sqrt() / count, won, lost }
    }

    /// How much an arm is ahead of α = 2 in test accuracy in the cell where it is most so.
    ///
    /// The largest of many differences is large by chance too. So for each seed the cell is chosen by the others: what is chosen by some
    /// runs and measured by another is not too large on average. The error is rather too small, because the choices are not independent.
    pub(super) fn peak(&self, arm: Arm, cells: &[(usize, usize)]) -> Gap {
        let gap = |runs: &Self, cell| {
            runs.gap(arm, Arm::Gauss, Measure::TestAccuracy, std::slice::from_ref(cell)).mean
        };
        let mut seeds: Vec<u64> = self.outcomes.iter().map(|run| run.seed).collect();
        seeds.sort_unstable();
        seeds.dedup();
        let mut seen = Vec::new();
        for seed in seeds {
            let (one, others): (Vec<Outcome>, Vec<Outcome>) =
                self.outcomes.iter().partition(|run| run.seed == seed);
            let (one, others) = (Self { outcomes: one }, Self { outcomes: others });
            let ahead =
                cells.iter().map(|cell| (cell, gap(&others, cell))).filter(|(_, mean)| !mean.is_nan());
            if let Some((cell, _)) = ahead.max_by(|a, b| a.1.total_cmp(&b.1)) {
                seen.extend(Some(gap(&one, cell)).filter(|mean| !mean.is_nan()));
            }
        }
        let (mean, error) = mean_and_error(&seen);
        Gap { mean, error, won: 0, lost: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::networks::made::{made, outcome};

    #[test]
    fn gaps_are_paired_and_have_the_right_sign() {
        // Seeds differ by far more than arms: only pairs show the difference.
        let results = made(&[64], &[2, 3], |arm, _, _, seed| {
            let better = if arm == Arm::Paper { 0.01 * (1.0 + seed as f64) } else { 0.0 };
            (1.0 + seed as f64 - better, 0.5 + better)
        });
        let cells = results.cells();
        let gap = results.gap(Arm::Paper, Arm::Gauss, Measure::TrainLoss, &cells);
        assert!((gap.mean - 0.02).abs() < 1e-12 && gap.is_gain() && !gap.is_loss(), "{gap:?}");
        // 0.01, 0.02, 0.03 in both cells: 0.01/√3 for each, and √2 less for two.
        assert!((gap.error - 0.01 / 6f64.sqrt()).abs() < 1e-12, "{gap:?}");
        let other = results.gap(Arm::Gauss, Arm::Paper, Measure::TestAccuracy, &cells);
        assert!((other.mean + 2.0).abs() < 1e-9 && other.is_loss() && (other.won, other.lost) == (0, 2));
    }

    #[test]
    fn who_explodes_has_lost() {
        let mut results = made(&[64], &[2], |arm, _, _, _| (if arm == Arm::Paper { 0.1 } else { 0.2 }, 0.9));
        let gap = |results: &Results| results.gap(Arm::Paper, Arm::Gauss, Measure::TrainLoss, &[(64, 2)]);
        assert_eq!((gap(&results).won, gap(&results).lost), (1, 0));
        let place = results.outcomes.iter().position(|run| run.arm == Arm::Paper).unwrap();
        let much = outcome(Arm::Paper, 64, 2, 0, (99.0, 0.1));
        for exploded in [much, Outcome { summary: None, ..much }] {
            results.outcomes[place] = exploded;
            let now = gap(&results);
            assert_eq!((now.won, now.lost, results.exploded(Arm::Paper)), (0, 1, 1));
            assert!((now.mean - 0.1).abs() < 1e-12);
        }
    }

    #[test]
    fn one_seed_is_never_sure() {
        let outcomes =
            vec![outcome(Arm::Paper, 32, 2, 0, (0.1, 0.9)), outcome(Arm::Gauss, 32, 2, 0, (0.9, 0.1))];
        let gap = Results { outcomes }.gap(Arm::Paper, Arm::Gauss, Measure::TestLoss, &[(32, 2)]);
        assert!(gap.error.is_nan() && !gap.is_gain() && !gap.is_loss() && gap.won == 1);
    }

    #[test]
    fn the_peak_is_not_the_best_of_many_throws() {
        // Sixty cells of noise between −½ and ½: the best mean of three is far ahead, the peak is not.
        let noise = |arm: Arm, depth: usize, seed: u64| {
            let x = 43758.5453 * (12.9898 * depth as f64 + 78.233 * seed as f64).sin();
            if arm == Arm::Paper { x - x.floor() - 0.5 } else { 0.0 }
        };
        let depths: Vec<usize> = (2..62).collect();
        let pure = made(&[64], &depths, |arm, _, depth, seed| (1.0, 0.01 * noise(arm, depth, seed)));
        let cells = pure.cells();
        let alone =
            cells.iter().map(|&cell| pure.gap(Arm::Paper, Arm::Gauss, Measure::TestAccuracy, &[cell]).mean);
        let (best, peak) = (alone.fold(f64::MIN, f64::max), pure.peak(Arm::Paper, &cells));
        assert!(best > 0.3 && peak.mean < 0.5 * best && !peak.is_gain(), "{best} {peak:?}");
        // What is really there is found, and is as large as it is.
        let real = made(&[64], &depths, |arm, _, depth, seed| {
            let gain = if arm == Arm::Paper && depth == 7 { 2.0 } else { 0.0 };
            (1.0, 0.01 * (gain + 0.3 * noise(arm, depth, seed)))
        });
        let peak = real.peak(Arm::Paper, &cells);
        assert!((peak.mean - 2.0).abs() < 0.2 && peak.is_gain(), "{peak:?}");
        // With one seed there are no others to choose by.
        let one = Results { outcomes: real.outcomes.into_iter().filter(|run| run.seed == 0).collect() };
        assert!(one.peak(Arm::Paper, &cells).mean.is_nan());
    }
}
