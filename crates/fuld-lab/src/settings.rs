//! What determines a training run: the same names on the command line, in a sweep's grid and in a run's folder.

use clap::{Args, ValueEnum};
use fuld_burn::{Form, FuldConfig, Scale};
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display};
use std::str::FromStr;
use thiserror::Error;

/// The optimizers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Optimizer {
    /// SGD with momentum.
    Sgdm,
    /// SGD with momentum whose step goes through the field of a stable law.
    Fuld,
    /// SGD with momentum on gradients clipped to a joint norm.
    ClipNorm,
    /// SGD with momentum on gradients whose components are clipped.
    ClipValue,
    /// Adam.
    Adam,
}

impl Display for Optimizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.to_possible_value();
        f.write_str(value.as_ref().map_or("", |value| value.get_name()))
    }
}

/// Stable noise SαS(scale) added to every component of every gradient, written `alpha,scale`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// Its tail index.
    pub alpha: f64,
    /// Its scale.
    pub scale: f64,
}

impl FromStr for Noise {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("expected ALPHA,SCALE as in 1.5,1e-3, got {text:?}");
        let (alpha, scale) = text.split_once(',').ok_or_else(wrong)?;
        let number = |text: &str| text.trim().parse::<f64>().map_err(|_| wrong());
        let (alpha, scale) = (number(alpha)?, number(scale)?);
        levy_stable::SymmetricStable::with_scale(alpha, scale).map_err(|error| error.to_string())?;
        Ok(Self { alpha, scale })
    }
}

impl Display for Noise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{}", self.alpha, self.scale)
    }
}

/// Where the field of the matched form bends: a number κ, or `noise=SCALE`, or `noise` for the scale of the added noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bend {
    /// At κ.
    Kappa(f64),
    /// Where gradient noise of this scale puts it; none: that which is added.
    Noise(Option<f64>),
}

impl FromStr for Bend {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| match text.trim().parse::<f64>() {
            Ok(number) if number > 0.0 && number.is_finite() => Ok(number),
            _ => Err(format!("expected a positive number, noise or noise=SCALE, got {text:?}")),
        };
        match text.strip_prefix("noise") {
            Some("") => Ok(Self::Noise(None)),
            Some(rest) => {
                number(rest.strip_prefix('=').unwrap_or(rest)).map(|scale| Self::Noise(Some(scale)))
            }
            None => number(text).map(Self::Kappa),
        }
    }
}

impl Display for Bend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kappa(kappa) => write!(f, "{kappa}"),
            Self::Noise(None) => f.write_str("noise"),
            Self::Noise(Some(scale)) => write!(f, "noise={scale}"),
        }
    }
}

