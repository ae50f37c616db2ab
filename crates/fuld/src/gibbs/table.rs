//! A density tabulated as polynomials on cells, with their integrals.

use super::GibbsError;
use super::search::{Line, Search, limited};
use crate::numerics::fractional_gradient::width;
use crate::numerics::quadrature::kronrod;
use levy_stable::table::interpolate;

/// Coefficients per cell.
const TERMS: usize = 10;
/// Largest fraction of the mass in the last octave of the searched range.
const LOST: f64 = 1e-9;

/// An interval on which the density is a polynomial.
#[derive(Clone, Debug)]
struct Cell {
    left: f64,
    width: f64,
    /// The mass to the left of the cell.
    below: f64,
    /// The mass of the cell.
    mass: f64,
    /// Coefficients of width · density in powers of t = (x − left)/width − 1/2.
    terms: [f64; TERMS],
}

impl Cell {
    fn new(density: &dyn Fn(f64) -> f64, left: f64, right: f64) -> Self {
        let width = right - left;
        let terms = interpolate(&|t: f64| width * density(left + (t + 0.5) * width));
        let mut cell = Self { left, width, below: 0.0, mass: 0.0, terms };
        cell.mass = cell.mass_up_to(0.5);
        cell
    }

    fn t(&self, x: f64) -> f64 {
        ((x - self.left) / self.width - 0.5).clamp(-0.5, 0.5)
    }

    /// Returns width · density.
    fn value(&self, t: f64) -> f64 {
        self.terms.iter().rev().fold(0.0, |sum, c| sum * t + c)
    }

    /// Returns the mass from −1/2 to t.
    fn mass_up_to(&self, t: f64) -> f64 {
        let integral = |t: f64| {
            let divided = self.terms.iter().enumerate().rev();
            t * divided.fold(0.0, |sum, (k, c)| sum * t + c / (k + 1) as f64)
        };
        integral(t) - integral(-0.5)
    }

    /// Returns the largest error and the largest value between the nodes, both times the width.
    fn check(&self, density: &dyn Fn(f64) -> f64) -> (f64, f64) {
        [-0.4999, -0.23, 0.0, 0.31, 0.4999].iter().fold((0.0f64, 0.0f64), |(error, size), &t| {
            let x = self.left + (t + 0.5) * self.width;
            let exact = self.width * density(x);
            (error.max((self.value(t) - exact).abs()), size.max(exact))
        })
    }
}

/// The cells of a law in order, without those of negligible mass.
#[derive(Clone, Debug)]
pub(super) struct CellTable {
    cells: Vec<Cell>,
    free_energy: f64,
}

impl CellTable {
    pub(super) fn new(
        energy: &dyn Fn(f64) -> f64,
        search: &Search,
        line: &Line,
    ) -> Result<Self, GibbsError> {
        let density = |x: f64| libm::exp(search.lowest - limited(energy(x)));
        let widths: Vec<f64> = search.minima.iter().map(|&m| width(&energy, m)).collect();
        // A rough value of the mass, relative to which cells are negligible.
        let size =
            search.minima.iter().zip(&widths).map(|(&m, w)| w * density(m)).fold(0.0, f64::max);
        let mut fitting = Fitting {
            density: &density,
            tolerance: line.tolerance,
            floor: line.floor,
            size,
            negligible: line.negligible,
            halvings_left: line.halvings,
            cells: Vec::new(),
        };
        for ends in breaks(search, &widths, line).windows(2) {
            fitting.add(ends[0], ends[1]);
        }
        let mut cells = fitting.cells;
        let total: f64 = cells.iter().map(|cell| cell.mass).sum();
        if !(total > 0.0 && total.is_finite()) {
            return Err(GibbsError::Nowhere);
        }
        let mut below = 0.0;
        for cell in &mut cells {
            cell.mass /= total;
            cell.terms.iter_mut().for_each(|c| *c /= total);
            cell.below = below;
            below += cell.mass;
        }
        let table = Self { cells, free_energy: search.lowest - libm::log(total) };
        table.check_tails(search.ends, line.horizon)?;
        Ok(table)
    }

    /// Fails if the last octave on a side has more than [`LOST`] of the mass: the density then
    /// falls too slowly.
    fn check_tails(&self, ends: [f64; 2], horizon: f64) -> Result<(), GibbsError> {
        for x in ends.into_iter().filter(|x| x.abs() > horizon) {
            let (near, far) = (self.cdf(0.5 * x), self.cdf(x));
            // On the right the difference from 1 is rounded, by far less than the allowed fraction.
            let part = (far - near).abs();
            if part > LOST {
                return Err(GibbsError::Tails { x, part });
            }
        }
        Ok(())
    }

