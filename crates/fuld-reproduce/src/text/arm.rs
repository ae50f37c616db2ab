//! The optimizers that are compared, and what of each is tuned: as many settings as of any other.

use fuld_plot::Hue;

/// Momentum of SGD, plain and clipped.
pub(super) const MOMENTUM: f64 = 0.9;
/// Settings that are tried of each optimizer.
pub(super) const TRIALS: usize = 9;

/// An optimizer of the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arm {
    /// SGD with momentum.
    Sgdm,
    /// The same, of gradients whose joint norm is kept within a limit.
    ClipNorm,
    /// The same, of gradients each component of which is kept within a limit.
    ClipValue,
    /// Adam.
    Adam,
    /// The matched form whose α and scale come from the gradients themselves.
    Auto,
}

/// What is tuned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Setting {
    /// The learning rate.
    pub(super) rate: f64,
    /// Where gradients are clipped.
    pub(super) limit: Option<f64>,
}

impl Arm {
    /// All of them.
    pub(super) const ALL: [Self; 5] = [Self::Sgdm, Self::ClipNorm, Self::ClipValue, Self::Adam, Self::Auto];

    /// For files.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Sgdm => "sgdm",
            Self::ClipNorm => "clip-norm",
            Self::ClipValue => "clip-value",
            Self::Adam => "adam",
            Self::Auto => "auto",
        }
    }

    /// For people.
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Sgdm => "SGDm",
            Self::ClipNorm => "SGDm clipped by norm",
            Self::ClipValue => "SGDm clipped by component",
            Self::Adam => "Adam",
            Self::Auto => "auto",
        }
    }

    /// Its colour.
    pub(super) fn hue(self) -> Hue {
        match self {
            Self::Sgdm => Hue::alpha(2.0),
            Self::ClipNorm => Hue::Orange,
            Self::ClipValue => Hue::Green,
            Self::Adam => Hue::Vermillion,
            Self::Auto => Hue::Purple,
        }
    }

    /// Learning rates that are tried, each twice the one before it.
    pub(super) fn rates(self) -> Vec<f64> {
        let (first, count) = match self {
            // SGD's own learning rates are those of the matched form.
            Self::Sgdm | Self::Auto => (0.0125, TRIALS),
            // A look at wider grids showed where these three and their limits should lie.
            Self::ClipNorm => (0.1, 3),
            Self::ClipValue => (0.2, 3),
            Self::Adam => (0.0004, TRIALS),
        };
        (0..count).map(|n| first * 2f64.powi(n as i32)).collect()
    }

    /// Limits that are tried with each of them.
    fn limits(self) -> Vec<Option<f64>> {
        match self {
            Self::ClipNorm => vec![Some(0.4), Some(0.8), Some(1.6)],
            Self::ClipValue => vec![Some(0.004), Some(0.016), Some(0.064)],
            Self::Sgdm | Self::Adam | Self::Auto => vec![None],
        }
    }

    /// All that is tried.
    pub(super) fn settings(self) -> Vec<Setting> {
        let with = |rate| self.limits().into_iter().map(move |limit| Setting { rate, limit });
        self.rates().into_iter().flat_map(with).collect()
    }
}

impl std::fmt::Display for Setting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "rate {}", self.rate)?;
        self.limit.map_or(Ok(()), |limit| write!(f, ", limit {limit}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_tuned_equally() {
        assert!(Arm::ALL.iter().all(|arm| arm.settings().len() == TRIALS));
    }
}
