//! Options of the update rule.

use super::RuleError;

/// Weight decay, a pull of the parameters towards 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum WeightDecay {
    /// No weight decay.
    #[default]
    None,
    /// g ← g + wd·x: adds the gradient of wd·|x|²/2, which passes through momentum and field.
    Coupled(f64),
    /// x ← (1 − lr·wd)x before the step, bypassing momentum and field.
    Decoupled(f64),
}

impl WeightDecay {
    /// Returns weight decay of this strength, coupled or decoupled, or none at 0.
    pub fn new(decay: f64, decoupled: bool) -> Self {
        match decay {
            0.0 => Self::None,
            decay if decoupled => Self::Decoupled(decay),
            decay => Self::Coupled(decay),
        }
    }
}

/// Options of a rule; by default all are off.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Options {
    /// Weight decay.
    pub weight_decay: WeightDecay,
    /// Takes the field at g + μb instead of b.
    pub nesterov: bool,
    /// Maximizes: negates the gradient before weight decay is added.
    pub maximize: bool,
}

impl Options {
    pub(super) fn check(&self) -> Result<(), RuleError> {
        match self.weight_decay {
            WeightDecay::Coupled(decay) | WeightDecay::Decoupled(decay)
                if !(decay >= 0.0 && decay.is_finite()) =>
            {
                Err(RuleError::WeightDecay(decay))
            }
            _ => Ok(()),
        }
    }
}
