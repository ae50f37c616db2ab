//! Fractional underdamped dynamics with a kinetic energy of one's own.

use super::drift_flow::{DriftFlow, FlowError};
use super::error::KineticError;
use super::kinetic::{Kinetic, relax_by_flow};
use crate::numerics::fractional_gradient::{FractionalGradient, wells};
use crate::parameters::noise_amplitude;
use levy_stable::table::{Fit, OctaveTable};
use libm::{log2, pow};

/// The drift c = 𝒟^(α−2)(ψ g′)/ψ, ψ = e^(−βg), of an even kinetic energy g (Theorem 1 of the paper), tabulated, with the
/// transport field g′ and the exact flow of v′ = −γ c(v).
///
/// The table holds c(v)/v on |v| ≤ [`reach`](Self::reach) with a relative error below 1e-9; what building it saw is
/// [`max_relative_error`](Self::max_relative_error). Measured: 9e-12 against the closed form of the Gaussian energy, out
/// to ψ = 1e-90 (20 standard deviations), and 1e-11 against c(v) = v when ψ is a stable density, 0.7 ≤ α ≤ 1.8, out to a
/// million times its width. The reach is where ψ has fallen by about e^(−230), or 2²⁰ times its width if tails are heavy;
/// beyond, c goes on as a power of v. A table takes some 0.1 to 1 seconds to build, most of them spent in g.
///
/// g must be smooth, so that c has a slope at 0 and a polynomial can follow it: |v| is refused.
///
/// ```
/// use fuld::dynamics::CustomKinetic;
/// // The energy of special relativity: velocities of the position stay below 1.
/// let kinetic = CustomKinetic::new(1.5, 1.0, |v| (1.0 + v * v).sqrt(), |v| v / (1.0 + v * v).sqrt())?;
/// assert!(kinetic.transport(1e9) <= 1.0, "no faster than light");
/// assert!(kinetic.friction(9.0) > 9.0 * kinetic.friction(1.0));
/// # Ok::<(), fuld::dynamics::KineticError>(())
/// ```
#[derive(Clone, Debug)]
pub struct CustomKinetic<G> {
    alpha: f64,
    beta: f64,
    /// Of the noise.
    amplitude: f64,
    slope_of_g: G,
    /// c(v)/v
    table: OctaveTable,
    max_relative_error: f64,
    /// c(v) = (rate·reach)(v/reach)^power beyond the reach.
    reach: f64,
    rate: f64,
    power: f64,
    flow: DriftFlow,
}

const TOLERANCE: f64 = 1e-11;
const REFUSED: f64 = 1e-9;
/// ψ is followed until it has fallen by e to the minus this, and tails to this multiple of its width.
const MAX_RISE: f64 = 230.0;
const MAX_WIDTHS: f64 = 1048576.0;

impl<G: Fn(f64) -> f64> CustomKinetic<G> {
    /// Tabulates the drift of g, given with its derivative, for 0 < α ≤ 2 and β > 0.
    pub fn new(alpha: f64, beta: f64, g: impl Fn(f64) -> f64, slope_of_g: G) -> Result<Self, KineticError> {
        let amplitude = noise_amplitude(alpha, beta)?;
        let scale = FractionalGradient::new(alpha, beta, &g, &slope_of_g, vec![0.0]).width();
        check(beta, scale, &g, &slope_of_g)?;
        let wells = wells(&g, 16.0 * scale, 512);
        let gradient = FractionalGradient::new(alpha, beta, &g, &slope_of_g, wells);

        // Near 0 rounding leaves c(v) few digits, but c(v)/v = c₀ + c₂v² there; from c at two points, with v⁴ left over.
        let step = scale / 1024.0;
        let (once, twice) = (gradient.at(step) / step, gradient.at(2.0 * step) / (2.0 * step));
        let (c0, c2) = ((4.0 * once - twice) / 3.0, (twice - once) / (3.0 * step * step));
        let ratio = |v: f64| if v < step { c0 + c2 * v * v } else { gradient.at(v) / v };

        let mut reach = scale;
        while reach < MAX_WIDTHS * scale && gradient.rise(2.0 * reach) < MAX_RISE {
            reach *= 2.0;
        }
        while gradient.rise(1.0625 * reach) < MAX_RISE && reach < MAX_WIDTHS * scale {
            reach *= 1.0625;
        }
        let first = libm::floor(log2(0.25 * scale)) as i32;
        let fit = Fit { lowest: first, end: reach, tolerance: TOLERANCE, floor: 0.0 };
        let (table, max_relative_error): (OctaveTable, _) = OctaveTable::fit(&fit, ratio);
        if max_relative_error.is_nan() || max_relative_error > REFUSED {
            return Err(FlowError::Rough(max_relative_error).into());
        }
        let flow = DriftFlow::new(|v| table.at(v) * v, table.at(0.0), reach)?;
        let (rate, inner) = (table.at(reach), table.at(0.95 * reach));
        let power = 1.0 - libm::log(rate / inner) / libm::log(0.95);
        Ok(Self { alpha, beta, amplitude, slope_of_g, table, max_relative_error, reach, rate, power, flow })
    }

