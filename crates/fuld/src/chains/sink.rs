//! Where draws go: into memory, to a function, or to disk (see [`super::ZarrSink`]).

use std::io;

/// The shape of a run's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Chains.
    pub chains: usize,
    /// Draws a chain.
    pub draws: u64,
    /// Coordinates a draw.
    pub dim: usize,
    /// Draws a chain in each segment but the last.
    pub segment: usize,
}

/// Receives the draws, one segment after the other.
pub trait Sink {
    /// Fails if there is something that a new run would overwrite. Not asked when a run is resumed.
    fn vacant(&self) -> io::Result<()> {
        Ok(())
    }

    /// Called once before the first segment; `done` draws of each chain are already there from an earlier run.
    fn begin(&mut self, layout: &Layout, done: u64) -> io::Result<()>;

    /// Draws `first`, `first` + 1, … of every chain: for each chain its draws, for each draw its coordinates. What came
    /// once may come again, identical, after a resumption.
    fn segment(&mut self, first: u64, values: &[f64]) -> io::Result<()>;

    /// Makes everything received durable. Called before a checkpoint says that it is there, and at the end.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The draws of all chains, in memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples {
    chains: usize,
    dim: usize,
    draws: usize,
    filled: usize,
    /// For each chain its draws, for each draw its coordinates.
    values: Vec<f64>,
}

impl Samples {
    /// Chains.
    pub fn chains(&self) -> usize {
        self.chains
    }

    /// Coordinates a draw.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Draws a chain that were made: fewer than asked for if the run was stopped.
    pub fn draws(&self) -> usize {
        self.filled
    }

    /// The coordinates of one chain's draws, one draw after the other.
    pub fn chain(&self, chain: usize) -> &[f64] {
        let length = self.draws * self.dim;
        &self.values[chain * length..][..self.filled * self.dim]
    }

    /// One coordinate of all draws, one vector a chain: what diagnostics take.
    pub fn coordinate(&self, coordinate: usize) -> Vec<Vec<f64>> {
        assert!(coordinate < self.dim, "coordinate {coordinate} of {}", self.dim);
        let pick = |chain: &[f64]| chain.iter().skip(coordinate).step_by(self.dim).copied().collect();
        (0..self.chains).map(|c| pick(self.chain(c))).collect()
    }

    /// One coordinate of all draws of all chains.
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
        let values = vec![0.0; layout.chains * draws * layout.dim];
        *self = Self { chains: layout.chains, dim: layout.dim, draws, filled: 0, values };
        Ok(())
    }

    fn segment(&mut self, first: u64, values: &[f64]) -> io::Result<()> {
        let count = values.len() / self.chains;
        let (first, length) = (first as usize, self.draws * self.dim);
        for (chain, values) in self.values.chunks_exact_mut(length).zip(values.chunks_exact(count)) {
            chain[first * self.dim..][..count].copy_from_slice(values);
        }
        self.filled = first + count / self.dim;
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
