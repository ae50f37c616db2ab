//! Tuning and what came of it: every setting once, then the best of each optimizer with other seeds and on another text.

use super::arm::{Arm, Setting, TRIALS};
use super::crew::{Crew, Job};
use super::exam::Exam;
use super::gap::Gap;
use super::plan::Plan;
use super::run::Trained;
use fuld::StopFlag;

/// An optimizer, tuned and tried.
#[derive(Clone, Debug)]
pub(super) struct Tuned {
    pub(super) arm: Arm,
    /// All that was tried, with the loss above the least on the validation text.
    pub(super) trials: Vec<(Setting, f64)>,
    /// The best of these.
    pub(super) chosen: Setting,
    /// Its runs with other seeds, on the test text.
    pub(super) runs: Vec<Trained>,
}

/// All optimizers.
#[derive(Clone, Debug)]
pub(super) struct Comparison {
    pub(super) all: Vec<Tuned>,
}

impl Comparison {
    /// Trains them all. `hear` is told of the share that is done.
    pub(super) fn new(
        plan: &Plan,
        arms: &[Arm],
        hear: &(dyn Fn(f64) + Sync),
        stop: &StopFlag,
    ) -> anyhow::Result<Self> {
        let language = plan.language();
        let seeds = plan.test_seeds();
        let crew = Crew::new(plan, &language, arms.len() * (TRIALS + seeds.clone().count()), hear, stop);

        let jobs =
            |&arm: &Arm| arm.settings().into_iter().map(move |setting| Job { arm, setting, seed: plan.seed });
        let jobs: Vec<Job> = arms.iter().flat_map(jobs).collect();
        let tried = crew.train(&jobs, &Exam::validation(plan, &language), 1)?;
        let mut losses = tried.iter().map(|run| run.excess);
        let mut all: Vec<Tuned> = arms.iter().map(|&arm| Tuned::best(arm, &mut losses)).collect();

        let jobs = |tuned: &Tuned| {
            let (arm, setting) = (tuned.arm, tuned.chosen);
            seeds.clone().map(move |seed| Job { arm, setting, seed })
        };
        let jobs: Vec<Job> = all.iter().flat_map(jobs).collect();
        let mut runs = crew.train(&jobs, &Exam::test(plan, &language), plan.measurements)?.into_iter();
        all.iter_mut().for_each(|tuned| tuned.runs = runs.by_ref().take(seeds.clone().count()).collect());
        Ok(Self { all })
    }

    /// An optimizer, if it was compared.
    pub(super) fn of(&self, arm: Arm) -> Option<&Tuned> {
        self.all.iter().find(|tuned| tuned.arm == arm)
    }

    /// How far one ends above another, seed by seed.
    pub(super) fn gap(&self, arm: Arm, other: Arm) -> Option<Gap> {
        Some(Gap::between(&self.of(arm)?.excess(), &self.of(other)?.excess()))
    }
}

impl Tuned {
    /// The best of an optimizer's settings, given the loss of each. Has no runs yet.
    fn best(arm: Arm, losses: &mut impl Iterator<Item = f64>) -> Self {
        let trials: Vec<(Setting, f64)> = arm.settings().into_iter().zip(losses).collect();
        let best = trials.iter().min_by(|a, b| a.1.total_cmp(&b.1));
        let chosen = best.map_or(Setting { rate: f64::NAN, limit: None }, |best| best.0);
        Self { arm, trials, chosen, runs: Vec::new() }
    }

    /// The loss above the least of each seed, in the end.
    pub(super) fn excess(&self) -> Vec<f64> {
        self.runs.iter().map(|run| run.excess).collect()
    }

    /// Mean over seeds and its standard error.
    pub(super) fn result(&self) -> Gap {
        Gap::of(&self.excess())
    }

    /// Runs whose loss ceased to be a number.
    pub(super) fn lost(&self) -> usize {
        self.runs.iter().filter(|run| !run.excess.is_finite()).count()
    }

    /// The best loss of each learning rate, over limits.
    pub(super) fn by_rate(&self) -> Vec<(f64, f64)> {
        let best = |rate: f64| {
            let losses = self.trials.iter().filter(|(setting, _)| setting.rate == rate).map(|trial| trial.1);
            (rate, losses.fold(f64::INFINITY, f64::min))
        };
        self.arm.rates().into_iter().map(best).collect()
    }

    /// Whether the best learning rate is the first or last that was tried, and a better one may lie beyond.
    pub(super) fn at_an_end(&self) -> bool {
        let rates = self.arm.rates();
        rates.first() == Some(&self.chosen.rate) || rates.last() == Some(&self.chosen.rate)
    }

    /// Mean over seeds of the loss above the least on the way, as far as all seeds got.
    pub(super) fn curve(&self) -> Vec<(f64, f64)> {
        let shortest = self.runs.iter().map(|run| run.curve.len()).min().unwrap_or(0);
        let point = |n: usize| {
            let losses: Vec<f64> = self.runs.iter().map(|run| run.curve[n].1).collect();
            (self.runs[0].curve[n].0 as f64, Gap::of(&losses).mean)
        };
        (0..shortest).map(point).collect()
    }

    /// Mean over seeds of the loss above the least, by rank.
    pub(super) fn by_rank(&self) -> [Gap; 3] {
        std::array::from_fn(|n| Gap::of(&self.runs.iter().map(|run| run.by_rank[n]).collect::<Vec<_>>()))
    }
}
