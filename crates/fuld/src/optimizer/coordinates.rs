//! The parametrisations of the step: the paper's, its authors', SGD's and the matched form.
//!
//! Every form reduces to a step size η, a momentum μ and a field h(v) = a ∇G_α(v/κ), which
//! [`Coordinates`] hold. Each form has a struct whose fields name its parameters:
//!
//! | form | parameters | κ | a |
//! |---|---|---|---|
//! | [`Paper`] | α, η, γ, β | β^(−1/α) | β^(1/α−1) |
//! | [`PaperSgd`] | α, lr, μ, β | β^(−1/α) | β^(1/α−1) |
//! | [`Authors`] | α, η, γ | α^(1/α−1) | α^(−1/α)/2 |
//! | [`Sgd`] | α, lr, μ | 1 | 1 |
//! | [`Matched`] | α, lr, μ, κ | κ | κ/slope |
//! | [`NoiseMatched`] | α, lr, μ, σ_g | √lr σ_g (1 − μ)^(−1/α) | κ/slope |

use super::RuleError;
use crate::{Beta, Friction, Step};
use levy_stable::{Alpha, SymmetricStable};

/// Parameters of [`Coordinates::paper`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Paper {
    /// Tail index α in (0, 2].
    pub alpha: f64,
    /// Step size η > 0.
    pub eta: f64,
    /// Friction γ > 0, with γη ≤ 1.
    pub gamma: f64,
    /// Inverse temperature β > 0.
    pub beta: f64,
}

/// Parameters of [`Coordinates::paper_sgd`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PaperSgd {
    /// Tail index α in (0, 2].
    pub alpha: f64,
    /// Learning rate lr = η² ≥ 0.
    pub learning_rate: f64,
    /// Momentum μ = 1 − γη in [0, 1].
    pub momentum: f64,
    /// Inverse temperature β > 0.
    pub beta: f64,
}

/// Parameters of [`Coordinates::authors`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Authors {
    /// Tail index α in (0, 2].
    pub alpha: f64,
    /// Step size η > 0.
    pub eta: f64,
    /// Friction γ > 0, with γη ≤ 1.
    pub gamma: f64,
}

/// Parameters of [`Coordinates::sgd`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sgd {
    /// Tail index α in (0, 2].
    pub alpha: f64,
    /// Learning rate lr = η² ≥ 0.
    pub learning_rate: f64,
    /// Momentum μ = 1 − γη in [0, 1].
    pub momentum: f64,
}

/// Parameters of [`Coordinates::matched`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Matched {
    /// Tail index α in (0, 2].
    pub alpha: f64,
    /// Learning rate lr ≥ 0.
    pub learning_rate: f64,
    /// Momentum μ in [0, 1].
    pub momentum: f64,
    /// Knee κ > 0 of the field, in units of v = −√lr b.
    pub kappa: f64,
}

/// Parameters of [`Coordinates::noise_matched`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoiseMatched {
    /// Tail index α in (0, 2].
    pub alpha: f64,
    /// Learning rate lr ≥ 0.
    pub learning_rate: f64,
    /// Momentum μ in [0, 1).
    pub momentum: f64,
    /// Scale σ_g > 0 of the gradient noise, in units of the gradient.
    pub noise_scale: f64,
}

impl NoiseMatched {
    /// Returns κ = √lr σ_g (1 − μ)^(−1/α), the knee that SαS(σ_g) noise in the gradients calls for.
    ///
    /// It follows from κ^α = (ησ_g)^α/(ηγ), the stationary scale of v under that noise in the limit
    /// of small 1 − μ. At the discrete steps the scale of v is given by α(ησ_g)^α/(1 − μ^α), which
    /// has the same limit. Requires a learning rate above 0.
    pub fn kappa(&self) -> Result<f64, RuleError> {
        let Self { alpha, learning_rate, momentum, noise_scale } = *self;
        let alpha = Alpha::new(alpha)?.get();
        if !(learning_rate > 0.0 && learning_rate.is_finite()) {
            return Err(RuleError::LearningRate(learning_rate));
        }
        if !(0.0..=1.0).contains(&momentum) {
            return Err(RuleError::Momentum(momentum));
        }
        if momentum == 1.0 {
            return Err(RuleError::NoFriction(momentum));
        }
        if !(noise_scale > 0.0 && noise_scale.is_finite()) {
            return Err(RuleError::NoiseScale(noise_scale));
        }
        Ok(learning_rate.sqrt() * noise_scale * libm::pow(1.0 - momentum, -1.0 / alpha))
    }
}

