//! Starting points of chains.

use crate::random::{Purpose, Stream};
use serde::{Deserialize, Serialize};

/// Where chains start; velocities start at 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Start {
    /// All chains start at this point.
    Point(Vec<f64>),
    /// Each coordinate of each chain is drawn from N(0, sd²).
    Gaussian(f64),
}

impl Start {
    /// Returns the starting points of chains with these numbers, one after the other.
    pub fn points(&self, seed: u64, chains: std::ops::Range<usize>, dim: usize) -> Vec<f64> {
        match self {
            Self::Point(point) => point.repeat(chains.len()),
            Self::Gaussian(sd) => chains
                .flat_map(|chain| {
                    let stream = Stream::new(seed, chain as u64, Purpose::Start);
                    (0..dim as u64).map(move |i| sd * gaussian(stream.word(2 * i), stream.word(2 * i + 1)))
                })
                .collect(),
        }
    }
}

/// Returns a draw of N(0, 1) from two words, by the Box–Muller transform.
fn gaussian(a: u64, b: u64) -> f64 {
    let unit = |word: u64| ((word >> 12) as f64 + 0.5) / (1u64 << 52) as f64;
    (-2.0 * libm::log(unit(a))).sqrt() * libm::cos(std::f64::consts::TAU * unit(b))
}
