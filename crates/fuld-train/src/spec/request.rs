//! A partial description of a run, as the command line and grids give it.

use super::choices::{deserialize_alpha, deserialize_every, seed};
use super::{
    DataDescription, Device, FieldFormula, GuardRequest, InjectedNoise, NoiseScaleRequest,
    Optimizer, SpecError, TrainSpec,
};
use crate::stored::Difference;
use serde::Deserialize;

/// The requested settings of a run. Settings that are left out take defaults, which depend on the
/// data set and the optimizer.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TrainRequest {
    /// `digits`, `mnist`, `cifar10`, or a folder with the files of one of the latter two.
    pub data: Option<String>,
    /// Units of each hidden layer; default 256.
    pub width: Option<usize>,
    /// Linear layers, including the last; default 4.
    pub depth: Option<usize>,
    /// Images per minibatch; default 100.
    pub batch: Option<usize>,
    /// Steps; default 10,000, for the digits 2,000.
    pub iterations: Option<u64>,
    /// Steps between two measurements; default 100.
    pub measure_every: Option<u64>,
    /// Seed of weights, minibatches and noise; default 0.
    #[serde(deserialize_with = "seed::deserialize_option")]
    pub seed: Option<u64>,
    /// The optimizer; default fuld.
    pub optimizer: Option<Optimizer>,
    /// Tail index of fuld; default 1.75.
    #[serde(deserialize_with = "deserialize_alpha")]
    pub alpha: Option<f64>,
    /// Step size η of the paper's form; default 0.1.
    pub eta: Option<f64>,
    /// Friction γ of the paper's form; default 0.1, for CIFAR-10 0.9.
    pub gamma: Option<f64>,
    /// Inverse temperature of the paper's form; default 1.
    pub beta: Option<f64>,
    /// Formula of the field in the paper's form; default the paper's.
    pub field: Option<FieldFormula>,
    /// Learning rate, instead of `eta`; default 0.01, for Adam 0.001.
    pub lr: Option<f64>,
    /// Momentum, instead of `gamma`; default 0.99.
    pub momentum: Option<f64>,
    /// Scale σ of the gradient noise, which places the knee of the matched form.
    pub noise_scale: Option<NoiseScaleRequest>,
    /// The knee κ of the matched form, in units of v = −√lr b.
    pub kappa: Option<f64>,
    /// Limit of clip-norm (default 1) or clip-value (default 0.01).
    pub clip: Option<f64>,
    /// Guard of the gradients; default none.
    pub guard: Option<GuardRequest>,
    /// Noise that is added to the gradients.
    pub inject_noise: Option<InjectedNoise>,
    /// Steps between two estimates of the tail index of each layer's gradient noise.
    #[serde(deserialize_with = "deserialize_every")]
    pub tail_index: Option<u64>,
}

impl TrainRequest {
    /// The keys of a request in TOML.
    pub const KEYS: [&str; 21] = [
        "data",
        "width",
        "depth",
        "batch",
        "iterations",
        "measure_every",
        "seed",
        "optimizer",
        "alpha",
        "eta",
        "gamma",
        "beta",
        "field",
        "lr",
        "momentum",
        "noise_scale",
        "kappa",
        "clip",
        "guard",
        "inject_noise",
        "tail_index",
    ];

    /// Fills in the defaults for a data set and checks the result.
    pub fn spec(&self, data: &DataDescription, device: Device) -> Result<TrainSpec, SpecError> {
        let optimizer = self.optimizer();
        self.refuse_settings_of_others()?;
        let paper_form = first_given(&[
            ("eta", self.eta.is_some()),
            ("gamma", self.gamma.is_some()),
            ("beta", self.beta.is_some()),
            ("field", self.field.is_some()),
        ]);
        let sgd_form = first_given(&[
            ("lr", self.lr.is_some()),
            ("momentum", self.momentum.is_some()),
            ("noise_scale", self.noise_scale.is_some()),
            ("kappa", self.kappa.is_some()),
        ]);
        if let (Some(a), Some(b)) = (paper_form, sgd_form) {
            return Err(SpecError::TwoForms(a, b));
        }
        if self.noise_scale.is_some() && self.kappa.is_some() {
            return Err(SpecError::TwoKnees);
        }
        let field = self.field.filter(|field| *field != FieldFormula::Paper);
        if let (Some(FieldFormula::Authors), Some(beta)) = (field, self.beta) {
            return Err(SpecError::AuthorsBeta(beta));
        }
        let adam = optimizer == Optimizer::Adam;
        let paper = sgd_form.is_none() && !adam;
        let noise_scale = match self.noise_scale {
            Some(NoiseScaleRequest::Given(scale)) => Some(scale),
            Some(NoiseScaleRequest::Injected) => {
                Some(self.inject_noise.ok_or(SpecError::NothingInjected)?.scale)
            }
            None => None,
        };
        let alpha = if optimizer == Optimizer::Fuld { self.alpha.unwrap_or(1.75) } else { 2.0 };
        let spec = TrainSpec {
            data: data.name.clone(),
            data_fingerprint: data.fingerprint.clone(),
            device,
            width: self.width.unwrap_or(256),
            depth: self.depth.unwrap_or(4),
            batch: self.batch.unwrap_or(100),
            iterations: self.iterations.unwrap_or(if data.name == "digits" {
                2_000
            } else {
                10_000
            }),
            measure_every: self.measure_every.unwrap_or(100),
            seed: self.seed.unwrap_or(0),
            optimizer,
            alpha,
            eta: paper.then(|| self.eta.unwrap_or(0.1)),
            gamma: paper
                .then(|| self.gamma.unwrap_or(if data.name == "cifar10" { 0.9 } else { 0.1 })),
            beta: (paper && field.is_none()).then(|| self.beta.unwrap_or(1.0)),
            field,
            lr: (!paper).then(|| self.lr.unwrap_or(if adam { 1e-3 } else { 0.01 })),
            momentum: (!paper && !adam).then(|| self.momentum.unwrap_or(0.99)),
            noise_scale,
            kappa: self.kappa,
            clip: match optimizer {
                Optimizer::ClipNorm => Some(self.clip.unwrap_or(1.0)),
                Optimizer::ClipValue => Some(self.clip.unwrap_or(0.01)),
                _ => None,
            },
            guard: self.guard.map(|guard| guard.clip(optimizer)),
            inject_noise: self.inject_noise,
            tail_index: self.tail_index,
        };
        spec.check(data)?;
        Ok(spec)
    }

