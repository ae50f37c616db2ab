//! Kernel density estimates and their modes.

use super::bandwidth::{robust_scale, sheather_jones};
use super::error::efficiency;
use super::{DiagnosticError, Sample};
use std::f64::consts::PI;

/// Number of grid points.
const GRID: usize = 2048;
/// The number of bandwidths beyond which the kernel is negligible.
const REACH: f64 = 6.0;
/// The number of standard deviations by which a dip between modes must exceed the dips expected
/// from noise.
const MARGIN: f64 = 2.0;

/// A Gaussian kernel density estimate on a grid over the body of a sample,
///
/// > f̂(x) = (1/(nh)) Σ φ((x − xᵢ)/h),
///
/// with the bandwidth of Sheather and Jones. The body extends over the quantiles 0.001 to 0.999,
/// but at most five interquartile ranges beyond the quartiles. Draws outside it count in n, so that
/// f̂ estimates the density of the whole sample.
#[derive(Clone, Debug)]
pub struct KernelDensity {
    low: f64,
    step: f64,
    values: Vec<f64>,
    bandwidth: f64,
}

/// A local maximum of a density.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mode {
    /// The position of the maximum.
    pub location: f64,
    /// The density at the maximum.
    pub height: f64,
    /// The height above the highest saddle on the way to a higher mode; for the highest mode, its
    /// height.
    pub prominence: f64,
}

impl KernelDensity {
    /// Estimates the density. The body of the sample must contain two different numbers.
    ///
    /// ```
    /// use fuld::diagnostics::{KernelDensity, Sample};
    /// # fn main() -> Result<(), fuld::diagnostics::DiagnosticError> {
    /// let uneven: Vec<f64> = (0..3000).map(|i| (i % 100) as f64 / 100.0 + if i % 3 == 0 { 4.0 } else { 0.0 }).collect();
    /// let modes = KernelDensity::new(&Sample::new(uneven)?)?.modes(3000.0)?;
    /// assert!(modes[0].location < 1.0 && modes[0].height > 0.5);
    /// # Ok(())
    /// # }
    /// ```
    pub fn new(sample: &Sample) -> Result<Self, DiagnosticError> {
        let (low, high) = sample.body()?;
        let body = sample.within(low, high);
        let scale = robust_scale(body, sample.at(0.75) - sample.at(0.25));
        if !(scale > 0.0 && scale.is_finite()) {
            return Err(DiagnosticError::NoSpread(sample.at(0.5)));
        }
        let width = (high - low) / GRID as f64;
        let counts = bin(body, low, width, GRID);
        // A kernel narrower than a bin would make the grid visible.
        let bandwidth = sheather_jones(&counts, width, scale).max(width);
        let step = (high - low) / (GRID - 1) as f64;
        // The kernels of draws beyond the ends extend into the grid.
        let margin = (REACH * bandwidth / step).ceil() as usize;
        let outer = (low - margin as f64 * step, high + margin as f64 * step);
        let cells = GRID + 2 * margin;
        let from = outer.0 - 0.5 * step;
        let counts = bin(sample.within(outer.0, outer.1), from, step, cells);
        let kernel: Vec<f64> = (0..=margin)
            .map(|i| {
                let distance = i as f64 * step / bandwidth;
                libm::exp(-0.5 * distance * distance)
                    / ((2.0 * PI).sqrt() * bandwidth * sample.len() as f64)
            })
            .collect();
        let value = |i: usize| -> f64 {
            let centre = i + margin;
            let sides = (1..=margin).map(|j| kernel[j] * (counts[centre - j] + counts[centre + j]));
            kernel[0] * counts[centre] + sides.sum::<f64>()
        };
        Ok(Self { low, step, values: (0..GRID).map(value).collect(), bandwidth })
    }

    /// Returns the bandwidth h.
    pub fn bandwidth(&self) -> f64 {
        self.bandwidth
    }

    /// Returns the grid points with the density at each.
    pub fn grid(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.values.iter().enumerate().map(|(i, &f)| (self.low + i as f64 * self.step, f))
    }

