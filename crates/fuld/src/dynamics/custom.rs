//! User-supplied kinetic energies: their friction, by quadrature, for noise of any tail index.

use super::differentiable_function::DifferentiableFunction;
use super::drift_flow::{DriftFlow, FlowError, OddDrift};
use super::error::KineticError;
use super::kinetic::{ExactKinetic, Kinetic, relax_by_flow};
use crate::gibbs::Gibbs;
use crate::numerics::fractional_gradient::{FractionalGradient, wells};
use crate::parameters::{Beta, noise_amplitude};
use levy_stable::table::{Fit, OctaveTable};
use levy_stable::{Alpha, SymmetricStable};
use libm::{log2, pow};

/// An even kinetic energy g with the friction c = 𝒟^(α−2)(ψ g′)/ψ, ψ = e^(−βg), of Theorem 1 of the
/// paper.
///
/// The friction is tabulated, with the exact flow of v′ = −γ c(v). The table holds c(v)/v on |v| ≤
/// [`reach`](Self::reach) with a relative error below 1e-9;
/// [`max_relative_error`](Self::max_relative_error) returns the measured one. The reach is where ψ
/// has fallen by about e^(−230), or 2²⁰ times its width if its tails are heavy; beyond it c
/// continues as a power of v. Building a table takes 0.1 to 1 seconds, mostly spent in g.
///
/// | tested against | range | relative error |
/// |---|---|---|
/// | the closed form of the Gaussian energy | ψ ≥ 1e-90, 20 standard deviations | 9e-12 |
/// | c(v) = v, where ψ is a stable density, 0.7 ≤ α ≤ 1.8 | a million times its width | 1e-11 |
///
/// Exact sampling takes it as well: [`Integrator::Exact`](crate::Integrator::Exact).
///
/// g must be smooth, so that c has a slope at 0 and polynomials can represent it: |v| is refused.
///
/// ```
/// use fuld::dynamics::{CustomKinetic, DifferentiableFunction};
/// use fuld::{Alpha, Beta};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // The energy of special relativity: velocities of the position stay below 1.
/// let g = DifferentiableFunction { value: |v: f64| (1.0 + v * v).sqrt(), derivative: |v: f64| v / (1.0 + v * v).sqrt() };
/// let kinetic = CustomKinetic::new(Alpha::new(1.5)?, Beta::ONE, g)?;
/// assert!(kinetic.transport(1e9) <= 1.0, "no faster than light");
/// assert!(kinetic.friction(9.0) > 9.0 * kinetic.friction(1.0));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct CustomKinetic<V, G> {
    alpha: Alpha,
    beta: Beta,
    /// Of the noise.
    amplitude: f64,
    g: V,
    slope_of_g: G,
    /// The law of v, and the Gaussian law that its refreshment is transformed from.
    laws: Option<(Gibbs, SymmetricStable)>,
    /// c(v)/v
    table: OctaveTable,
    max_relative_error: f64,
    /// c(v) = (rate·reach)(v/reach)^power beyond the reach.
    reach: f64,
    rate: f64,
    power: f64,
    flow: DriftFlow,
}

/// Relative error that the table is fitted to.
const TOLERANCE: f64 = 1e-11;
/// Relative error above which an energy is refused as too rough.
const REFUSED: f64 = 1e-9;
/// The table ends where ψ has fallen by e to the minus this.
const MAX_RISE: f64 = 230.0;
/// The table ends at this multiple of the width of ψ if its tails are heavy.
const MAX_WIDTHS: f64 = 1048576.0;

