//! The optimizers that are compared. All have the same learning rate and momentum.

use fuld_plot::Hue;
use fuld_train::spec::{
    DataDescription, Device, NoiseScaleRequest, NumberOrAuto, Optimizer, SpecError, TrainRequest, TrainSpec,
};

/// An optimizer of the comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Arm {
    /// SGD with momentum.
    Sgdm,
    /// SGD with momentum, each component of the gradients clipped at this.
    Value(f64),
    /// SGD with momentum, the gradients clipped to this joint norm.
    Norm(f64),
    /// The matched form, which is told the law of the noise that is added.
    Oracle,
    /// The matched form, which finds that law itself.
    Auto,
}

impl Arm {
    /// For files.
    pub(super) fn name(self) -> String {
        match self {
            Self::Sgdm => "sgdm".into(),
            Self::Value(limit) => format!("clip-value-{limit}"),
            Self::Norm(limit) => format!("clip-norm-{limit}"),
            Self::Oracle => "oracle".into(),
            Self::Auto => "auto".into(),
        }
    }

    /// For legends: all limits of a kind of clipping are one curve.
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Sgdm => "SGDm",
            Self::Value(_) => "SGDm, components clipped",
            Self::Norm(_) => "SGDm, norm clipped",
            Self::Oracle => "FULD, told the noise",
            Self::Auto => "FULD, auto",
        }
    }

    /// Its colour.
    pub(super) fn hue(self) -> Hue {
        match self {
            Self::Sgdm => Hue::Vermillion,
            Self::Value(_) => Hue::Muted,
            Self::Norm(_) => Hue::Orange,
            Self::Oracle => Hue::Green,
            Self::Auto => Hue::Blue,
        }
    }

    /// The limit of clipping by component.
    pub(super) fn value(self) -> Option<f64> {
        if let Self::Value(limit) = self { Some(limit) } else { None }
    }

    /// The settings of a run, for a request that leaves the optimizer open.
    pub(super) fn spec(
        self,
        request: &TrainRequest,
        subject: &DataDescription,
    ) -> Result<TrainSpec, SpecError> {
        let clipped = |optimizer, limit| TrainRequest {
            optimizer: Some(optimizer),
            clip: Some(limit),
            ..request.clone()
        };
        let request = match self {
            Self::Sgdm => TrainRequest { optimizer: Some(Optimizer::Sgdm), ..request.clone() },
            Self::Value(limit) => clipped(Optimizer::ClipValue, limit),
            Self::Norm(limit) => clipped(Optimizer::ClipNorm, limit),
            Self::Oracle => TrainRequest {
                alpha: request.inject_noise.map(|noise| noise.alpha.into()),
                noise_scale: Some(NoiseScaleRequest::Injected),
                ..request.clone()
            },
            Self::Auto => TrainRequest {
                alpha: Some(NumberOrAuto::Auto),
                noise_scale: Some(NoiseScaleRequest::Auto),
                ..request.clone()
            },
        };
        request.spec(subject, Device::Cpu)
    }
}
