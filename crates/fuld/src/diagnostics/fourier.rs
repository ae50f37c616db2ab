//! Autocovariance by the fast Fourier transform.
//!
//! Two chains travel as the real and imaginary part of one signal z: the inverse transform of |ẑ|² has real part Σ
//! aₜaₜ₊ₗ + Σ bₜbₜ₊ₗ, which is all that their mean autocovariance needs. The forward transform leaves frequencies in
//! bit-reversed order and the inverse takes them so: |ẑ|² does not care. Sines and cosines come from `libm`, sums
//! have a fixed order, so results have the same bits on every machine.

use super::moments::mean;
use std::f64::consts::TAU;

/// Autocovariance at lags 0 … n−1, averaged over chains of n draws each:
///
///   (1/m) Σ_chains (1/n) Σₜ (xₜ − x̄)(xₜ₊ₗ − x̄),  x̄ the mean of the chain.
pub(super) fn mean_autocovariance<'a>(chains: impl Iterator<Item = &'a [f64]>) -> Vec<f64> {
    let chains: Vec<&[f64]> = chains.collect();
    let n = chains.first().map_or(0, |chain| chain.len());
    if n == 0 {
        return Vec::new();
    }
    // Zeros to twice the length keep the end of a chain from meeting its beginning.
    let transform = Transform::new((2 * n).next_power_of_two());
    let mut power = Signal::zeros(transform.length());
    for pair in chains.chunks(2) {
        let mut z = Signal::zeros(transform.length());
        centred(pair[0], &mut z.re);
        if let Some(second) = pair.get(1) {
            centred(second, &mut z.im);
        }
        transform.forward(&mut z);
        for ((p, re), im) in power.re.iter_mut().zip(&z.re).zip(&z.im) {
            *p += re * re + im * im;
        }
    }
    transform.backward(&mut power);
    let scale = 1.0 / (transform.length() as f64 * n as f64 * chains.len() as f64);
    power.re.truncate(n);
    power.re.iter_mut().for_each(|c| *c *= scale);
    power.re
}

fn centred(chain: &[f64], out: &mut [f64]) {
    let mean = mean(chain);
    for (o, x) in out.iter_mut().zip(chain) {
        *o = x - mean;
    }
}

struct Signal {
    re: Vec<f64>,
    im: Vec<f64>,
}

impl Signal {
    fn zeros(n: usize) -> Self {
        Self { re: vec![0.0; n], im: vec![0.0; n] }
    }
}

/// Discrete Fourier transform of one length, a power of two.
struct Transform {
    /// Roots of unity for blocks of width 2, 4, 8, …, n: side by side, so that a stage can run in vector registers.
    stages: Vec<Roots>,
}

/// cos and sin of 2πj/w for j < w/2.
struct Roots {
    cos: Vec<f64>,
    sin: Vec<f64>,
}

impl Roots {
    fn width(&self) -> usize {
        2 * self.cos.len()
    }

    /// Those of blocks half as wide: every second.
    fn halved(&self) -> Self {
        let second = |x: &[f64]| x.iter().copied().step_by(2).collect();
        Self { cos: second(&self.cos), sin: second(&self.sin) }
    }
}

impl Transform {
    fn new(n: usize) -> Self {
        let angle = |j: usize| TAU * (j as f64 / n as f64);
        let (sin, cos) = (0..n / 2).map(|j| libm::sincos(angle(j))).unzip();
        let narrower = |roots: &Roots| (roots.width() > 2).then(|| roots.halved());
        let mut stages: Vec<Roots> = std::iter::successors(Some(Roots { cos, sin }), narrower).collect();
        stages.reverse();
        Self { stages }
    }

    fn length(&self) -> usize {
        1 << self.stages.len()
    }

    /// Decimation in frequency: natural order in, bit-reversed order out.
    fn forward(&self, z: &mut Signal) {
        for roots in self.stages.iter().rev() {
            z.butterflies(roots, |u, v, (c, s)| {
                let d = (u.0 - v.0, u.1 - v.1);
                // d · e^(−iθ)
                ((u.0 + v.0, u.1 + v.1), (d.0 * c + d.1 * s, d.1 * c - d.0 * s))
            });
        }
    }

    /// Decimation in time: bit-reversed order in, natural order out; n times the inverse.
    fn backward(&self, z: &mut Signal) {
        for roots in &self.stages {
            z.butterflies(roots, |u, v, (c, s)| {
                // v · e^(iθ)
                let t = (v.0 * c - v.1 * s, v.1 * c + v.0 * s);
                ((u.0 + t.0, u.1 + t.1), (u.0 - t.0, u.1 - t.1))
            });
        }
    }
}

type Complex = (f64, f64);

impl Signal {
    /// One butterfly for every pair of entries half a block apart.
    fn butterflies(
        &mut self,
        roots: &Roots,
        butterfly: impl Fn(Complex, Complex, Complex) -> (Complex, Complex),
    ) {
        let width = roots.width();
        for (re, im) in self.re.chunks_exact_mut(width).zip(self.im.chunks_exact_mut(width)) {
            let (re_u, re_v) = re.split_at_mut(width / 2);
            let (im_u, im_v) = im.split_at_mut(width / 2);
            let u = re_u.iter_mut().zip(im_u);
            let v = re_v.iter_mut().zip(im_v);
            for ((u, v), (&cos, &sin)) in u.zip(v).zip(roots.cos.iter().zip(&roots.sin)) {
                let (new_u, new_v) = butterfly((*u.0, *u.1), (*v.0, *v.1), (cos, sin));
                (*u.0, *u.1) = new_u;
                (*v.0, *v.1) = new_v;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against the double sum, for lengths around a power of two and chains odd and even in number.
    #[test]
    fn transform_equals_the_sum() {
        for n in [2, 3, 7, 8, 9, 100] {
            for m in [1, 2, 3] {
                let chain = |k: usize| -> Vec<f64> {
                    (0..n).map(|t| ((t * t * 7 + 3 * k * t + k) % 11) as f64 - 4.0).collect()
                };
                let chains: Vec<Vec<f64>> = (0..m).map(chain).collect();
                let fast = mean_autocovariance(chains.iter().map(Vec::as_slice));
                assert_eq!(fast.len(), n);
                for (lag, fast) in fast.iter().enumerate() {
                    let of = |x: &Vec<f64>| -> f64 {
                        let mean = mean(x);
                        x.iter().zip(&x[lag..]).map(|(a, b)| (a - mean) * (b - mean)).sum()
                    };
                    let slow = chains.iter().map(of).sum::<f64>() / (n * m) as f64;
                    assert!((fast - slow).abs() < 1e-13, "n = {n}, m = {m}, lag {lag}: {fast} {slow}");
                }
            }
        }
    }
}
