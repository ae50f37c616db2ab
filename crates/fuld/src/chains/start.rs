//! Starting points of chains.

use crate::random::{Purpose, Stream};
use serde::{Deserialize, Serialize};

/// Most random starting points that are tried for a chain, as in Stan.
const MOST_ATTEMPTS: u64 = 100;

/// Where chains start; velocities start at 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Start {
    /// All chains start at this point.
    Point(Vec<f64>),
    /// Each chain starts at the point with its number.
    Points(Vec<Vec<f64>>),
    /// Each coordinate of each chain is drawn from N(0, sd²).
    Gaussian(f64),
}

impl Start {
    /// Returns the starting points of chains with these numbers, one after the other.
    ///
    /// # Panics
    ///
    /// If there are fewer [`Start::Points`] than that.
    pub fn points(&self, seed: u64, chains: std::ops::Range<usize>, dim: usize) -> Vec<f64> {
        match self {
            Self::Point(point) => point.repeat(chains.len()),
            Self::Points(points) => points[chains].concat(),
            Self::Gaussian(sd) => {
                chains.flat_map(|chain| attempt(*sd, seed, chain, dim, 0)).collect()
            }
        }
    }

    /// Returns other starting points of a chain, for when f is not finite at the first one. Given
    /// points have none.
    pub(super) fn others(
        &self,
        seed: u64,
        chain: usize,
        dim: usize,
    ) -> impl Iterator<Item = Vec<f64>> {
        let sd = if let Self::Gaussian(sd) = self { Some(*sd) } else { None };
        let attempts = (1..MOST_ATTEMPTS).take_while(move |_| sd.is_some());
        attempts.map(move |n| attempt(sd.unwrap_or_default(), seed, chain, dim, n).collect())
    }
}

/// Returns the coordinates of a random starting point of a chain: the first one, or a later
/// attempt.
fn attempt(
    sd: f64,
    seed: u64,
    chain: usize,
    dim: usize,
    attempt: u64,
) -> impl Iterator<Item = f64> {
    let stream = Stream::new(seed, chain as u64, Purpose::Start);
    let first = attempt * dim as u64;
    (first..first + dim as u64)
        .map(move |i| sd * gaussian(stream.word(2 * i), stream.word(2 * i + 1)))
}

/// Returns a draw of N(0, 1) from two words, by the Box–Muller transform.
fn gaussian(a: u64, b: u64) -> f64 {
    let unit = |word: u64| ((word >> 12) as f64 + 0.5) / (1u64 << 52) as f64;
    (-2.0 * libm::log(unit(a))).sqrt() * libm::cos(std::f64::consts::TAU * unit(b))
}
