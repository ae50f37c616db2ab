//! The adaptation of step, scales and path length over all chains, before the first draw.
//!
//! - The *step* follows the mean acceptance probability by dual averaging (Hoffman and Gelman
//!   2014).
//! - The *scales* are interquartile ranges of recent positions of all chains, at the end of windows
//!   that double, as Stan's do; quartiles exist for every tail.
//! - The *paths* follow the turning times of trajectories: the times at which they are furthest
//!   from where they started, before they come back to half that squared distance. An iteration
//!   takes a random fraction of a random turning time. Stopping where a trajectory turns is the
//!   idea of NUTS (Hoffman and Gelman 2014); learning the distribution of these times beforehand is
//!   that of empirical HMC (Wu, Stoehr and Robert 2018).
//!
//! The warm-up begins with Gaussian velocities, because the stable ones move slowly where f is
//! steep. At the end of each phase a chain that did not move is put where another one is.
//!
//! Everything is computed from the chains in their order, so that the result depends on neither
//! threads nor batches.

use super::tuning::Tuning;

/// Mean acceptance probability that the step is adapted to. 0.8 is up to 10 % more efficient on
/// simple targets; 0.9 several times on curved ones, where chains would stay too long in the arms.
const ACCEPTANCE: f64 = 0.9;
/// Constants of dual averaging: shrinkage, delay and forgetting (Hoffman and Gelman's γ, t₀ and κ).
const SHRINKAGE: f64 = 0.05;
const DELAY: f64 = 10.0;
const FORGETTING: f64 = 0.75;
/// Turning times from which the paths are computed, about.
const TURNS: usize = 512;
/// Positions per coordinate from which a scale is computed, at least.
const POSITIONS: usize = 1024;
/// Numbers of the state that are not arrays; the last is the number of turning times.
const COUNTS: usize = 8;
/// Interquartile range of N(0, 1).
const QUARTILES: f64 = 1.348_979_500_392_163_5;

/// The state of the adaptation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Adaptation {
    pub(crate) tuning: Tuning,
    chains: usize,
    windows: Windows,
    step: DualAveraging,
    /// Turning times of all chains since the measurement began.
    turns: Vec<f64>,
    /// Positions of all chains in some iterations of the present window, one iteration after the
    /// other.
    recent: Vec<f64>,
    /// Iterations between those.
    stride: u64,
    /// Expected number of accepted proposals of each chain in the present phase.
    moves: Vec<f64>,
}

impl Adaptation {
    /// Begins the adaptation of `chains` chains over `warmup` iterations.
    pub(crate) fn new(tuning: Tuning, warmup: u64, chains: usize) -> Self {
        Self {
            chains,
            windows: Windows::new(warmup),
            step: DualAveraging::new(tuning.step),
            turns: Vec::new(),
            recent: Vec::new(),
            stride: 1,
            moves: vec![0.0; chains],
            tuning,
        }
    }

    /// Returns whether the velocities of iteration k are Gaussian.
    pub(crate) fn has_gaussian_velocities(&self, k: u64) -> bool {
        k < self.windows.first
    }

    /// Returns whether turning times are measured after iteration k: in the last iterations of each
    /// window and of the warm-up.
    pub(crate) fn measures_turns(&self, k: u64) -> bool {
        let count = TURNS.div_ceil(self.chains) as u64;
        self.windows
            .phase(k)
            .is_some_and(|phase| k >= phase.end - count.min((phase.end - phase.start) / 2))
    }

