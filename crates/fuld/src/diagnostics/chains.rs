//! Several chains of one scalar quantity.

use super::DiagnosticError;

/// Draws of one scalar by one or more equally long chains, borrowed.
///
/// A draw may be anything a double can be. Where a NaN is among them every convergence diagnostic is NaN: a chain
/// that was lost must not look converged. Infinite draws have ranks, so that what is built on ranks and quantiles
/// takes them; what is built on means becomes NaN.
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
    /// Fewest draws in a chain: its halves need two each.
    pub const LEAST_DRAWS: usize = 4;

    /// Accepts one or more chains of the same length, four draws or longer.
    pub fn new<C: AsRef<[f64]>>(chains: &'a [C]) -> Result<Self, DiagnosticError> {
        let chains: Vec<&[f64]> = chains.iter().map(AsRef::as_ref).collect();
        let expected = chains.first().ok_or(DiagnosticError::NoChains)?.len();
        if let Some(chain) = chains.iter().position(|chain| chain.len() != expected) {
            return Err(DiagnosticError::UnequalChains { chain, length: chains[chain].len(), expected });
        }
        if expected < Self::LEAST_DRAWS {
            return Err(DiagnosticError::TooFewDraws { needed: Self::LEAST_DRAWS, got: expected });
        }
        Ok(Self { chains })
    }

    /// Number of chains.
    pub fn count(&self) -> usize {
        self.chains.len()
    }

    /// Number of draws in each chain.
    pub fn draws(&self) -> usize {
        self.chains[0].len()
    }

    /// All draws, chain after chain.
    pub fn pooled(&self) -> Vec<f64> {
        self.chains.concat()
    }

    pub(super) fn has_nan(&self) -> bool {
        self.chains.iter().any(|chain| chain.iter().any(|x| x.is_nan()))
    }

    /// Every chain cut in two, each draw sent through `map`. Of an odd number of draws the middle one is left out.
    pub(super) fn split(&self, map: impl Fn(f64) -> f64) -> Split {
        let draws = self.draws() / 2;
        let halves = self.chains.iter().flat_map(|c| c[..draws].iter().chain(&c[c.len() - draws..]));
        Split { values: halves.map(|&x| map(x)).collect(), draws }
    }
}

/// The halves of all chains, one after the other. Drift within a chain is difference between its halves.
#[derive(Clone, Debug)]
pub(super) struct Split {
    pub(super) values: Vec<f64>,
    /// Draws in a half, at least two.
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
        assert_eq!(error.to_string(), "at least 4 draws are needed, got 3");
    }

    #[test]
    fn the_middle_of_an_odd_chain_is_left_out() {
        let draws = [[1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0]];
        let split = Chains::new(&draws).unwrap().split(|x| x);
        assert_eq!(split.values, [1.0, 2.0, 4.0, 5.0, 6.0, 7.0, 9.0, 10.0]);
        assert_eq!((split.draws, split.count()), (2, 4));
    }
}
