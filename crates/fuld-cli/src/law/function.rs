//! The functions of a law, by the names they have on the command line.

use clap::ValueEnum;
use levy_stable::{ParameterError, SymmetricStable};

/// What is asked of a law.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Function {
    /// Density
    Pdf,
    /// Logarithm of the density, finite also where the density underflows
    Logpdf,
    /// P(X <= x)
    Cdf,
    /// P(X > x), accurate however far in the tail
    Sf,
    /// The x with P(X <= x) = p
    Quantile,
    /// The x with P(X > x) = q, for q near 0 much finer than quantile
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

impl Function {
    /// As it is typed, and as its column is called.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Pdf => "pdf",
            Self::Logpdf => "logpdf",
            Self::Cdf => "cdf",
            Self::Sf => "sf",
            Self::Quantile => "quantile",
            Self::Isf => "isf",
            Self::Score => "score",
            Self::ScoreDerivative => "score-derivative",
            Self::GradG => "grad-g",
            Self::Sample => "sample",
        }
    }

    /// What its argument is called.
    pub(super) fn argument(self) -> &'static str {
        match self {
            Self::Quantile => "p",
            Self::Isf => "q",
            Self::GradG => "v",
            _ => "x",
        }
    }

    /// Whether its argument is a probability.
    pub(super) fn of_probability(self) -> bool {
        matches!(self, Self::Quantile | Self::Isf)
    }

    /// The law it is asked of.
    pub(super) fn law(self, alpha: f64, scale: f64) -> Result<SymmetricStable, ParameterError> {
        match self {
            Self::GradG => SymmetricStable::kinetic(alpha),
            _ => SymmetricStable::new(alpha)?.with_scale(scale),
        }
    }

    /// Refuses what it has no value at.
    pub(super) fn check(self, x: f64) -> Result<(), String> {
        if self.of_probability() && !(0.0..=1.0).contains(&x) {
            let name = self.name();
            return Err(format!("{name} takes a probability, a number from 0 to 1, got {x}"));
        }
        if x.is_nan() {
            return Err(format!("{} has no value at {x}", self.name()));
        }
        Ok(())
    }

    /// Its value. There is none for `Sample`, which is no function of a point.
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
