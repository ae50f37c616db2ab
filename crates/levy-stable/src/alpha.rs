//! The tail index α as a validated type.

use crate::ParameterError;

/// A tail index, a number in (0, 2]. The range is checked on construction.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "f64", into = "f64"))]
pub struct Alpha(f64);

impl Alpha {
    /// α = 1, the Cauchy law.
    pub const CAUCHY: Self = Self(1.0);
    /// α = 2, the Gaussian law.
    pub const GAUSS: Self = Self(2.0);

    /// Creates a tail index; `alpha` must satisfy 0 < α ≤ 2.
    ///
    /// ```
    /// use levy_stable::Alpha;
    /// assert_eq!(Alpha::new(1.5).unwrap().get(), 1.5);
    /// let error = Alpha::new(2.1).unwrap_err();
    /// assert_eq!(error.to_string(), "alpha must satisfy 0 < alpha <= 2, got 2.1");
    /// ```
    pub fn new(alpha: f64) -> Result<Self, ParameterError> {
        // 1/α overflows for subnormal α, so the smallest normal number is the lower bound.
        if (f64::MIN_POSITIVE..=2.0).contains(&alpha) {
            Ok(Self(alpha))
        } else {
            Err(ParameterError::Alpha(alpha))
        }
    }

    /// Returns the number.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Alpha {
    type Error = ParameterError;

    fn try_from(alpha: f64) -> Result<Self, ParameterError> {
        Self::new(alpha)
    }
}

impl From<Alpha> for f64 {
    fn from(alpha: Alpha) -> f64 {
        alpha.0
    }
}
