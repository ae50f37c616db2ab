//! Settings that are written as text, on the command line and in a grid.

use serde::{Deserialize, Deserializer, Serialize};
use std::fmt::{self, Display};
use std::str::FromStr;

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

/// The tail index of fuld: a number, or `auto`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TailIndex {
    /// This one.
    Given(f64),
    /// Found from the gradients of each layer.
    Auto,
}

impl From<f64> for TailIndex {
    fn from(alpha: f64) -> Self {
        Self::Given(alpha)
    }
}

impl FromStr for TailIndex {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim() {
            "auto" => Ok(Self::Auto),
            number => number
                .parse()
                .map(Self::Given)
                .map_err(|_| format!("expected a number or auto, got {text:?}")),
        }
    }
}

impl Display for TailIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Given(alpha) => write!(f, "{alpha}"),
            Self::Auto => f.write_str("auto"),
        }
    }
}

/// A number stays a number.
impl Serialize for TailIndex {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Given(alpha) => serializer.serialize_f64(*alpha),
            Self::Auto => serializer.serialize_str("auto"),
        }
    }
}

impl<'de> Deserialize<'de> for TailIndex {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        written(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// Where the field of the matched form bends: a number κ, or `noise=SCALE`, or `noise` for the scale of the added noise, or `auto`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bend {
    /// At κ.
    Kappa(f64),
    /// Where gradient noise of this scale puts it; none: that which is added.
    Noise(Option<f64>),
    /// Where the gradients themselves say.
    Auto,
}

impl FromStr for Bend {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| match text.trim().parse::<f64>() {
            Ok(number) if number > 0.0 && number.is_finite() => Ok(number),
            _ => Err(format!("expected a positive number, noise, noise=SCALE or auto, got {text:?}")),
        };
        if text == "auto" {
            return Ok(Self::Auto);
        }
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
            Self::Auto => f.write_str("auto"),
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
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = written(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

as_text!(Noise);
as_text!(Bend);

/// `every=N`, or just N.
pub(super) fn parse_every(text: &str) -> Result<u64, String> {
    let number = text.strip_prefix("every=").unwrap_or(text);
    match number.parse() {
        Ok(every) if every > 0 => Ok(every),
        _ => Err(format!("expected every=N with N at least 1, got {text:?}")),
    }
}

pub(super) fn read_every<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let text = written(deserializer)?;
    parse_every(&text).map(Some).map_err(serde::de::Error::custom)
}

/// A text, or a bare number as text.
fn written<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Whole(u64),
        Number(f64),
        Text(String),
    }
    Ok(match Written::deserialize(deserializer)? {
        Written::Whole(number) => number.to_string(),
        Written::Number(number) => number.to_string(),
        Written::Text(text) => text,
    })
}