    /// Returns the significant modes, highest first, for the given number of effective draws (for
    /// independent draws, their number).
    ///
    /// A local maximum counts if the dip between it and any higher one exceeds the noise. The
    /// kernel at x averages over c = 2√π n h f̂(x) draws, and 2√c has about unit variance at every
    /// x. Among N points one bandwidth apart, the extremes of the noise are ±√(2 ln N), so 2√c must
    /// rise by 2√(2 ln N) + 2 from saddle to mode. A maximum at an end of the body also counts.
    pub fn modes(&self, effective_draws: f64) -> Result<Vec<Mode>, DiagnosticError> {
        let n = efficiency(effective_draws)?;
        let root = |f: f64| 2.0 * (2.0 * PI.sqrt() * n * self.bandwidth * f.max(0.0)).sqrt();
        let places = (GRID as f64 * self.step / self.bandwidth).max(2.0);
        let noise = 2.0 * (2.0 * libm::log(places)).sqrt() + MARGIN;
        let kept = |&(mode, saddle): &(Mode, Option<f64>)| {
            saddle.is_none_or(|saddle| root(mode.height) - root(saddle) > noise)
        };
        let found = self.maxima().map(|i| self.mode(i)).filter(kept);
        let mut modes: Vec<Mode> = found.map(|(mode, _)| mode).collect();
        modes.sort_by(|a, b| b.height.total_cmp(&a.height));
        Ok(modes)
    }

    /// Returns the indices of local maxima: values above the left neighbour and not below the
    /// right. A plateau counts once, at its left end, if it falls off on the right.
    fn maxima(&self) -> impl Iterator<Item = usize> + '_ {
        let f = &self.values;
        (0..f.len()).filter(|&i| {
            let rises = i == 0 || f[i] > f[i - 1];
            let falls = f[i + 1..].iter().find(|&&v| v != f[i]).is_none_or(|&v| v < f[i]);
            rises && falls && f[i] > 0.0
        })
    }

    /// Returns the mode at a maximum of the grid, located at the vertex of the parabola through it
    /// and its neighbours, and the saddle on the way to a higher one.
    fn mode(&self, i: usize) -> (Mode, Option<f64>) {
        let f = &self.values;
        let (mut shift, mut height) = (0.0, f[i]);
        if i > 0 && i + 1 < f.len() {
            let (left, right) = (f[i - 1], f[i + 1]);
            let curvature = left - 2.0 * f[i] + right;
            if curvature < 0.0 {
                shift = 0.5 * (left - right) / curvature;
                height -= 0.25 * (left - right) * shift;
            }
        }
        // Of two equal maxima the left one counts as higher, so that the dip between them is also
        // tested.
        let left = saddle(f[i].next_down(), f[..i].iter().rev());
        let right = saddle(f[i], f[i + 1..].iter());
        // `None` orders below every saddle.
        let saddle = if left > right { left } else { right };
        let prominence = height - saddle.unwrap_or(0.0);
        (Mode { location: self.low + (i as f64 + shift) * self.step, height, prominence }, saddle)
    }
}

/// Returns the lowest point on the way to a higher value, or `None` if there is none.
fn saddle<'a>(height: f64, way: impl Iterator<Item = &'a f64>) -> Option<f64> {
    let mut least = height;
    for &f in way {
        if f > height {
            return Some(least);
        }
        least = least.min(f);
    }
    None
}

/// Returns counts with linear weights: each draw is distributed over the two nearest cells, which
/// is exact to second order.
fn bin(draws: &[f64], low: f64, width: f64, cells: usize) -> Vec<f64> {
    let mut counts = vec![0.0; cells];
    for &x in draws {
        let position = ((x - low) / width - 0.5).clamp(0.0, cells as f64 - 1.0);
        let cell = (position as usize).min(cells - 1);
        let share = position - cell as f64;
        counts[cell] += 1.0 - share;
        if share > 0.0 {
            counts[(cell + 1).min(cells - 1)] += share;
        }
    }
    counts
}
