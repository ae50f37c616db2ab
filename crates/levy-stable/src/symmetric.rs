//! The symmetric α-stable law at any scale: density, distribution, quantile, score, moments and
//! entropy.

use crate::unit::{Regime, UnitLaw};
use crate::{Alpha, ParameterError, moments, quantile};

/// The symmetric α-stable law SαS(σ), with characteristic function exp(−|σω|^α).
///
/// α = 2 is the Gaussian of variance 2σ², α = 1 the Cauchy law of scale σ. Construction takes a few
/// microseconds. Neither construction nor evaluation allocates memory.
///
/// Accuracy of `pdf`, `sf`, `cdf` and `score`: relative error at most 2e-14 for 0.3 ≤ α ≤ 2 and
/// 1e-12 for 0.003 ≤ α < 0.3, for every x/σ from the smallest to the largest double, measured
/// against ball arithmetic. Below α = 0.003 the tail series is used for almost all doubles and
/// loses at most four digits. The derivative of the score is accurate near its zero for α ≥ 0.1 and
/// loses four more digits there at α = 0.03. Other methods document their own accuracy.
///
/// All methods evaluate the unit law at x/σ. Where that quotient overflows or underflows, as at x =
/// 1e300 for σ = 1e-300, they return the values at ±∞ or 0.
///
/// ```
/// use levy_stable::SymmetricStable;
/// # fn main() -> Result<(), levy_stable::ParameterError> {
/// let law = SymmetricStable::new(1.5)?;
/// assert!((law.pdf(1.0) / 0.202038159607840130 - 1.0).abs() < 2e-14);
/// assert!((law.isf(1e-6) / 3413.938523806688 - 1.0).abs() < 1e-12);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct SymmetricStable {
    alpha: Alpha,
    scale: f64,
    unit: UnitLaw,
}

impl PartialEq for SymmetricStable {
    fn eq(&self, other: &Self) -> bool {
        self.alpha == other.alpha && self.scale == other.scale
    }
}

impl SymmetricStable {
    /// Creates SαS(1), the law of unit scale, for 0 < α ≤ 2. [`with_scale`](Self::with_scale) sets
    /// another scale.
    pub fn new(alpha: f64) -> Result<Self, ParameterError> {
        let alpha = Alpha::new(alpha)?;
        Ok(Self { alpha, scale: 1.0, unit: UnitLaw::new(alpha.get()) })
    }

    /// Returns the law of the same tail index with scale σ = `scale`, 0 < σ < ∞. It replaces the
    /// scale of `self`.
    ///
    /// ```
    /// # fn main() -> Result<(), levy_stable::ParameterError> {
    /// let law = levy_stable::SymmetricStable::new(1.5)?.with_scale(0.5)?;
    /// assert_eq!((law.alpha(), law.scale()), (1.5, 0.5));
    /// # Ok(())
    /// # }
    /// ```
    pub fn with_scale(self, scale: f64) -> Result<Self, ParameterError> {
        if !(scale > 0.0 && scale < f64::INFINITY) {
            return Err(ParameterError::Scale(scale));
        }
        Ok(Self { scale, ..self })
    }

    /// Creates SαS(α^(−1/α)), the law of the velocity in fractional underdamped Langevin dynamics.
    ///
    /// Its −ln density is the kinetic energy g_α, and the field ∇G_α is minus its
    /// [`score`](Self::score): v at α = 2, 2v/(1+v²) at α = 1.
    ///
    /// Requires 0.0075 ≤ α ≤ 2. For smaller α the scale approaches the largest double, and the
    /// quotient of v and the scale underflows; for α < 0.01 it does so at |v| < 1e-30.
    pub fn kinetic(alpha: f64) -> Result<Self, ParameterError> {
        let a = Alpha::new(alpha)?.get();
        if a < 0.0075 {
            return Err(ParameterError::KineticAlpha(a));
        }
        Self::new(a)?.with_scale(libm::pow(a, -1.0 / a))
    }

    /// Returns the tail index α.
    pub fn alpha(&self) -> f64 {
        self.alpha.get()
    }