    /// g′(v), the velocity of the position.
    pub fn transport(&self, v: f64) -> f64 {
        (self.slope_of_g)(v)
    }
}

impl<G> CustomKinetic<G> {
    /// c(v), the friction at γ = 1.
    pub fn friction(&self, v: f64) -> f64 {
        let size = v.abs();
        if size > self.reach {
            return (self.rate * self.reach * pow(size / self.reach, self.power)).copysign(v);
        }
        self.table.at(size) * v
    }

    /// The exact flow of v′ = −γ c(v).
    pub fn flow(&self) -> &DriftFlow {
        &self.flow
    }

    /// Up to this |v| the drift was computed; beyond it goes on as a power of v.
    pub fn reach(&self) -> f64 {
        self.reach
    }

    /// Largest relative error of c that was seen between the nodes of the table.
    pub fn max_relative_error(&self) -> f64 {
        self.max_relative_error
    }

    /// The tail index of the noise.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// The inverse temperature.
    pub fn beta(&self) -> f64 {
        self.beta
    }
}

impl<G: Fn(f64) -> f64 + Send + Sync> Kinetic for CustomKinetic<G> {
    fn transport(&self, v: &[f64], out: &mut [f64]) {
        for (out, &v) in out.iter_mut().zip(v) {
            *out = self.transport(v);
        }
    }

    fn friction(&self, v: &[f64], out: &mut [f64]) {
        for (out, &v) in out.iter_mut().zip(v) {
            *out = self.friction(v);
        }
    }

    fn amplitude(&self) -> f64 {
        self.amplitude
    }

    /// Half the flow of the friction, the jump, the other half: of second order.
    fn relax(&self, gamma: f64, t: f64, noise: &[f64], v: &mut [f64]) {
        relax_by_flow(&self.flow, self.alpha, self.amplitude, gamma * t, noise, v);
    }

    fn alpha(&self) -> f64 {
        self.alpha
    }
}

/// Whether g can be a kinetic energy, as far as some points tell.
fn check(
    beta: f64,
    scale: f64,
    g: &impl Fn(f64) -> f64,
    slope: &impl Fn(f64) -> f64,
) -> Result<(), KineticError> {
    for v in [0.0, 0.1 * scale, scale, 3.0 * scale] {
        for (right, left) in [(g(v), g(-v)), (slope(v), -slope(-v))] {
            if let Some(value) = [right, left].into_iter().find(|value| !value.is_finite()) {
                return Err(KineticError::NotFinite { v, value });
            }
            let difference = (right - left).abs();
            if difference > 1e-9 * (right.abs() + left.abs()) {
                return Err(KineticError::NotEven { v, difference });
            }
        }
    }
    let far = MAX_WIDTHS * scale;
    let value = beta * far * slope(far);
    // An overflowing g falls fast enough.
    if value > 1.0 || g(far) == f64::INFINITY {
        Ok(())
    } else {
        Err(KineticError::NotIntegrable { v: far, value })
    }
}
