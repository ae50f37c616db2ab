//! The optimizers that the studies compare.

use fuld_plot::Hue;
use fuld_train::spec::{
    DataDescription, Device, FieldFormula, GuardRequest, NoiseScaleRequest, Optimizer, SpecError,
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
    ClipValue(f64),
    /// SGD with momentum on guarded gradients, clipped at this multiple of their geometric mean.
    GuardedSgdm(f64),
    /// Adam at its own learning rate, whatever that of the other treatments.
    Adam,
    /// The same on guarded gradients, clipped at this multiple of their geometric mean.
    GuardedAdam(f64),
    /// FULD in the matched form with the α and the noise scale of the injected noise.
    KnownNoise,
}

impl fmt::Display for Treatment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.about().0)?;
        self.number().map_or(Ok(()), |number| write!(f, "_{number}"))
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
        let number =
            |kind: Self| text.strip_prefix(kind.about().0)?.strip_prefix('_')?.parse().ok();
        let read = |kind: Self| match kind {
            Self::ClipNorm(_) => Some(Self::ClipNorm(number(kind)?)),
            Self::ClipValue(_) => Some(Self::ClipValue(number(kind)?)),
            Self::GuardedSgdm(_) => Some(Self::GuardedSgdm(number(kind)?)),
            Self::GuardedAdam(_) => Some(Self::GuardedAdam(number(kind)?)),
            _ => (kind.about().0 == text).then_some(kind),
        };
        Self::KINDS.into_iter().find_map(read).ok_or_else(|| format!("unknown treatment {text:?}"))
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

    /// One of every kind.
    const KINDS: [Self; 12] = [
        Self::PaperGaussian,
        Self::PaperFormula,
        Self::PaperControl,
        Self::AuthorsCode,
        Self::AuthorsControl,
        Self::Sgdm,
        Self::ClipNorm(f64::NAN),
        Self::ClipValue(f64::NAN),
        Self::GuardedSgdm(f64::NAN),
        Self::Adam,
        Self::GuardedAdam(f64::NAN),
        Self::KnownNoise,
    ];

    /// Returns the name in files, to which clipping and guards add their number, the name in
    /// legends and sentences, and the colour. A control has another colour than the treatment it
    /// controls for, because the two curves may coincide.
    fn about(self) -> (&'static str, &'static str, Hue) {
        match self {
            Self::PaperGaussian => ("alpha_2", "α = 2", Hue::alpha(2.0)),
            Self::PaperFormula => {
                ("alpha_1.75_paper", "α = 1.75, paper's formula", Hue::alpha(PAPER_ALPHA))
            }
            Self::PaperControl => ("sgdm_matched_to_paper", "SGDm, the formula's step", Hue::Green),
            Self::AuthorsCode => ("alpha_1.75_authors", "α = 1.75, authors' code", Hue::Orange),
            Self::AuthorsControl => {
                ("sgdm_matched_to_authors", "SGDm, the code's step", Hue::Muted)
            }
            Self::Sgdm => ("sgdm", "SGDm", Hue::Vermillion),
            Self::ClipNorm(_) => ("clip_norm", "SGDm clipped by norm", Hue::Orange),
            Self::ClipValue(_) => ("clip_value", "SGDm clipped by component", Hue::Muted),
            Self::GuardedSgdm(_) => ("guarded_sgdm", "guarded SGDm", Hue::Blue),
            Self::Adam => ("adam", "Adam", Hue::Purple),
            Self::GuardedAdam(c) => {
                ("guarded_adam", "guarded Adam", if c < 10.0 { Hue::Orange } else { Hue::Green })
            }
            Self::KnownNoise => ("known_noise", "FULD with known noise", Hue::Green),
        }
    }

    /// Returns the name for readers; that of a guarded optimizer says where components are clipped.
    pub(crate) fn label(self) -> String {
        let name = self.about().1;
        match self {
            Self::GuardedSgdm(c) | Self::GuardedAdam(c) => format!("{name} (c = {c})"),
            _ => name.into(),
        }
    }

    pub(crate) fn hue(self) -> Hue {
        self.about().2
    }

    /// Returns whether curves are dashed: those of controls.
    pub(crate) fn is_control(self) -> bool {
        matches!(self, Self::PaperControl | Self::AuthorsControl | Self::Sgdm | Self::Adam)
    }

    /// Returns whether two treatments differ at most in their number.
    pub(crate) fn same_kind(self, other: Self) -> bool {
        std::mem::discriminant(&self) == std::mem::discriminant(&other)
    }

    /// Returns the limit of clipping.
    pub(crate) fn limit(self) -> Option<f64> {
        match self {
            Self::ClipNorm(limit) | Self::ClipValue(limit) => Some(limit),
            _ => None,
        }
    }

    /// Returns the limit of clipping, or where a guard clips in units of the geometric mean.
    fn number(self) -> Option<f64> {
        match self {
            Self::GuardedSgdm(c) | Self::GuardedAdam(c) => Some(c),
            _ => self.limit(),
        }
    }

    /// Returns the specification of a run on images, from a request that leaves the optimizer open.
    pub(crate) fn spec(
        self,
        request: &TrainRequest,
        data: &DataDescription,
    ) -> Result<TrainSpec, SpecError> {
        let base = request.clone();
        let optimizer = |optimizer| TrainRequest { optimizer: Some(optimizer), ..request.clone() };
        let adam =
            |guard| TrainRequest { lr: None, momentum: None, guard, ..optimizer(Optimizer::Adam) };
        let alpha = Some(PAPER_ALPHA);
        let request = match self {
            Self::PaperGaussian => TrainRequest { alpha: Some(2.0), ..base },
            Self::PaperFormula | Self::PaperControl => TrainRequest { alpha, ..base },
            Self::AuthorsCode | Self::AuthorsControl => {
                TrainRequest { alpha, field: Some(FieldFormula::Authors), ..base }
            }
            Self::Sgdm => optimizer(Optimizer::Sgdm),
            Self::ClipNorm(limit) => {
                TrainRequest { clip: Some(limit), ..optimizer(Optimizer::ClipNorm) }
            }
            Self::ClipValue(limit) => {
                TrainRequest { clip: Some(limit), ..optimizer(Optimizer::ClipValue) }
            }
            Self::GuardedSgdm(c) => {
                TrainRequest { guard: Some(GuardRequest::Given(c)), ..optimizer(Optimizer::Sgdm) }
            }
            Self::Adam => adam(None),
            Self::GuardedAdam(c) => adam(Some(GuardRequest::Given(c))),
            Self::KnownNoise => TrainRequest {
                alpha: base.inject_noise.map(|noise| noise.alpha),
                noise_scale: Some(NoiseScaleRequest::Injected),
                ..base
            },
        };
        let spec = request.spec(data, Device::Cpu)?;
        if matches!(self, Self::PaperControl | Self::AuthorsControl) {
            spec.small_signal()
        } else {
            Ok(spec)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        use Treatment::{ClipNorm, ClipValue, GuardedAdam, GuardedSgdm};
        let numbered = [ClipNorm(0.1), ClipValue(1e-4), GuardedSgdm(1.0), GuardedAdam(0.5)];
        for treatment in
            Treatment::KINDS.into_iter().filter(|kind| kind.number().is_none()).chain(numbered)
        {
            assert_eq!(Treatment::try_from(treatment.to_string()), Ok(treatment));
        }
        assert!(Treatment::try_from("clip_norm_x".to_owned()).unwrap_err().contains("clip_norm_x"));
    }
}
