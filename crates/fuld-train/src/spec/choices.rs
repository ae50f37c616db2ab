//! Values of settings that are chosen by name or written as text, on the command line and in grids.
//!
//! Every type here reads and prints one notation, so that `--inject-noise 1.5,1e-3` and
//! `inject_noise = "1.5,1e-3"` in a grid and in a result mean the same.

use fuld::guard::Guard;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt::{self, Display};
use std::str::FromStr;

/// A choice among a few values, each with a name and a one-line description.
pub trait NamedChoice: Copy + PartialEq + Send + Sync + 'static {
    /// Every value with its name and description.
    const ALL: &'static [(Self, &'static str, &'static str)];

    /// Returns the name of the value.
    fn name(self) -> &'static str {
        Self::ALL.iter().find(|(value, ..)| *value == self).map_or("", |(_, name, _)| name)
    }
}

macro_rules! named_choice {
    ($(#[$doc:meta])* $type:ident { $($variant:ident = $name:literal: $description:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum $type {
            $(#[doc = $description] #[serde(rename = $name)] $variant,)*
        }

        impl NamedChoice for $type {
            const ALL: &'static [(Self, &'static str, &'static str)] =
                &[$((Self::$variant, $name, $description)),*];
        }

        impl Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

named_choice! {
    /// An optimizer.
    Optimizer {
        Sgdm = "sgdm": "SGD with momentum",
        Fuld = "fuld": "SGD with momentum whose step goes through the field of a stable law",
        ClipNorm = "clip-norm": "SGD with momentum on gradients clipped to a joint norm",
        ClipValue = "clip-value": "SGD with momentum on gradients whose components are clipped",
        Adam = "adam": "Adam",
    }
}

named_choice! {
    /// The formula of the field in the paper's form.
    FieldFormula {
        Paper = "paper": "The paper's formula, ∇G_α",
        Authors = "authors": "The formula of the authors' public code, s(αv)/2, for comparison only: it rises half as fast",
    }
}

named_choice! {
    /// The hardware that computes.
    Device {
        Cpu = "cpu": "The processor",
        Cuda = "cuda": "An NVIDIA GPU; the program must be built with `--features cuda`",
        CudaTf32 = "cuda-tf32": "An NVIDIA GPU whose products round their factors to 11 bits (TF32)",
    }
}

#[expect(clippy::derivable_impls, reason = "the macro derives the same for all choices")]
impl Default for Device {
    fn default() -> Self {
        Self::Cpu
    }
}

/// Stable noise SαS(scale) that is added to every component of every gradient, written
/// `alpha,scale`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InjectedNoise {
    /// The tail index.
    pub alpha: f64,
    /// The scale, in units of the gradient.
    pub scale: f64,
}

impl FromStr for InjectedNoise {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("expected ALPHA,SCALE as in 1.5,1e-3, got {text:?}");
        let (alpha, scale) = text.split_once(',').ok_or_else(wrong)?;
        let number = |text: &str| text.trim().parse::<f64>().map_err(|_| wrong());
        let (alpha, scale) = (number(alpha)?, number(scale)?);
        levy_stable::SymmetricStable::new(alpha)
            .and_then(|law| law.with_scale(scale))
            .map_err(|error| error.to_string())?;
        Ok(Self { alpha, scale })
    }
}

impl Display for InjectedNoise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{}", self.alpha, self.scale)
    }
}

impl Serialize for InjectedNoise {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The advice for the setting `auto` of earlier versions.
const AUTO: &str = "auto was replaced by the guard: use --guard, or guard = \"default\" in a grid";

/// Parses a tail index.
pub fn parse_alpha(text: &str) -> Result<f64, String> {
    match text.trim() {
        "auto" => Err(AUTO.into()),
        number => number.parse().map_err(|_| format!("expected a number, got {text:?}")),
    }
}

pub(super) fn deserialize_alpha<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<f64>, D::Error> {
    let text = text_or_number(deserializer)?;
    parse_alpha(&text).map(Some).map_err(serde::de::Error::custom)
}

/// The requested scale of the gradient noise: a positive number, or `injected` for the scale of the
/// injected noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NoiseScaleRequest {
    /// This scale, in units of the gradient.
    Given(f64),
    /// The scale of the injected noise.
    Injected,
}