    /// Learns from iteration k of all chains, and sets the tuning of the next one. `turns` are
    /// turning times, where they were measured.
    ///
    /// Returns pairs of chains: the first of each pair is to be put where the second is.
    pub(crate) fn update<'p>(
        &mut self,
        k: u64,
        acceptance: impl Iterator<Item = f64>,
        turns: impl Iterator<Item = f64>,
        positions: impl Iterator<Item = &'p [f64]>,
    ) -> Vec<[usize; 2]> {
        let mut sum = 0.0;
        for (moves, acceptance) in self.moves.iter_mut().zip(acceptance) {
            *moves += acceptance;
            sum += acceptance;
        }
        self.tuning.step = self.step.update(sum / self.chains as f64);
        if k + 1 == self.windows.first {
            self.restart_step(k, 1.0);
            return self.stuck_chains();
        }
        let Some(phase) = self.windows.phase(k) else { return Vec::new() };
        if self.measures_turns(k) {
            self.turns.extend(turns);
        }
        if phase.end <= self.windows.end && (k - phase.start).is_multiple_of(self.stride) {
            positions.for_each(|positions| self.recent.extend_from_slice(positions));
            self.thin();
        }
        if k + 1 < phase.end {
            return Vec::new();
        }
        self.tuning.set_paths(&mut self.turns);
        self.turns.clear();
        if phase.end <= self.windows.end {
            let ratio = self.set_scales();
            self.restart_step(k, ratio);
        }
        if phase.end == self.windows.warmup {
            self.tuning.step = self.step.average();
        }
        self.stuck_chains()
    }

    /// Returns each chain that is not expected to have moved in the phase, with the next one that
    /// has. If most chains have not moved, the step was too long for all, and none is returned.
    fn stuck_chains(&mut self) -> Vec<[usize; 2]> {
        let stuck: Vec<bool> = self.moves.iter().map(|moves| *moves < 1.0).collect();
        self.moves.fill(0.0);
        if 2 * stuck.iter().filter(|stuck| **stuck).count() >= self.chains {
            return Vec::new();
        }
        let next = |chain: usize| {
            (chain..chain + self.chains).map(|i| i % self.chains).find(|&i| !stuck[i])
        };
        let pairs = (0..self.chains).filter(|&chain| stuck[chain]);
        pairs.filter_map(|chain| Some([chain, next(chain)?])).collect()
    }

    /// Keeps every second set of positions, and takes every second from now on, once there are
    /// twice as many as needed.
    fn thin(&mut self) {
        let size = self.chains * self.tuning.scales.len();
        let needed = POSITIONS.div_ceil(self.chains).max(2);
        if self.recent.len() / size < 2 * needed {
            return;
        }
        let kept: Vec<f64> =
            self.recent.chunks_exact(size).skip(1).step_by(2).flatten().copied().collect();
        self.recent = kept;
        self.stride *= 2;
    }

    /// Takes the scales from the positions of the window, and returns the factor by which times
    /// become longer.
    fn set_scales(&mut self) -> f64 {
        let dim = self.tuning.scales.len();
        let mut log_ratio = 0.0;
        for (scale, [lower, upper]) in
            self.tuning.scales.iter_mut().zip(quartiles(&self.recent, dim))
        {
            let new = (upper - lower) / QUARTILES;
            if new > 0.0 && new.is_finite() {
                log_ratio += libm::log(*scale / new) / dim as f64;
                *scale = new;
            }
        }
        self.recent.clear();
        self.stride = 1;
        // Times in units of the mean scale stay as they are.
        let ratio = libm::exp(log_ratio);
        self.tuning.paths.iter_mut().for_each(|path| *path *= ratio);
        ratio
    }

    /// Begins the adaptation of the step anew after iteration k, with times that are longer by a
    /// factor. If the next phase is too short for that, the adaptation goes on: its first step
    /// would be ten times too long.
    fn restart_step(&mut self, k: u64, ratio: f64) {
        let next = self.windows.phase(k + 1).map_or(0, |phase| phase.end - phase.start);
        if next < DELAY as u64 {
            self.step.rescale(ratio);
            self.tuning.step *= ratio;
            return;
        }
        // The first phase ends with its average, a window with its last step.
        let step = if k + 1 == self.windows.first { self.step.average() } else { self.tuning.step };
        self.tuning.step = step * ratio;
        self.step = DualAveraging::new(self.tuning.step);
    }

    /// Returns the state as numbers, for a checkpoint.
    pub(crate) fn to_numbers(&self) -> Vec<f64> {
        let DualAveraging { centre, count, excess, log_step, log_average } = self.step;
        let (stride, turns) = (self.stride as f64, self.turns.len() as f64);
        let mut numbers =
            vec![self.tuning.step, centre, count, excess, log_step, log_average, stride, turns];
        let Tuning { paths, scales, .. } = &self.tuning;
        numbers.extend(
            paths.iter().chain(scales).chain(&self.moves).chain(&self.turns).chain(&self.recent),
        );
        numbers
    }

    /// Restores the state from [`to_numbers`](Self::to_numbers); None if their number is wrong.
    pub(crate) fn from_numbers(
        numbers: &[f64],
        warmup: u64,
        chains: usize,
        dim: usize,
    ) -> Option<Self> {
        let (&[step, centre, count, excess, log_step, log_average, stride, turns], rest) =
            numbers.split_first_chunk::<COUNTS>()?;
        let (paths, rest) = rest.split_first_chunk()?;
        let (scales, rest) = rest.split_at_checked(dim)?;
        let (moves, rest) = rest.split_at_checked(chains)?;
        let (turns, recent) = rest.split_at_checked(turns as usize)?;
        let whole = recent.len().is_multiple_of(chains * dim);
        whole.then(|| Self {
            tuning: Tuning { step, paths: *paths, scales: scales.to_vec() },
            chains,
            windows: Windows::new(warmup),
            step: DualAveraging { centre, count, excess, log_step, log_average },
            turns: turns.to_vec(),
            recent: recent.to_vec(),
            stride: stride as u64,
            moves: moves.to_vec(),
        })
    }
}

/// The windows of the adaptation of scales: none in the first 15 % and the last 10 % of the
/// warm-up, as in Stan, and doubling between.
#[derive(Clone, Debug, PartialEq)]
struct Windows {
    warmup: u64,
    /// Beginning of the first window.
    first: u64,
    /// End of the last window.
    end: u64,
    windows: Vec<std::ops::Range<u64>>,
}

