//! The Gibbs law e^(−βf)/Z on a line: what a sampler of f should produce, by quadrature.
//!
//! Nobody says where the mass is: minima of f are sought over three hundred decades, cells that double in width are laid
//! around each of them, and on every cell the density is a polynomial as fine as needed. So narrow wells, wells far
//! away from the origin or each other, and tails of a power law are all one case.

mod error;
mod marginals;
mod search;
mod table;

pub use error::GibbsError;

use crate::{Beta, Potential};
use search::{Line, Search};
use table::Table;

/// The law with density e^(−βf(x))/Z.
///
/// ```
/// use fuld::gibbs::Gibbs;
/// use fuld::potential::Formula;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let well: Formula = "x^4/4 - x^2/2".parse()?;
/// let gibbs = Gibbs::new(&well, 1.0)?;
/// assert!((gibbs.expectation(|x| x * x) - 1.0417973).abs() < 1e-7);
/// assert!((gibbs.cdf(0.0) - 0.5).abs() < 1e-12);
/// assert_eq!(gibbs.modes().len(), 2);
/// let slope: Formula = "x".parse()?;
/// assert!(Gibbs::new(&slope, 1.0).is_err());
/// # Ok(())
/// # }
/// ```
///
/// Distribution function and quantiles are good to 1e-10, the density to 1e-10 of its value or 1e-14 of what there is
/// of it in all. Where f is no number, as beyond the edge of its domain, there is no mass.
#[derive(Clone, Debug)]
pub struct Gibbs {
    table: Table,
    modes: Vec<f64>,
}

/// Lower maxima than this part of the highest are not worth mentioning.
const LOWEST_MODE: f64 = 1e-12;

impl Gibbs {
    /// Normalises e^(−βf) for a potential of one coordinate, or says why that is impossible.
    pub fn new(potential: &dyn Potential, beta: f64) -> Result<Self, GibbsError> {
        if potential.dim() != 1 {
            return Err(GibbsError::Dimension { needed: 1, given: potential.dim() });
        }
        let beta = Beta::new(beta)?.get();
        let slope = |x: f64| {
            let mut gradient = [0.0];
            potential.gradient(&[x], &mut gradient);
            beta * gradient[0]
        };
        Self::from_energy(&|x| beta * potential.value(&[x]), &slope, &search::LINE)
    }

    /// The two marginal laws of e^(−βf) for a potential of two coordinates. Each is an integral over the other
    /// coordinate at every place, so this takes a second or two, and is good to 1e-7; its masses must be within 10¹²
    /// of the origin.
    ///
    /// ```
    /// use fuld::gibbs::Gibbs;
    /// use fuld::potential::Formula;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let correlated: Formula = "x^2 + y^2 + x*y".parse()?;
    /// let [x, _] = Gibbs::marginals(&correlated, 1.0)?;
    /// assert!((x.expectation(|x| x * x) - 2.0 / 3.0).abs() < 1e-6);
    /// # Ok(())
    /// # }
    /// ```
    pub fn marginals(potential: &dyn Potential, beta: f64) -> Result<[Self; 2], GibbsError> {
        if potential.dim() != 2 {
            return Err(GibbsError::Dimension { needed: 2, given: potential.dim() });
        }
        let beta = Beta::new(beta)?.get();
        let (first, second) = rayon::join(
            || marginals::marginal(potential, beta, 0),
            || marginals::marginal(potential, beta, 1),
        );
        Ok([first?, second?])
    }

    /// The law with density e^(−U), U given with its slope.
    fn from_energy(
        energy: &dyn Fn(f64) -> f64,
        slope: &dyn Fn(f64) -> f64,
        line: &Line,
    ) -> Result<Self, GibbsError> {
        let search = Search::new(energy, slope, line)?;
        let table = Table::new(energy, &search, line)?;
        let high = |&&mode: &&f64| libm::exp(search.lowest - energy(mode)) > LOWEST_MODE;
        Ok(Self { table, modes: search.minima.iter().filter(high).copied().collect() })
    }

    /// e^(−βf(x))/Z.
    pub fn density(&self, x: f64) -> f64 {
        self.table.density(x)
    }

    /// The distribution function, P(X ≤ x).
    pub fn cdf(&self, x: f64) -> f64 {
        self.table.cdf(x)
    }

    /// x with P(X ≤ x) = p. NaN where p is no probability; 0 and 1 give the ends of what could be told from nothing.
    pub fn quantile(&self, p: f64) -> f64 {
        self.table.quantile(p)
    }

    /// E h(X), for a smooth h that has an expectation: for one that has none this is a large number.
    pub fn expectation(&self, h: impl Fn(f64) -> f64) -> f64 {
        self.table.expectation(&h)
    }

    /// a of P(|X| > r) ~ r^(−a), of the heavier side, as far as a millionth of the mass tells: moments below a exist. To about a
    /// hundredth where tails are powers; a large number where they are lighter.
    pub fn tail_exponent(&self) -> f64 {
        let middle = self.quantile(0.5);
        let side = |end: f64| {
            let there = end - middle;
            let (near, far) = (self.density(middle + there), self.density(middle + 2.0 * there));
            if far > 0.0 { libm::log2(near / far) - 1.0 } else { f64::INFINITY }
        };
        side(self.quantile(1e-6)).min(side(self.quantile(1.0 - 1e-6)))
    }

    /// The local maxima of the density from left to right, those left out that are twelve decades below the highest.
    pub fn modes(&self) -> &[f64] {
        &self.modes
    }

    /// log Z − U_min of the energy it was made from, with U_min itself: −log of the integral of e^(−U).
    fn free_energy(&self) -> f64 {
        self.table.free_energy()
    }
}