/// Step size, momentum and field of the optimizer.
///
/// If SαS noise drives v so that its stationary law is SαS(κ α^(−1/α)), the dynamics leave exp(−βf)
/// with β = 1/(aκ) invariant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coordinates {
    alpha: Alpha,
    learning_rate: f64,
    momentum: f64,
    /// η = √lr
    eta: f64,
    /// κ, in units of v
    kappa: f64,
    /// a
    height: f64,
}

impl Coordinates {
    /// Returns the paper's form.
    ///
    /// > v ← (1 − γη)v − ηg,  x ← x + η h(v),  h(v) = β^(1/α−1) ∇G_α(β^(1/α) v)
    pub fn paper(Paper { alpha, eta, gamma, beta }: Paper) -> Result<Self, RuleError> {
        let alpha = Alpha::new(alpha)?;
        let (eta, gamma, beta) =
            (Step::new(eta)?.get(), Friction::new(gamma)?.get(), Beta::new(beta)?.get());
        let width = libm::pow(beta, 1.0 / alpha.get());
        Self {
            alpha,
            learning_rate: eta * eta,
            momentum: 1.0 - gamma * eta,
            eta,
            kappa: 1.0 / width,
            height: width / beta,
        }
        .checked()
    }

    /// Returns the paper's form with lr = η² and μ = 1 − γη.
    ///
    /// > b ← μb + g,  x ← x − √lr β^(1/α−1) ∇G_α(√lr β^(1/α) b)
    pub fn paper_sgd(
        PaperSgd { alpha, learning_rate, momentum, beta }: PaperSgd,
    ) -> Result<Self, RuleError> {
        let beta = Beta::new(beta)?.get();
        let width = libm::pow(beta, 1.0 / Alpha::new(alpha)?.get());
        Self::with_learning_rate(Sgd { alpha, learning_rate, momentum }, 1.0 / width, |_| {
            width / beta
        })
    }

    /// Returns the paper's recursion with the field that its authors' public code computes: h(v) =
    /// s(αv)/2, where s is −1 times the score of SαS(1).
    ///
    /// In terms of a ∇G_α(v/κ) this is κ = α^(1/α−1) and a = α^(−1/α)/2. It differs from the
    /// paper's formula: for α < 2 its slope at 0 is smaller by a factor of 2 to 2.3. At α = 2 the
    /// field is v itself, as in SGD, so the step jumps by a factor of 2 there.
    pub fn authors(Authors { alpha, eta, gamma }: Authors) -> Result<Self, RuleError> {
        let paper = Self::paper(Paper { alpha, eta, gamma, beta: 1.0 })?;
        if paper.alpha == Alpha::GAUSS {
            return Ok(paper);
        }
        let width = libm::pow(alpha, 1.0 / alpha);
        Self { kappa: width / alpha, height: 0.5 / width, ..paper }.checked()
    }

    /// Returns SGD's coordinates, lr = η² and μ, with the paper's field at β = 1.
    ///
    /// > b ← μb + g,  x ← x − √lr ∇G_α(√lr b)
    ///
    /// The field is not scale-free: for |√lr b| ≪ 1 this is SGD with its learning rate times
    /// [`Self::slope`].
    pub fn sgd(sgd: Sgd) -> Result<Self, RuleError> {
        Self::with_learning_rate(sgd, 1.0, |_| 1.0)
    }

    /// Returns the matched form: SGD's learning rate and momentum, and a field that has slope 1 at
    /// 0 and its knee at κ.
    ///
    /// > b ← μb + g,  x ← x − √lr · h(√lr b),  h(v) = κ/slope · ∇G_α(v/κ)
    ///
    /// Small steps equal those of SGD with the same settings for every α. κ is in units of v = −√lr
    /// b: the knee is at |b| ~ κ/√lr.
    pub fn matched(
        Matched { alpha, learning_rate, momentum, kappa }: Matched,
    ) -> Result<Self, RuleError> {
        if !(kappa > 0.0 && kappa.is_finite()) {
            return Err(RuleError::Kappa(kappa));
        }
        Self::with_learning_rate(Sgd { alpha, learning_rate, momentum }, kappa, |slope| {
            kappa / slope
        })
    }

