//! The posteriors of the mixing study that the library does not have, each with its data.
//!
//! A model computes f and ∇f together, because NUTS requires both at every step. Data come from the
//! counter-based generator with a fixed seed, and elementary functions from `libm` and `levy_stable`,
//! so that the targets are the same on every machine.

use fuld::Potential;
use fuld::random::{Purpose, Stream};
use levy_stable::{ParameterError, SymmetricStable, exp, with_best_instructions};
use std::sync::Arc;

/// Seed of all data sets.
const DATA_SEED: u64 = 17;
/// Observations of the logistic regression.
const LOGISTIC_ROWS: usize = 500;
/// Features of the logistic regression, the intercept included.
const LOGISTIC_DIM: usize = 20;
/// Observations of the linear regression.
const LINEAR_ROWS: usize = 2000;
/// Features of the linear regression, the intercept included.
const LINEAR_DIM: usize = 5;
/// Days of the stochastic-volatility model.
pub(super) const DAYS: usize = 100;

/// A potential from one function that writes ∇f and returns f. If it is
/// `#[inline(always)]`, it is compiled for the processor's vector instructions.
struct Model<F> {
    dim: usize,
    f: F,
}

impl<F: Fn(&[f64], &mut [f64]) -> f64> Model<F> {
    fn compute(&self, x: &[f64], gradient: &mut [f64]) -> f64 {
        with_best_instructions(
            #[inline(always)]
            || (self.f)(x, gradient),
        )
    }
}

fn model(
    dim: usize,
    f: impl Fn(&[f64], &mut [f64]) -> f64 + Send + Sync + 'static,
) -> Arc<dyn Potential> {
    Arc::new(Model { dim, f })
}

impl<F: Fn(&[f64], &mut [f64]) -> f64 + Send + Sync> Potential for Model<F> {
    fn dim(&self) -> usize {
        self.dim
    }

    fn value(&self, x: &[f64]) -> f64 {
        self.compute(x, &mut vec![0.0; self.dim])
    }

    fn gradient(&self, x: &[f64], gradient: &mut [f64]) {
        self.compute(x, gradient);
    }

    fn evaluate(&self, points: &[f64], values: &mut [f64], gradients: &mut [f64]) {
        let points = points.chunks_exact(self.dim).zip(gradients.chunks_exact_mut(self.dim));
        for ((x, gradient), value) in points.zip(values) {
            *value = self.compute(x, gradient);
        }
    }
}

/// Returns independent draws of N(0, 1). Every `path` has its own.
pub(super) fn normals(path: u64, count: usize) -> Result<Vec<f64>, ParameterError> {
    let (mut words, mut draws) = (vec![0; count], vec![0.0; count]);
    Stream::new(DATA_SEED, path, Purpose::Noise).fill(0, &mut words);
    SymmetricStable::new(2.0)?.sampler().transform(&words, &mut draws);
    // SαS(1) is N(0, 2) at α = 2.
    draws.iter_mut().for_each(|x| *x *= core::f64::consts::FRAC_1_SQRT_2);
    Ok(draws)
}

/// Returns a scalar product by `LANES` partial sums, a power of 2, in an order that does not depend
/// on the machine.
#[inline(always)]
fn dot<const LANES: usize>(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    let (a, rest_a) = a.as_chunks::<LANES>();
    let (b, rest_b) = b.as_chunks::<LANES>();
    for (a, b) in a.iter().zip(b) {
        (0..LANES).for_each(|i| sums[i] += a[i] * b[i]);
    }
    let rest: f64 = rest_a.iter().zip(rest_b).map(|(a, b)| a * b).sum();
    let mut count = LANES;
    while count > 1 {
        count /= 2;
        (0..count).for_each(|i| sums[i] = sums[2 * i] + sums[2 * i + 1]);
    }
    sums[0] + rest
}

/// Returns N(0, P⁻¹) for a symmetric precision matrix P, row after row.
pub(super) fn normal(precision: Vec<f64>, dim: usize) -> Arc<dyn Potential> {
    model(
        dim,
        #[inline(always)]
        move |x, g| {
            for (g, row) in g.iter_mut().zip(precision.chunks_exact(dim)) {
                *g = dot::<4>(row, x);
            }
            0.5 * dot::<4>(x, g)
        },
    )
}

/// Returns N(0, 10²) in the first coordinate a, and N(0.03 (a² − 100), 1) in the second.
pub(super) fn banana() -> Arc<dyn Potential> {
    model(2, |x, g| {
        let (a, rest) = (x[0], x[1] - 0.03 * (x[0] * x[0] - 100.0));
        (g[0], g[1]) = (a / 100.0 - 0.06 * a * rest, rest);
        a * a / 200.0 + 0.5 * rest * rest
    })
}