/// serde for what is written as text, and may be a bare number.
macro_rules! as_text {
    ($type:ty) => {
        impl Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                #[derive(Deserialize)]
                #[serde(untagged)]
                enum Written {
                    Number(f64),
                    Text(String),
                }
                let text = match Written::deserialize(deserializer)? {
                    Written::Number(number) => number.to_string(),
                    Written::Text(text) => text,
                };
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

as_text!(Noise);
as_text!(Bend);

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
    pub measure_every: Option<u64>,
    /// Of weights, minibatches and noise [default: 0]
    #[arg(long, help_heading = "Task")]
    pub seed: Option<u64>,
    /// The optimizer [default: fuld]
    #[arg(long, help_heading = "Optimizer")]
    pub optimizer: Option<Optimizer>,
    /// Tail index of fuld, 0.1 to 2; 2 is sgdm [default: 1.75]
    #[arg(long, allow_negative_numbers = true, help_heading = "Optimizer")]
    pub alpha: Option<f64>,
    /// Step size of the paper's form [default: 0.1]
    #[arg(long, allow_negative_numbers = true, help_heading = "Optimizer")]
    pub eta: Option<f64>,
    /// Friction of the paper's form [default: 0.1, cifar10 0.9]
    #[arg(long, allow_negative_numbers = true, help_heading = "Optimizer")]
    pub gamma: Option<f64>,
    /// Inverse temperature of the paper's form [default: 1]
    #[arg(long, allow_negative_numbers = true, help_heading = "Optimizer")]
    pub beta: Option<f64>,
    /// Learning rate, instead of eta [default with --momentum or --scale: 0.01; adam 0.001]
    #[arg(long, allow_negative_numbers = true, help_heading = "Optimizer")]
    pub lr: Option<f64>,
    /// Momentum, instead of gamma [default with --lr or --scale: 0.99]
    #[arg(long, allow_negative_numbers = true, help_heading = "Optimizer")]
    pub momentum: Option<f64>,
    /// Where fuld's field bends, for the matched form: kappa, or noise=SCALE, or noise for that of --inject-noise
    #[arg(long, value_name = "K|noise", help_heading = "Optimizer")]
    pub scale: Option<Bend>,
    /// Limit of clip-norm [default: 1] or clip-value [default: 0.01]
    #[arg(long, allow_negative_numbers = true, help_heading = "Optimizer")]
    pub clip: Option<f64>,
    /// Adds symmetric stable noise to every component of the gradients, as in 1.5,1e-3
    #[arg(long, value_name = "ALPHA,SCALE", help_heading = "Noise")]
    pub inject_noise: Option<Noise>,
    /// Estimates the tail index of each layer's gradient noise every N steps, as in every=1000
    #[arg(long, value_name = "every=N", value_parser = parse_every, help_heading = "Noise")]
    pub tail_index: Option<u64>,
}

fn parse_every(text: &str) -> Result<u64, String> {
    let number = text.strip_prefix("every=").unwrap_or(text);
    match number.parse() {
        Ok(every) if every > 0 => Ok(every),
        _ => Err(format!("expected every=N with N at least 1, got {text:?}")),
    }
}

/// All that determines a run, with nothing left open.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields are those of `Request`")]
pub struct Settings {
    pub data: String,
    pub width: usize,
    pub depth: usize,
    pub batch: usize,
    pub iterations: u64,
    pub measure_every: u64,
    pub seed: u64,
    pub optimizer: Optimizer,
    pub alpha: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eta: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gamma: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beta: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lr: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub momentum: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale: Option<Bend>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clip: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inject_noise: Option<Noise>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tail_index: Option<u64>,
}

/// Settings that do not go together, or are out of range.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// Two ways to say the same thing.
    #[error(
        "{0} and {1} do not go together: the step is given by eta, gamma and beta, or by lr, momentum and scale"
    )]
    TwoForms(&'static str, &'static str),
    /// A setting of another optimizer.
    #[error("{setting} is a setting of {of}, and the optimizer is {optimizer}")]
    Foreign {
        /// The setting.
        setting: &'static str,
        /// Whose it is.
        of: &'static str,
        /// What was asked for.
        optimizer: Optimizer,
    },
    /// A number that must be at least one.
    #[error("{0} must be at least {1}, got {2}")]
    TooSmall(&'static str, u64, u64),
    /// A number that must be positive.
    #[error("{0} must be positive and finite, got {1}")]
    NotPositive(&'static str, f64),
    /// `scale = noise` needs to know the noise.
    #[error(
        "scale noise takes its scale from the added noise, and none is added: give inject-noise too, or scale noise=SCALE"
    )]
    UnknownNoise,
    /// What the rule itself refuses.
    #[error(transparent)]
    Rule(#[from] fuld::optimizer::RuleError),
}

