//! The Gibbs law e^(−βf)/Z in one and two dimensions by quadrature, as the reference for samplers.
//!
//! The location of the mass need not be known. The minima of f are located over three hundred
//! decades. Around each of them, the line is divided into cells that double in width, and cells are
//! halved until a polynomial represents the density on each. The method therefore handles narrow
//! wells, wells far from the origin or from each other, and power-law tails.

mod error;
mod marginals;
mod search;
mod table;

pub use error::GibbsError;

use crate::{Beta, Potential};
use search::{Line, Search};
use table::CellTable;

/// The law with density e^(−βf(x))/Z.
///
/// ```
/// use fuld::Beta;
/// use fuld::gibbs::Gibbs;
/// use fuld::potential::Formula;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let well: Formula = "x^4/4 - x^2/2".parse()?;
/// let gibbs = Gibbs::new(&well, Beta::ONE)?;
/// assert!((gibbs.expectation(|x| x * x) - 1.0417973).abs() < 1e-7);
/// assert!((gibbs.cdf(0.0) - 0.5).abs() < 1e-12);
/// assert_eq!(gibbs.modes().len(), 2);
/// let slope: Formula = "x".parse()?;
/// assert!(Gibbs::new(&slope, Beta::ONE).is_err());
/// # Ok(())
/// # }
/// ```
///
/// The error of the distribution function and of quantiles is below 1e-10. That of the density is
/// below 1e-10 of its value or, far below the maximum, 1e-14 of the maximum. Where f is NaN, as
/// outside its domain, the density is 0.
#[derive(Clone, Debug)]
pub struct Gibbs {
    table: CellTable,
    modes: Vec<f64>,
}

/// Local maxima below this fraction of the highest are not counted as modes.
const LOWEST_MODE: f64 = 1e-12;

impl Gibbs {
    /// Normalises e^(−βf) for a potential of one coordinate. Fails if the integral is infinite or
    /// the potential has no minimum.
    pub fn new(potential: &dyn Potential, beta: Beta) -> Result<Self, GibbsError> {
        if potential.dim() != 1 {
            return Err(GibbsError::Dimension { needed: 1, given: potential.dim() });
        }
        let slope = |x: f64| {
            let mut gradient = [0.0];
            potential.gradient(&[x], &mut gradient);
            gradient[0]
        };
        Self::of_function(&|x| potential.value(&[x]), &slope, beta)
    }

    /// Normalises e^(−βf) for a function f of one variable with its derivative.
    pub(crate) fn of_function(
        value: &dyn Fn(f64) -> f64,
        derivative: &dyn Fn(f64) -> f64,
        beta: Beta,
    ) -> Result<Self, GibbsError> {
        let beta = beta.get();
        Self::from_energy(&|x| beta * value(x), &|x| beta * derivative(x), &search::LINE)
    }

    /// Returns the two marginal laws of e^(−βf) for a potential of two coordinates.
    ///
    /// Each is an integral over the other coordinate at every point, which takes one to two
    /// seconds. The error is below 1e-7. The mass must lie within 10¹² of the origin.
    ///
    /// ```
    /// use fuld::Beta;
    /// use fuld::gibbs::Gibbs;
    /// use fuld::potential::Formula;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let correlated: Formula = "x^2 + y^2 + x*y".parse()?;
    /// let [x, _] = Gibbs::marginals(&correlated, Beta::ONE)?;
    /// assert!((x.expectation(|x| x * x) - 2.0 / 3.0).abs() < 1e-6);
    /// # Ok(())
    /// # }
    /// ```
    pub fn marginals(potential: &dyn Potential, beta: Beta) -> Result<[Self; 2], GibbsError> {
        if potential.dim() != 2 {
            return Err(GibbsError::Dimension { needed: 2, given: potential.dim() });
        }
        let beta = beta.get();
        let (first, second) = rayon::join(
            || marginals::marginal(potential, beta, 0),
            || marginals::marginal(potential, beta, 1),
        );
        Ok([first?, second?])
    }

    /// Normalises e^(−U) for an energy U with its slope.
    fn from_energy(
        energy: &dyn Fn(f64) -> f64,
        slope: &dyn Fn(f64) -> f64,
        line: &Line,
    ) -> Result<Self, GibbsError> {
        let search = Search::new(energy, slope, line)?;
        let table = CellTable::new(energy, &search, line)?;
        let high = |&&mode: &&f64| libm::exp(search.lowest - energy(mode)) > LOWEST_MODE;
        Ok(Self { table, modes: search.minima.iter().filter(high).copied().collect() })
    }

    /// Returns the density e^(−βf(x))/Z.
    pub fn density(&self, x: f64) -> f64 {
        self.table.density(x)
    }

    /// Returns the distribution function P(X ≤ x).
    pub fn cdf(&self, x: f64) -> f64 {
        self.table.cdf(x)
    }

    /// Returns x with P(X ≤ x) = p; NaN unless 0 ≤ p ≤ 1. At 0 and 1 it returns the ends of the
    /// tabulated mass.
    pub fn quantile(&self, p: f64) -> f64 {
        self.table.quantile(p)
    }

    /// Returns E h(X) for a smooth h. If the expectation does not exist, the result is finite but
    /// meaningless.
    pub fn expectation(&self, h: impl Fn(f64) -> f64) -> f64 {
        self.table.expectation(&h)
    }

    /// Returns the exponent a of P(|X| > r) ~ r^(−a) for the heavier side; moments of order below a
    /// exist.
    ///
    /// It is estimated at the quantiles 1e-6 and 1 − 1e-6, with an error of about 1 % for power
    /// tails. For lighter tails it is a large number.
    pub fn tail_exponent(&self) -> f64 {
        let middle = self.quantile(0.5);
        let side = |end: f64| {
            let there = end - middle;
            let (near, far) = (self.density(middle + there), self.density(middle + 2.0 * there));
            if far > 0.0 { libm::log2(near / far) - 1.0 } else { f64::INFINITY }
        };
        side(self.quantile(1e-6)).min(side(self.quantile(1.0 - 1e-6)))
    }

    /// Returns the local maxima of the density from left to right, except those twelve decades
    /// below the highest.
    pub fn modes(&self) -> &[f64] {
        &self.modes
    }

    /// Returns −log ∫ e^(−U) for the energy U.
    fn free_energy(&self) -> f64 {
        self.table.free_energy()
    }
}