/// Returns Student's t with two degrees of freedom.
pub(super) fn student() -> Arc<dyn Potential> {
    model(1, |x, g| {
        g[0] = 3.0 * x[0] / (2.0 + x[0] * x[0]);
        1.5 * libm::log1p(0.5 * x[0] * x[0])
    })
}

/// Returns the eight schools (Rubin 1981; Gelman et al., *Bayesian Data Analysis*, section 5.5),
/// non-centred: μ ~ N(0, 5²), τ ~ half-Cauchy(5), θᵢ = μ + τ zᵢ with zᵢ ~ N(0, 1). The coordinates
/// are μ, ln τ, z₁, …, z₈.
pub(super) fn eight_schools() -> Arc<dyn Potential> {
    const EFFECTS: [f64; 8] = [28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0];
    const ERRORS: [f64; 8] = [15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0];
    model(10, |x, g| {
        let (mu, tau) = (x[0], libm::exp(x[1]));
        let spread = (tau / 5.0) * (tau / 5.0);
        let mut f = mu * mu / 50.0 + libm::log1p(spread) - x[1];
        (g[0], g[1]) = (mu / 25.0, 2.0 * spread / (1.0 + spread) - 1.0);
        for i in 0..8 {
            let z = x[2 + i];
            let residual = (mu + tau * z - EFFECTS[i]) / ERRORS[i];
            let slope = residual / ERRORS[i];
            f += 0.5 * residual * residual + 0.5 * z * z;
            g[0] += slope;
            g[1] += slope * z * tau;
            g[2 + i] = slope * tau + z;
        }
        f
    })
}

/// Returns a logistic regression with an intercept and correlated features of unequal scales; the
/// prior of the weights is N(0, 1).
pub(super) fn logistic_regression() -> Result<Arc<dyn Potential>, ParameterError> {
    let (n, d) = (LOGISTIC_ROWS, LOGISTIC_DIM);
    let mut features = normals(0, n * d)?;
    let weights: Vec<f64> = normals(1, d)?.iter().map(|weight| 0.5 * weight).collect();
    for row in features.chunks_exact_mut(d) {
        // Scales from 0.3 to 3.
        for (j, x) in row.iter_mut().enumerate() {
            *x *= libm::exp10(j as f64 / (d - 1) as f64 - 0.5);
        }
        row[0] = 1.0;
        row[2] = 0.9 * row[1] + 0.3 * row[2];
    }
    let labels = Stream::new(DATA_SEED, 2, Purpose::Noise).words();
    for (row, word) in features.chunks_exact_mut(d).zip(labels) {
        let probability = 1.0 / (1.0 + libm::exp(-dot::<4>(row, &weights)));
        // Rows of the label 0 are negated: the likelihood of all rows is then that of the label 1.
        if (word >> 11) as f64 >= probability * (1u64 << 53) as f64 {
            row.iter_mut().for_each(|x| *x = -*x);
        }
    }
    // Column after column: loops over rows are longer and faster than loops over features.
    let columns: Vec<f64> = (0..n * d).map(|i| features[i % n * d + i / n]).collect();
    Ok(model(
        d,
        #[inline(always)]
        move |w, g| logistic(&columns, w, g),
    ))
}

/// Returns f and writes ∇f for the columns of a logistic regression.
#[inline(always)]
fn logistic(columns: &[f64], w: &[f64], g: &mut [f64]) -> f64 {
    /// Rows that are handled together; a divisor of their number.
    const LANES: usize = 20;
    let columns = columns.chunks_exact(LOGISTIC_ROWS);
    let mut margins = [0.0f64; LOGISTIC_ROWS];
    for (weight, column) in w.iter().zip(columns.clone()) {
        margins.iter_mut().zip(column).for_each(|(margin, x)| *margin += weight * x);
    }
    // ln Π (1 + e^(−|mᵢ|)) + Σ max(−mᵢ, 0): the product of 500 numbers between 1 and 2 does not
    // overflow.
    let (mut products, mut losses) = ([1.0; LANES], [0.0; LANES]);
    for margins in margins.as_chunks_mut::<LANES>().0 {
        for i in 0..LANES {
            let margin = margins[i];
            let small = exp(-margin.abs());
            products[i] *= 1.0 + small;
            losses[i] += (-margin).max(0.0);
            // The derivative of ln(1 + e^(−m)), which replaces m.
            margins[i] = -if margin > 0.0 { small } else { 1.0 } / (1.0 + small);
        }
    }
    for ((g, weight), column) in g.iter_mut().zip(w).zip(columns) {
        *g = weight + dot::<16>(column, &margins);
    }
    let loss: f64 = losses.iter().sum();
    0.5 * dot::<4>(w, w) + loss + libm::log(products.iter().product())
}