    /// Returns the last cell that begins at or before x.
    fn cell(&self, x: f64) -> Option<&Cell> {
        let after = self.cells.partition_point(|cell| cell.left <= x);
        after.checked_sub(1).map(|i| &self.cells[i])
    }

    pub(super) fn density(&self, x: f64) -> f64 {
        let inside = |cell: &&Cell| x <= cell.left + cell.width;
        // Rounding may make the polynomial negative where the density is nearly 0.
        self.cell(x).filter(inside).map_or(0.0, |cell| cell.value(cell.t(x)).max(0.0) / cell.width)
    }

    pub(super) fn cdf(&self, x: f64) -> f64 {
        if x.is_nan() {
            return x;
        }
        self.cell(x).map_or(0.0, |cell| (cell.below + cell.mass_up_to(cell.t(x))).clamp(0.0, 1.0))
    }

    pub(super) fn quantile(&self, p: f64) -> f64 {
        if !(0.0..=1.0).contains(&p) {
            return f64::NAN;
        }
        let i = self.cells.partition_point(|cell| cell.below <= p).saturating_sub(1);
        let cell = &self.cells[i];
        let (mut low, mut high) = (-0.5, 0.5);
        while high - low > f64::EPSILON {
            let t = 0.5 * (low + high);
            if cell.below + cell.mass_up_to(t) < p {
                low = t;
            } else {
                high = t;
            }
        }
        cell.left + (high + 0.5) * cell.width
    }

    pub(super) fn expectation(&self, h: &dyn Fn(f64) -> f64) -> f64 {
        let of_cell = |cell: &Cell| {
            let weighted = |t: f64| cell.value(t) * h(cell.left + (t + 0.5) * cell.width);
            kronrod(&weighted, -0.5, 0.5).value
        };
        self.cells.iter().map(of_cell).sum()
    }

    pub(super) fn free_energy(&self) -> f64 {
        self.free_energy
    }
}

/// The fit of cells to a density.
struct Fitting<'a> {
    density: &'a dyn Fn(f64) -> f64,
    tolerance: f64,
    floor: f64,
    /// The total mass, roughly.
    size: f64,
    /// The fraction of it below which a cell is omitted.
    negligible: f64,
    halvings_left: usize,
    cells: Vec<Cell>,
}

impl Fitting<'_> {
    /// Adds cells between two points, halved until their polynomials represent the density.
    fn add(&mut self, left: f64, right: f64) {
        // The interval contains no minimum of the energy, so the density does not exceed the larger
        // of its ends.
        let highest = (self.density)(left).max((self.density)(right));
        if highest * (right - left) <= self.negligible * self.size {
            return;
        }
        let cell = Cell::new(self.density, left, right);
        let (error, size) = cell.check(self.density);
        let middle = left + 0.5 * (right - left);
        let rough = error > self.tolerance * size
            && error > self.floor * self.size
            // Far from the origin a narrow well is resolved only to the spacing of the doubles.
            && error > 4.0 * ((self.density)(middle.next_up()) - (self.density)(middle)).abs() * cell.width;
        if rough && self.halvings_left > 0 && left < middle && middle < right {
            self.halvings_left -= 1;
            self.add(left, middle);
            self.add(middle, right);
        } else if cell.mass > 0.0 {
            self.cells.push(cell);
        }
    }
}

/// Returns the ends of cells: each minimum, and points at distances that double from it, up to the
/// midpoint between two minima or the end of the range.
fn breaks(search: &Search, widths: &[f64], line: &Line) -> Vec<f64> {
    let end = libm::exp2(f64::from(line.octaves.end));
    let minima = &search.minima;
    let mut breaks = vec![-end, end];
    for (i, (&minimum, &width)) in minima.iter().zip(widths).enumerate() {
        let middle = |j: usize| minima.get(j).map(|other| 0.5 * (minimum + other));
        let left = i.checked_sub(1).and_then(middle).unwrap_or(-end);
        let right = middle(i + 1).unwrap_or(end);
        breaks.extend([left, minimum, right]);
        let mut distance = width;
        while distance < (right - minimum).max(minimum - left) {
            let both = [minimum - distance, minimum + distance];
            breaks.extend(both.into_iter().filter(|x| (left..right).contains(x)));
            distance *= 2.0;
        }
    }
    // The density is not smooth across the ends of the domain of f.
    breaks.extend(search.ends);
    breaks.sort_by(f64::total_cmp);
    breaks.dedup();
    breaks
}
