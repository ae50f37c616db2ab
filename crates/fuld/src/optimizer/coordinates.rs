//! Ways to say what the step is. All come down to η, μ and the field h(v) = a ∇G_α(v/κ).

use super::RuleError;
use crate::{Beta, Friction, Step};
use levy_stable::{Alpha, SymmetricStable};

/// Step size, momentum and field of the optimizer, in whichever coordinates they were given.
///
/// With v driven by SαS noise so that its stationary law is SαS(κ α^(−1/α)), the dynamics leave exp(−f/(aκ)) invariant.
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
    /// The paper's form: step η, friction γ, inverse temperature β, with γη ≤ 1.
    ///
    /// > v ← (1 − γη)v − ηg,  x ← x + η h(v),  h(v) = β^(1/α−1) ∇G_α(β^(1/α) v)
    pub fn paper(alpha: f64, eta: f64, gamma: f64, beta: f64) -> Result<Self, RuleError> {
        let alpha = Alpha::new(alpha)?;
        let (eta, gamma, beta) = (Step::new(eta)?.get(), Friction::new(gamma)?.get(), Beta::new(beta)?.get());
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

    /// The paper's recursion with the field that its authors' public code computes: h(v) = s(αv)/2, s the score of SαS(1).
    ///
    /// That is a ∇G_α(v/κ) with κ = α^(1/α−1) and a = α^(−1/α)/2. It is not the paper's formula and no reference for it: for α < 2 it
    /// rises 2 to 2.3 times too slowly from 0. At α = 2 the field is v itself, as in SGD, so the step jumps there by 2.
    pub fn authors(alpha: f64, eta: f64, gamma: f64) -> Result<Self, RuleError> {
        let paper = Self::paper(alpha, eta, gamma, 1.0)?;
        if paper.alpha == Alpha::GAUSS {
            return Ok(paper);
        }
        let width = libm::pow(alpha, 1.0 / alpha);
        Self { kappa: width / alpha, height: 0.5 / width, ..paper }.checked()
    }

    /// SGD's coordinates: learning rate lr = η², momentum μ, and h = ∇G_α as in the paper with β = 1.
    ///
    /// > b ← μb + g,  x ← x − √lr ∇G_α(√lr b)
    ///
    /// h is not scale-free: for |√lr b| ≪ 1 this is SGD with its learning rate times [`Self::slope`].
    pub fn sgd(alpha: f64, learning_rate: f64, momentum: f64) -> Result<Self, RuleError> {
        Self::rooted(alpha, learning_rate, momentum, 1.0, |_| 1.0)
    }

    /// The matched form: SGD's learning rate and momentum, and a field that has slope 1 at 0 and bends at κ.
    ///
    /// > b ← μb + g,  x ← x − √lr · h(√lr b),  h(v) = κ/slope · ∇G_α(v/κ)
    ///
    /// Small steps are those of SGD with the same settings, whatever α. κ is in units of v = −√lr b: the field bends where
    /// |b| ~ κ/√lr. [`kappa_of_noise`] computes it from the noise of the gradients.
    pub fn matched(alpha: f64, learning_rate: f64, momentum: f64, kappa: f64) -> Result<Self, RuleError> {
        if !(kappa > 0.0 && kappa.is_finite()) {
            return Err(RuleError::Kappa(kappa));
        }
        Self::rooted(alpha, learning_rate, momentum, kappa, |slope| kappa / slope)
    }

    /// [`Self::matched`] with the bend where gradient noise SαS(σ_g) puts it: κ = [`kappa_of_noise`].
    ///
    /// > b ← μb + g,  x ← x − lr · K/slope · ∇G_α(b/K),  K = σ_g (1 − μ)^(−1/α)
    ///
    /// The learning rate is but a factor, and may be 0.
    pub fn of_noise(alpha: f64, learning_rate: f64, momentum: f64, noise: f64) -> Result<Self, RuleError> {
        if learning_rate == 0.0 {
            // Nothing moves, wherever the bend is; but the rest must be sound.
            kappa_of_noise(alpha, 1.0, momentum, noise)?;
            return Self::matched(alpha, learning_rate, momentum, 1.0);
        }
        Self::matched(alpha, learning_rate, momentum, kappa_of_noise(alpha, learning_rate, momentum, noise)?)
    }

    /// The learning rate and momentum of these in [`Self::matched`], with the bend at |b| ~ K.
    ///
    /// > b ← μb + g,  x ← x − lr · K/slope · ∇G_α(b/K)
    ///
    /// `slope` is ∇G_α′(0), which takes a while to compute.
    pub(super) fn bent_at(self, alpha: f64, bend: f64, slope: f64) -> Result<Self, RuleError> {
        let kappa = if self.learning_rate == 0.0 { bend } else { self.eta * bend };
        Self { alpha: Alpha::new(alpha)?, kappa, height: kappa / slope, ..self }.checked()
    }

    /// The paper's form in SGD's coordinates, lr = η² and μ = 1 − γη, its temperature given by κ = β^(−1/α).
    ///
    /// > b ← μb + g,  x ← x − √lr κ^(α−1) ∇G_α(√lr b/κ)
    pub fn paper_sgd(alpha: f64, learning_rate: f64, momentum: f64, kappa: f64) -> Result<Self, RuleError> {
        if !(kappa > 0.0 && kappa.is_finite()) {
            return Err(RuleError::Kappa(kappa));
        }
        Self::rooted(alpha, learning_rate, momentum, kappa, |_| libm::pow(kappa, alpha - 1.0))
    }

    fn rooted(
        alpha: f64,
        learning_rate: f64,
        momentum: f64,
        kappa: f64,
        height: impl Fn(f64) -> f64,
    ) -> Result<Self, RuleError> {
        let alpha = Alpha::new(alpha)?;
        // 0 is allowed: schedules start there.
        if !(learning_rate >= 0.0 && learning_rate.is_finite()) {
            return Err(RuleError::LearningRate(learning_rate));
        }
        let height = height(slope(alpha));
        Self { alpha, learning_rate, momentum, eta: learning_rate.sqrt(), kappa, height }.checked()
    }

    fn checked(self) -> Result<Self, RuleError> {
        const ROOM: std::ops::RangeInclusive<f64> = 1e-30..=1e30;
        // A step may be as small as it likes: schedules end so.
        let outer_fits = |outer: f64| (0.0..=*ROOM.end()).contains(&outer);
        if !(0.0..=1.0).contains(&self.momentum) {
            return Err(RuleError::Momentum(self.momentum));
        }
        let (inner, outer) = (self.inner(), self.outer());
        // At α = 2 neither is used.
        let plain = self.learning_rate == 0.0 || self.alpha == Alpha::GAUSS;
        if plain || (ROOM.contains(&inner) && outer_fits(outer)) {
            Ok(self)
        } else {
            Err(RuleError::Extreme { inner, outer })
        }
    }

    /// The tail index α.
    pub fn alpha(&self) -> f64 {
        self.alpha.get()
    }

    /// lr = η²
    pub fn learning_rate(&self) -> f64 {
        self.learning_rate
    }

    /// μ = 1 − γη
    pub fn momentum(&self) -> f64 {
        self.momentum
    }

    /// The temperature aκ of the Gibbs measure exp(−f/(aκ)): 1/β in the paper's form, κ²/slope in the matched one.
    pub fn temperature(&self) -> f64 {
        self.height * self.kappa
    }

    /// h′(0) = a/κ · ∇G_α′(0): by this factor small steps differ from those of SGD with the same learning rate.
    pub fn slope(&self) -> f64 {
        self.height / self.kappa * slope(self.alpha)
    }

    /// SGD with momentum that takes the same steps as long as they are small: its learning rate is [`Self::slope`] times this one.
    ///
    /// What another α does better than this the tail does; the rest is the learning rate.
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

    /// η/κ, the factor of b in x ← x − outer · ∇G_α(inner · b).
    pub fn inner(&self) -> f64 {
        self.eta / self.kappa
    }

    /// ηa, the factor of the field there.
    pub fn outer(&self) -> f64 {
        self.eta * self.height
    }
}

/// ∇G_α′(0) = α^(2/α) Γ(3/α)/Γ(1/α); 1 at α = 2.
pub(super) fn slope(alpha: Alpha) -> f64 {
    if alpha == Alpha::GAUSS {
        return 1.0;
    }
    SymmetricStable::kinetic(alpha.get()).map_or(f64::NAN, |law| law.score_derivative(0.0))
}

/// κ = √lr σ_g (1 − μ)^(−1/α): where the field of the matched form bends if the gradients carry SαS(σ_g) noise.
///
/// From κ^α = (ησ_g)^α/(ηγ), the stationary scale of v under that noise. It is the scale for small 1 − μ; v sampled at the
/// discrete steps has α(ησ_g)^α/(1 − μ^α), which tends to it.
pub fn kappa_of_noise(alpha: f64, learning_rate: f64, momentum: f64, noise: f64) -> Result<f64, RuleError> {
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
    if !(noise > 0.0 && noise.is_finite()) {
        return Err(RuleError::Noise(noise));
    }
    Ok(learning_rate.sqrt() * noise * libm::pow(1.0 - momentum, -1.0 / alpha))
}