impl<V: Fn(f64) -> f64, G: Fn(f64) -> f64> CustomKinetic<V, G> {
    /// Tabulates the friction of the kinetic energy g.
    pub fn new(
        alpha: Alpha,
        beta: Beta,
        energy: DifferentiableFunction<V, G>,
    ) -> Result<Self, KineticError> {
        let DifferentiableFunction { value: g, derivative: slope_of_g } = energy;
        let amplitude = noise_amplitude(alpha, beta)?;
        let (a, b) = (alpha.get(), beta.get());
        let scale = FractionalGradient::new(a, b, &g, &slope_of_g, vec![0.0]).width();
        check(b, scale, &g, &slope_of_g)?;
        let wells = wells(&g, 16.0 * scale, 512);
        let gradient = FractionalGradient::new(a, b, &g, &slope_of_g, wells);

        // Near 0 rounding leaves c(v) few digits, but c(v)/v = c₀ + c₂v² there; from c at two
        // points, with v⁴ left over.
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
        let drift = OddDrift { drift: |v| table.at(v) * v, slope: table.at(0.0), reach };
        let flow = DriftFlow::new(drift)?;
        let (rate, inner) = (table.at(reach), table.at(0.95 * reach));
        let power = 1.0 - libm::log(rate / inner) / libm::log(0.95);
        let gaussian = SymmetricStable::new(2.0);
        let laws = Gibbs::of_function(&g, &slope_of_g, beta).ok().zip(gaussian.ok());
        Ok(Self {
            alpha,
            beta,
            amplitude,
            g,
            slope_of_g,
            laws,
            table,
            max_relative_error,
            reach,
            rate,
            power,
            flow,
        })
    }

    /// Returns g′(v), the velocity of the position.
    pub fn transport(&self, v: f64) -> f64 {
        (self.slope_of_g)(v)
    }
}

impl<V, G> CustomKinetic<V, G> {
    /// Returns c(v), the friction at γ = 1.
    pub fn friction(&self, v: f64) -> f64 {
        let size = v.abs();
        if size > self.reach {
            return (self.rate * self.reach * pow(size / self.reach, self.power)).copysign(v);
        }
        self.table.at(size) * v
    }

    /// Returns the exact flow of v′ = −γ c(v).
    pub fn flow(&self) -> &DriftFlow {
        &self.flow
    }

    /// Returns the largest |v| at which the friction was computed. Beyond it the friction continues
    /// as a power of v.
    pub fn reach(&self) -> f64 {
        self.reach
    }

    /// Returns the largest relative error of c measured between the nodes of the table.
    pub fn max_relative_error(&self) -> f64 {
        self.max_relative_error
    }

    /// Returns the tail index of the noise.
    pub fn alpha(&self) -> Alpha {
        self.alpha
    }

    /// Returns the inverse temperature.
    pub fn beta(&self) -> Beta {
        self.beta
    }
}

impl<V, G> Kinetic for CustomKinetic<V, G>
where
    V: Fn(f64) -> f64 + Send + Sync,
    G: Fn(f64) -> f64 + Send + Sync,
{
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

    /// Applies half of the friction's flow, the noise, and the other half: second order.
    fn relax(&self, gamma: f64, t: f64, noise: &[f64], v: &mut [f64]) {
        relax_by_flow(&self.flow, self.alpha, self.amplitude, gamma * t, noise, v);
    }

    fn alpha(&self) -> Alpha {
        self.alpha
    }

    fn exact(&self) -> Option<&dyn ExactKinetic> {
        self.laws.as_ref().map(|_| self as &dyn ExactKinetic)
    }
}

/// Exact sampling refreshes v by Gaussian noise, whatever α: v = F⁻¹(Φ(z)), with the distribution
/// functions F of v and Φ of z, and z an Ornstein–Uhlenbeck process.
impl<V, G> ExactKinetic for CustomKinetic<V, G>
where
    V: Fn(f64) -> f64 + Send + Sync,
    G: Fn(f64) -> f64 + Send + Sync,
{
    fn beta(&self) -> f64 {
        self.beta.get()
    }

    fn energy(&self, v: &[f64]) -> f64 {
        self.beta.get() * v.iter().map(|&v| (self.g)(v) - (self.g)(0.0)).sum::<f64>()
    }

    fn refreshing_alpha(&self) -> Alpha {
        Alpha::GAUSS
    }

    fn refresh(&self, gamma: f64, t: f64, noise: &[f64], v: &mut [f64]) {
        let Some((law, gaussian)) = &self.laws else { return };
        let (decay, scale) = (libm::exp(-gamma * t), (-libm::expm1(-2.0 * gamma * t)).sqrt());
        for (v, xi) in v.iter_mut().zip(noise) {
            // Both laws are symmetric: the lower tail keeps all digits.
            let z =
                if decay == 0.0 { 0.0 } else { gaussian.quantile(law.cdf(-v.abs())).copysign(*v) };
            let z = decay * z + scale * xi;
            *v = law.quantile(gaussian.cdf(-z.abs())).copysign(z);
        }
    }
}

/// Checks at some points that g can be a kinetic energy.
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
