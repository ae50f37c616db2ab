//! The adaptation of step, scales and path length over all chains, before the first draw.
//!
//! - The *step* follows the mean acceptance probability by dual averaging (Hoffman and Gelman 2014).
//! - The *scales* are interquartile ranges of recent positions of all chains, at the end of windows that double, as Stan's do; quartiles exist
//!   for every tail.
//! - The *path length* T maximises the expected squared jump per √T of Σ φ(zᵢ), φ(z) = z²/(1 + z²), by stochastic gradient ascent in log T, after
//!   ChEES (Hoffman, Radul and Sountsov 2021), whose φ is z²: with heavy tails its mean does not exist.
//!
//! Everything is computed from the chains in their order, so that the result depends on neither threads nor batches.

use super::transition::Jump;
use super::tuning::Tuning;

/// Mean acceptance probability that the step is adapted to.
const ACCEPTANCE: f64 = 0.8;
/// Constants of dual averaging: shrinkage, delay and forgetting (Hoffman and Gelman's γ, t₀ and κ).
const SHRINKAGE: f64 = 0.05;
const DELAY: f64 = 10.0;
const FORGETTING: f64 = 0.75;
/// Rate of the ascent in log T, and the memories of Adam's averages (Kingma and Ba), as in ChEES.
const RATE: f64 = 0.05;
const MEMORIES: [f64; 2] = [0.9, 0.95];
/// Positions per coordinate from which a scale is computed, at least.
const POSITIONS: usize = 1024;
/// Interquartile range of N(0, 1).
const QUARTILES: f64 = 1.348_979_500_392_163_5;

/// The state of the adaptation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Adaptation {
    pub(crate) tuning: Tuning,
    /// Median of each coordinate.
    pub(crate) centre: Vec<f64>,
    windows: Windows,
    step: DualAveraging,
    path: PathAscent,
    /// Positions of all chains in some iterations of the present window, one iteration after the other.
    recent: Vec<f64>,
    /// Iterations between those.
    stride: u64,
}

impl Adaptation {
    /// Begins the adaptation, over `warmup` iterations, of chains at `positions`.
    pub(crate) fn new(tuning: Tuning, warmup: u64, positions: &[f64]) -> Self {
        let centre =
            quartiles(positions, tuning.scales.len()).into_iter().map(|[_, median, _]| median).collect();
        Self {
            centre,
            windows: Windows::new(warmup),
            step: DualAveraging::new(tuning.step),
            path: PathAscent::new(tuning.path),
            recent: Vec::new(),
            stride: 1,
            tuning,
        }
    }

    /// Learns from iteration k of all chains, and sets the tuning of the next one.
    pub(crate) fn update(&mut self, k: u64, acceptance: &[f64], jumps: &[Jump], positions: &[f64]) {
        let time = self.tuning.steps(k) as f64 * self.tuning.step;
        self.path.update(time, acceptance, jumps);
        self.tuning.step = self.step.update(acceptance.iter().sum::<f64>() / acceptance.len() as f64);
        if let Some(window) = self.windows.containing(k) {
            if (k - window.start).is_multiple_of(self.stride) {
                self.recent.extend_from_slice(positions);
                self.thin(positions.len());
            }
            if k + 1 == window.end {
                self.end_window(k + 1 == self.windows.end);
            }
        }
        if k + 1 == self.windows.warmup {
            self.tuning.step = self.step.average();
            self.path.value = self.path.average();
        }
        self.tuning.path = self.path.value.min(self.tuning.longest_path());
    }

    /// Keeps every second set of positions, and takes every second from now on, once there are twice as many as needed.
    fn thin(&mut self, size: usize) {
        let needed = POSITIONS.div_ceil(size / self.tuning.scales.len()).max(2);
        if self.recent.len() / size < 2 * needed {
            return;
        }
        let kept: Vec<f64> = self.recent.chunks_exact(size).skip(1).step_by(2).flatten().copied().collect();
        self.recent = kept;
        self.stride *= 2;
    }

