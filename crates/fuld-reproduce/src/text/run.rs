//! One model, from its first step to its last.

use super::arm::{Arm, Setting};
use super::exam::{Exam, mean};
use super::plan::Plan;
use super::stepper::Stepper;
use burn::backend::Flex;
use fuld::Control;
use fuld::optimizer::{Estimates, RuleError};
use fuld_train::language::Language;
use fuld_train::transformer::Transformer;

/// Words are told apart by rank: the first 10, the next up to 100, the rest. Each kind makes about a third of a text.
pub(super) const RANKS: [u32; 3] = [10, 100, u32::MAX];

/// How a run is measured.
#[derive(Clone, Copy)]
pub(super) struct Course<'a> {
    pub(super) plan: &'a Plan,
    pub(super) language: &'a Language,
    pub(super) exam: &'a Exam,
    /// How often, the last time at the end.
    pub(super) measurements: u64,
}

/// What a run came to.
#[derive(Clone, Debug)]
pub(super) struct Trained {
    /// Steps, and the loss above the least after them. Ends early if the loss ceased to be a number.
    pub(super) curve: Vec<(u64, f64)>,
    /// In the end, infinite if the loss ceased to be a number.
    pub(super) excess: f64,
    /// In the end, by rank.
    pub(super) by_rank: [f64; 3],
    /// What the optimizer found of each tensor, if it looked.
    pub(super) estimates: Vec<Estimates>,
    /// As it was left.
    pub(super) model: Transformer<Flex>,
}

impl Course<'_> {
    /// Trains a model. None if `watch`, which is asked at every step, said stop.
    pub(super) fn train(
        &self,
        arm: Arm,
        setting: Setting,
        seed: u64,
        watch: &dyn Fn() -> Control,
    ) -> Result<Option<Trained>, RuleError> {
        let Plan { shape, steps, .. } = *self.plan;
        let mut model = Transformer::new(shape, seed, &Default::default());
        let mut stepper = Stepper::new(arm, setting)?;
        let mut curve = Vec::new();
        let mut last = Vec::new();
        for step in 0..steps {
            if watch() == Control::Stop {
                return Ok(None);
            }
            let (loss, gradients) = model.gradients(&self.plan.minibatch(self.language, seed, step));
            if !loss.is_finite() {
                last.clear();
                break;
            }
            stepper.step(&mut model, gradients)?;
            // Measurements are as far apart as they can be.
            let due = |step: u64| step * self.measurements / steps;
            if due(step + 1) > due(step) {
                last = self.exam.excess(&model);
                curve.push((step + 1, mean(last.iter().copied())));
            }
        }
        let excess = mean(last.iter().copied());
        let lost = !excess.is_finite();
        Ok(Some(Trained {
            curve,
            excess: if lost { f64::INFINITY } else { excess },
            by_rank: if lost { [f64::INFINITY; 3] } else { self.exam.by_rank(&last, RANKS) },
            estimates: stepper.estimates(),
            model,
        }))
    }
}
