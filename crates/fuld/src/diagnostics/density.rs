//! The density of a sample, and its modes.

use super::bandwidth::{robust_scale, sheather_jones};
use super::error::efficiency;
use super::{DiagnosticError, Sample};
use std::f64::consts::PI;

/// Points of the grid.
const GRID: usize = 2048;
/// Beyond this many bandwidths the kernel is nothing.
const REACH: f64 = 6.0;
/// By this many standard deviations a dip between modes must exceed those that noise is expected to make.
const MARGIN: f64 = 2.0;

/// A Gaussian kernel density estimate on a grid over the body of a sample,
///
/// > f̂(x) = (1/(nh)) Σ φ((x − xᵢ)/h),
///
/// with the bandwidth of Sheather and Jones. The body reaches over the quantiles 0.001 to 0.999, but no further than
/// five interquartile ranges beyond the quartiles; draws beyond it count in n, so that f̂ estimates the density of
/// all.
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
    /// Where it is.
    pub location: f64,
    /// The density there.
    pub height: f64,
    /// How far one has to descend from it to reach a higher one; its height for the highest.
    pub prominence: f64,
}

impl KernelDensity {
    /// Estimates the density; needs two different numbers in the body of the sample.
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
        // A kernel narrower than a bin would show the grid.
        let bandwidth = sheather_jones(&counts, width, scale).max(width);
        let step = (high - low) / (GRID - 1) as f64;
        // Draws beyond the ends reach in.
        let margin = (REACH * bandwidth / step).ceil() as usize;
        let outer = (low - margin as f64 * step, high + margin as f64 * step);
        let cells = GRID + 2 * margin;
        let from = outer.0 - 0.5 * step;
        let counts = bin(sample.within(outer.0, outer.1), from, step, cells);
        let kernel: Vec<f64> = (0..=margin)
            .map(|i| {
                let distance = i as f64 * step / bandwidth;
                libm::exp(-0.5 * distance * distance) / ((2.0 * PI).sqrt() * bandwidth * sample.len() as f64)
            })
            .collect();
        let value = |i: usize| -> f64 {
            let centre = i + margin;
            let sides = (1..=margin).map(|j| kernel[j] * (counts[centre - j] + counts[centre + j]));
            kernel[0] * counts[centre] + sides.sum::<f64>()
        };
        Ok(Self { low, step, values: (0..GRID).map(value).collect(), bandwidth })
    }

    /// The bandwidth h.
    pub fn bandwidth(&self) -> f64 {
        self.bandwidth
    }

    /// Points of the grid, and the density there.
    pub fn grid(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.values.iter().enumerate().map(|(i, &f)| (self.low + i as f64 * self.step, f))
    }

    /// The modes, highest first, that a sample of this many effective draws can show (their number, for independent
    /// draws).
    ///
    /// A local maximum counts if the dip between it and any higher one is more than noise. The kernel at x sees c =
    /// 2√π n h f̂(x) draws, and 2√c has about unit variance wherever x is. Among N places a bandwidth apart noise
    /// reaches up and down by √(2 ln N), so from saddle to mode 2√c has to rise by 2√(2 ln N) + 2. A maximum at the
    /// end of the body counts too.
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

    /// Indices higher than the left neighbour and not lower than the right; of a plateau only its left end, if it
    /// falls off.
    fn maxima(&self) -> impl Iterator<Item = usize> + '_ {
        let f = &self.values;
        (0..f.len()).filter(|&i| {
            let rises = i == 0 || f[i] > f[i - 1];
            let falls = f[i + 1..].iter().find(|&&v| v != f[i]).is_none_or(|&v| v < f[i]);
            rises && falls && f[i] > 0.0
        })
    }

    /// The mode at a maximum of the grid, put at the vertex of the parabola through it and its neighbours, and the
    /// saddle one has to cross to a higher one.
    fn mode(&self, i: usize) -> (Mode, Option<f64>) {
        let f = &self.values;
        let (mut shift, mut height) = (0.0, f[i]);
        if i > 0 && i + 1 < f.len() {
            let (left, right) = (f[i - 1], f[i + 1]);
            let bend = left - 2.0 * f[i] + right;
            if bend < 0.0 {
                shift = 0.5 * (left - right) / bend;
                height -= 0.25 * (left - right) * shift;
            }
        }
        // Of two equally high the left one counts as higher, so that a dip between them is judged too.
        let left = saddle(f[i].next_down(), f[..i].iter().rev());
        let right = saddle(f[i], f[i + 1..].iter());
        // None is below every saddle.
        let saddle = if left > right { left } else { right };
        let prominence = height - saddle.unwrap_or(0.0);
        (Mode { location: self.low + (i as f64 + shift) * self.step, height, prominence }, saddle)
    }
}

/// The lowest point on the way to something higher; nothing if there is nothing higher.
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

/// Sums of linear weights: a draw belongs to the two nearest cells in proportion, which is exact to second order.
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