    /// Returns [`Self::matched`] with the knee that gradient noise SαS(σ_g) calls for, κ =
    /// [`NoiseMatched::kappa`].
    ///
    /// > b ← μb + g,  x ← x − lr · K/slope · ∇G_α(b/K),  K = σ_g (1 − μ)^(−1/α)
    ///
    /// The learning rate is a plain factor and may be 0.
    pub fn noise_matched(noise: NoiseMatched) -> Result<Self, RuleError> {
        let NoiseMatched { alpha, learning_rate, momentum, .. } = noise;
        if learning_rate == 0.0 {
            // Nothing moves, so any knee will do, but the other parameters are still checked.
            NoiseMatched { learning_rate: 1.0, ..noise }.kappa()?;
            return Self::matched(Matched { alpha, learning_rate, momentum, kappa: 1.0 });
        }
        Self::matched(Matched { alpha, learning_rate, momentum, kappa: noise.kappa()? })
    }

    fn with_learning_rate(
        Sgd { alpha, learning_rate, momentum }: Sgd,
        kappa: f64,
        height: impl Fn(f64) -> f64,
    ) -> Result<Self, RuleError> {
        let alpha = Alpha::new(alpha)?;
        // 0 is allowed: learning-rate schedules start there.
        if !(learning_rate >= 0.0 && learning_rate.is_finite()) {
            return Err(RuleError::LearningRate(learning_rate));
        }
        let height = height(slope(alpha));
        Self { alpha, learning_rate, momentum, eta: learning_rate.sqrt(), kappa, height }.checked()
    }

    fn checked(self) -> Result<Self, RuleError> {
        /// Range of the factors in which `f32` keeps its precision with a wide margin.
        const FACTORS: std::ops::RangeInclusive<f64> = 1e-30..=1e30;
        // The outer factor may be arbitrarily small: schedules end there.
        let outer_fits = |outer: f64| (0.0..=*FACTORS.end()).contains(&outer);
        if !(0.0..=1.0).contains(&self.momentum) {
            return Err(RuleError::Momentum(self.momentum));
        }
        let (inner, outer) = (self.inner(), self.outer());
        // Neither factor is used at α = 2.
        let plain = self.learning_rate == 0.0 || self.alpha == Alpha::GAUSS;
        if plain || (FACTORS.contains(&inner) && outer_fits(outer)) {
            Ok(self)
        } else {
            Err(RuleError::Extreme { inner, outer })
        }
    }

    /// Returns the tail index α.
    pub fn alpha(&self) -> f64 {
        self.alpha.get()
    }

    /// Returns the learning rate lr = η².
    pub fn learning_rate(&self) -> f64 {
        self.learning_rate
    }

    /// Returns the momentum μ = 1 − γη.
    pub fn momentum(&self) -> f64 {
        self.momentum
    }

    /// Returns the inverse temperature β = 1/(aκ) of the invariant measure exp(−βf): β itself in
    /// the paper's form, slope/κ² in the matched form.
    pub fn beta(&self) -> f64 {
        1.0 / (self.height * self.kappa)
    }

    /// Returns h′(0) = a/κ · ∇G_α′(0), the ratio of small steps to those of SGD with the same
    /// learning rate.
    pub fn slope(&self) -> f64 {
        self.height / self.kappa * slope(self.alpha)
    }

    /// Returns SGD with momentum that takes the same small steps: its learning rate is
    /// [`Self::slope`] times this one.
    ///
    /// It is the control for the effect of the tail: it differs from this rule only where the field
    /// departs from its tangent.
    pub fn small_signal(&self) -> Self {
        let learning_rate = self.slope() * self.learning_rate;
        Self {
            alpha: Alpha::GAUSS,
            learning_rate,
            momentum: self.momentum,
            eta: learning_rate.sqrt(),
            kappa: 1.0,
            height: 1.0,
        }
    }

    /// Returns η/κ, the factor of b in x ← x − outer · ∇G_α(inner · b).
    pub fn inner(&self) -> f64 {
        self.eta / self.kappa
    }

    /// Returns ηa, the factor of the field in x ← x − outer · ∇G_α(inner · b).
    pub fn outer(&self) -> f64 {
        self.eta * self.height
    }
}

/// Returns ∇G_α′(0) = α^(2/α) Γ(3/α)/Γ(1/α), which is 1 at α = 2.
pub(super) fn slope(alpha: Alpha) -> f64 {
    if alpha == Alpha::GAUSS {
        return 1.0;
    }
    SymmetricStable::kinetic(alpha.get()).map_or(f64::NAN, |law| -law.score_derivative(0.0))
}