    /// Takes scales and centre from the positions of the window, and begins the adaptation of the step anew.
    fn end_window(&mut self, last: bool) {
        let dim = self.tuning.scales.len();
        let mut ratio = 0.0;
        for (i, [lower, median, upper]) in quartiles(&self.recent, dim).into_iter().enumerate() {
            self.centre[i] = median;
            let scale = (upper - lower) / QUARTILES;
            if scale > 0.0 && scale.is_finite() {
                ratio += libm::log(self.tuning.scales[i] / scale) / dim as f64;
                self.tuning.scales[i] = scale;
            }
        }
        self.recent.clear();
        self.stride = 1;
        // The step in units of the mean scale stays as it is.
        let step = self.tuning.step * libm::exp(ratio);
        self.step = DualAveraging::new(step);
        self.tuning.step = step;
        self.path.rescale(libm::exp(ratio), last);
    }

    /// Returns the count of numbers in a checkpoint, apart from the recent positions.
    pub(crate) fn numbers(dim: usize) -> usize {
        14 + 2 * dim
    }

    /// Returns the state as numbers, for a checkpoint.
    pub(crate) fn to_numbers(&self) -> Vec<f64> {
        let DualAveraging { centre, count, excess, log_step, log_average } = self.step;
        let mut numbers =
            vec![self.tuning.step, self.tuning.path, centre, count, excess, log_step, log_average];
        let PathAscent { value, moments, count, log_sum, log_count } = self.path;
        numbers.extend([value, moments[0], moments[1], count, log_sum, log_count, self.stride as f64]);
        numbers.extend(self.tuning.scales.iter().chain(&self.centre).chain(&self.recent));
        numbers
    }

    /// Restores the state from [`to_numbers`](Self::to_numbers); None if the numbers are too few.
    pub(crate) fn from_numbers(numbers: &[f64], warmup: u64, dim: usize) -> Option<Self> {
        let (
            &[
                step,
                path,
                centre,
                count,
                excess,
                log_step,
                log_average,
                value,
                a,
                b,
                steps,
                log_sum,
                log_count,
                stride,
            ],
            rest,
        ) = numbers.split_first_chunk()?;
        let (scales, rest) = rest.split_at_checked(dim)?;
        let (median, recent) = rest.split_at_checked(dim)?;
        Some(Self {
            tuning: Tuning { step, path, scales: scales.to_vec() },
            centre: median.to_vec(),
            windows: Windows::new(warmup),
            step: DualAveraging { centre, count, excess, log_step, log_average },
            path: PathAscent { value, moments: [a, b], count: steps, log_sum, log_count },
            recent: recent.to_vec(),
            stride: stride as u64,
        })
    }
}

/// The windows of the adaptation of scales: none in the first 15 % and the last 10 % of the warm-up, as in Stan, and doubling between.
#[derive(Clone, Debug, PartialEq)]
struct Windows {
    warmup: u64,
    /// End of the last window.
    end: u64,
    windows: Vec<std::ops::Range<u64>>,
}

impl Windows {
    fn new(warmup: u64) -> Self {
        let (first, end) = (warmup * 15 / 100, warmup - warmup / 10);
        let mut windows = Vec::new();
        let (mut start, mut length) = (first, (warmup / 40).max(5));
        while start < end {
            // A window that would leave less than the next, doubled one takes it over.
            let stop = if start + 3 * length > end { end } else { start + length };
            windows.push(start..stop);
            (start, length) = (stop, 2 * length);
        }
        Self { warmup, end, windows }
    }

    fn containing(&self, k: u64) -> Option<std::ops::Range<u64>> {
        self.windows.iter().find(|window| window.contains(&k)).cloned()
    }
}

/// Dual averaging of the logarithm of the step.
#[derive(Clone, Copy, Debug, PartialEq)]
struct DualAveraging {
    /// Value that the logarithm is drawn to: that of ten times the first step.
    centre: f64,
    count: f64,
    /// Average of the target less the acceptance.
    excess: f64,
    log_step: f64,
    log_average: f64,
}

impl DualAveraging {
    fn new(step: f64) -> Self {
        let log_step = libm::log(step);
        Self {
            centre: log_step + core::f64::consts::LN_10,
            count: 0.0,
            excess: 0.0,
            log_step,
            log_average: 0.0,
        }
    }

    fn update(&mut self, acceptance: f64) -> f64 {
        self.count += 1.0;
        let weight = 1.0 / (self.count + DELAY);
        self.excess = (1.0 - weight) * self.excess + weight * (ACCEPTANCE - acceptance);
        self.log_step = self.centre - self.count.sqrt() / SHRINKAGE * self.excess;
        let weight = libm::pow(self.count, -FORGETTING);
        self.log_average = weight * self.log_step + (1.0 - weight) * self.log_average;
        libm::exp(self.log_step)
    }

