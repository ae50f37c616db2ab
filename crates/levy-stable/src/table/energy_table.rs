//! The kinetic energy G_α from a table: for samplers that accept or reject by it.

use super::data::tabulated;
use super::octave_table::OctaveTable;
use super::tabulate::{DOUBLE_TOLERANCE, Span, ratio};
use crate::simd::dispatched;
use crate::{ParameterError, SymmetricStable};

/// The kinetic energy G_α(v) − G_α(0) of one α on all of ℝ, tabulated.
///
/// G_α = −ln ψ, where ψ is the density of SαS(α^(−1/α)) (see [`SymmetricStable::kinetic`]); its
/// derivative is the field of [`FieldTable`](super::FieldTable). The table holds (G_α(v) −
/// G_α(0))/ln(1 + v²), which is smooth, positive and of order 1. Beyond the table, where the
/// density is a power of v to within the tolerance, the energy grows by 1 + α per factor e of v.
/// The relative error is at most 1e-12, for 0.1 ≤ α ≤ 2. At α = 2 the energy is v²/2.
///
/// ```
/// use levy_stable::{SymmetricStable, table::EnergyTable};
/// # fn main() -> Result<(), levy_stable::ParameterError> {
/// let (table, law) = (EnergyTable::new(1.5)?, SymmetricStable::kinetic(1.5)?);
/// let exact = law.ln_pdf(0.0) - law.ln_pdf(0.7);
/// assert!((table.at(0.7) / exact - 1.0).abs() < 1e-12);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct EnergyTable {
    alpha: f64,
    /// (G_α(v) − G_α(0))/ln(1 + v²)
    table: OctaveTable,
    /// Where the table ends, and the energy there.
    end: f64,
    at_end: f64,
}

impl EnergyTable {
    /// Builds the table for 0.1 ≤ α ≤ 2, the range of [`FieldTable`](super::FieldTable).
    pub fn new(alpha: f64) -> Result<Self, ParameterError> {
        let law = tabulated(alpha)?;
        if alpha == 2.0 {
            return Ok(Self { alpha, table: OctaveTable::constant(0.0), end: 0.0, at_end: 0.0 });
        }
        let fit = Span::of::<f64>(&law, DOUBLE_TOLERANCE).fit(DOUBLE_TOLERANCE);
        let energy = energy(&law);
        let slope = ratio(&law)(0.0);
        let held = |v: f64| if v == 0.0 { 0.5 * slope } else { energy(v) / libm::log1p(v * v) };
        let (table, _) = OctaveTable::fit(&fit, held);
        Ok(Self { alpha, table, end: fit.end, at_end: energy(fit.end) })
    }

    /// Returns the tail index.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// Returns G_α(v) − G_α(0).
    pub fn at(&self, v: f64) -> f64 {
        at(self, v)
    }

    /// Returns Σ (G_α(scale·v) − G_α(0)) over the coordinates of `v`.
    pub fn sum(&self, scale: f64, v: &[f64]) -> f64 {
        sum(self, scale, v)
    }

    #[inline(always)]
    fn evaluate(&self, v: f64) -> f64 {
        let v = v.abs();
        if self.alpha == 2.0 {
            0.5 * v * v
        } else if v <= self.end {
            self.table.evaluate(v) * libm::log1p(v * v)
        } else {
            self.at_end + (1.0 + self.alpha) * libm::log(v / self.end)
        }
    }
}

dispatched! {
    fn at(table: &EnergyTable, v: f64) -> f64 { table.evaluate(v) }
}
dispatched! {
    fn sum(table: &EnergyTable, scale: f64, v: &[f64]) -> f64 {
        v.iter().fold(0.0, |sum, v| sum + table.evaluate(scale * v))
    }
}

