//! The specification of a training run, with the same names on the command line, in grids and in
//! result files.
//!
//! A user writes a [`TrainRequest`]; [`TrainRequest::spec`] fills in the defaults and checks all
//! settings. The resulting [`TrainSpec`] identifies the run: two runs with equal specifications,
//! made by the same [`TRAINING_VERSION`] on one kind of processor or GPU, have equal weights to the
//! last bit.

mod choices;
mod error;
mod request;

pub use choices::{
    Device, FieldFormula, GuardRequest, InjectedNoise, NamedChoice, NoiseScaleRequest, Optimizer,
    parse_alpha, parse_every,
};
pub use error::SpecError;
pub use request::TrainRequest;

use crate::checksum;
use crate::network::NetworkShape;
use choices::seed;
use error::MOST_WEIGHTS;
use fuld::guard::{Guard, GuardError};
use fuld::optimizer::{Coordinates, Form, Knee, RuleError};
use serde::{Deserialize, Serialize};

/// The version of the training rule. It must be increased whenever the numbers of some run change:
/// initial weights, minibatches, noise, update rule, guard or measurements. Results and checkpoints
/// of another version are not reused.
///
/// Results that do not name a version are of version 1. Version 2 came with the Philox generator
/// and named noise scales, version 3 with the guard, version 4 with its treatment of the first
/// gradient, version 5 with samples in runs of eight, version 6 with products by our own engine.
pub const TRAINING_VERSION: u32 = 6;

/// The properties of a data set that settings depend on.
#[derive(Clone, Debug, PartialEq)]
pub struct DataDescription {
    /// The name: `digits`, `mnist` or `cifar10`.
    pub name: String,
    /// SHA-256 of the pixels and labels, in hexadecimal.
    pub fingerprint: String,
    /// The number of training images.
    pub images: usize,
    /// Pixels per image, over all channels.
    pub inputs: usize,
    /// The number of classes.
    pub classes: usize,
}

/// The complete specification of a run, which identifies it. The fields are those of
/// [`TrainRequest`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields are those of `TrainRequest`")]
pub struct TrainSpec {
    /// The name of the data set.
    pub data: String,
    /// SHA-256 of the data set's pixels and labels. It distinguishes different sets of one name;
    /// copies of one set have the same.
    pub data_fingerprint: String,
    pub device: Device,
    pub width: usize,
    pub depth: usize,
    pub batch: usize,
    pub iterations: u64,
    pub measure_every: u64,
    #[serde(with = "seed")]
    pub seed: u64,
    pub optimizer: Optimizer,
    pub alpha: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eta: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gamma: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beta: Option<f64>,
    /// `None` for the paper's formula.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<FieldFormula>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lr: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub momentum: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noise_scale: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kappa: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clip: Option<f64>,
    /// The multiple of the geometric mean at which the guard clips components; `None` if gradients
    /// are not guarded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guard: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inject_noise: Option<InjectedNoise>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tail_index: Option<u64>,
}

impl TrainSpec {
    /// Checks every setting against its range and against the data set.
    pub fn check(&self, data: &DataDescription) -> Result<(), SpecError> {
        let counts = [
            ("width", self.width as u64),
            ("depth", self.depth as u64),
            ("batch", self.batch as u64),
            ("iterations", self.iterations),
            ("measure_every", self.measure_every),
            ("tail_index", self.tail_index.unwrap_or(1)),
        ];
        for (name, count) in counts {
            if count == 0 {
                return Err(SpecError::TooSmall(name, 1, count));
            }
            if i64::try_from(count).is_err() {
                return Err(SpecError::TooMany(name, count));
            }
        }
        if self.data_fingerprint != data.fingerprint {
            let (found, expected) = (data.fingerprint.clone(), self.data_fingerprint.clone());
            return Err(SpecError::OtherData { name: data.name.clone(), found, expected });
        }
        if self.batch > data.images {
            return Err(SpecError::Batch { batch: self.batch, images: data.images });
        }
        let Self { width, depth, .. } = *self;
        let weights = self.network(data.inputs, data.classes).weights();
        if weights as f64 > MOST_WEIGHTS {
            return Err(SpecError::TooLarge { width, depth, weights: weights as f64 });
        }
        for (name, value) in
            [("eta", self.eta), ("lr", self.lr), ("kappa", self.kappa), ("clip", self.clip)]
        {
            if let Some(value) = value.filter(|value| !(*value > 0.0 && value.is_finite())) {
                return Err(SpecError::NotPositive(name, value));
            }
        }
        if !(0.1..=2.0).contains(&self.alpha) {
            return Err(SpecError::Alpha(self.alpha));
        }
        self.guard()?;
        if self.optimizer != Optimizer::Adam {
            self.coordinates()?;
        }
        Ok(())
    }

