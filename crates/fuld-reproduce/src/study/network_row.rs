//! Runs of networks on images, one row of the table each.

use super::image_set::ImageSet;
use super::treatment::Treatment;
use fuld_train::spec::{InjectedNoise, TrainSpec};
use fuld_train::train::FinalMeans;
use serde::{Deserialize, Serialize};

/// Loss of a network that answers ten classes at random.
const CHANCE_LOSS: f64 = std::f64::consts::LN_10;
/// Accuracy of a random answer among ten classes, in percent.
const CHANCE_ACCURACY: f64 = 10.0;
/// Test accuracies below this, in percent, count as random answers. A network with a constant
/// answer can be right a little more often than one time in ten.
const LEARNED_ACCURACY: f64 = 15.0;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RunOutcome {
    /// It is better than a random answer on the test set.
    Learned,
    /// Its test accuracy is that of a random answer.
    AtChance,
    /// Its final training loss is more than twice that of a random answer.
    Exploded,
    /// Its loss became infinite or NaN.
    Diverged,
}

impl RunOutcome {
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
    pub(crate) injected_alpha: Option<f64>,
    pub(crate) injected_scale: Option<f64>,
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
    pub(crate) outcome: RunOutcome,
    pub(crate) train_loss: Option<f64>,
    pub(crate) train_accuracy: Option<f64>,
    pub(crate) test_loss: Option<f64>,
    pub(crate) test_accuracy: Option<f64>,
}

impl NetworkRow {
    /// Makes a row from the number of steps taken and the final means, `None` if the run diverged.
    pub(crate) fn new(run: &LabelledRun, steps: u64, means: Option<FinalMeans>) -> Self {
        let LabelledRun { group, treatment, spec } = run;
        let TrainSpec { width, depth, batch, eta, gamma, lr, momentum, seed, iterations, .. } =
            *spec;
        Self {
            data: ImageSet::named(&spec.data),
            group: *group,
            treatment: *treatment,
            injected_alpha: spec.inject_noise.map(|noise| noise.alpha),
            injected_scale: spec.inject_noise.map(|noise| noise.scale),
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
            outcome: RunOutcome::of(means.as_ref()),
            train_loss: means.map(|means| means.train_loss),
            train_accuracy: means.map(|means| means.train_accuracy),
            test_loss: means.map(|means| means.test_loss),
            test_accuracy: means.map(|means| means.test_accuracy),
        }
    }

    /// Returns the cell. Learning rate and momentum belong to the cell only where a study varies
    /// them: elsewhere treatments of one cell differ in their learning rates.
    pub(crate) fn cell(&self) -> Cell {
        let rates = matches!(self.group, Group::Edge | Group::Rates);
        Cell {
            noise: self
                .injected_alpha
                .zip(self.injected_scale)
                .map(|(alpha, scale)| InjectedNoise { alpha, scale }),
            width: self.width,
            depth: self.depth,
            lr: self.lr.filter(|_| rates),
            momentum: self.momentum.filter(|_| rates),
        }
    }

    /// Returns whether the run neither diverged nor exploded.
    pub(crate) fn is_stable(&self) -> bool {
        matches!(self.outcome, RunOutcome::Learned | RunOutcome::AtChance)
    }

    /// Returns whether the run learned nothing.
    pub(crate) fn is_lost(&self) -> bool {
        self.outcome != RunOutcome::Learned
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
        self.noise
            .map_or("no noise".into(), |noise| format!("α = {}, σ = {}", noise.alpha, noise.scale))
    }

    /// Returns the size of the network for readers.
    pub(crate) fn size_label(&self) -> String {
        format!("width {}, depth {}", self.width, self.depth)
    }
}