/// Returns G(v) − G(0) as a function of v ≥ 0, to relative accuracy also near 0, where the
/// difference of logarithms would cancel.
fn energy(law: &SymmetricStable) -> impl Fn(f64) -> f64 {
    /// Points on [−1, 1] and weights of Gauss and Legendre's rule of order 16, for the positive
    /// points.
    const RULE: [(f64, f64); 4] = [
        (0.183_434_642_495_649_8, 0.362_683_783_378_362),
        (0.525_532_409_916_329, 0.313_706_645_877_887_3),
        (0.796_666_477_413_626_7, 0.222_381_034_453_374_48),
        (0.960_289_856_497_536_3, 0.101_228_536_290_376_26),
    ];
    let ratio = ratio(law);
    // Well below the knee the ratio ∇G(v)/v is a polynomial of low degree.
    let near = law.scale() * law.unit().knee() / 8.0;
    move |v| {
        if v > near {
            return law.ln_pdf(0.0) - law.ln_pdf(v);
        }
        // ∫₀^v ∇G = v² ∫₀¹ s ∇G(sv)/(sv) ds
        let at = |s: f64| s * ratio(s * v);
        let sum: f64 = RULE.iter().map(|&(x, w)| w * (at(0.5 + 0.5 * x) + at(0.5 - 0.5 * x))).sum();
        0.5 * sum * v * v
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Stream};

    /// Returns random points of every size, from 2^−20 to 2^40.
    fn points() -> impl Iterator<Item = f64> {
        let words = Stream::new(1, 0, Purpose::Resample);
        (0..4000).map(move |i| {
            libm::exp2(60.0 * (words.word(i) >> 11) as f64 / (1u64 << 53) as f64 - 20.0)
        })
    }

    /// ψ is the Cauchy density of scale 1 at α = 1, so G(v) − G(0) = ln(1 + v²), and a Gaussian at
    /// α = 2.
    #[test]
    fn has_the_closed_forms() {
        let [cauchy, gauss] = [1.0, 2.0].map(|alpha| EnergyTable::new(alpha).unwrap());
        for v in points() {
            let error = (cauchy.at(-v) / libm::log1p(v * v) - 1.0).abs();
            assert!(error < 1e-12, "{v}: {error:e}");
            assert_eq!(gauss.at(v), 0.5 * v * v);
        }
    }

    /// At random points of every size the table has the energy of the law.
    #[test]
    fn agrees_with_the_law() {
        for alpha in [0.1, 0.5, 1.0, 1.3, 1.5, 1.8, 1.99, 1.999_999, 2.0] {
            let (table, law) =
                (EnergyTable::new(alpha).unwrap(), SymmetricStable::kinetic(alpha).unwrap());
            // At small α the slope of the field changes closer to 0 than the first branch resolves.
            for v in points().filter(|&v| alpha > 0.5 || v > 1e-2) {
                let (exact, tolerance) = if v < 1e-2 {
                    // ∇G(v)/v is even: with ∇G(v)/v = a + b v² + …, the energy is v²/2 (a + b v²/2)
                    // up to a share of v⁴.
                    let (first, last) = (-law.score_derivative(0.0), -law.score(v) / v);
                    ((first + 0.5 * (last - first)) * v * v / 2.0, 2e-12 + v.powi(4))
                } else {
                    // The difference of logarithms loses digits where it is small.
                    let exact = law.ln_pdf(0.0) - law.ln_pdf(v);
                    (exact, 3e-12 + 3e-15 / exact)
                };
                let error = (table.at(-v) / exact - 1.0).abs();
                assert!(error < tolerance, "{alpha} {v}: {error:e}");
            }
        }
    }

    /// The energy is the integral of the field: between two points by Simpson's rule on many
    /// intervals.
    #[test]
    fn its_derivative_is_the_field() {
        let (energy, field) =
            (EnergyTable::new(1.5).unwrap(), crate::FieldTable::new(1.5).unwrap());
        for (a, b) in [(0.0, 1e-3), (0.0, 0.5), (0.5, 4.0), (4.0, 60.0), (1e3, 1e4)] {
            let n = 2000;
            let h = (b - a) / f64::from(n);
            let weight = |i: i32| {
                if i == 0 || i == n {
                    1.0
                } else if i % 2 == 1 {
                    4.0
                } else {
                    2.0
                }
            };
            let integral: f64 =
                (0..=n).map(|i| weight(i) * field.at(a + h * f64::from(i))).sum::<f64>() * h / 3.0;
            let difference = energy.at(b) - energy.at(a);
            assert!((difference / integral - 1.0).abs() < 1e-9, "{a} {b}: {difference} {integral}");
        }
        assert!(energy.at(1e300) > energy.at(1e299) && energy.at(f64::INFINITY) == f64::INFINITY);
        assert!(energy.at(f64::NAN).is_nan() && energy.at(0.0) == 0.0);
    }
}