    /// Returns the shape of the network for images of `inputs` pixels and for `classes` classes.
    pub fn network(&self, inputs: usize, classes: usize) -> NetworkShape {
        NetworkShape { inputs, width: self.width, depth: self.depth, classes }
    }

    /// Returns the step size: η in the paper's form, else the learning rate.
    pub fn step(&self) -> f64 {
        self.eta.or(self.lr).unwrap_or(f64::NAN)
    }

    /// Returns the guard of the gradients, if there is one.
    pub fn guard(&self) -> Result<Option<Guard>, GuardError> {
        self.guard.map(Guard::new).transpose()
    }

    /// Returns the form of the step of every optimizer with momentum.
    pub fn form(&self) -> Form {
        let momentum = self.momentum.unwrap_or(0.0);
        let knee = match (self.kappa, self.noise_scale) {
            (Some(kappa), _) => Some(Knee::Kappa(kappa)),
            (_, Some(scale)) => Some(Knee::NoiseScale(scale)),
            (None, None) => None,
        };
        match (self.gamma, knee) {
            (Some(gamma), _) if self.field == Some(FieldFormula::Authors) => {
                Form::Authors { gamma }
            }
            (Some(gamma), _) => Form::Paper { gamma, beta: self.beta.unwrap_or(1.0) },
            (None, Some(knee)) => Form::Matched { momentum, knee },
            (None, None) => Form::Sgd { momentum },
        }
    }

    /// Returns the step size, momentum and field of every optimizer with momentum.
    pub fn coordinates(&self) -> Result<Coordinates, RuleError> {
        self.form().coordinates(self.alpha, self.step())
    }

    /// Returns whether two runs can be trained together in a stack. They may differ in seed, step,
    /// α, friction or momentum, field, knee, limit of clipping, guard and injected noise.
    pub fn stacks_with(&self, other: &Self) -> bool {
        let common = |spec: &Self| {
            // SGD with momentum is FULD's rule at α = 2.
            let is_sgdm = spec.optimizer == Optimizer::Sgdm;
            let optimizer = if is_sgdm { Optimizer::Fuld } else { spec.optimizer };
            (
                (spec.data_fingerprint.clone(), spec.device, optimizer),
                (spec.width, spec.depth, spec.batch),
                (spec.iterations, spec.measure_every, spec.tail_index),
                (spec.guard.is_some(), spec.inject_noise.is_some()),
            )
        };
        common(self) == common(other)
    }

    /// Returns the specification of SGD with momentum that takes the same steps as long as they are
    /// small; all other settings are equal. As a control, it separates the effect of the tail from
    /// that of the learning rate.
    pub fn small_signal(&self) -> Result<Self, SpecError> {
        if self.optimizer != Optimizer::Fuld {
            return Ok(self.clone());
        }
        let control = self.coordinates()?.small_signal();
        Ok(Self {
            optimizer: Optimizer::Sgdm,
            alpha: 2.0,
            eta: None,
            gamma: None,
            beta: None,
            field: None,
            lr: Some(control.learning_rate()),
            momentum: Some(control.momentum()),
            noise_scale: None,
            kappa: None,
            ..self.clone()
        })
    }

    /// Returns the specification as TOML.
    pub fn to_toml(&self) -> String {
        // Cannot fail: every field is a number, a text or absent, and counts are checked to fit
        // into TOML's integers.
        toml::to_string(self).unwrap_or_else(|error| format!("# {error}\n"))
    }

