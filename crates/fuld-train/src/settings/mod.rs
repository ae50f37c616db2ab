//! What determines a training run: the same names on the command line, in a sweep's grid and in a run's folder.

mod error;
mod request;
mod written;

pub use error::SettingsError;
pub use request::Request;
pub use written::{Bend, Noise, TailIndex};

use crate::mlp::Shape;
use clap::ValueEnum;
use error::MOST_WEIGHTS;
use fuld_burn::{Form, FuldConfig, Knee};
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display};

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
        write_name(self, f)
    }
}

/// The name on the command line.
fn write_name(value: &impl ValueEnum, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str(value.to_possible_value().as_ref().map_or("", |value| value.get_name()))
}

/// The field of the paper's form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Field {
    /// The paper's formula, ∇G_α.
    Paper,
    /// What the authors' public code computes, s(αv)/2: rises half as fast, and is no reference.
    Authors,
}

impl Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_name(self, f)
    }
}

/// What computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Device {
    /// The processor.
    Cpu,
    /// An NVIDIA GPU; the program must be built with `--features cuda`.
    Cuda,
}

impl Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_name(self, f)
    }
}

/// What settings need to know of a data set.
#[derive(Clone, Debug, PartialEq)]
pub struct Subject {
    /// Its name.
    pub name: String,
    /// Of its pixels and labels, as text.
    pub fingerprint: String,
    /// Training images.
    pub images: usize,
    /// Numbers of an image.
    pub inputs: usize,
    /// Classes.
    pub classes: usize,
}

