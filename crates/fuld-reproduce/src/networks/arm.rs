//! The optimizers that are compared, and what each is compared with.

use fuld_plot::Hue;
use fuld_train::spec::{DataDescription, Device, FieldFormula, SpecError, TrainRequest, TrainSpec};

/// The tail index of the paper's networks.
pub(super) const ALPHA: f64 = 1.75;

/// An optimizer of the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Arm {
    /// α = 2: SGD with momentum at the paper's step.
    Gauss,
    /// α = 1.75 by the paper's formula.
    Paper,
    /// SGD with momentum at the small-signal step of `Paper`.
    PaperControl,
    /// α = 1.75 by the field of the authors' code.
    Authors,
    /// SGD with momentum at the small-signal step of `Authors`.
    AuthorsControl,
}

impl Arm {
    /// All of them.
    pub(super) const ALL: [Self; 5] =
        [Self::Gauss, Self::Paper, Self::PaperControl, Self::Authors, Self::AuthorsControl];

    /// For files.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Gauss => "alpha-2",
            Self::Paper => "alpha-1.75-paper",
            Self::PaperControl => "sgdm-matched-to-paper",
            Self::Authors => "alpha-1.75-authors",
            Self::AuthorsControl => "sgdm-matched-to-authors",
        }
    }

    /// For legends.
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Gauss => "α = 2",
            Self::Paper => "α = 1.75, paper's formula",
            Self::PaperControl => "SGDm, the formula's step",
            Self::Authors => "α = 1.75, authors' code",
            Self::AuthorsControl => "SGDm, the code's step",
        }
    }

    /// Its colour. A control has one that can be told from that of what it controls for, because the two lines may coincide.
    pub(super) fn hue(self) -> Hue {
        match self {
            Self::Gauss => Hue::alpha(2.0),
            Self::Paper => Hue::alpha(ALPHA),
            Self::PaperControl => Hue::Green,
            Self::Authors => Hue::Orange,
            Self::AuthorsControl => Hue::Muted,
        }
    }

    /// Whether it is there to tell what the learning rate does.
    pub(super) fn is_control(self) -> bool {
        matches!(self, Self::PaperControl | Self::AuthorsControl)
    }

    /// The settings of a run, for a request that leaves the optimizer open.
    pub(super) fn spec(
        self,
        request: &TrainRequest,
        subject: &DataDescription,
    ) -> Result<TrainSpec, SpecError> {
        let (alpha, field) = match self {
            Self::Gauss => (2.0, None),
            Self::Paper | Self::PaperControl => (ALPHA, None),
            Self::Authors | Self::AuthorsControl => (ALPHA, Some(FieldFormula::Authors)),
        };
        let request = TrainRequest { alpha: Some(alpha.into()), field, ..request.clone() };
        let spec = request.spec(subject, Device::Cpu)?;
        if self.is_control() { spec.small_signal() } else { Ok(spec) }
    }
}