    /// Returns a short name for people and folders. It ends with 64 bits of the SHA-256 of the
    /// specification; readers of a folder still compare the whole specification.
    pub fn name(&self) -> String {
        let alpha = if self.optimizer == Optimizer::Fuld {
            format!("-{}", self.alpha)
        } else {
            String::new()
        };
        let Self { data, width, depth, optimizer, seed, .. } = self;
        let hash = &checksum::of_bytes(self.to_toml().as_bytes())[..16];
        format!("{data}-{width}x{depth}-{optimizer}{alpha}-seed{seed}-{hash}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mnist() -> DataDescription {
        DataDescription {
            name: "mnist".into(),
            fingerprint: "1".into(),
            images: 60_000,
            inputs: 784,
            classes: 10,
        }
    }

    fn error(request: TrainRequest) -> String {
        request.spec(&mnist(), Device::Cpu).unwrap_err().to_string()
    }

    #[test]
    fn defaults_are_the_settings_of_the_paper() {
        let paper = TrainRequest::default().spec(&mnist(), Device::Cpu).unwrap();
        assert_eq!((paper.eta, paper.gamma, paper.beta), (Some(0.1), Some(0.1), Some(1.0)));
        assert_eq!(
            (paper.batch, paper.iterations, paper.measure_every, paper.alpha),
            (100, 10_000, 100, 1.75)
        );
        assert_eq!(
            TrainRequest::default()
                .spec(&DataDescription { name: "cifar10".into(), ..mnist() }, Device::Cpu)
                .unwrap()
                .gamma,
            Some(0.9)
        );
        assert_eq!(paper.step(), 0.1);
    }

    #[test]
    fn contradictory_settings_are_refused() {
        let base = TrainRequest::default;
        assert!(
            error(TrainRequest { eta: Some(0.1), lr: Some(0.1), ..base() }).contains("eta and lr")
        );
        assert!(
            error(TrainRequest { optimizer: Some(Optimizer::Sgdm), alpha: Some(1.5), ..base() })
                .contains("sgdm")
        );
        assert!(error(TrainRequest { clip: Some(1.0), ..base() }).contains("clip"));
        assert!(
            error(TrainRequest { optimizer: Some(Optimizer::Adam), eta: Some(0.1), ..base() })
                .contains("eta")
        );
        assert!(
            error(TrainRequest { noise_scale: Some(NoiseScaleRequest::Injected), ..base() })
                .contains("inject_noise")
        );
    }

    /// Every optimizer has a guard; its default depends on the optimizer.
    #[test]
    fn a_guard_has_a_default_for_each_optimizer() {
        let guard = |text: &str, optimizer| {
            let request = TrainRequest {
                optimizer: Some(optimizer),
                guard: Some(text.parse().unwrap()),
                ..TrainRequest::default()
            };
            let spec = request.spec(&mnist(), Device::Cpu).unwrap();
            assert_eq!(toml::from_str::<TrainSpec>(&spec.to_toml()).unwrap(), spec);
            assert_eq!(request.difference(&spec), None);
            spec.guard
        };
        for optimizer in
            [Optimizer::Sgdm, Optimizer::Fuld, Optimizer::ClipNorm, Optimizer::ClipValue]
        {
            assert_eq!(guard("default", optimizer), Some(1.0));
        }
        assert_eq!(
            (guard("default", Optimizer::Adam), guard("3", Optimizer::Adam)),
            (Some(30.0), Some(3.0))
        );
        assert!("0".parse::<GuardRequest>().unwrap_err().contains("\"0\""));
        let request =
            TrainRequest { guard: Some(GuardRequest::Given(-1.0)), ..TrainRequest::default() };
        assert!(error(request).contains("got -1"));
    }

    #[test]
    fn errors_name_the_value_that_is_out_of_range() {
        let base = TrainRequest::default;
        assert!(error(TrainRequest { alpha: Some(2.1), ..base() }).contains("2.1"));
        assert!(error(TrainRequest { alpha: Some(f64::NAN), ..base() }).contains("NaN"));
        assert!(error(TrainRequest { eta: Some(-0.5), ..base() }).contains("-0.5"));
        assert!(
            error(TrainRequest { eta: Some(0.5), gamma: Some(3.0), ..base() }).contains("-0.5")
        );
        assert!(
            error(TrainRequest { lr: Some(0.1), momentum: Some(1.5), ..base() }).contains("1.5")
        );
        assert!(
            error(TrainRequest { depth: Some(0), ..base() }).contains("depth must be at least 1")
        );
        assert!(error(TrainRequest { batch: Some(60_001), ..base() }).contains("60001"));
        assert!(
            error(TrainRequest { width: Some(1_000_000_000), ..base() }).contains("1000000000")
        );
        assert!(error(TrainRequest { alpha: Some(0.05), ..base() }).contains("0.05"));
        assert!("2.5,1".parse::<InjectedNoise>().unwrap_err().contains("2.5"));
        assert!("1.5".parse::<InjectedNoise>().unwrap_err().contains("1.5,1e-3"));
        assert!("-3".parse::<NoiseScaleRequest>().unwrap_err().contains("-3"));
        assert!(parse_alpha("two").unwrap_err().contains("\"two\""));
        // A setting of earlier versions.
        let auto = ["alpha = 'auto'", "noise_scale = 'auto'"].map(toml::from_str::<TrainRequest>);
        assert!(
            auto.iter().all(|request| request
                .as_ref()
                .unwrap_err()
                .to_string()
                .contains("--guard"))
        );
    }

    #[test]
    fn the_authors_field_belongs_to_the_papers_form() {
        let authors =
            TrainRequest { field: Some(FieldFormula::Authors), ..TrainRequest::default() };
        let spec = authors.spec(&mnist(), Device::Cpu).unwrap();
        assert_eq!(spec.form(), Form::Authors { gamma: 0.1 });
        assert!(error(TrainRequest { lr: Some(0.01), ..authors.clone() }).contains("field and lr"));
        assert!(
            error(TrainRequest { beta: Some(3.0), ..authors.clone() }).contains("no beta, got 3")
        );
        assert!(
            error(TrainRequest { optimizer: Some(Optimizer::Sgdm), ..authors })
                .contains("sgdm has no field")
        );
        // Naming the paper's field explicitly gives the same run with the same name as the default.
        let paper = TrainRequest { field: Some(FieldFormula::Paper), ..TrainRequest::default() };
        assert_eq!(
            paper.spec(&mnist(), Device::Cpu).unwrap().to_toml(),
            TrainRequest::default().spec(&mnist(), Device::Cpu).unwrap().to_toml()
        );
    }

    #[test]
    fn the_control_takes_the_same_small_steps() {
        let paper = TrainRequest::default().spec(&mnist(), Device::Cpu).unwrap();
        let authors =
            TrainRequest { field: Some(FieldFormula::Authors), ..TrainRequest::default() };
        let authors = authors.spec(&mnist(), Device::Cpu).unwrap();
        for (spec, slope) in [(paper, 1.1085), (authors, 0.5117)] {
            let control = spec.small_signal().unwrap();
            assert_eq!((control.optimizer, control.momentum), (Optimizer::Sgdm, Some(0.99)));
            assert!((control.step() / 0.01 - slope).abs() < 1e-4, "{}", control.step());
            assert_eq!((control.seed, control.width), (spec.seed, spec.width));
            // The control can be requested: --optimizer sgdm --lr … --momentum ….
            let (optimizer, lr, momentum) = (Some(Optimizer::Sgdm), control.lr, control.momentum);
            let typed = TrainRequest { optimizer, lr, momentum, ..TrainRequest::default() };
            assert_eq!(typed.spec(&mnist(), Device::Cpu).unwrap(), control);
            assert_eq!(control.small_signal().unwrap(), control);
        }
    }

    #[test]
    fn text_and_toml_round_trip() {
        for text in ["0.05", "injected", "0.001"] {
            assert_eq!(text.parse::<NoiseScaleRequest>().unwrap().to_string(), text);
        }
        let noise: InjectedNoise = "1.5,1e-3".parse().unwrap();
        let request = TrainRequest {
            noise_scale: Some(NoiseScaleRequest::Injected),
            inject_noise: Some(noise),
            ..TrainRequest::default()
        };
        let spec = request.spec(&mnist(), Device::Cpu).unwrap();
        assert_eq!(spec.noise_scale, Some(1e-3));
        assert_eq!(toml::from_str::<TrainSpec>(&spec.to_toml()).unwrap(), spec);
    }
}
