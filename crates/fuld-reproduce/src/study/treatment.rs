//! The optimizers that the studies compare.

use fuld_plot::Hue;
use fuld_train::spec::{
    DataDescription, Device, FieldFormula, NoiseScaleRequest, NumberOrAuto, Optimizer, SpecError,
    TrainRequest, TrainSpec,
};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The tail index of the paper's networks.
pub(crate) const PAPER_ALPHA: f64 = 1.75;

/// An optimizer with everything a study does not vary.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub(crate) enum Treatment {
    /// α = 2 in the paper's form: SGD with momentum at the paper's step.
    PaperGaussian,
    /// α = 1.75 by the paper's formula.
    PaperFormula,
    /// SGD with momentum at the small-signal step of `PaperFormula`.
    PaperControl,
    /// α = 1.75 by the field of the authors' code.
    AuthorsCode,
    /// SGD with momentum at the small-signal step of `AuthorsCode`.
    AuthorsControl,
    /// SGD with momentum.
    Sgdm,
    /// SGD with momentum, gradients scaled to at most this joint norm.
    ClipNorm(f64),
    /// SGD with momentum, gradient components clipped at this value.
    ClipComponents(f64),
    /// Adam.
    Adam,
    /// FULD in the matched form with the α and the noise scale of the injected noise.
    KnownNoise,
    /// FULD in the matched form with automatic α and noise scale.
    Auto,
}

/// The treatments without a limit, and the names in files. Clipping adds its limit to its name: `clip_norm_0.1`.
const NAMES: [(Treatment, &str); 9] = [
    (Treatment::PaperGaussian, "alpha_2"),
    (Treatment::PaperFormula, "alpha_1.75_paper"),
    (Treatment::PaperControl, "sgdm_matched_to_paper"),
    (Treatment::AuthorsCode, "alpha_1.75_authors"),
    (Treatment::AuthorsControl, "sgdm_matched_to_authors"),
    (Treatment::Sgdm, "sgdm"),
    (Treatment::Adam, "adam"),
    (Treatment::KnownNoise, "known_noise"),
    (Treatment::Auto, "auto"),
];

impl fmt::Display for Treatment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ClipNorm(limit) => write!(f, "clip_norm_{limit}"),
            Self::ClipComponents(limit) => write!(f, "clip_components_{limit}"),
            _ => f.write_str(NAMES.iter().find(|(other, _)| other == self).map_or("", |(_, name)| name)),
        }
    }
}

impl From<Treatment> for String {
    fn from(treatment: Treatment) -> Self {
        treatment.to_string()
    }
}

impl TryFrom<String> for Treatment {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let limit = |prefix: &str| text.strip_prefix(prefix)?.parse::<f64>().ok();
        let named = NAMES.iter().find(|(_, name)| *name == text).map(|(treatment, _)| *treatment);
        named
            .or_else(|| limit("clip_norm_").map(Self::ClipNorm))
            .or_else(|| limit("clip_components_").map(Self::ClipComponents))
            .ok_or_else(|| format!("unknown treatment {text:?}"))
    }
}

impl Treatment {
    /// The treatments of the paper's networks.
    pub(crate) const PAPER: [Self; 5] = [
        Self::PaperGaussian,
        Self::PaperFormula,
        Self::PaperControl,
        Self::AuthorsCode,
        Self::AuthorsControl,
    ];

    /// Returns the name in legends and sentences. All limits of one kind of clipping share it.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::PaperGaussian => "α = 2",
            Self::PaperFormula => "α = 1.75, paper's formula",
            Self::PaperControl => "SGDm, the formula's step",
            Self::AuthorsCode => "α = 1.75, authors' code",
            Self::AuthorsControl => "SGDm, the code's step",
            Self::Sgdm => "SGDm",
            Self::ClipNorm(_) => "SGDm clipped by norm",
            Self::ClipComponents(_) => "SGDm clipped by component",
            Self::Adam => "Adam",
            Self::KnownNoise => "FULD with known noise",
            Self::Auto => "FULD auto",
        }
    }

    /// Returns the colour. A control differs from the treatment it controls for, because the two curves may coincide.
    pub(crate) fn hue(self) -> Hue {
        match self {
            Self::PaperGaussian => Hue::alpha(2.0),
            Self::PaperFormula => Hue::alpha(PAPER_ALPHA),
            Self::PaperControl | Self::KnownNoise => Hue::Green,
            Self::AuthorsCode | Self::ClipNorm(_) => Hue::Orange,
            Self::AuthorsControl | Self::ClipComponents(_) => Hue::Muted,
            Self::Sgdm => Hue::Vermillion,
            Self::Adam => Hue::Purple,
            Self::Auto => Hue::Blue,
        }
    }

    /// Returns whether curves are dashed: those of controls.
    pub(crate) fn is_control(self) -> bool {
        matches!(self, Self::PaperControl | Self::AuthorsControl | Self::Sgdm)
    }

    /// Returns whether two treatments differ at most in their limit.
    pub(crate) fn same_kind(self, other: Self) -> bool {
        std::mem::discriminant(&self) == std::mem::discriminant(&other)
    }

    /// Returns the limit of clipping.
    pub(crate) fn limit(self) -> Option<f64> {
        match self {
            Self::ClipNorm(limit) | Self::ClipComponents(limit) => Some(limit),
            _ => None,
        }
    }

    /// Returns the specification of a run on images, from a request that leaves the optimizer open.
    pub(crate) fn spec(self, request: &TrainRequest, data: &DataDescription) -> Result<TrainSpec, SpecError> {
        let base = request.clone();
        let optimizer = |optimizer| TrainRequest { optimizer: Some(optimizer), ..request.clone() };
        let alpha = Some(PAPER_ALPHA.into());
        let request = match self {
            Self::PaperGaussian => TrainRequest { alpha: Some(2.0.into()), ..base },
            Self::PaperFormula | Self::PaperControl => TrainRequest { alpha, ..base },
            Self::AuthorsCode | Self::AuthorsControl => {
                TrainRequest { alpha, field: Some(FieldFormula::Authors), ..base }
            }
            Self::Sgdm => optimizer(Optimizer::Sgdm),
            Self::ClipNorm(limit) => TrainRequest { clip: Some(limit), ..optimizer(Optimizer::ClipNorm) },
            Self::ClipComponents(limit) => {
                TrainRequest { clip: Some(limit), ..optimizer(Optimizer::ClipValue) }
            }
            Self::Adam => optimizer(Optimizer::Adam),
            Self::KnownNoise => TrainRequest {
                alpha: base.inject_noise.map(|noise| noise.alpha.into()),
                noise_scale: Some(NoiseScaleRequest::Injected),
                ..base
            },
            Self::Auto => TrainRequest { alpha: Some(NumberOrAuto::Auto), ..base },
        };
        let spec = request.spec(data, Device::Cpu)?;
        if matches!(self, Self::PaperControl | Self::AuthorsControl) { spec.small_signal() } else { Ok(spec) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        let clipped = [Treatment::ClipNorm(0.1), Treatment::ClipComponents(1e-4)];
        for treatment in NAMES.map(|(treatment, _)| treatment).into_iter().chain(clipped) {
            assert_eq!(Treatment::try_from(treatment.to_string()), Ok(treatment));
        }
        assert!(Treatment::try_from("clip_norm_x".to_owned()).unwrap_err().contains("clip_norm_x"));
    }
}