    fn optimizer(&self) -> Optimizer {
        self.optimizer.unwrap_or(Optimizer::Fuld)
    }

    /// Removes the settings that the requested optimizer does not have.
    pub fn without_unused(mut self) -> Self {
        let optimizer = self.optimizer();
        if optimizer != Optimizer::Fuld {
            (self.alpha, self.noise_scale, self.kappa, self.field) = (None, None, None, None);
        }
        if !matches!(optimizer, Optimizer::ClipNorm | Optimizer::ClipValue) {
            self.clip = None;
        }
        if optimizer == Optimizer::Adam {
            (self.eta, self.gamma, self.beta, self.momentum) = (None, None, None, None);
        }
        self
    }

    /// Returns the first setting of this request that differs from a specification. Settings that
    /// are left out are not compared, nor is the data set, whose name or folder is not part of the
    /// specification.
    pub fn difference(&self, spec: &TrainSpec) -> Option<Difference> {
        let injected_scale = self.inject_noise.or(spec.inject_noise).map(|noise| noise.scale);
        let noise_scale = self.noise_scale.map(|scale| match (scale, injected_scale) {
            (NoiseScaleRequest::Injected, Some(scale)) => NoiseScaleRequest::Given(scale),
            _ => scale,
        });
        // The paper's field is stored as `None`.
        let field = spec.gamma.map(|_| spec.field.unwrap_or(FieldFormula::Paper));
        let settings = [
            ("width", text(self.width), text(Some(spec.width))),
            ("depth", text(self.depth), text(Some(spec.depth))),
            ("batch", text(self.batch), text(Some(spec.batch))),
            ("iterations", text(self.iterations), text(Some(spec.iterations))),
            ("measure_every", text(self.measure_every), text(Some(spec.measure_every))),
            ("seed", text(self.seed), text(Some(spec.seed))),
            ("optimizer", text(self.optimizer), text(Some(spec.optimizer))),
            ("alpha", text(self.alpha), text(Some(spec.alpha))),
            ("eta", text(self.eta), text(spec.eta)),
            ("gamma", text(self.gamma), text(spec.gamma)),
            ("beta", text(self.beta), text(spec.beta)),
            ("field", text(self.field), text(field)),
            ("lr", text(self.lr), text(spec.lr)),
            ("momentum", text(self.momentum), text(spec.momentum)),
            ("noise_scale", text(noise_scale), text(spec.noise_scale)),
            ("kappa", text(self.kappa), text(spec.kappa)),
            ("clip", text(self.clip), text(spec.clip)),
            ("guard", text(self.guard.map(|guard| guard.clip(spec.optimizer))), text(spec.guard)),
            ("inject_noise", text(self.inject_noise), text(spec.inject_noise)),
            ("tail_index", text(self.tail_index), text(spec.tail_index)),
        ];
        settings.into_iter().find_map(|(key, given, stored)| {
            let given = given.filter(|given| Some(given) != stored.as_ref())?;
            let stored =
                stored.map_or_else(|| format!("no {key}"), |stored| format!("{key} = {stored}"));
            Some(Difference { stored, wanted: format!("{key} = {given}") })
        })
    }

    fn refuse_settings_of_others(&self) -> Result<(), SpecError> {
        let used = self.clone().without_unused();
        let unused = first_given(&[
            // The other optimizers are FULD's rule at α = 2, so that α is accepted for them.
            ("alpha", self.alpha.is_some_and(|alpha| alpha != 2.0) && used.alpha.is_none()),
            ("noise_scale", self.noise_scale != used.noise_scale),
            ("kappa", self.kappa.is_some() && used.kappa.is_none()),
            ("field", self.field != used.field),
            ("clip", self.clip.is_some() && used.clip.is_none()),
            ("eta", self.eta.is_some() && used.eta.is_none()),
            ("gamma", self.gamma.is_some() && used.gamma.is_none()),
            ("beta", self.beta.is_some() && used.beta.is_none()),
            ("momentum", self.momentum.is_some() && used.momentum.is_none()),
        ]);
        match unused {
            Some(setting) => {
                Err(SpecError::NotOfOptimizer { setting, optimizer: self.optimizer() })
            }
            None => Ok(()),
        }
    }
}

fn text(setting: Option<impl ToString>) -> Option<String> {
    setting.map(|setting| setting.to_string())
}

fn first_given(settings: &[(&'static str, bool)]) -> Option<&'static str> {
    settings.iter().find(|(_, given)| *given).map(|(name, _)| *name)
}
