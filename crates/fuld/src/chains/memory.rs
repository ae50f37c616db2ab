//! Draws in memory.

use super::outcome::Outcome;
use super::sink::{Layout, STATISTICS, Sink};
use std::io;
use std::ops::Deref;

/// The draws of all chains, in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryDraws {
    layout: Layout,
    filled: usize,
    /// For each chain its draws, for each draw its values.
    values: Vec<f64>,
}

/// The draws and the outcome of a run in memory. It derefs to its [`MemoryDraws`].
#[derive(Clone, Debug, PartialEq)]
pub struct Samples {
    /// Draws of all chains.
    pub draws: MemoryDraws,
    /// Averages and divergences.
    pub outcome: Outcome,
}

impl Deref for Samples {
    type Target = MemoryDraws;

    fn deref(&self) -> &MemoryDraws {
        &self.draws
    }
}

impl MemoryDraws {
    /// Returns the number of chains.
    pub fn chains(&self) -> usize {
        self.layout.chains
    }

    /// Returns the dimension of a position.
    pub fn dim(&self) -> usize {
        self.layout.dim
    }

    /// Returns the number of draws per chain, which is smaller than requested if the run was
    /// stopped.
    pub fn draws(&self) -> usize {
        self.filled
    }

    /// Returns the shape and identity of the draws.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Returns all values: for each chain as many as were requested, of which the first
    /// [`draws`](Self::draws) draws are valid.
    pub fn into_values(self) -> Vec<f64> {
        self.values
    }

    /// Returns the values of one chain, draw after draw: positions, each followed by its velocity
    /// if velocities were recorded, and by the [`STATISTICS`] if the run was exact.
    ///
    /// # Panics
    ///
    /// If there is no such chain.
    pub fn chain(&self, chain: usize) -> &[f64] {
        assert!(chain < self.chains(), "chain {chain} of {}", self.chains());
        let length = self.values.len() / self.chains();
        &self.values[chain * length..][..self.filled * self.layout.width()]
    }

    /// Returns one coordinate of the positions, one vector per chain, as the diagnostics take it.
    ///
    /// # Panics
    ///
    /// If there is no such coordinate.
    pub fn coordinate(&self, coordinate: usize) -> Vec<Vec<f64>> {
        assert!(coordinate < self.dim(), "coordinate {coordinate} of {}", self.dim());
        self.column(coordinate)
    }

    /// Returns one coordinate of the velocities, one vector per chain, if velocities were recorded.
    ///
    /// # Panics
    ///
    /// If there is no such coordinate.
    pub fn velocity(&self, coordinate: usize) -> Option<Vec<Vec<f64>>> {
        assert!(coordinate < self.dim(), "coordinate {coordinate} of {}", self.dim());
        self.layout.velocities.then(|| self.column(self.layout.dim + coordinate))
    }

    /// Returns one of the [`STATISTICS`] by its number, one vector per chain; None unless the run
    /// was exact.
    pub fn statistic(&self, number: usize) -> Option<Vec<Vec<f64>>> {
        let known = self.layout.statistics && number < STATISTICS.len();
        known.then(|| self.column(self.layout.statistics_at() + number))
    }

    fn column(&self, column: usize) -> Vec<Vec<f64>> {
        let width = self.layout.width();
        let pick = |chain: &[f64]| chain.iter().skip(column).step_by(width).copied().collect();
        (0..self.chains()).map(|c| pick(self.chain(c))).collect()
    }

    /// Returns one coordinate of the positions of all chains.
    ///
    /// # Panics
    ///
    /// If there is no such coordinate.
    pub fn pooled(&self, coordinate: usize) -> Vec<f64> {
        self.coordinate(coordinate).concat()
    }
}

/// A sink that keeps draws in memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MemorySink {
    draws: Option<MemoryDraws>,
}

impl MemorySink {
    /// Returns the draws so far, or None before the run began.
    pub fn draws(&self) -> Option<&MemoryDraws> {
        self.draws.as_ref()
    }

    /// Returns the draws, or None if no run began.
    pub fn into_draws(self) -> Option<MemoryDraws> {
        self.draws
    }
}

impl Sink for MemorySink {
    fn begin(&mut self, layout: &Layout, done: u64) -> io::Result<()> {
        if done > 0 {
            return Err(io::Error::other(
                "a run in memory cannot be resumed: its earlier draws are lost",
            ));
        }
        let draws = usize::try_from(layout.draws).map_err(io::Error::other)?;
        let count = layout.chains.checked_mul(draws).and_then(|n| n.checked_mul(layout.width()));
        let count =
            count.ok_or_else(|| io::Error::other("chains * draws * dim overflows usize"))?;
        // Fails if there is not enough memory. A vector of zeros is then allocated without touching
        // its pages.
        Vec::<f64>::new().try_reserve_exact(count).map_err(io::Error::other)?;
        let values = vec![0.0; count];
        self.draws = Some(MemoryDraws { layout: layout.clone(), filled: 0, values });
        Ok(())
    }

    fn segment(&mut self, first: u64, values: &[f64]) -> io::Result<()> {
        let Some(draws) = &mut self.draws else { return Ok(()) };
        let (chains, width) = (draws.layout.chains, draws.layout.width());
        let count = values.len() / chains;
        let (start, length) = (first as usize * width, draws.values.len() / chains);
        for (chain, values) in draws.values.chunks_exact_mut(length).zip(values.chunks_exact(count))
        {
            chain[start..][..count].copy_from_slice(values);
        }
        draws.filled = (start + count) / width;
        Ok(())
    }
}
