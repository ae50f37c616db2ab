//! The components of a tensor whose logarithms are taken.

/// Largest number of components sampled per tensor. For SαS noise Var log|g| = (π²/6)(1/α² + 1/2) ≤
/// 2.47 at α ≥ 1, so that the standard error of ℓ is at most 1.57/√4096 = 2.5 %, and 7 % if the
/// components of a run were all alike.
pub const SAMPLE: usize = 4096;

/// Components that are sampled together: reading one of them from memory reads them all, since 32
/// bytes are the least that a GPU reads.
pub const RUN: usize = 8;

/// Runs of a sample.
const RUNS: usize = SAMPLE / RUN;

/// ⌊2³²/φ⌋ for the golden ratio φ, whose multiples fill an interval most evenly.
const GOLDEN: u64 = 2_654_435_769;

/// Returns where the runs of sampled components begin in a tensor of more than [`SAMPLE`]: one in
/// each of 512 equal parts.
///
/// > start(j) = ⌊j·N/512⌋ + ⌊((2654435769·j) mod 2³²)·(⌊N/512⌋ − 7) / 2³²⌋, rounded down to a multiple of 8
///
/// The places within the parts differ, so that no column of a matrix is preferred. Implementations
/// in other languages use the same positions.
pub fn sampled_runs(length: usize) -> impl Iterator<Item = usize> {
    let (length, places) = (length as u64, (length / RUNS) as u64 + 1 - RUN as u64);
    (0..RUNS as u64).map(move |j| {
        let jitter = ((GOLDEN * j % (1 << 32)) * places) >> 32;
        (j * length / RUNS as u64 + jitter) as usize / RUN * RUN
    })
}

/// Returns the positions of the sampled components of a tensor: all of a small one, else those of
/// the [runs](sampled_runs).
pub fn sampled_positions(length: usize) -> impl Iterator<Item = usize> {
    let all = 0..if length <= SAMPLE { length } else { 0 };
    let runs = (length > SAMPLE).then(|| sampled_runs(length)).into_iter().flatten();
    all.chain(runs.flat_map(|start| start..start + RUN))
}
