//! What is asked for: the options of the command line, the keys of a grid.

use super::written::{Bend, Noise, TailIndex, parse_every, read_every};
use super::{Device, Field, Optimizer, Settings, SettingsError, Subject};
use clap::Args;
use serde::Deserialize;

/// What was asked for: all that is left out has a default.
#[derive(Args, Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Request {
    /// digits (built in), mnist, cifar10, or a folder with the files of one of the latter
    #[arg(long, value_name = "NAME|DIR", help_heading = "Task")]
    pub data: Option<String>,
    /// Units of each hidden layer [default: 256]
    #[arg(long, help_heading = "Task")]
    pub width: Option<usize>,
    /// Linear layers, the last one included [default: 4]
    #[arg(long, help_heading = "Task")]
    pub depth: Option<usize>,
    /// Images of a minibatch [default: 100]
    #[arg(long, help_heading = "Task")]
    pub batch: Option<usize>,
    /// Steps [default: 10000, digits 2000]
    #[arg(long, value_name = "K", help_heading = "Task")]
    pub iterations: Option<u64>,
    /// Steps between two measurements [default: 100]
    #[arg(long, value_name = "N", help_heading = "Task")]
    #[serde(alias = "measure-every")]
    pub measure_every: Option<u64>,
    /// Of weights, minibatches and noise [default: 0]
    #[arg(long, help_heading = "Task")]
    pub seed: Option<u64>,
    /// The optimizer [default: fuld]
    #[arg(long, help_heading = "Optimizer")]
    pub optimizer: Option<Optimizer>,
    /// Tail index of fuld, 0.1 to 2, or auto: found from the gradients, layer by layer; 2 is sgdm [default: 1.75; auto with --scale auto]
    #[arg(long, value_name = "A|auto", allow_negative_numbers = true, help_heading = "Optimizer")]
    pub alpha: Option<TailIndex>,
    /// Step size of the paper's form [default: 0.1]
    #[arg(long, allow_negative_numbers = true, help_heading = "Optimizer")]
    pub eta: Option<f64>,
    /// Friction of the paper's form [default: 0.1, cifar10 0.9]
    #[arg(long, allow_negative_numbers = true, help_heading = "Optimizer")]
    pub gamma: Option<f64>,
    /// Inverse temperature of the paper's form [default: 1]
    #[arg(long, allow_negative_numbers = true, help_heading = "Optimizer")]
    pub beta: Option<f64>,
    /// Field of the paper's form [default: paper]
    #[arg(long, help_heading = "Optimizer")]
    pub field: Option<Field>,
    /// Learning rate, instead of eta [default with --momentum or --scale: 0.01; adam 0.001]
    #[arg(long, allow_negative_numbers = true, help_heading = "Optimizer")]
    pub lr: Option<f64>,
    /// Momentum, instead of gamma [default with --lr or --scale: 0.99]
    #[arg(long, allow_negative_numbers = true, help_heading = "Optimizer")]
    pub momentum: Option<f64>,
    /// Where fuld's field bends, for the matched form: auto, found from the gradients; kappa; noise=SCALE; noise for that of --inject-noise
    #[arg(long, value_name = "auto|K|noise", allow_negative_numbers = true, help_heading = "Optimizer")]
    pub scale: Option<Bend>,
    /// Limit of clip-norm [default: 1] or clip-value [default: 0.01]
    #[arg(long, allow_negative_numbers = true, help_heading = "Optimizer")]
    pub clip: Option<f64>,
    /// Adds symmetric stable noise to every component of the gradients, as in 1.5,1e-3
    #[arg(long, value_name = "ALPHA,SCALE", help_heading = "Noise")]
    #[serde(alias = "inject-noise")]
    pub inject_noise: Option<Noise>,
    /// Estimates the tail index of each layer's gradient noise every N steps, as in every=1000
    #[arg(long, value_name = "every=N", value_parser = parse_every, help_heading = "Noise")]
    #[serde(alias = "tail-index", deserialize_with = "read_every")]
    pub tail_index: Option<u64>,
}

