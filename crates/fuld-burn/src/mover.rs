//! What takes the steps of a run.

use crate::Form;
use fuld::optimizer::{AutoRule, Rule, RuleError};

/// A rule that was given all its settings, or one that finds some of them.
#[derive(Clone, Debug)]
pub(crate) enum Mover {
    Fixed(Form, Rule),
    Auto(AutoRule),
}

impl Mover {
    /// The same at another learning rate.
    pub(crate) fn at(&self, learning_rate: f64) -> Result<Self, RuleError> {
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
}
