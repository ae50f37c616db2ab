//! The update rule at any learning rate.

use fuld::optimizer::{Form, Rule, RuleError};

/// A rule, and the form that tells what its learning rate means.
#[derive(Clone, Debug)]
pub(crate) struct StepRule {
    pub(crate) form: Form,
    pub(crate) rule: Rule,
}

impl StepRule {
    /// Returns the rule at a learning rate. It shares the table of the field.
    pub(crate) fn at(&self, learning_rate: f64) -> Result<Rule, RuleError> {
        let mut rule = self.rule.clone();
        rule.set_coordinates(self.form.coordinates(rule.coordinates().alpha(), learning_rate)?)?;
        Ok(rule)
    }
}
