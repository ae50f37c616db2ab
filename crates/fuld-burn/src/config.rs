//! Settings of the optimizer.

use crate::Fuld;
use crate::step_rule::StepRule;
use burn::config::Config;
use burn::grad_clipping::GradientClippingConfig;
use burn::module::AutodiffModule;
use burn::optim::adaptor::OptimizerAdaptor;
use burn::tensor::backend::{AutodiffBackend, Backend};
use fuld::optimizer::{
    Authors, AutoRule, AutoSettings, Coordinates, Matched, NoiseMatched, Options, Paper, Rule, RuleError,
    Sgd, WeightDecay,
};
use serde::{Deserialize, Serialize};

/// The parametrisation of the step, which also determines the meaning of the learning rate passed to each step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Form {
    /// The paper's form (eulerv2_optim), in which the learning rate of a step is η.
    ///
    /// > v ← (1 − γη)v − ηg,  x ← x + η β^(1/α−1) ∇G_α(β^(1/α) v)
    Paper {
        /// Friction γ.
        gamma: f64,
        /// Inverse temperature β; 1 gives the paper's field.
        beta: f64,
    },
    /// The paper's recursion with the field of its authors' code, which differs from the paper's: [`Coordinates::authors`].
    Authors {
        /// Friction γ.
        gamma: f64,
    },
    /// SGD's coordinates: the paper's form with lr = η², μ = 1 − γη and β = 1.
    ///
    /// > b ← μb + g,  x ← x − √lr ∇G_α(√lr b)
    Sgd {
        /// Momentum μ.
        momentum: f64,
    },
    /// The matched form: SGD's learning rate and momentum, and a field of slope 1 with a knee.
    ///
    /// > b ← μb + g,  x ← x − √lr · h(√lr b),  h(v) = κ/slope · ∇G_α(v/κ)
    Matched {
        /// Momentum μ.
        momentum: f64,
        /// Knee of the field.
        knee: Knee,
    },
}

/// The knee of the matched form: where its field departs from its tangent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Knee {
    /// The knee is at |v| ~ κ, where v = −√lr b.
    Kappa(f64),
    /// The knee follows from the scale σ_g of the gradient noise: κ = √lr σ_g (1 − μ)^(−1/α).
    NoiseScale(f64),
    /// The knee is estimated from the gradients of each tensor at every step, and gradients are limited: [`AutoRule`].
    Auto,
}

impl Form {
    /// Returns the coordinates of a step.
    pub(crate) fn coordinates(self, alpha: f64, learning_rate: f64) -> Result<Coordinates, RuleError> {
        match self {
            Self::Paper { gamma, beta } => {
                Coordinates::paper(Paper { alpha, eta: learning_rate, gamma, beta })
            }
            Self::Authors { gamma } => Coordinates::authors(Authors { alpha, eta: learning_rate, gamma }),
            Self::Sgd { momentum } => Coordinates::sgd(Sgd { alpha, learning_rate, momentum }),
            Self::Matched { momentum, knee: Knee::Kappa(kappa) } => {
                Coordinates::matched(Matched { alpha, learning_rate, momentum, kappa })
            }
            Self::Matched { momentum, knee: Knee::NoiseScale(noise_scale) } => {
                Coordinates::noise_matched(NoiseMatched { alpha, learning_rate, momentum, noise_scale })
            }
            // Small steps are those of SGD for every estimate.
            Self::Matched { momentum, knee: Knee::Auto } => {
                Coordinates::sgd(Sgd { alpha: 2.0, learning_rate, momentum })
            }
        }
    }
}

