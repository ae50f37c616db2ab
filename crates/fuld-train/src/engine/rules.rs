//! What a specification does with gradients: guard, clipping and step.

use crate::engine::EngineError;
use crate::spec::{Optimizer, TrainSpec};
use fuld::guard::Guard;
use fuld::optimizer::{Adam, Options, Rule};

/// The treatment of a run's gradients, in this order.
#[derive(Clone, Debug)]
pub(super) struct UpdateRule {
    pub(super) guard: Option<Guard>,
    pub(super) clip: Option<Clip>,
    pub(super) step: StepRule,
}

/// Clipping at a limit.
#[derive(Clone, Copy, Debug)]
pub(super) enum Clip {
    /// Of the joint norm of all layers.
    Norm(f64),
    /// Of each component.
    Value(f64),
}

/// The step along a gradient.
#[derive(Clone, Debug)]
pub(super) enum StepRule {
    /// SGD with momentum, through the field of α.
    Momentum(Rule),
    /// Adam.
    Adam(Adam),
}

impl UpdateRule {
    /// Returns the rule of each run. Runs with the same α share a table of the field.
    pub(super) fn of(specs: &[TrainSpec]) -> Result<Vec<Self>, EngineError> {
        let mut rules: Vec<Self> = Vec::with_capacity(specs.len());
        for (run, spec) in specs.iter().enumerate() {
            let shared = rules.iter().find_map(|rule| match &rule.step {
                StepRule::Momentum(rule) => {
                    (rule.coordinates().alpha() == spec.alpha).then(|| rule.clone())
                }
                StepRule::Adam(_) => None,
            });
            let invalid = |source| EngineError::Rule { run, source };
            rules.push(Self::new(spec, shared).map_err(invalid)?);
        }
        Ok(rules)
    }

    fn new(spec: &TrainSpec, shared: Option<Rule>) -> Result<Self, fuld::optimizer::RuleError> {
        let step = if spec.optimizer == Optimizer::Adam {
            StepRule::Adam(Adam { learning_rate: spec.step(), ..Adam::default() })
        } else {
            let (coordinates, options) = (spec.coordinates()?, Options::default());
            StepRule::Momentum(match shared {
                Some(rule) => rule.with(coordinates, options)?,
                None => Rule::new(coordinates, options)?,
            })
        };
        let clip = match (spec.optimizer, spec.clip) {
            (Optimizer::ClipNorm, Some(limit)) => Some(Clip::Norm(limit)),
            (Optimizer::ClipValue, Some(limit)) => Some(Clip::Value(limit)),
            _ => None,
        };
        Ok(Self { guard: spec.guard()?, clip, step })
    }
}