    /// Returns the scale σ.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    pub(crate) fn unit(&self) -> &UnitLaw {
        &self.unit
    }

    /// Returns the density ψ(x).
    pub fn pdf(&self, x: f64) -> f64 {
        if x.is_nan() {
            return x;
        }
        self.unit.density((x / self.scale).abs()).pdf / self.scale
    }

    /// Returns ln ψ(x), finite also where ψ underflows.
    pub fn ln_pdf(&self, x: f64) -> f64 {
        if x.is_nan() {
            return x;
        }
        self.unit.ln_pdf((x / self.scale).abs()) - libm::log(self.scale)
    }

    /// Returns P(X ≤ x). For large x this is close to 1: use [`sf`](Self::sf) for the complement.
    pub fn cdf(&self, x: f64) -> f64 {
        self.sf(-x)
    }

    /// Returns P(X > x), with full relative accuracy however far in the tail.
    pub fn sf(&self, x: f64) -> f64 {
        if x.is_nan() {
            return x;
        }
        let tail = self.unit.distribution((x / self.scale).abs()).0;
        if x < 0.0 { 1.0 - tail } else { tail }
    }

    /// Returns ln P(X > x), finite also where the probability underflows.
    pub fn ln_sf(&self, x: f64) -> f64 {
        if x.is_nan() {
            return x;
        }
        let size = (x / self.scale).abs();
        if x < 0.0 { libm::log1p(-self.unit.distribution(size).0) } else { self.unit.ln_sf(size) }
    }

    /// Returns ln P(X ≤ x), finite also where the probability underflows.
    pub fn ln_cdf(&self, x: f64) -> f64 {
        self.ln_sf(-x)
    }

    /// Returns x with P(X ≤ x) = p: −∞ at p = 0, ∞ at p = 1, NaN outside [0, 1].
    ///
    /// `cdf` of the result equals p to 1e-13 of min(p, 1−p) for α ≥ 0.1, except where neighbouring
    /// doubles x differ by more than that in probability, near α = 2 at probabilities below 1e-200.
    /// Near the median p − 1/2 has an absolute error of 1e-16, so x has one of about 1e-16/ψ(0).
    pub fn quantile(&self, p: f64) -> f64 {
        if p >= 0.5 { self.isf_of_half(1.0 - p) } else { -self.isf_of_half(p) }
    }

    /// Returns x with P(X > x) = q, the inverse of [`sf`](Self::sf). For small q it is more
    /// accurate than `quantile(1 − q)`.
    pub fn isf(&self, q: f64) -> f64 {
        if q > 0.5 { -self.isf_of_half(1.0 - q) } else { self.isf_of_half(q) }
    }

    fn isf_of_half(&self, q: f64) -> f64 {
        if q == 0.5 {
            0.0
        } else if q == 0.0 {
            f64::INFINITY
        } else if q > 0.0 && q < 0.5 {
            self.scale * quantile::upper(&self.unit, q)
        } else {
            f64::NAN
        }
    }

    /// Returns the score d/dx ln ψ(x) = ψ′(x)/ψ(x): odd, negative for x > 0, asymptotically
    /// −(1+α)/x (−x/2σ² at α = 2).
    pub fn score(&self, x: f64) -> f64 {
        if x.is_nan() {
            return x;
        }
        // −x has the opposite sign of x also for zeros.
        (self.unit.density((x / self.scale).abs()).slope / self.scale).copysign(-x)
    }

    /// Returns d²/dx² ln ψ(x), the derivative of the score s, with an error of at most 1e-12 (|s′|
    /// + s²) for α ≥ 0.1.
    pub fn score_derivative(&self, x: f64) -> f64 {
        if x.is_nan() {
            return x;
        }
        -self.unit.density((x / self.scale).abs()).slope_derivative / self.scale / self.scale
    }

    /// Returns E e^(iωX) = exp(−|σω|^α), which is real.
    pub fn characteristic_function(&self, omega: f64) -> f64 {
        libm::exp(-libm::pow((self.scale * omega).abs(), self.alpha()))
    }

    /// Returns the mode, 0.
    pub fn mode(&self) -> f64 {
        0.0
    }

    /// Returns the median, 0.
    pub fn median(&self) -> f64 {
        0.0
    }

    /// Returns E|X|^p in closed form: infinite for p ≤ −1, and for p ≥ α unless α = 2.
    pub fn absolute_moment(&self, p: f64) -> f64 {
        moments::absolute(self.alpha(), self.scale, p)
    }

    /// Returns E Xⁿ. For odd n it is 0 if n < α and NaN otherwise, where the moment does not exist.
    /// For even n it is infinite if n ≥ α. At α = 2 all moments exist.
    pub fn moment(&self, order: u32) -> f64 {
        let order_f64 = f64::from(order);
        if order.is_multiple_of(2) {
            self.absolute_moment(order_f64)
        } else if order_f64 < self.alpha() || self.alpha() == 2.0 {
            0.0
        } else {
            f64::NAN
        }
    }

    /// Returns the mean: 0 for α > 1, NaN for α ≤ 1, where it does not exist.
    pub fn mean(&self) -> f64 {
        self.moment(1)
    }

    /// Returns the variance: 2σ² at α = 2, infinite for α < 2.
    pub fn variance(&self) -> f64 {
        self.moment(2)
    }

    /// Returns the differential entropy −∫ ψ ln ψ. Its error is at most 1e-12 for α ≥ 0.006 and
    /// 1e-14 of the value for smaller α. It takes some hundred evaluations of the density.
    pub fn entropy(&self) -> f64 {
        moments::entropy(self.alpha(), &self.unit) + libm::log(self.scale)
    }

    /// Returns the regime of `x`: the formula that evaluates the law there.
    pub fn regime(&self, x: f64) -> Regime {
        self.unit.regime((x / self.scale).abs())
    }
}

/// Slice forms: `out[i] = f(x[i])`.
macro_rules! slice_forms {
    ($($name:ident = $of:ident),* $(,)?) => {
        /// Slice forms. Each panics if the slices differ in length.
        impl SymmetricStable {
            $(
                #[doc = concat!("Sets `out[i] = self.", stringify!($of), "(x[i])`.")]
                pub fn $name(&self, x: &[f64], out: &mut [f64]) {
                    assert_eq!(x.len(), out.len(), "input and output must have the same length");
                    for (o, &x) in out.iter_mut().zip(x) {
                        *o = self.$of(x);
                    }
                }
            )*
        }
    };
}

slice_forms! {
    pdf_into = pdf,
    ln_pdf_into = ln_pdf,
    cdf_into = cdf,
    sf_into = sf,
    ln_cdf_into = ln_cdf,
    ln_sf_into = ln_sf,
    quantile_into = quantile,
    isf_into = isf,
    score_into = score,
    score_derivative_into = score_derivative,
}