    fn average(&self) -> f64 {
        libm::exp(self.log_average)
    }
}

/// Stochastic ascent of the criterion in log T.
#[derive(Clone, Copy, Debug, PartialEq)]
struct PathAscent {
    /// T
    value: f64,
    /// Averages of the gradient and of its square.
    moments: [f64; 2],
    count: f64,
    /// Sum and number of log T since the second last window, whose mean is the result.
    log_sum: f64,
    log_count: f64,
}

impl PathAscent {
    fn new(value: f64) -> Self {
        Self { value, moments: [0.0; 2], count: 0.0, log_sum: 0.0, log_count: 0.0 }
    }

    /// Ascends along the gradient of log(E D²) − (log T)/2 from proposals that took `time`, weighted by acceptance.
    fn update(&mut self, time: f64, acceptance: &[f64], jumps: &[Jump]) {
        let (mut slope, mut weight) = (0.0, 0.0);
        for (p, jump) in acceptance.iter().zip(jumps) {
            let Jump { displacement: d, speed } = *jump;
            slope += p * (0.5 * d * speed * time - 0.125 * d * d);
            weight += p;
        }
        if slope == 0.0 || !slope.is_finite() {
            return;
        }
        let gradient = slope / weight;
        self.count += 1.0;
        let mut averages = [gradient, gradient * gradient];
        for ((moment, average), memory) in self.moments.iter_mut().zip(&mut averages).zip(MEMORIES) {
            *moment = memory * *moment + (1.0 - memory) * *average;
            *average = *moment / (1.0 - libm::pow(memory, self.count));
        }
        self.value *= libm::exp(RATE * averages[0] / averages[1].sqrt());
        self.log_sum += libm::log(self.value);
        self.log_count += 1.0;
    }

    /// Follows a change of the unit of time, and forgets the average.
    fn rescale(&mut self, factor: f64, last: bool) {
        self.value *= factor;
        if last {
            // The average over the last window counts.
            self.log_sum += self.log_count * libm::log(factor);
        } else {
            (self.log_sum, self.log_count) = (0.0, 0.0);
        }
    }

    fn average(&self) -> f64 {
        if self.log_count == 0.0 { self.value } else { libm::exp(self.log_sum / self.log_count) }
    }
}

/// Returns the quartiles of each of the coordinates, which follow each other in `positions`.
fn quartiles(positions: &[f64], dim: usize) -> Vec<[f64; 3]> {
    let mut column = Vec::with_capacity(positions.len() / dim);
    (0..dim)
        .map(|i| {
            column.clear();
            column.extend(positions.iter().skip(i).step_by(dim));
            column.sort_unstable_by(f64::total_cmp);
            let at = |fraction: usize| column[(column.len() - 1) * fraction / 4];
            [at(1), at(2), at(3)]
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_double_and_cover_the_middle() {
        let windows = Windows::new(1000);
        assert_eq!(windows.windows, [150..175, 175..225, 225..325, 325..900]);
        for warmup in 0..300 {
            let windows = Windows::new(warmup);
            let ends: Vec<u64> = windows.windows.iter().flat_map(|w| [w.start, w.end]).collect();
            assert!(ends.is_sorted() && ends.last().is_none_or(|&end| end == windows.end), "{windows:?}");
        }
    }

    /// The acceptance of a step h is e^(−h): the step with acceptance 0.8 is found.
    #[test]
    fn dual_averaging_finds_the_step() {
        let mut averaging = DualAveraging::new(20.0);
        let mut step = 20.0;
        for _ in 0..500 {
            step = averaging.update(libm::exp(-step));
        }
        assert!((averaging.average() / -libm::log(ACCEPTANCE) - 1.0).abs() < 0.1, "{}", averaging.average());
    }

    #[test]
    fn numbers_restore_the_state() {
        let positions: Vec<f64> = (0..30).map(f64::from).collect();
        let mut state = Adaptation::new(Tuning::plain(0.5, 1.0, 3), 100, &positions);
        for k in 0..60 {
            let jump = Jump { displacement: 1.0 - 0.01 * k as f64, speed: 0.3 };
            state.update(k, &[0.5; 10], &[jump; 10], &positions);
        }
        assert_eq!(Adaptation::from_numbers(&state.to_numbers(), 100, 3).unwrap(), state);
        assert!(Adaptation::from_numbers(&[1.0; 15], 100, 3).is_none());
    }
}