impl Request {
    /// Fills in the defaults for a data set and checks everything.
    pub fn settings(&self, subject: &Subject, device: Device) -> Result<Settings, SettingsError> {
        let optimizer = self.optimizer();
        self.refuse_foreign()?;
        let papers = [
            ("eta", self.eta.is_some()),
            ("gamma", self.gamma.is_some()),
            ("beta", self.beta.is_some()),
            ("field", self.field.is_some()),
        ];
        let sgds = [
            ("lr", self.lr.is_some()),
            ("momentum", self.momentum.is_some()),
            ("scale", self.scale.is_some()),
        ];
        let given = |of: &[(&'static str, bool)]| of.iter().find(|(_, given)| *given).map(|(name, _)| *name);
        if let (Some(a), Some(b)) = (given(&papers), given(&sgds)) {
            return Err(SettingsError::TwoForms(a, b));
        }
        let field = self.field.filter(|field| *field != Field::Paper);
        if let (Some(Field::Authors), Some(beta)) = (field, self.beta) {
            return Err(SettingsError::AuthorsBeta(beta));
        }
        let adam = optimizer == Optimizer::Adam;
        // What is found is found in the matched form.
        let auto = self.alpha == Some(TailIndex::Auto) && optimizer == Optimizer::Fuld;
        if let (true, Some(papers)) = (auto, given(&papers)) {
            return Err(SettingsError::TwoForms("alpha auto", papers));
        }
        let paper = !auto && given(&sgds).is_none() && !adam;
        let scale = match self.scale {
            Some(Bend::Noise(None)) => {
                Some(Bend::Noise(Some(self.inject_noise.ok_or(SettingsError::UnknownNoise)?.scale)))
            }
            None if auto => Some(Bend::Auto),
            scale => scale,
        };
        let alpha = match (self.alpha, scale) {
            _ if optimizer != Optimizer::Fuld => 2.0.into(),
            (Some(alpha), _) => alpha,
            (None, Some(Bend::Auto)) => TailIndex::Auto,
            (None, _) => 1.75.into(),
        };
        let settings = Settings {
            data: subject.name.clone(),
            data_fingerprint: subject.fingerprint.clone(),
            device,
            width: self.width.unwrap_or(256),
            depth: self.depth.unwrap_or(4),
            batch: self.batch.unwrap_or(100),
            iterations: self.iterations.unwrap_or(if subject.name == "digits" { 2_000 } else { 10_000 }),
            measure_every: self.measure_every.unwrap_or(100),
            seed: self.seed.unwrap_or(0),
            optimizer,
            alpha,
            eta: paper.then(|| self.eta.unwrap_or(0.1)),
            gamma: paper.then(|| self.gamma.unwrap_or(if subject.name == "cifar10" { 0.9 } else { 0.1 })),
            beta: (paper && field.is_none()).then(|| self.beta.unwrap_or(1.0)),
            field,
            lr: (!paper).then(|| self.lr.unwrap_or(if adam { 1e-3 } else { 0.01 })),
            momentum: (!paper && !adam).then(|| self.momentum.unwrap_or(0.99)),
            scale,
            clip: match optimizer {
                Optimizer::ClipNorm => Some(self.clip.unwrap_or(1.0)),
                Optimizer::ClipValue => Some(self.clip.unwrap_or(0.01)),
                _ => None,
            },
            inject_noise: self.inject_noise,
            tail_index: self.tail_index,
        };
        settings.checked(subject)
    }

    fn optimizer(&self) -> Optimizer {
        self.optimizer.unwrap_or(Optimizer::Fuld)
    }

    /// The request without what its optimizer has no use for.
    pub fn useful(mut self) -> Self {
        let optimizer = self.optimizer();
        if optimizer != Optimizer::Fuld {
            (self.alpha, self.scale, self.field) = (None, None, None);
        }
        if !matches!(optimizer, Optimizer::ClipNorm | Optimizer::ClipValue) {
            self.clip = None;
        }
        if optimizer == Optimizer::Adam {
            (self.eta, self.gamma, self.beta, self.momentum) = (None, None, None, None);
        }
        self
    }

    fn refuse_foreign(&self) -> Result<(), SettingsError> {
        let useful = self.clone().useful();
        let lost = [
            // 2 is what the others have.
            (
                "alpha",
                self.alpha.is_some_and(|alpha| alpha != TailIndex::Given(2.0)) && useful.alpha.is_none(),
            ),
            ("scale", self.scale.is_some() && useful.scale.is_none()),
            ("field", self.field.is_some() && useful.field.is_none()),
            ("clip", self.clip.is_some() && useful.clip.is_none()),
            ("eta", self.eta.is_some() && useful.eta.is_none()),
            ("gamma", self.gamma.is_some() && useful.gamma.is_none()),
            ("beta", self.beta.is_some() && useful.beta.is_none()),
            ("momentum", self.momentum.is_some() && useful.momentum.is_none()),
        ];
        match lost.into_iter().find(|(_, lost)| *lost) {
            Some((setting, _)) => Err(SettingsError::Foreign { setting, optimizer: self.optimizer() }),
            None => Ok(()),
        }
    }
}
