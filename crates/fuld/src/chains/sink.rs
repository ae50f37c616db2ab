//! Where draws go: into memory, to a function, or to disk (see [`super::ZarrSink`]).

use super::outcome::Outcome;
use std::io;

/// The shape of a run's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Chains.
    pub chains: usize,
    /// Draws a chain.
    pub draws: u64,
    /// Coordinates of a position.
    pub dim: usize,
    /// Whether each position is followed by its velocity.
    pub velocities: bool,
    /// Draws a chain in each segment but the last.
    pub segment: usize,
    /// A fingerprint of all that the draws depend on: the same for two parts of one run, different for different runs.
    pub run: u64,
}

impl Layout {
    /// Numbers a draw.
    pub fn width(&self) -> usize {
        if self.velocities { 2 * self.dim } else { self.dim }
    }
}

/// Receives the draws, one segment after the other.
pub trait Sink {
    /// Fails if there is something that a new run would overwrite. Not asked when a run is resumed.
    fn vacant(&self) -> io::Result<()> {
        Ok(())
    }

    /// Called once before the first segment; `done` draws of each chain are already there from an earlier run.
    fn begin(&mut self, layout: &Layout, done: u64) -> io::Result<()>;

    /// Draws `first`, `first` + 1, … of every chain: for each chain its draws, for each draw its [`Layout::width`] numbers. What
    /// came once may come again, identical, after a resumption.
    fn segment(&mut self, first: u64, values: &[f64]) -> io::Result<()>;

    /// Makes everything received durable. Called before a checkpoint says that it is there, and at the end.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The draws of all chains, in memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples {
    layout: Option<Layout>,
    filled: usize,
    /// For each chain its draws, for each draw its numbers.
    values: Vec<f64>,
    pub(super) outcome: Option<Outcome>,
}

impl Samples {
    /// Chains.
    pub fn chains(&self) -> usize {
        self.layout.map_or(0, |l| l.chains)
    }

    /// Coordinates of a position.
    pub fn dim(&self) -> usize {
        self.layout.map_or(0, |l| l.dim)
    }

    /// What the run came to besides its draws: averages, divergences. None if the draws were streamed here by hand.
    pub fn outcome(&self) -> Option<&Outcome> {
        self.outcome.as_ref()
    }

    /// Draws a chain that were made: fewer than asked for if the run was stopped.
    pub fn draws(&self) -> usize {
        self.filled
    }

    /// The shape of the draws; None before the run began.
    pub fn layout(&self) -> Option<&Layout> {
        self.layout.as_ref()
    }

    /// All numbers, for each chain room for all its draws, of which the first [`draws`](Self::draws) are made.
    pub fn into_values(self) -> Vec<f64> {
        self.values
    }

    /// All numbers of one chain's draws, one draw after the other: positions, each followed by its velocity if those were
    /// recorded. Panics if there is no such chain.
    pub fn chain(&self, chain: usize) -> &[f64] {
        assert!(chain < self.chains(), "chain {chain} of {}", self.chains());
        let width = self.layout.map_or(0, |l| l.width());
        let length = self.values.len() / self.chains();
        &self.values[chain * length..][..self.filled * width]
    }

    /// One coordinate of the positions, one vector a chain: what diagnostics take. Panics if there is no
    /// such coordinate.
    pub fn coordinate(&self, coordinate: usize) -> Vec<Vec<f64>> {
        assert!(coordinate < self.dim(), "coordinate {coordinate} of {}", self.dim());
        self.column(coordinate)
    }

    /// One coordinate of the velocities, one vector a chain, if they were recorded. Panics if there is no such
    /// coordinate.
    pub fn velocity(&self, coordinate: usize) -> Option<Vec<Vec<f64>>> {
        assert!(coordinate < self.dim(), "coordinate {coordinate} of {}", self.dim());
        self.layout.filter(|l| l.velocities).map(|l| self.column(l.dim + coordinate))
    }

    fn column(&self, column: usize) -> Vec<Vec<f64>> {
        let width = self.layout.map_or(1, |l| l.width());
        let pick = |chain: &[f64]| chain.iter().skip(column).step_by(width).copied().collect();
        (0..self.chains()).map(|c| pick(self.chain(c))).collect()
    }

    /// One coordinate of the positions of all chains. Panics if there is no such coordinate.
    pub fn pooled(&self, coordinate: usize) -> Vec<f64> {
        self.coordinate(coordinate).concat()
    }
}

impl Sink for Samples {
    fn begin(&mut self, layout: &Layout, done: u64) -> io::Result<()> {
        if done > 0 {
            return Err(io::Error::other("a run in memory cannot be resumed: its earlier draws are gone"));
        }
        let draws = usize::try_from(layout.draws).map_err(io::Error::other)?;
        let count = layout.chains.checked_mul(draws).and_then(|n| n.checked_mul(layout.width()));
        let count = count.ok_or_else(|| io::Error::other("more draws than memory has addresses"))?;
        let mut values = Vec::new();
        values.try_reserve_exact(count).map_err(io::Error::other)?;
        values.resize(count, 0.0);
        *self = Self { layout: Some(*layout), filled: 0, values, outcome: None };
        Ok(())
    }

    fn segment(&mut self, first: u64, values: &[f64]) -> io::Result<()> {
        let Some(layout) = self.layout else { return Ok(()) };
        let count = values.len() / layout.chains;
        let (start, length) = (first as usize * layout.width(), self.values.len() / layout.chains);
        for (chain, values) in self.values.chunks_exact_mut(length).zip(values.chunks_exact(count)) {
            chain[start..][..count].copy_from_slice(values);
        }
        self.filled = (start + count) / layout.width();
        Ok(())
    }
}

/// Hands each segment to a function: `f(first draw, values)`, in the order of [`Sink::segment`].
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
