//! The functions of the stable law that `fuld law` evaluates.

use clap::ValueEnum;
use levy_stable::{ParameterError, SymmetricStable};

/// A function of the stable law.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum LawFunction {
    /// Density
    Pdf,
    /// Logarithm of the density, finite even if the density underflows
    Logpdf,
    /// P(X <= x)
    Cdf,
    /// P(X > x), accurate arbitrarily far in the tail
    Sf,
    /// The x with P(X <= x) = p
    Quantile,
    /// The x with P(X > x) = q, more accurate than quantile far in the upper tail
    Isf,
    /// The derivative of logpdf: negative for x > 0
    Score,
    /// The second derivative of logpdf
    ScoreDerivative,
    /// The field of the paper: minus the score at the scale alpha^(-1/alpha), v itself at alpha = 2
    GradG,
    /// Random draws
    Sample,
}

impl LawFunction {
    /// Returns the name of the column; on the command line it is written with hyphens.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Pdf => "pdf",
            Self::Logpdf => "logpdf",
            Self::Cdf => "cdf",
            Self::Sf => "sf",
            Self::Quantile => "quantile",
            Self::Isf => "isf",
            Self::Score => "score",
            Self::ScoreDerivative => "score_derivative",
            Self::GradG => "grad_g",
            Self::Sample => "sample",
        }
    }

    /// Returns the name of the argument.
    pub(super) fn argument(self) -> &'static str {
        match self {
            Self::Quantile => "p",
            Self::Isf => "q",
            Self::GradG => "v",
            _ => "x",
        }
    }

    /// Returns whether the argument is a probability.
    fn takes_probability(self) -> bool {
        matches!(self, Self::Quantile | Self::Isf)
    }

    /// Returns the law whose function is evaluated.
    pub(super) fn law(self, alpha: f64, scale: f64) -> Result<SymmetricStable, ParameterError> {
        match self {
            Self::GradG => SymmetricStable::kinetic(alpha),
            _ => SymmetricStable::new(alpha)?.with_scale(scale),
        }
    }

    /// Returns an error if the function is not defined at `x`.
    pub(super) fn check(self, x: f64) -> Result<(), String> {
        if self.takes_probability() && !(0.0..=1.0).contains(&x) {
            let name = self.name();
            return Err(format!("{name} requires a probability from 0 to 1, got {x}"));
        }
        if x.is_nan() {
            return Err(format!("{} requires a number, got {x}", self.name()));
        }
        Ok(())
    }

    /// Returns the value at `x`; NaN for `Sample`, which is not a function of a point.
    pub(super) fn at(self, law: &SymmetricStable, x: f64) -> f64 {
        match self {
            Self::Pdf => law.pdf(x),
            Self::Logpdf => law.ln_pdf(x),
            Self::Cdf => law.cdf(x),
            Self::Sf => law.sf(x),
            Self::Quantile => law.quantile(x),
            Self::Isf => law.isf(x),
            Self::Score => law.score(x),
            Self::GradG => -law.score(x),
            Self::ScoreDerivative => law.score_derivative(x),
            Self::Sample => f64::NAN,
        }
    }
}
