//! Several chains of one scalar quantity.

use super::DiagnosticError;

/// Borrowed draws of one scalar from one or more chains of equal length.
///
/// If any draw is NaN, every convergence diagnostic is NaN, so that a diverged chain does not
/// appear converged. Infinite draws have ranks, so diagnostics based on ranks and quantiles accept
/// them; those based on means become NaN.
///
/// ```
/// use fuld::diagnostics::Chains;
/// # fn main() -> Result<(), fuld::diagnostics::DiagnosticError> {
/// let draws = vec![vec![0.3, -1.0, 0.2, 0.9, -0.4, 0.1], vec![1.2, 0.0, -0.7, 0.4, -0.1, 0.6]];
/// let chains = Chains::new(&draws)?;
/// println!("{} {} {}", chains.r_hat(), chains.ess_bulk(), chains.mcse_mean());
/// assert!(Chains::new(&[vec![1.0; 6], vec![1.0; 5]]).is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Chains<'a> {
    chains: Vec<&'a [f64]>,
}

impl<'a> Chains<'a> {
    /// Smallest number of draws in a chain, two per half.
    pub const LEAST_DRAWS: usize = 4;

    /// Creates the chains from one or more series of equal length, at least four draws each.
    pub fn new<C: AsRef<[f64]>>(chains: &'a [C]) -> Result<Self, DiagnosticError> {
        let chains: Vec<&[f64]> = chains.iter().map(AsRef::as_ref).collect();
        let expected = chains.first().ok_or(DiagnosticError::NoChains)?.len();
        if let Some(chain) = chains.iter().position(|chain| chain.len() != expected) {
            return Err(DiagnosticError::UnequalChains {
                chain,
                length: chains[chain].len(),
                expected,
            });
        }
        if expected < Self::LEAST_DRAWS {
            return Err(DiagnosticError::TooFewDraws { needed: Self::LEAST_DRAWS, got: expected });
        }
        Ok(Self { chains })
    }

    /// Returns the number of chains.
    pub fn count(&self) -> usize {
        self.chains.len()
    }

    /// Returns the number of draws in each chain.
    pub fn draws(&self) -> usize {
        self.chains[0].len()
    }

    /// Returns all draws, chain after chain.
    pub fn pooled(&self) -> Vec<f64> {
        self.chains.concat()
    }

    pub(super) fn has_nan(&self) -> bool {
        self.chains.iter().any(|chain| chain.iter().any(|x| x.is_nan()))
    }

    /// Returns the halves of every chain with `map` applied to each draw. The middle one of an odd
    /// number of draws is omitted.
    pub(super) fn split(&self, map: impl Fn(f64) -> f64) -> Split {
        let draws = self.draws() / 2;
        let halves =
            self.chains.iter().flat_map(|c| c[..draws].iter().chain(&c[c.len() - draws..]));
        Split { values: halves.map(|&x| map(x)).collect(), draws }
    }
}

/// The halves of all chains, one after the other. A drift within a chain appears as a difference
/// between its halves.
#[derive(Clone, Debug)]
pub(super) struct Split {
    pub(super) values: Vec<f64>,
    /// Draws per half, at least two.
    pub(super) draws: usize,
}

impl Split {
    pub(super) fn halves(&self) -> impl Iterator<Item = &[f64]> {
        self.values.chunks_exact(self.draws)
    }

    pub(super) fn count(&self) -> usize {
        self.values.len() / self.draws
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_chains_are_refused() {
        let none: [Vec<f64>; 0] = [];
        assert_eq!(Chains::new(&none).unwrap_err(), DiagnosticError::NoChains);
        let error = Chains::new(&[vec![0.0; 5], vec![0.0; 6]]).unwrap_err();
        assert_eq!(error, DiagnosticError::UnequalChains { chain: 1, length: 6, expected: 5 });
        let error = Chains::new(&[vec![0.0; 3]]).unwrap_err();
        assert_eq!(error.to_string(), "the diagnostic requires at least 4 draws, got 3");
    }

    #[test]
    fn the_middle_of_an_odd_chain_is_left_out() {
        let draws = [[1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0]];
        let split = Chains::new(&draws).unwrap().split(|x| x);
        assert_eq!(split.values, [1.0, 2.0, 4.0, 5.0, 6.0, 7.0, 9.0, 10.0]);
        assert_eq!((split.draws, split.count()), (2, 4));
    }
}
