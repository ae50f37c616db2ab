//! The search for minima of an energy over many decades.

use super::GibbsError;

/// Settings of the search and of the cells.
pub(super) struct Line {
    /// Exponents of 2 between which |x| is searched.
    pub(super) octaves: std::ops::Range<i32>,
    /// Points per octave.
    pub(super) per_octave: i32,
    /// Equidistant points over the interval that contains the mass, which resolve ripples of the
    /// energy.
    pub(super) fine: usize,
    /// Relative error of the density on a cell.
    pub(super) tolerance: f64,
    /// Allowed error of a cell as a fraction of the total mass, regardless of the mass of the cell.
    pub(super) floor: f64,
    /// Cells with less than this fraction of the mass are omitted.
    pub(super) negligible: f64,
    /// Largest total number of halvings. It bounds the work for an energy with numerical noise.
    pub(super) halvings: usize,
    /// The |x| beyond which a NaN of f means overflow; below it, a NaN marks the edge of the
    /// domain.
    pub(super) horizon: f64,
}

/// Settings for one dimension; |x| extends as far as x² is finite.
pub(super) const LINE: Line = Line {
    octaves: -30..498,
    per_octave: 16,
    fine: 8192,
    tolerance: 1e-11,
    floor: 1e-18,
    negligible: 1e-60,
    halvings: 20_000,
    horizon: 1e20,
};

/// Distance from a pole at 0 at which its exponent is measured.
const NEAR: f64 = 1e-150;
/// Largest exponent a of a pole r^(−a): of its mass a fraction of (1e-308)^(1 − a) = 1e-9 is closer
/// than the smallest double.
const STEEPEST: f64 = 0.97;
/// Largest energy above the minimum at which the density is not negligible.
const DEEP: f64 = 40.0;

/// The result of a search.
pub(super) struct Search {
    /// Local minima, in order.
    pub(super) minima: Vec<f64>,
    /// The energy at the lowest minimum.
    pub(super) lowest: f64,
    /// The outermost points at which the energy is finite.
    pub(super) ends: [f64; 2],
}

impl Search {
    pub(super) fn new(
        energy: &dyn Fn(f64) -> f64,
        slope: &dyn Fn(f64) -> f64,
        line: &Line,
    ) -> Result<Self, GibbsError> {
        let grid = log_grid(line);
        for &pole in grid.iter().filter(|&&x| energy(x) == f64::NEG_INFINITY) {
            check_pole(energy, pole)?;
        }
        let energy = |x: f64| limited(energy(x));
        let mut points: Vec<(f64, f64)> = grid.into_iter().map(|x| (x, energy(x))).collect();
        let lowest =
            |points: &[(f64, f64)]| points.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1));
        let Some((at, least)) = lowest(&points).filter(|(_, u)| *u < f64::INFINITY) else {
            return Err(GibbsError::Nowhere);
        };
        let greatest = points.iter().map(|(_, u)| *u).fold(least, f64::max);
        if greatest == least {
            return Err(GibbsError::Nowhere);
        }
        let mut finite = points.iter().filter(|(_, u)| u.is_finite()).map(|(x, _)| *x);
        let first = finite.next().unwrap_or(at);
        let ends = [first, finite.next_back().unwrap_or(first)];
        if at.abs() > line.horizon && ends.contains(&at) {
            return Err(GibbsError::Falls(at));
        }
        points.extend(fine_grid(&points, least, line.fine).into_iter().map(|x| (x, energy(x))));
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        points.dedup_by(|a, b| a.0 == b.0);
        let minima: Vec<f64> =
            brackets(&points).map(|(low, high)| refined(slope, low, high)).collect();
        let lowest = minima.iter().map(|&x| energy(x)).fold(f64::INFINITY, f64::min);
        if !lowest.is_finite() {
            return Err(GibbsError::Nowhere);
        }
        Ok(Self { minima, lowest, ends })
    }
}

/// Returns the energy with which a value of f counts: infinite where f is NaN, outside its domain,
/// and at a pole, which has no mass of its own.
pub(super) fn limited(energy: f64) -> f64 {
    if energy.is_nan() || energy == f64::NEG_INFINITY { f64::INFINITY } else { energy }
}

/// Fails unless the density can be integrated over a pole, where f is −∞: it must grow as r^(−a)
/// with a distinctly below 1.
fn check_pole(energy: &dyn Fn(f64) -> f64, pole: f64) -> Result<(), GibbsError> {
    // Small, but so large that differences from the pole are exact.
    let r = f64::max(NEAR, 1e-10 * pole.abs());
    for side in [-r, r] {
        // NaN, outside of the domain, is not a pole.
        if energy(pole + side) == f64::NEG_INFINITY {
            return Err(GibbsError::Falls(pole));
        }
        let exponent =
            core::f64::consts::LOG2_E * (energy(pole + 2.0 * side) - energy(pole + side));
        if exponent > STEEPEST {
            return Err(GibbsError::Pole { x: pole, exponent });
        }
    }
    Ok(())
}

/// Returns zero and powers of 2 on either side of it.
fn log_grid(line: &Line) -> Vec<f64> {
    let steps = line.octaves.start * line.per_octave..=line.octaves.end * line.per_octave;
    let positive: Vec<f64> =
        steps.map(|i| libm::exp2(f64::from(i) / f64::from(line.per_octave))).collect();
    positive.iter().rev().map(|x| -x).chain([0.0]).chain(positive.iter().copied()).collect()
}

/// Returns equidistant points over the part of a grid where the energy is less than [`DEEP`] above
/// the least.
fn fine_grid(points: &[(f64, f64)], least: f64, count: usize) -> Vec<f64> {
    let deep = |(_, u): &(f64, f64)| u - least < DEEP;
    let from = points.iter().position(deep).unwrap_or(0).saturating_sub(1);
    let to = points.iter().rposition(deep).map_or(0, |i| (i + 1).min(points.len() - 1));
    let (low, high) = (points[from].0, points[to].0);
    (0..=count).map(|i| low + (high - low) * (i as f64 / count as f64)).collect()
}

/// Returns the neighbours of every run of equal values that lies below both.
fn brackets(points: &[(f64, f64)]) -> impl Iterator<Item = (f64, f64)> + '_ {
    let mut runs = points.chunk_by(|a, b| a.1 == b.1).peekable();
    let mut before: Option<(f64, f64)> = None;
    std::iter::from_fn(move || {
        loop {
            let run = runs.next()?;
            let (left, right) = (before, runs.peek().map(|next| next[0]));
            before = run.last().copied();
            let value = run[0].1;
            // An end of the grid is not a minimum.
            if let (Some(left), Some(right)) = (left, right)
                && left.1 > value
                && right.1 > value
            {
                return Some((left.0, right.0));
            }
        }
    })
}

/// Returns the point at which the slope changes sign between two points, or their midpoint if it
/// does not.
fn refined(slope: &dyn Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    let changes = slope(low) < 0.0 && slope(high) > 0.0;
    loop {
        let middle = low + 0.5 * (high - low);
        let slope = slope(middle);
        if !changes || slope == 0.0 || middle <= low || middle >= high {
            return middle;
        } else if slope < 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
}
