//! The destination of draws: a function, memory ([`super::MemorySink`]) or disk
//! ([`super::ZarrSink`]).

use super::spec::{RunSpec, SpecHash};
use std::io;
use std::sync::Arc;

/// The statistics of each draw of exact sampling, by their names in ArviZ: the logarithm of the
/// density, the acceptance probability of the proposal, the energy β(f + g) before it, and whether
/// it diverged (1) or not (0). The probability is 0 only if the proposal diverged or f is not
/// finite there.
pub const STATISTICS: [&str; 4] = ["lp", "acceptance_rate", "energy", "diverging"];

/// The shape and identity of a run's output.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// Number of chains.
    pub chains: usize,
    /// Draws per chain.
    pub draws: u64,
    /// Dimension of a position.
    pub dim: usize,
    /// Whether each position is followed by its velocity.
    pub velocities: bool,
    /// Whether each draw is followed by its [`STATISTICS`].
    pub statistics: bool,
    /// Draws per chain in each segment but the last.
    pub segment: usize,
    /// Specification of everything that the draws depend on.
    pub spec: Arc<RunSpec>,
}

impl Layout {
    /// Returns the hash of the specification: the same for a run and its continuation, different
    /// for different runs.
    pub fn run(&self) -> SpecHash {
        self.spec.hash()
    }

    /// Returns the number of values per draw.
    pub fn width(&self) -> usize {
        self.statistics_at() + if self.statistics { STATISTICS.len() } else { 0 }
    }

    /// Returns the number of values of a draw before its statistics.
    pub(super) fn statistics_at(&self) -> usize {
        if self.velocities { 2 * self.dim } else { self.dim }
    }
}

/// Receives the draws of a run, segment by segment.
pub trait Sink {
    /// Returns an error if a new run would overwrite something. Not called when a run is resumed.
    fn vacant(&self) -> io::Result<()> {
        Ok(())
    }

    /// Called once before the first segment. `done` draws of each chain are already there from an
    /// earlier part of the run.
    fn begin(&mut self, layout: &Layout, done: u64) -> io::Result<()>;

    /// Receives draws `first`, `first` + 1, … of every chain: for each chain its draws, for each
    /// draw [`Layout::width`] values. After a resumption a segment may come again, with equal
    /// values.
    fn segment(&mut self, first: u64, values: &[f64]) -> io::Result<()>;

    /// Makes everything received durable. Called before a checkpoint that relies on it is written,
    /// and at the end.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A sink that passes each segment to a function `f(first, values)`, with the values in the order
/// of [`Sink::segment`].
#[derive(Clone, Debug)]
pub struct Callback<F>(pub F);

impl<F: FnMut(u64, &[f64]) -> io::Result<()>> Sink for Callback<F> {
    fn begin(&mut self, _: &Layout, _: u64) -> io::Result<()> {
        Ok(())
    }

    fn segment(&mut self, first: u64, values: &[f64]) -> io::Result<()> {
        (self.0)(first, values)
    }
}
