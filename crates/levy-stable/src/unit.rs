//! The law at unit scale and x ≥ 0, with a formula for each regime.
//!
//! | regime | where | formula | error |
//! |---|---|---|---|
//! | [`Regime::Closed`] | α = 1, α = 2 | closed forms | a few ulp |
//! | [`Regime::Origin`] | x so small that x² terms are below 1e-17 | first term of the series at zero | a few ulp |
//! | [`Regime::Tail`] | x ≥ start(α), at most 19 for α ≥ 0.3 | series in x^(−α), ≤ 32 terms | see crate docs |
//! | [`Regime::Contour`] | everything else | trapezoidal rule on Zolotarev's contour | see crate docs |

use crate::closed;
use crate::contour::Contour;
use crate::local::Local;
use crate::tail::Tail;
use std::f64::consts::FRAC_1_PI;

/// The formula that evaluates the law at a point. The documentation of the crate has a table of
/// them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Regime {
    /// α = 1 or α = 2: closed forms.
    Closed,
    /// So close to zero that the first term of the series is exact.
    Origin,
    /// The integral over the contour.
    Contour,
    /// The series in powers of x^(−α).
    Tail,
}

// Not boxed, so that a law is `Copy` and is created without allocation.
#[expect(clippy::large_enum_variant)]
#[derive(Clone, Copy, Debug)]
enum Formulas {
    Cauchy,
    Gauss,
    General { contour: Contour, tail: Tail },
}

/// SαS(1) with all quantities that depend on α alone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnitLaw {
    alpha: f64,
    formulas: Formulas,
    /// ψ(0) = Γ(1 + 1/α)/π; infinite where that overflows (α < 0.006).
    peak: f64,
    /// g″(0) = Γ(3/α)/Γ(1/α); infinite where that overflows.
    stiffness: f64,
    /// The x below which the terms of the series at zero decrease fast from the first.
    knee: f64,
    /// Largest x at which all terms but the first are below rounding.
    flat: f64,
}

impl UnitLaw {
    pub(crate) fn new(alpha: f64) -> Self {
        let formulas = if alpha == 1.0 {
            Formulas::Cauchy
        } else if alpha == 2.0 {
            Formulas::Gauss
        } else {
            Formulas::General { contour: Contour::new(alpha), tail: Tail::new(alpha) }
        };
        let stiffness = gamma_quotient(3.0 / alpha, 1.0 / alpha);
        // ψ/ψ(0) = 1 − x² g″(0)/2 + …, and the terms after that shrink by x² Γ(5/α)/Γ(3/α)/12, x²
        // Γ(7/α)/Γ(5/α)/30.
        let next = gamma_quotient(7.0 / alpha, 5.0 / alpha);
        let knee = stiffness.max(next).sqrt().recip();
        Self {
            alpha,
            formulas,
            peak: libm::tgamma(1.0 + 1.0 / alpha) * FRAC_1_PI,
            stiffness,
            knee,
            flat: 3e-9 * knee,
        }
    }

    pub(crate) fn alpha(&self) -> f64 {
        self.alpha
    }

    pub(crate) fn peak(&self) -> f64 {
        self.peak
    }

    pub(crate) fn knee(&self) -> f64 {
        self.knee
    }

    /// x with P(X > x) = q if the tail were its leading term everywhere; 0 for the Gaussian, which
    /// has no such term.
    pub(crate) fn leading_quantile(&self, q: f64) -> f64 {
        match &self.formulas {
            Formulas::Cauchy => FRAC_1_PI / q,
            Formulas::Gauss => 0.0,
            Formulas::General { tail, .. } => tail.leading_quantile(q),
        }
    }

    pub(crate) fn regime(&self, x: f64) -> Regime {
        match &self.formulas {
            Formulas::Cauchy | Formulas::Gauss => Regime::Closed,
            Formulas::General { .. } if x <= self.flat => Regime::Origin,
            Formulas::General { tail, .. } if x >= tail.start() => Regime::Tail,
            Formulas::General { .. } => Regime::Contour,
        }
    }

    /// P(X > x) with the density and its derivatives, at 0 ≤ x ≤ ∞.
    pub(crate) fn distribution(&self, x: f64) -> (f64, Local) {
        match &self.formulas {
            Formulas::Cauchy => closed::cauchy(x),
            Formulas::Gauss => closed::gauss(x),
            Formulas::General { .. } if x <= self.flat => self.at_origin(x),
            Formulas::General { tail, .. } if x >= tail.start() => tail.distribution(x),
            Formulas::General { contour, .. } => contour.distribution(x),
        }
    }

    /// [`Self::distribution`] to about 1e-6, faster.
    pub(crate) fn rough_distribution(&self, x: f64) -> (f64, Local) {
        match &self.formulas {
            Formulas::General { contour, tail } if x > self.flat && x < tail.start() => {
                contour.rough_distribution(x)
            }
            _ => self.distribution(x),
        }
    }

    /// The density and its derivatives at 0 ≤ x ≤ ∞.
    pub(crate) fn density(&self, x: f64) -> Local {
        match &self.formulas {
            Formulas::General { contour, tail } if x > self.flat && x < tail.start() => {
                contour.density(x)
            }
            _ => self.distribution(x).1,
        }
    }

    fn at_origin(&self, x: f64) -> (f64, Local) {
        // 0 at x = 0 also where ψ(0) or g″(0) overflow, which they do for α < 0.02.
        let times = |slope: f64| if x == 0.0 { 0.0 } else { slope * x };
        let local = Local {
            pdf: self.peak,
            slope: times(self.stiffness),
            slope_derivative: self.stiffness,
        };
        (0.5 - times(self.peak), local)
    }

    /// ln P(X > x) at 0 ≤ x ≤ ∞, also where the probability underflows.
    pub(crate) fn ln_sf(&self, x: f64) -> f64 {
        match &self.formulas {
            Formulas::Gauss => closed::gauss_ln_sf(x),
            Formulas::General { tail, .. } if x > self.flat && x >= tail.start() => tail.ln_sf(x),
            _ => libm::log(self.distribution(x).0),
        }
    }

    /// ln(xψ(x)) at x = e^u, in the tail also where x overflows.
    pub(crate) fn ln_mass(&self, u: f64) -> f64 {
        match &self.formulas {
            Formulas::General { tail, .. } if u >= libm::log(tail.start()) => tail.ln_mass(u),
            _ => self.ln_pdf(libm::exp(u)) + u,
        }
    }

    /// ln ψ at 0 ≤ x ≤ ∞, also where ψ underflows.
    pub(crate) fn ln_pdf(&self, x: f64) -> f64 {
        match &self.formulas {
            Formulas::Gauss => closed::gauss_ln_pdf(x),
            Formulas::General { tail, .. } if x > self.flat && x >= tail.start() => tail.ln_pdf(x),
            Formulas::Cauchy if x > 1e150 => libm::log(FRAC_1_PI) - 2.0 * libm::log(x),
            _ => libm::log(self.density(x).pdf),
        }
    }
}

/// Γ(a)/Γ(b), infinite where it overflows.
fn gamma_quotient(a: f64, b: f64) -> f64 {
    let numerator = libm::tgamma(a);
    if numerator.is_finite() {
        numerator / libm::tgamma(b)
    } else {
        // ln Γ loses digits where it is large, but only for α < 0.018 does g″(0) come this way.
        let ln_numerator = libm::lgamma(a);
        if ln_numerator.is_finite() {
            libm::exp(ln_numerator - libm::lgamma(b))
        } else {
            f64::INFINITY
        }
    }
}
