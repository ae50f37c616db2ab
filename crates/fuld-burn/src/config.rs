//! What an optimizer is made from.

use crate::Fuld;
use crate::mover::Mover;
use burn::config::Config;
use burn::grad_clipping::GradientClippingConfig;
use burn::module::AutodiffModule;
use burn::optim::adaptor::OptimizerAdaptor;
use burn::tensor::backend::{AutodiffBackend, Backend};
use fuld::optimizer::{AutoRule, Coordinates, Options, Rule, RuleError, WeightDecay};
use serde::{Deserialize, Serialize};

/// Which coordinates the step is given in, and what the learning rate handed to each step means.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Form {
    /// The paper's (eulerv2_optim): the "learning rate" of a step is η.
    ///
    /// > v ← (1 − γη)v − ηg,  x ← x + η β^(1/α−1) ∇G_α(β^(1/α) v)
    Paper {
        /// Friction γ.
        gamma: f64,
        /// Inverse temperature β; 1 gives the paper's field.
        beta: f64,
    },
    /// The paper's recursion with the field s(αv)/2 of its authors' code, which is another field: [`Coordinates::authors`].
    Authors {
        /// Friction γ.
        gamma: f64,
    },
    /// SGD's: the paper's with lr = η², μ = 1 − γη and β = 1.
    ///
    /// > b ← μb + g,  x ← x − √lr ∇G_α(√lr b)
    Sgd {
        /// Momentum μ.
        momentum: f64,
    },
    /// SGD's learning rate and momentum, and a field of slope 1 that bends where the scale says.
    ///
    /// > b ← μb + g,  x ← x − √lr · h(√lr b),  h(v) = κ/slope · ∇G_α(v/κ)
    Matched {
        /// Momentum μ.
        momentum: f64,
        /// Where the field bends.
        scale: Scale,
    },
}

/// Where the field of the matched form bends.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Scale {
    /// At |v| ~ κ, v = −√lr b.
    Kappa(f64),
    /// Where gradient noise of this scale σ_g puts v: κ = √lr σ_g (1 − μ)^(−1/α).
    Noise(f64),
    /// Where the gradients themselves say, for each tensor anew at each step: [`AutoRule`]. They are limited, too.
    Auto,
}

impl Form {
    /// The coordinates of a step.
    pub(crate) fn coordinates(self, alpha: f64, learning_rate: f64) -> Result<Coordinates, RuleError> {
        match self {
            Self::Paper { gamma, beta } => Coordinates::paper(alpha, learning_rate, gamma, beta),
            Self::Authors { gamma } => Coordinates::authors(alpha, learning_rate, gamma),
            Self::Sgd { momentum } => Coordinates::sgd(alpha, learning_rate, momentum),
            Self::Matched { momentum, scale: Scale::Kappa(kappa) } => {
                Coordinates::matched(alpha, learning_rate, momentum, kappa)
            }
            Self::Matched { momentum, scale: Scale::Noise(noise) } => {
                Coordinates::of_noise(alpha, learning_rate, momentum, noise)
            }
            // Whatever is found, the small steps are those of SGD.
            Self::Matched { momentum, scale: Scale::Auto } => Coordinates::sgd(2.0, learning_rate, momentum),
        }
    }
}

/// Settings of [`Fuld`]; [`FuldConfig::init`] makes the optimizer.
///
/// For parameter groups with settings of their own, initialise one optimizer for each and give each its part of the gradients
/// (`GradientsParams::from_params`).
#[derive(Config, Debug)]
pub struct FuldConfig {
    /// The tail index α: 2 is SGD with momentum; 0.1 is the smallest.
    pub alpha: f64,
    /// The coordinates.
    pub form: Form,
    /// Finds α for each tensor from its gradients, whatever `alpha` says; in the matched form, with [`Scale::Auto`] or [`Scale::Noise`].
    #[config(default = false)]
    pub auto_alpha: bool,
    /// A pull wd towards 0.
    #[config(default = 0.0)]
    pub weight_decay: f64,
    /// Whether that pull is x ← (1 − lr·wd)x, past momentum and field, instead of g ← g + wd·x, through both.
    #[config(default = false)]
    pub decoupled: bool,
    /// The step follows g + μb instead of b.
    #[config(default = false)]
    pub nesterov: bool,
    /// Goes uphill.
    #[config(default = false)]
    pub maximize: bool,
    /// Clipping of each tensor's gradient, as burn does it.
    pub gradient_clipping: Option<GradientClippingConfig>,
}

impl FuldConfig {
    /// SGD's learning rate and momentum, with α and the place of the bend found from the gradients: what to try first.
    pub fn auto(momentum: f64) -> Self {
        Self::new(2.0, Form::Matched { momentum, scale: Scale::Auto }).with_auto_alpha(true)
    }

    /// The optimizer for a module.
    pub fn init<B: AutodiffBackend, M: AutodiffModule<B>>(
        &self,
    ) -> Result<OptimizerAdaptor<Fuld<B::InnerBackend>, M, B>, RuleError> {
        let optimizer = OptimizerAdaptor::from(self.build()?);
        Ok(match &self.gradient_clipping {
            Some(clipping) => optimizer.with_grad_clipping(clipping.init()),
            None => optimizer,
        })
    }

    /// The bare optimizer, without the adaptor that walks through a module. It does not clip.
    pub fn build<B: Backend>(&self) -> Result<Fuld<B>, RuleError> {
        Fuld::of_runs(std::slice::from_ref(self))
    }

    /// Step, momentum and field of a step with this learning rate (η in the paper's form).
    pub fn coordinates(&self, learning_rate: f64) -> Result<Coordinates, RuleError> {
        self.form.coordinates(self.alpha, learning_rate)
    }

    /// Whether steps with this learning rate will be possible: a step itself can only panic. Tabulates nothing, and so does not
    /// notice an α too small for the table, which [`FuldConfig::init`] refuses.
    pub fn check(&self, learning_rate: f64) -> Result<(), RuleError> {
        self.coordinates(learning_rate)?;
        Self { alpha: 2.0, ..self.clone() }.mover(learning_rate).map(|_| ())
    }

    /// Whether anything is found from the gradients.
    pub fn finds(&self) -> bool {
        self.auto_alpha || matches!(self.form, Form::Matched { scale: Scale::Auto, .. })
    }

    /// What takes steps at a learning rate; tabulates the field.
    pub(crate) fn mover(&self, learning_rate: f64) -> Result<Mover, RuleError> {
        let weight_decay = WeightDecay::of(self.weight_decay, self.decoupled);
        let options = Options { weight_decay, nesterov: self.nesterov, maximize: self.maximize };
        let alpha = (!self.auto_alpha).then_some(self.alpha);
        match self.form {
            Form::Matched { momentum, scale: Scale::Auto } => {
                AutoRule::new(alpha, None, learning_rate, momentum, options).map(Mover::Auto)
            }
            Form::Matched { momentum, scale: Scale::Noise(noise) } if self.auto_alpha => {
                AutoRule::new(None, Some(noise), learning_rate, momentum, options).map(Mover::Auto)
            }
            _ if self.auto_alpha => Err(RuleError::AutoWithoutScale),
            form => {
                let rule = Rule::new(self.coordinates(learning_rate)?, options)?;
                Ok(Mover::Fixed(form, rule))
            }
        }
    }
}
