//! Draws that can be summarised, wherever they are.

use fuld::ZarrDraws;
use fuld::chains::MemoryDraws;
use std::io;
use std::ops::Range;

/// The draws of a run: in memory, in a store, or in arrays of another language.
pub trait DrawSource: Sync {
    /// Returns the number of chains.
    fn chains(&self) -> usize;

    /// Returns the number of draws per chain.
    fn draws(&self) -> usize;

    /// Returns the dimension of a position.
    fn dim(&self) -> usize;

    /// Returns some coordinates of the positions: for each coordinate and each chain its draws.
    fn coordinates(&self, coordinates: Range<usize>) -> io::Result<Vec<Vec<Vec<f64>>>>;

    /// Returns one of the [`STATISTICS`](fuld::chains::STATISTICS) by its number, draw after draw
    /// of each chain; None unless the run was exact.
    fn statistic(&self, number: usize) -> io::Result<Option<Vec<f64>>>;
}

impl DrawSource for ZarrDraws {
    fn chains(&self) -> usize {
        ZarrDraws::chains(self)
    }

    fn draws(&self) -> usize {
        ZarrDraws::draws(self)
    }

    fn dim(&self) -> usize {
        ZarrDraws::dim(self)
    }

    fn coordinates(&self, coordinates: Range<usize>) -> io::Result<Vec<Vec<Vec<f64>>>> {
        ZarrDraws::coordinates(self, coordinates)
    }

    fn statistic(&self, number: usize) -> io::Result<Option<Vec<f64>>> {
        ZarrDraws::statistic(self, number).transpose()
    }
}

impl DrawSource for MemoryDraws {
    fn chains(&self) -> usize {
        MemoryDraws::chains(self)
    }

    fn draws(&self) -> usize {
        MemoryDraws::draws(self)
    }

    fn dim(&self) -> usize {
        MemoryDraws::dim(self)
    }

    fn coordinates(&self, coordinates: Range<usize>) -> io::Result<Vec<Vec<Vec<f64>>>> {
        Ok(coordinates.map(|coordinate| self.coordinate(coordinate)).collect())
    }

    fn statistic(&self, number: usize) -> io::Result<Option<Vec<f64>>> {
        Ok(MemoryDraws::statistic(self, number).map(|chains| chains.concat()))
    }
}