/// Settings of [`Fuld`]; [`FuldConfig::init`] creates the optimizer.
///
/// For parameter groups with different settings, create one optimizer per group and pass each its part of the gradients
/// (`GradientsParams::from_params`).
#[derive(Config, Debug)]
pub struct FuldConfig {
    /// Tail index α in [0.1, 2]; 2 is SGD with momentum.
    pub alpha: f64,
    /// Parametrisation of the step.
    pub form: Form,
    /// Estimates α from the gradients of each tensor and ignores `alpha`. Requires the matched form with [`Knee::Auto`] or
    /// [`Knee::NoiseScale`].
    #[config(default = false)]
    pub auto_alpha: bool,
    /// Weight decay wd.
    #[config(default = 0.0)]
    pub weight_decay: f64,
    /// Applies weight decay as x ← (1 − lr·wd)x instead of g ← g + wd·x, bypassing momentum and field.
    #[config(default = false)]
    pub decoupled: bool,
    /// Takes the field at g + μb instead of b.
    #[config(default = false)]
    pub nesterov: bool,
    /// Maximizes the objective.
    #[config(default = false)]
    pub maximize: bool,
    /// Clipping of each tensor's gradient by burn.
    pub gradient_clipping: Option<GradientClippingConfig>,
}

impl FuldConfig {
    /// Returns the recommended first choice: SGD's learning rate and momentum, with α and the knee estimated from the gradients.
    pub fn auto(momentum: f64) -> Self {
        Self::new(2.0, Form::Matched { momentum, knee: Knee::Auto }).with_auto_alpha(true)
    }

    /// Creates the optimizer of a module.
    pub fn init<B: AutodiffBackend, M: AutodiffModule<B>>(
        &self,
    ) -> Result<OptimizerAdaptor<Fuld<B::InnerBackend>, M, B>, RuleError> {
        let optimizer = OptimizerAdaptor::from(self.build()?);
        Ok(match &self.gradient_clipping {
            Some(clipping) => optimizer.with_grad_clipping(clipping.init()),
            None => optimizer,
        })
    }

    /// Creates the optimizer of single tensors, without burn's adaptor for modules. It does not clip.
    pub fn build<B: Backend>(&self) -> Result<Fuld<B>, RuleError> {
        Fuld::of_run(self)
    }

    /// Returns step size, momentum and field of a step with this learning rate (η in the paper's form).
    pub fn coordinates(&self, learning_rate: f64) -> Result<Coordinates, RuleError> {
        self.form.coordinates(self.alpha, learning_rate)
    }

    /// Checks that steps with this learning rate are possible; a step itself can only panic. The check does not tabulate the field and
    /// so misses an α too small for the table, which [`FuldConfig::init`] refuses.
    pub fn check(&self, learning_rate: f64) -> Result<(), RuleError> {
        self.coordinates(learning_rate)?;
        Self { alpha: 2.0, ..self.clone() }.step_rule(learning_rate).map(|_| ())
    }

    /// Returns whether α or the knee is estimated from the gradients.
    pub fn is_estimated(&self) -> bool {
        self.auto_alpha || matches!(self.form, Form::Matched { knee: Knee::Auto, .. })
    }

    /// Creates the rule at a learning rate; tabulates the field.
    pub(crate) fn step_rule(&self, learning_rate: f64) -> Result<StepRule, RuleError> {
        let weight_decay = WeightDecay::new(self.weight_decay, self.decoupled);
        let options = Options { weight_decay, nesterov: self.nesterov, maximize: self.maximize };
        let alpha = (!self.auto_alpha).then_some(self.alpha);
        match self.form {
            Form::Matched { momentum, knee: Knee::Auto } => {
                let settings = AutoSettings { momentum, options, alpha, noise_scale: None };
                AutoRule::new(settings, learning_rate).map(StepRule::Auto)
            }
            Form::Matched { momentum, knee: Knee::NoiseScale(noise_scale) } if self.auto_alpha => {
                let settings = AutoSettings { momentum, options, alpha, noise_scale: Some(noise_scale) };
                AutoRule::new(settings, learning_rate).map(StepRule::Auto)
            }
            _ if self.auto_alpha => Err(RuleError::AutoAlphaForm),
            form => {
                let rule = Rule::new(self.coordinates(learning_rate)?, options)?;
                Ok(StepRule::Fixed(form, rule))
            }
        }
    }
}