/// All that determines a run, with nothing left open.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields are those of `Request`")]
pub struct Settings {
    /// The name of the data set.
    pub data: String,
    /// Of its pixels and labels: two sets of one name are two sets, and one set in two places is one.
    pub data_fingerprint: String,
    pub device: Device,
    pub width: usize,
    pub depth: usize,
    pub batch: usize,
    pub iterations: u64,
    pub measure_every: u64,
    pub seed: u64,
    pub optimizer: Optimizer,
    pub alpha: TailIndex,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eta: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gamma: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beta: Option<f64>,
    /// None: the paper's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<Field>,
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

impl Settings {
    fn checked(self, subject: &Subject) -> Result<Self, SettingsError> {
        let at_least = [
            ("width", 1, self.width as u64),
            ("depth", 1, self.depth as u64),
            ("batch", 1, self.batch as u64),
            ("iterations", 1, self.iterations),
            ("measure-every", 1, self.measure_every),
        ];
        if let Some(&(name, least, value)) = at_least.iter().find(|(_, least, value)| value < least) {
            return Err(SettingsError::TooSmall(name, least, value));
        }
        if self.batch > subject.images {
            return Err(SettingsError::Batch { batch: self.batch, images: subject.images });
        }
        let Self { width, depth, .. } = self;
        let weights = Shape { inputs: subject.inputs, width, depth, classes: subject.classes }.weights();
        if weights as f64 > MOST_WEIGHTS {
            return Err(SettingsError::TooLarge { width, depth, weights: weights as f64 });
        }
        for (name, value) in [("eta", self.eta), ("lr", self.lr), ("clip", self.clip)] {
            if let Some(value) = value.filter(|value| !(*value > 0.0 && value.is_finite())) {
                return Err(SettingsError::NotPositive(name, value));
            }
        }
        if let TailIndex::Given(alpha) = self.alpha
            && !(0.1..=2.0).contains(&alpha)
        {
            return Err(SettingsError::Alpha(alpha));
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
        let form = match (self.gamma, self.scale) {
            (Some(gamma), _) if self.field == Some(Field::Authors) => Form::Authors { gamma },
            (Some(gamma), _) => Form::Paper { gamma, beta: self.beta.unwrap_or(1.0) },
            (_, Some(Bend::Kappa(kappa))) => Form::Matched { momentum, knee: Knee::Kappa(kappa) },
            (_, Some(Bend::Noise(noise))) => {
                Form::Matched { momentum, knee: Knee::NoiseScale(noise.unwrap_or(f64::NAN)) }
            }
            (_, Some(Bend::Auto)) => Form::Matched { momentum, knee: Knee::Auto },
            _ => Form::Sgd { momentum },
        };
        match self.alpha {
            TailIndex::Given(alpha) => FuldConfig::new(alpha, form),
            TailIndex::Auto => FuldConfig::new(2.0, form).with_auto_alpha(true),
        }
    }

    /// SGD with momentum that takes the same steps as long as they are small, all else equal: the control that tells what the tail
    /// does from what the learning rate does.
    pub fn small_signal(&self) -> Result<Self, SettingsError> {
        if self.optimizer != Optimizer::Fuld {
            return Ok(self.clone());
        }
        let control = self.config().coordinates(self.step())?.small_signal();
        Ok(Self {
            optimizer: Optimizer::Sgdm,
            alpha: 2.0.into(),
            eta: None,
            gamma: None,
            beta: None,
            field: None,
            lr: Some(control.learning_rate()),
            momentum: Some(control.momentum()),
            scale: None,
            ..self.clone()
        })
    }

    /// As text, which tells one run from another.
    pub fn identity(&self) -> String {
        toml::to_string(self).unwrap_or_else(|error| format!("{error}\n{self:?}"))
    }

    /// A short name for people and folders.
    pub fn name(&self) -> String {
        let alpha =
            if self.optimizer == Optimizer::Fuld { format!("-{}", self.alpha) } else { String::new() };
        let Self { data, width, depth, optimizer, seed, .. } = self;
        let hash = fuld::durable::fingerprint(self.identity().as_bytes()) as u32;
        format!("{data}-{width}x{depth}-{optimizer}{alpha}-seed{seed}-{hash:08x}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mnist() -> Subject {
        Subject { name: "mnist".into(), fingerprint: "1".into(), images: 60_000, inputs: 784, classes: 10 }
    }

    fn says(request: Request) -> String {
        request.settings(&mnist(), Device::Cpu).unwrap_err().to_string()
    }

    #[test]
    fn the_papers_setting_is_the_default() {
        let paper = Request::default().settings(&mnist(), Device::Cpu).unwrap();
        assert_eq!((paper.eta, paper.gamma, paper.beta), (Some(0.1), Some(0.1), Some(1.0)));
        assert_eq!(
            (paper.batch, paper.iterations, paper.measure_every, paper.alpha),
            (100, 10_000, 100, TailIndex::Given(1.75))
        );
        assert_eq!(
            Request::default()
                .settings(&Subject { name: "cifar10".into(), ..mnist() }, Device::Cpu)
                .unwrap()
                .gamma,
            Some(0.9)
        );
        assert_eq!(paper.step(), 0.1);
    }

    #[test]
    fn what_does_not_go_together_is_refused() {
        let base = Request::default;
        assert!(says(Request { eta: Some(0.1), lr: Some(0.1), ..base() }).contains("eta and lr"));
        assert!(
            says(Request { optimizer: Some(Optimizer::Sgdm), alpha: Some(1.5.into()), ..base() })
                .contains("sgdm")
        );
        assert!(says(Request { clip: Some(1.0), ..base() }).contains("clip"));
        assert!(says(Request { optimizer: Some(Optimizer::Adam), eta: Some(0.1), ..base() }).contains("eta"));
        assert!(says(Request { scale: Some(Bend::Noise(None)), ..base() }).contains("inject-noise"));
        let auto = Request { alpha: Some(TailIndex::Auto), ..base() };
        assert!(says(Request { eta: Some(0.1), ..auto.clone() }).contains("alpha auto and eta"));
        assert!(
            says(Request { scale: Some(Bend::Kappa(1.0)), ..auto })
                .contains("found only in the matched form")
        );
    }

    #[test]
    fn bad_numbers_are_named() {
        let base = Request::default;
        assert!(says(Request { alpha: Some(2.1.into()), ..base() }).contains("2.1"));
        assert!(says(Request { alpha: Some(f64::NAN.into()), ..base() }).contains("NaN"));
        assert!(says(Request { eta: Some(-0.5), ..base() }).contains("-0.5"));
        assert!(says(Request { eta: Some(0.5), gamma: Some(3.0), ..base() }).contains("-0.5"));
        assert!(says(Request { lr: Some(0.1), momentum: Some(1.5), ..base() }).contains("1.5"));
        assert!(says(Request { depth: Some(0), ..base() }).contains("depth must be at least 1"));
        assert!(says(Request { batch: Some(60_001), ..base() }).contains("60001"));
        assert!(says(Request { width: Some(1_000_000_000), ..base() }).contains("1000000000"));
        assert!(says(Request { alpha: Some(0.05.into()), ..base() }).contains("0.05"));
        assert!("2.5,1".parse::<Noise>().unwrap_err().contains("2.5"));
        assert!("1.5".parse::<Noise>().unwrap_err().contains("1.5,1e-3"));
        assert!("-3".parse::<Bend>().unwrap_err().contains("-3"));
    }

    #[test]
    fn the_authors_field_belongs_to_the_papers_form() {
        let authors = Request { field: Some(Field::Authors), ..Request::default() };
        let settings = authors.settings(&mnist(), Device::Cpu).unwrap();
        assert_eq!(settings.config().form, Form::Authors { gamma: 0.1 });
        assert!(says(Request { lr: Some(0.01), ..authors.clone() }).contains("field and lr"));
        assert!(says(Request { beta: Some(3.0), ..authors.clone() }).contains("no beta, got 3"));
        assert!(says(Request { optimizer: Some(Optimizer::Sgdm), ..authors }).contains("sgdm has no field"));
        // The paper's is what there was before there was a choice: the same run, by the same name.
        let paper = Request { field: Some(Field::Paper), ..Request::default() };
        assert_eq!(
            paper.settings(&mnist(), Device::Cpu).unwrap().identity(),
            Request::default().settings(&mnist(), Device::Cpu).unwrap().identity()
        );
    }

    #[test]
    fn the_control_has_the_small_steps_of_the_original() {
        let paper = Request::default().settings(&mnist(), Device::Cpu).unwrap();
        let authors = Request { field: Some(Field::Authors), ..Request::default() };
        let authors = authors.settings(&mnist(), Device::Cpu).unwrap();
        for (settings, slope) in [(paper, 1.1085), (authors, 0.5117)] {
            let control = settings.small_signal().unwrap();
            assert_eq!((control.optimizer, control.momentum), (Optimizer::Sgdm, Some(0.99)));
            assert!((control.step() / 0.01 - slope).abs() < 1e-4, "{}", control.step());
            assert_eq!((control.seed, control.width), (settings.seed, settings.width));
            // It can be typed: --optimizer sgdm --lr … --momentum ….
            let (optimizer, lr, momentum) = (Some(Optimizer::Sgdm), control.lr, control.momentum);
            let typed = Request { optimizer, lr, momentum, ..Request::default() };
            assert_eq!(typed.settings(&mnist(), Device::Cpu).unwrap(), control);
            assert_eq!(control.small_signal().unwrap(), control);
        }
    }

    #[test]
    fn text_goes_round() {
        for text in ["auto", "1.5"] {
            assert_eq!(text.parse::<TailIndex>().unwrap().to_string(), text);
        }
        for (alpha, scale) in [(None, Some(Bend::Auto)), (Some(TailIndex::Auto), None)] {
            let auto =
                Request { alpha, scale, ..Request::default() }.settings(&mnist(), Device::Cpu).unwrap();
            assert_eq!((auto.alpha, auto.scale, auto.lr), (TailIndex::Auto, Some(Bend::Auto), Some(0.01)));
            assert_eq!(toml::from_str::<Settings>(&auto.identity()).unwrap(), auto);
            assert_eq!(auto.small_signal().unwrap().lr, auto.lr);
        }
        for text in ["0.05", "noise", "noise=0.001", "auto"] {
            assert_eq!(text.parse::<Bend>().unwrap().to_string(), text);
        }
        let noise: Noise = "1.5,1e-3".parse().unwrap();
        let request =
            Request { scale: Some(Bend::Noise(None)), inject_noise: Some(noise), ..Request::default() };
        let settings = request.settings(&mnist(), Device::Cpu).unwrap();
        assert_eq!(settings.scale, Some(Bend::Noise(Some(1e-3))));
        assert_eq!(toml::from_str::<Settings>(&settings.identity()).unwrap(), settings);
    }
}
