//! Settings of the optimizer.

use crate::step_rule::StepRule;
use burn::config::Config;
use burn::grad_clipping::GradientClippingConfig;
use fuld::guard::{Guard, GuardError};
use fuld::optimizer::{Coordinates, Form, Options, Rule, RuleError, WeightDecay};

/// Settings of [`Fuld`](crate::Fuld); [`FuldConfig::init`] creates the optimizer.
///
/// For parameter groups with different settings, create one optimizer per group and pass each its
/// part of the gradients (`GradientsParams::from_params`).
#[derive(Config, Debug)]
pub struct FuldConfig {
    /// Tail index α in [0.1, 2]; 2 is SGD with momentum.
    pub alpha: f64,
    /// Parametrisation of the step.
    pub form: Form,
    /// Weight decay wd.
    #[config(default = 0.0)]
    pub weight_decay: f64,
    /// Applies weight decay as x ← (1 − lr·wd)x instead of g ← g + wd·x, bypassing momentum and
    /// field.
    #[config(default = false)]
    pub decoupled: bool,
    /// Takes the field at g + μb instead of b.
    #[config(default = false)]
    pub nesterov: bool,
    /// Maximizes the objective.
    #[config(default = false)]
    pub maximize: bool,
    /// Guards gradients before anything else: components are clipped at this multiple of their
    /// geometric mean ([`fuld::guard`]).
    pub guard: Option<f64>,
    /// Clipping of each tensor's gradient by burn.
    pub gradient_clipping: Option<GradientClippingConfig>,
}

impl FuldConfig {
    /// Returns step size, momentum and field of a step with this learning rate (η in the paper's
    /// form).
    pub fn coordinates(&self, learning_rate: f64) -> Result<Coordinates, RuleError> {
        self.form.coordinates(self.alpha, learning_rate)
    }

    /// Checks that steps with this learning rate are possible; a step itself can only panic. The
    /// check does not tabulate the field and so misses an α too small for the table, which
    /// [`FuldConfig::init`] refuses.
    pub fn check(&self, learning_rate: f64) -> Result<(), RuleError> {
        self.coordinates(learning_rate)?;
        self.checked_guard()?;
        Self { alpha: 2.0, ..self.clone() }.step_rule(learning_rate).map(|_| ())
    }

    /// Returns the guard, or None if gradients are not guarded.
    pub(crate) fn checked_guard(&self) -> Result<Option<Guard>, GuardError> {
        self.guard.map(Guard::new).transpose()
    }

    /// Creates the rule at a learning rate; tabulates the field.
    pub(crate) fn step_rule(&self, learning_rate: f64) -> Result<StepRule, RuleError> {
        let weight_decay = WeightDecay::new(self.weight_decay, self.decoupled);
        let options = Options { weight_decay, nesterov: self.nesterov, maximize: self.maximize };
        let rule = Rule::new(self.coordinates(learning_rate)?, options)?;
        Ok(StepRule { form: self.form, rule })
    }
}