impl FromStr for NoiseScaleRequest {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim() {
            "auto" => Err(AUTO.into()),
            "injected" => Ok(Self::Injected),
            number => match number.parse::<f64>() {
                Ok(scale) if scale > 0.0 && scale.is_finite() => Ok(Self::Given(scale)),
                _ => Err(format!("expected a positive number or injected, got {text:?}")),
            },
        }
    }
}

impl Display for NoiseScaleRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Given(scale) => write!(f, "{scale}"),
            Self::Injected => f.write_str("injected"),
        }
    }
}

/// The requested guard: the multiple of the geometric mean at which gradient components are
/// clipped, or `default` for that of the optimizer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GuardRequest {
    /// This multiple.
    Given(f64),
    /// 30 for adam, 1 for the others.
    Default,
}

impl GuardRequest {
    /// Returns the multiple for an optimizer.
    pub fn clip(self, optimizer: Optimizer) -> f64 {
        match self {
            Self::Given(clip) => clip,
            Self::Default if optimizer == Optimizer::Adam => Guard::FOR_ADAM.clip(),
            Self::Default => Guard::FOR_SGD.clip(),
        }
    }
}

impl FromStr for GuardRequest {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim() {
            "default" => Ok(Self::Default),
            number => match number.parse::<f64>() {
                Ok(clip) if Guard::new(clip).is_ok() => Ok(Self::Given(clip)),
                _ => Err(format!("expected a positive number or default, got {text:?}")),
            },
        }
    }
}

impl Display for GuardRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Given(clip) => write!(f, "{clip}"),
            Self::Default => f.write_str("default"),
        }
    }
}

/// Reads a type from its notation; a bare number is accepted in place of text.
macro_rules! deserialize_from_text {
    ($($type:ty),*) => {$(
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                text_or_number(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        }
    )*};
}

deserialize_from_text!(GuardRequest, InjectedNoise, NoiseScaleRequest);

/// Parses `every=N`, or just N.
pub fn parse_every(text: &str) -> Result<u64, String> {
    let number = text.strip_prefix("every=").unwrap_or(text);
    match number.parse() {
        Ok(every) if every > 0 => Ok(every),
        _ => Err(format!("expected every=N with N at least 1, got {text:?}")),
    }
}

pub(super) fn deserialize_every<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<u64>, D::Error> {
    let text = text_or_number(deserializer)?;
    parse_every(&text).map(Some).map_err(serde::de::Error::custom)
}

/// Seeds as TOML integers up to 2⁶³ − 1, the largest that TOML has, and as text above.
pub(super) mod seed {
    use super::{Deserializer, Serializer, text_or_number};

    pub(in crate::spec) fn serialize<S: Serializer>(
        seed: &u64,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match i64::try_from(*seed) {
            Ok(number) => serializer.serialize_i64(number),
            Err(_) => serializer.collect_str(seed),
        }
    }

    pub(in crate::spec) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<u64, D::Error> {
        let text = text_or_number(deserializer)?;
        let wrong =
            || serde::de::Error::custom(format!("expected a whole number from 0 on, got {text:?}"));
        text.parse().map_err(|_| wrong())
    }

    pub(in crate::spec) fn deserialize_option<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<u64>, D::Error> {
        deserialize(deserializer).map(Some)
    }
}

fn text_or_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum TextOrNumber {
        Whole(u64),
        Number(f64),
        Text(String),
    }
    Ok(match TextOrNumber::deserialize(deserializer)? {
        TextOrNumber::Whole(number) => number.to_string(),
        TextOrNumber::Number(number) => number.to_string(),
        TextOrNumber::Text(text) => text,
    })
}