impl Windows {
    fn new(warmup: u64) -> Self {
        let (first, end) = ((u128::from(warmup) * 15 / 100) as u64, warmup - warmup / 10);
        let mut windows = Vec::new();
        let (mut start, mut length) = (first, (warmup / 40).max(5));
        while start < end {
            // A window that would leave less than the next, doubled one takes it over.
            let stop = if (end - start) / 3 < length { end } else { start + length };
            windows.push(start..stop);
            (start, length) = (stop, 2 * length);
        }
        Self { warmup, first, end, windows }
    }

    /// Returns the window that contains iteration k, or the last phase of the warm-up.
    fn phase(&self, k: u64) -> Option<std::ops::Range<u64>> {
        let last = self.end..self.warmup;
        self.windows.iter().chain([&last]).find(|window| window.contains(&k)).cloned()
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

    /// Multiplies all steps by a factor.
    fn rescale(&mut self, factor: f64) {
        for log in [&mut self.centre, &mut self.log_step, &mut self.log_average] {
            *log += libm::log(factor);
        }
    }
}

/// Returns the lower and the upper quartile of each of the coordinates, which follow each other in
/// `positions`.
fn quartiles(positions: &[f64], dim: usize) -> impl Iterator<Item = [f64; 2]> + '_ {
    let mut column = Vec::with_capacity(positions.len() / dim);
    (0..dim).map(move |i| {
        column.clear();
        column.extend(positions.iter().skip(i).step_by(dim));
        column.sort_unstable_by(f64::total_cmp);
        let at = |fraction: usize| column[(column.len() - 1) * fraction / 4];
        [at(1), at(3)]
    })
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
            assert!(
                ends.is_sorted() && ends.last().is_none_or(|&end| end == windows.end),
                "{windows:?}"
            );
        }
    }

    /// The acceptance of a step h is e^(−h): the step with the target's acceptance is found.
    #[test]
    fn dual_averaging_finds_the_step() {
        let mut averaging = DualAveraging::new(20.0);
        let mut step = 20.0;
        for _ in 0..500 {
            step = averaging.update(libm::exp(-step));
        }
        assert!(
            (averaging.average() / -libm::log(ACCEPTANCE) - 1.0).abs() < 0.1,
            "{}",
            averaging.average()
        );
    }

    #[test]
    fn numbers_restore_the_state() {
        let positions: Vec<f64> = (0..30).map(f64::from).collect();
        let mut state = Adaptation::new(Tuning::plain(0.5, 1.0, 3), 100, 10);
        for k in 0..80 {
            let turns = (0..if state.measures_turns(k) { 10 } else { 0 }).map(f64::from);
            state.update(k, [0.5; 10].into_iter(), turns, [&positions[..]].into_iter());
        }
        assert!(!state.turns.is_empty() && !state.recent.is_empty());
        assert_eq!(Adaptation::from_numbers(&state.to_numbers(), 100, 10, 3).unwrap(), state);
        let numbers = state.to_numbers();
        assert!(Adaptation::from_numbers(&numbers[..numbers.len() - 1], 100, 10, 3).is_none());
        assert!(Adaptation::from_numbers(&[1.0; 15], 100, 10, 3).is_none());
    }

    /// The paths are the turning times that were measured last, and the scales the quartiles of the
    /// positions.
    #[test]
    fn paths_and_scales_are_those_of_the_last_window() {
        let mut state = Adaptation::new(Tuning::plain(0.5, 1.0, 1), 200, 100);
        let positions: Vec<f64> = (0..100).map(|i| QUARTILES * f64::from(i)).collect();
        for k in 0..200 {
            let turns =
                std::iter::repeat_n(k as f64, if state.measures_turns(k) { 100 } else { 0 });
            let stuck =
                state.update(k, [0.8; 100].into_iter(), turns, [&positions[..]].into_iter());
            assert_eq!(stuck, [[0; 2]; 0]);
        }
        assert!(
            state.tuning.paths.iter().all(|path| (193.0..200.0).contains(path)),
            "{:?}",
            state.tuning
        );
        assert!((state.tuning.scales[0] - 50.0).abs() < 1.0, "{:?}", state.tuning);
    }
    #[test]
    fn stuck_chains_are_put_where_the_next_one_is() {
        let mut state = Adaptation::new(Tuning::plain(0.5, 1.0, 1), 200, 5);
        let positions = [0.0; 5];
        let mut pairs = Vec::new();
        for k in 0..200 {
            // Chains 1, 2 and 4 do not move in the first phase, and chains 1 and 4 not in the
            // others.
            let moves = [1.0, 0.0, if k < 30 { 0.0 } else { 1.0 }, 1.0, 0.0];
            let new = state.update(
                k,
                moves.into_iter(),
                std::iter::empty(),
                [&positions[..]].into_iter(),
            );
            pairs.push((k, new));
        }
        pairs.retain(|(_, pairs)| !pairs.is_empty());
        // Most chains were stuck in the first phase.
        assert!(pairs.iter().all(|(k, pairs)| *k > 30 && *pairs == [[1, 2], [4, 0]]), "{pairs:?}");
        assert_eq!(pairs.len(), state.windows.windows.len() + 1);
    }
}
