//! Random numbers and derivatives by differences, for the tests of potentials.

use fuld::Potential;

/// The generator splitmix64, which suffices to choose test cases.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.word() % n as u64) as usize
    }

    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.word() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub(crate) fn points(&mut self, n: usize, low: f64, high: f64) -> Vec<f64> {
        (0..n).map(|_| self.between(low, high)).collect()
    }
}

/// ∂f/∂xᵢ by central differences of order 8 with step h.
pub(crate) fn difference(f: &dyn Potential, x: &[f64], i: usize, h: f64) -> f64 {
    const WEIGHTS: [f64; 4] = [4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0];
    let mut moved = x.to_vec();
    let mut at = |shift: f64| {
        moved[i] = x[i] + shift;
        f.value(&moved)
    };
    let mut sum = 0.0;
    for (k, weight) in WEIGHTS.iter().enumerate() {
        let shift = (k + 1) as f64 * h;
        sum += weight * (at(shift) - at(-shift));
    }
    sum / h
}

pub(crate) fn gradient(f: &dyn Potential, x: &[f64]) -> Vec<f64> {
    let mut g = vec![f64::NAN; x.len()];
    f.gradient(x, &mut g);
    g
}

pub(crate) fn gradients(f: &dyn Potential, points: &[f64]) -> Vec<f64> {
    let mut g = vec![f64::NAN; points.len()];
    f.gradients(points, &vec![0; points.len() / f.dim()], &mut g);
    g
}

/// Returns whether two numbers have equal bits. All NaN are equal.
pub(crate) fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}
