//! The update rule of one run, with given or estimated settings.

use crate::form::Form;
use fuld::optimizer::{AutoRule, Options, Rule, RuleError};

/// A rule with all settings given, or one that estimates some of them.
#[derive(Clone, Debug)]
pub(crate) enum StepRule {
    Fixed(Form, Rule),
    Auto(AutoRule),
}

impl StepRule {
    /// Returns the same rule at another learning rate.
    pub(crate) fn with_learning_rate(&self, learning_rate: f64) -> Result<Self, RuleError> {
        let mut this = self.clone();
        match &mut this {
            Self::Fixed(form, rule) => {
                rule.set_coordinates(form.coordinates(rule.coordinates().alpha(), learning_rate)?)?;
            }
            Self::Auto(rule) => rule.set_learning_rate(learning_rate)?,
        }
        Ok(this)
    }

    pub(crate) fn is_auto(&self) -> bool {
        matches!(self, Self::Auto(_))
    }

    pub(crate) fn options(&self) -> &Options {
        match self {
            Self::Fixed(_, rule) => rule.options(),
            Self::Auto(rule) => &rule.settings().options,
        }
    }
}
