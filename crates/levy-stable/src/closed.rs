//! The two symmetric stable laws with closed forms: α = 1 (Cauchy) and α = 2 (Gauss, variance 2).

use crate::local::Local;
use std::f64::consts::{FRAC_1_PI, PI};

/// α = 1: ψ(x) = 1/(π(1+x²)), g′ = 2x/(1+x²), g″ = 2(1−x²)/(1+x²)²; and the sf.
pub(crate) fn cauchy(x: f64) -> (f64, Local) {
    let sf = FRAC_1_PI * libm::atan2(1.0, x);
    let local = if x > 1.0 {
        // In u = 1/x, where nothing overflows.
        let u = 1.0 / x;
        let slope = 2.0 / (x + u);
        let slope_derivative = 0.5 * slope * slope * (u - 1.0) * (u + 1.0);
        Local { pdf: FRAC_1_PI * 0.5 * slope * u, slope, slope_derivative }
    } else {
        let lorentz = 1.0 / x.mul_add(x, 1.0);
        let slope_derivative = 2.0 * (1.0 - x) * (1.0 + x) * lorentz * lorentz;
        Local { pdf: FRAC_1_PI * lorentz, slope: 2.0 * x * lorentz, slope_derivative }
    };
    (sf, local)
}

/// α = 2: ψ(x) = e^(−x²/4)/(2√π), g′ = x/2, g″ = 1/2; and the sf.
pub(crate) fn gauss(x: f64) -> (f64, Local) {
    let pdf = gauss_exp(x) / (2.0 * PI.sqrt());
    (0.5 * libm::erfc(0.5 * x), Local { pdf, slope: 0.5 * x, slope_derivative: 0.5 })
}

/// e^(−x²/4), relative to itself: x² is split so that its rounding does not reach the exponent.
fn gauss_exp(x: f64) -> f64 {
    if x > 60.0 {
        return 0.0;
    }
    let high = f64::from_bits(x.to_bits() & !0x07ff_ffff);
    libm::exp(-0.25 * high * high) * libm::exp(-0.25 * (x - high) * (x + high))
}

/// ln ψ at α = 2.
pub(crate) fn gauss_ln_pdf(x: f64) -> f64 {
    -0.25 * x * x - libm::log(2.0 * PI.sqrt())
}

/// ln P(X > x) at α = 2: where erfc comes near underflow, y = x/2 and the asymptotic series of y√π
/// e^(y²) erfc y, whose sixth term is below 1e-15 there.
pub(crate) fn gauss_ln_sf(x: f64) -> f64 {
    let y = 0.5 * x;
    if y < 26.0 {
        return libm::log(0.5 * libm::erfc(y));
    }
    let z = 0.5 / (y * y);
    let rest = z * (-1.0 + z * (3.0 + z * (-15.0 + z * (105.0 - 945.0 * z))));
    libm::log1p(rest) - libm::log(2.0 * PI.sqrt() * y) - y * y
}