impl Request {
    /// Fills in the defaults for a data set of this name and checks everything.
    pub fn settings(&self, data_set: &str) -> Result<Settings, SettingsError> {
        let optimizer = self.optimizer.unwrap_or(Optimizer::Fuld);
        self.refuse_foreign(optimizer)?;
        let papers = [("eta", self.eta), ("gamma", self.gamma), ("beta", self.beta)];
        let sgds = [("lr", self.lr), ("momentum", self.momentum), ("scale", self.scale.map(|_| 0.0))];
        let given = |of: [(&'static str, Option<f64>); 3]| of.into_iter().find(|(_, value)| value.is_some());
        if let (Some((a, _)), Some((b, _))) = (given(papers), given(sgds)) {
            return Err(SettingsError::TwoForms(a, b));
        }
        let adam = optimizer == Optimizer::Adam;
        let paper = given(sgds).is_none() && !adam;
        let scale = match self.scale {
            Some(Bend::Noise(None)) => {
                Some(Bend::Noise(Some(self.inject_noise.ok_or(SettingsError::UnknownNoise)?.scale)))
            }
            scale => scale,
        };
        let settings = Settings {
            data: self.data.clone().unwrap_or_else(|| "digits".into()),
            width: self.width.unwrap_or(256),
            depth: self.depth.unwrap_or(4),
            batch: self.batch.unwrap_or(100),
            iterations: self.iterations.unwrap_or(if data_set == "digits" { 2_000 } else { 10_000 }),
            measure_every: self.measure_every.unwrap_or(100),
            seed: self.seed.unwrap_or(0),
            optimizer,
            alpha: if optimizer == Optimizer::Fuld { self.alpha.unwrap_or(1.75) } else { 2.0 },
            eta: paper.then(|| self.eta.unwrap_or(0.1)),
            gamma: paper.then(|| self.gamma.unwrap_or(if data_set == "cifar10" { 0.9 } else { 0.1 })),
            beta: paper.then(|| self.beta.unwrap_or(1.0)),
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
        settings.checked()
    }

    fn refuse_foreign(&self, optimizer: Optimizer) -> Result<(), SettingsError> {
        let foreign = |setting, of| Err(SettingsError::Foreign { setting, of, optimizer });
        let (fuld, adam) = (optimizer == Optimizer::Fuld, optimizer == Optimizer::Adam);
        if self.alpha.is_some_and(|alpha| alpha != 2.0) && !fuld {
            return foreign("alpha", "fuld");
        }
        if self.scale.is_some() && !fuld {
            return foreign("scale", "fuld");
        }
        if self.clip.is_some() && !matches!(optimizer, Optimizer::ClipNorm | Optimizer::ClipValue) {
            return foreign("clip", "clip-norm and clip-value");
        }
        let momentum =
            [("eta", self.eta), ("gamma", self.gamma), ("beta", self.beta), ("momentum", self.momentum)];
        match momentum.into_iter().find(|(_, value)| value.is_some()) {
            Some((setting, _)) if adam => foreign(setting, "the optimizers with momentum"),
            _ => Ok(()),
        }
    }
}

impl Settings {
    fn checked(self) -> Result<Self, SettingsError> {
        let at_least = [
            ("width", 1, self.width as u64),
            ("depth", 1, self.depth as u64),
            ("batch", 1, self.batch as u64),
            ("iterations", 1, self.iterations),
            ("measure-every", 1, self.measure_every),
            ("tail-index every", 1, self.tail_index.unwrap_or(1)),
        ];
        if let Some(&(name, least, value)) = at_least.iter().find(|(_, least, value)| value < least) {
            return Err(SettingsError::TooSmall(name, least, value));
        }
        for (name, value) in [("eta", self.eta), ("lr", self.lr), ("clip", self.clip)] {
            if let Some(value) = value.filter(|value| !(*value > 0.0 && value.is_finite())) {
                return Err(SettingsError::NotPositive(name, value));
            }
        }
        if self.optimizer != Optimizer::Adam {
            self.config().check(self.step())?;
        }
        Ok(self)
    }

    /// What is handed to each step: η in the paper's form, else the learning rate.
    pub fn step(&self) -> f64 {
        self.eta.or(self.lr).unwrap_or(f64::NAN)
    }

    /// The update rule of every optimizer with momentum.
    pub fn config(&self) -> FuldConfig {
        let momentum = self.momentum.unwrap_or(0.0);
        let form = match (self.gamma, self.beta, self.scale) {
            (Some(gamma), Some(beta), _) => Form::Paper { gamma, beta },
            (_, _, Some(Bend::Kappa(kappa))) => Form::Matched { momentum, scale: Scale::Kappa(kappa) },
            (_, _, Some(Bend::Noise(noise))) => {
                Form::Matched { momentum, scale: Scale::Noise(noise.unwrap_or(f64::NAN)) }
            }
            _ => Form::Sgd { momentum },
        };
        FuldConfig::new(self.alpha, form)
    }

    /// As text, which tells one run from another.
    pub fn identity(&self) -> String {
        toml::to_string(self).unwrap_or_else(|error| format!("{error}\n{self:?}"))
    }

    /// A short name for people and folders.
    pub fn name(&self) -> String {
        let data = std::path::Path::new(&self.data).file_name().unwrap_or_default().to_string_lossy();
        let alpha =
            if self.optimizer == Optimizer::Fuld { format!("-{}", self.alpha) } else { String::new() };
        let Self { width, depth, optimizer, seed, .. } = self;
        let hash = fuld::durable::fingerprint(self.identity().as_bytes()) as u32;
        format!("{data}-{width}x{depth}-{optimizer}{alpha}-seed{seed}-{hash:08x}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(request: Request) -> String {
        request.settings("mnist").unwrap_err().to_string()
    }

    #[test]
    fn the_papers_setting_is_the_default() {
        let paper = Request::default().settings("mnist").unwrap();
        assert_eq!((paper.eta, paper.gamma, paper.beta), (Some(0.1), Some(0.1), Some(1.0)));
        assert_eq!(
            (paper.batch, paper.iterations, paper.measure_every, paper.alpha),
            (100, 10_000, 100, 1.75)
        );
        assert_eq!(Request::default().settings("cifar10").unwrap().gamma, Some(0.9));
        assert_eq!(paper.step(), 0.1);
    }

    #[test]
    fn what_does_not_go_together_is_refused() {
        let base = Request::default;
        assert!(says(Request { eta: Some(0.1), lr: Some(0.1), ..base() }).contains("eta and lr"));
        assert!(
            says(Request { optimizer: Some(Optimizer::Sgdm), alpha: Some(1.5), ..base() }).contains("sgdm")
        );
        assert!(says(Request { clip: Some(1.0), ..base() }).contains("clip-norm"));
        assert!(says(Request { optimizer: Some(Optimizer::Adam), eta: Some(0.1), ..base() }).contains("eta"));
        assert!(says(Request { scale: Some(Bend::Noise(None)), ..base() }).contains("inject-noise"));
    }

    #[test]
    fn bad_numbers_are_named() {
        let base = Request::default;
        assert!(says(Request { alpha: Some(2.1), ..base() }).contains("2.1"));
        assert!(says(Request { alpha: Some(f64::NAN), ..base() }).contains("NaN"));
        assert!(says(Request { eta: Some(-0.5), ..base() }).contains("-0.5"));
        assert!(says(Request { eta: Some(0.5), gamma: Some(3.0), ..base() }).contains("-0.5"));
        assert!(says(Request { lr: Some(0.1), momentum: Some(1.5), ..base() }).contains("1.5"));
        assert!(says(Request { depth: Some(0), ..base() }).contains("depth must be at least 1"));
        assert!("2.5,1".parse::<Noise>().unwrap_err().contains("2.5"));
        assert!("1.5".parse::<Noise>().unwrap_err().contains("1.5,1e-3"));
        assert!("-3".parse::<Bend>().unwrap_err().contains("-3"));
    }

    #[test]
    fn text_goes_round() {
        for text in ["0.05", "noise", "noise=0.001"] {
            assert_eq!(text.parse::<Bend>().unwrap().to_string(), text);
        }
        let noise: Noise = "1.5,1e-3".parse().unwrap();
        let request =
            Request { scale: Some(Bend::Noise(None)), inject_noise: Some(noise), ..Request::default() };
        let settings = request.settings("mnist").unwrap();
        assert_eq!(settings.scale, Some(Bend::Noise(Some(1e-3))));
        assert_eq!(toml::from_str::<Settings>(&settings.identity()).unwrap(), settings);
    }
}
