//! Tuning and its results: every setting once, then the best setting of each optimizer with other seeds and on another text.

use super::{Stage, TextRow};
use crate::study::{Difference, Treatment, distinct, mean_and_error};

/// Settings that are tried for each optimizer.
pub(super) const TRIALS: usize = 9;

/// The optimizers that are compared; the limits of clipping are tuned.
pub(super) const KINDS: [Treatment; 5] = [
    Treatment::Sgdm,
    Treatment::ClipNorm(f64::NAN),
    Treatment::ClipValue(f64::NAN),
    Treatment::Adam,
    Treatment::Auto,
];

/// Returns the settings that are tried: learning rates, each twice the one before it, and limits.
pub(super) fn candidates(kind: Treatment) -> Vec<(Treatment, f64)> {
    let (first, limited): (f64, Vec<Treatment>) = match kind {
        // Preliminary runs on wider grids chose the first learning rates and the limits of clipping.
        Treatment::ClipNorm(_) => (0.1, [0.4, 0.8, 1.6].map(Treatment::ClipNorm).into()),
        Treatment::ClipValue(_) => (0.2, [0.004, 0.016, 0.064].map(Treatment::ClipValue).into()),
        Treatment::Adam => (0.0004, vec![kind]),
        // The matched form has the learning rates of SGD.
        _ => (0.0125, vec![kind]),
    };
    let rates = (0..TRIALS / limited.len()).map(|n| first * 2f64.powi(n as i32));
    rates.flat_map(|rate| limited.iter().map(move |&treatment| (treatment, rate))).collect()
}

/// An optimizer with its trials and its test runs.
#[derive(Clone, Debug)]
pub(super) struct Tuned {
    /// All settings that were tried, on the validation text.
    pub(super) trials: Vec<TextRow>,
    /// The best of them.
    pub(super) chosen: TextRow,
    /// Its runs with other seeds, on the test text.
    pub(super) tests: Vec<TextRow>,
}

/// All optimizers.
#[derive(Clone, Debug)]
pub(super) struct Tuning {
    pub(super) all: Vec<Tuned>,
}

impl Tuning {
    /// Groups the rows by optimizer. Optimizers without a trial are left out.
    pub(super) fn of(rows: &[TextRow]) -> Self {
        let tuned = |kind: Treatment| {
            let of = |stage| {
                let is_meant = |row: &&TextRow| row.stage == stage && row.treatment.same_kind(kind);
                rows.iter().filter(is_meant).cloned().collect()
            };
            let (trials, tests): (Vec<TextRow>, Vec<TextRow>) = (of(Stage::Tuning), of(Stage::Test));
            let chosen = trials.iter().min_by(|a, b| a.excess.total_cmp(&b.excess)).cloned()?;
            Some(Tuned { trials, chosen, tests })
        };
        Self { all: KINDS.into_iter().filter_map(tuned).collect() }
    }

    /// Returns an optimizer, if it was compared.
    pub(super) fn of_kind(&self, kind: Treatment) -> Option<&Tuned> {
        self.all.iter().find(|tuned| tuned.chosen.treatment.same_kind(kind))
    }

    /// Returns how far one optimizer ends below another, seed by seed.
    pub(super) fn difference(&self, kind: Treatment, other: Treatment) -> Option<Difference> {
        Some(Difference::of_losses(&self.of_kind(kind)?.excess(), &self.of_kind(other)?.excess()))
    }
}

impl Tuned {
    pub(super) fn label(&self) -> &'static str {
        self.chosen.treatment.label()
    }

    /// Returns the final excess loss of each seed.
    pub(super) fn excess(&self) -> Vec<f64> {
        self.tests.iter().map(|run| run.excess).collect()
    }

    /// Returns the mean final excess loss over seeds for readers.
    pub(super) fn result_text(&self) -> String {
        match mean_and_error(&self.excess()) {
            (mean, _) if mean.is_infinite() => "diverged".into(),
            (mean, error) => format!("{mean:.3} ± {error:.3}"),
        }
    }

    /// Returns the number of runs that diverged.
    pub(super) fn diverged(&self) -> usize {
        self.tests.iter().filter(|run| !run.excess.is_finite()).count()
    }

    /// Returns the best excess loss of each learning rate, over limits.
    pub(super) fn by_rate(&self) -> Vec<(f64, f64)> {
        let best = |rate: f64| {
            let losses = self.trials.iter().filter(|row| row.lr == rate).map(|row| row.excess);
            (rate, losses.fold(f64::INFINITY, f64::min))
        };
        distinct(self.trials.iter().map(|row| row.lr)).into_iter().map(best).collect()
    }

    /// Returns whether the best learning rate is the first or the last that was tried, so that a better one may lie beyond.
    pub(super) fn is_at_an_end(&self) -> bool {
        let ends = [self.trials.first(), self.trials.last()];
        ends.into_iter().flatten().any(|row| row.lr == self.chosen.lr)
    }

    /// Returns mean and standard error over seeds of the excess loss of each range of ranks.
    pub(super) fn by_rank(&self) -> [(f64, f64); 3] {
        std::array::from_fn(|n| {
            mean_and_error(&self.tests.iter().map(|run| run.by_rank()[n]).collect::<Vec<_>>())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_tuned_equally() {
        assert!(KINDS.into_iter().all(|kind| candidates(kind).len() == TRIALS));
    }
}