/// Returns a linear regression whose second feature has mean 10, so that its weight and the
/// intercept are correlated. Weights have the prior N(0, 100²), and ln σ, the last coordinate, N(0,
/// 5²). The true intercept is 50.
pub(super) fn linear_regression() -> Result<Arc<dyn Potential>, ParameterError> {
    const WEIGHTS: [f64; LINEAR_DIM] = [50.0, -3.0, 2.0, 0.5, 10.0];
    const SIGMA: f64 = 1.5;
    let (n, d) = (LINEAR_ROWS, LINEAR_DIM);
    let (mut features, noise) = (normals(3, n * d)?, normals(4, n)?);
    // Sufficient statistics: XᵀX, Xᵀy and yᵀy.
    let (mut square, mut cross, mut total) =
        ([[0.0; LINEAR_DIM]; LINEAR_DIM], [0.0; LINEAR_DIM], 0.0);
    for (row, noise) in features.chunks_exact_mut(d).zip(noise) {
        row[0] = 1.0;
        row[1] = 10.0 + 3.0 * row[1];
        let y = dot::<4>(row, &WEIGHTS) + SIGMA * noise;
        total += y * y;
        for i in 0..d {
            cross[i] += row[i] * y;
            (0..d).for_each(|j| square[i][j] += row[i] * row[j]);
        }
    }
    Ok(model(d + 1, move |x, g| {
        let (w, log_sigma) = (&x[..d], x[d]);
        let precision = libm::exp(-2.0 * log_sigma);
        let mut residual = total;
        let mut f = n as f64 * log_sigma + log_sigma * log_sigma / 50.0;
        for i in 0..d {
            let product = dot::<4>(&square[i], w);
            residual += w[i] * (product - 2.0 * cross[i]);
            f += w[i] * w[i] / 2e4;
            g[i] = precision * (product - cross[i]) + w[i] / 1e4;
        }
        g[d] = n as f64 - precision * residual + log_sigma / 25.0;
        f + 0.5 * precision * residual
    }))
}

/// Returns a stochastic-volatility model, non-centred: h₁ = μ + σ z₁/√(1 − φ²), hₜ₊₁ = μ + φ (hₜ −
/// μ) + σ zₜ₊₁, yₜ ~ N(0, e^(hₜ)). The coordinates are μ ~ N(0, 2²), artanh φ ~ N(1.5, 0.7²), ln σ
/// ~ N(−1.5, 0.7²) and z₁, …, z₁₀₀ ~ N(0, 1).
pub(super) fn stochastic_volatility() -> Result<Arc<dyn Potential>, ParameterError> {
    const MU: f64 = -1.0;
    const PHI: f64 = 0.95;
    const SIGMA: f64 = 0.25;
    let (z, noise) = (normals(5, DAYS)?, normals(6, DAYS)?);
    let mut h = MU + SIGMA * z[0] / (1.0 - PHI * PHI).sqrt();
    let mut squares = [0.0; DAYS];
    for t in 0..DAYS {
        if t > 0 {
            h = MU + PHI * (h - MU) + SIGMA * z[t];
        }
        squares[t] = noise[t] * noise[t] * libm::exp(h);
    }
    Ok(model(DAYS + 3, move |x, g| volatility(&squares, x, g)))
}

/// Returns f and writes ∇f for squared returns, by the chain rule from the last day to the first.
fn volatility(squares: &[f64; DAYS], x: &[f64], g: &mut [f64]) -> f64 {
    let (mu, phi, sigma, z) = (x[0], libm::tanh(x[1]), libm::exp(x[2]), &x[3..]);
    let root = (1.0 - phi * phi).sqrt();
    // hₜ = μ + σ uₜ; slopes are ∂f/∂hₜ.
    let (mut u, mut slopes) = ([0.0; DAYS], [0.0; DAYS]);
    let [a, b] = [x[1] - 1.5, x[2] + 1.5];
    let mut f = mu * mu / 8.0 + (a * a + b * b) / 0.98;
    for t in 0..DAYS {
        u[t] = if t == 0 { z[0] / root } else { phi * u[t - 1] + z[t] };
        let h = mu + sigma * u[t];
        let half = 0.5 * squares[t] * libm::exp(-h);
        f += 0.5 * h + half + 0.5 * z[t] * z[t];
        slopes[t] = 0.5 - half;
    }
    g[0] = slopes.iter().sum::<f64>() + mu / 4.0;
    g[2] = sigma * dot::<4>(&slopes, &u) + b / 0.49;
    // `carried` is ∂f/∂uₜ, that through later days included.
    let (mut carried, mut by_phi) = (0.0, 0.0);
    for t in (1..DAYS).rev() {
        carried += sigma * slopes[t];
        g[3 + t] = carried + z[t];
        by_phi += carried * u[t - 1];
        carried *= phi;
    }
    carried += sigma * slopes[0];
    g[3] = carried / root + z[0];
    by_phi += carried * z[0] * phi / (root * root * root);
    g[1] = by_phi * (1.0 - phi * phi) + a / 0.49;
    f
}
