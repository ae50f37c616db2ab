//! The tail index of the gradient noise of each layer.
//!
//! At fixed weights, the gradients of many minibatches are a sample of vectors; their deviations
//! from the centre are the noise. The scales of the coordinates differ by orders of magnitude.
//! Pooling them would resemble a heavy tail whatever their distribution, so each coordinate is
//! scaled first. The estimate for Gaussian numbers of the same shape is recorded as a control.

use crate::data::{MinibatchError, Minibatches};
use fuld::random::{Purpose, Stream};
use levy_stable::tail_index::{
    BlockLogMoments, Bootstrap, Scaling, TailIndexError, TailIndexEstimator, TailSample,
};
use serde::{Deserialize, Serialize};

/// Minibatches per measurement.
pub(super) const MINIBATCHES: u64 = 64;
/// The largest number of coordinates of a layer that are recorded.
const CANDIDATES: usize = 1024;
/// The largest number of recorded coordinates that are used, among those whose noise is not mostly
/// zero.
const USED: usize = 256;

/// The tail index of a layer's gradient noise.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LayerTail {
    /// Steps taken.
    pub iteration: u64,
    /// The layer, counted from 1 at the inputs.
    pub layer: usize,
    /// The estimate of α; NaN if no coordinate has noise, or some noise is not finite.
    pub alpha: f64,
    /// Lower end of the 90 % interval of α.
    pub low: f64,
    /// Upper end of the 90 % interval of α.
    pub high: f64,
    /// The estimate for Gaussian numbers of the same shape.
    pub gaussian: f64,
    /// The number of coordinates used.
    pub coordinates: usize,
    /// Share of the recorded coordinates that are unused because half of their values are equal,
    /// mostly 0, as for blank pixels and inactive units.
    pub silent: f64,
}

/// Returns the minibatches of the measurement after `iteration` steps. They differ from those of
/// training.
pub(super) fn batches(
    images: usize,
    batch: usize,
    seeds: &[u64],
    iteration: u64,
) -> Result<Vec<Minibatches>, MinibatchError> {
    let of = |&seed: &u64| {
        Minibatches::new(images, batch, Stream::new(seed, 0, Purpose::Measurement).word(iteration))
    };
    seeds.iter().map(of).collect()
}

/// Gradients at a selection of coordinates, for each minibatch and each of its layers.
#[derive(Clone, Debug, Default)]
pub(super) struct GradientSamples {
    gradients: Vec<Vec<f64>>,
}

impl GradientSamples {
    /// Adds the gradient of a layer.
    pub(super) fn push(&mut self, gradient: &[f32]) {
        let step = gradient.len().div_ceil(CANDIDATES).max(1);
        // An odd step, because a step that divides the number of columns would select only a few of
        // them.
        let step = if step > 1 { step | 1 } else { 1 };
        self.gradients.push(gradient.iter().step_by(step).map(|&g| g.into()).collect());
    }

    /// Returns the tail index of each layer, NaN where there is too little noise.
    pub(super) fn tails(&self, iteration: u64, layers: usize) -> Vec<LayerTail> {
        (0..layers).map(|layer| self.tail(iteration, layer, layers)).collect()
    }

    fn tail(&self, iteration: u64, layer: usize, layers: usize) -> LayerTail {
        let rows: Vec<&Vec<f64>> = self.gradients.iter().skip(layer).step_by(layers).collect();
        let candidates = rows[0].len();
        let all: Vec<usize> = (0..candidates).filter(|&j| varies(&rows, j)).collect();
        let stride = all.len().div_ceil(USED).max(1);
        let used: Vec<usize> = all.iter().copied().step_by(stride).collect();
        let numbers: Vec<f64> = rows.iter().flat_map(|row| used.iter().map(|&j| row[j])).collect();
        let (alpha, low, high, gaussian) = estimate(&numbers, used.len(), iteration).unwrap_or((
            f64::NAN,
            f64::NAN,
            f64::NAN,
            f64::NAN,
        ));
        let silent = 1.0 - all.len() as f64 / candidates as f64;
        LayerTail {
            iteration,
            layer: layer + 1,
            alpha,
            low,
            high,
            gaussian,
            coordinates: used.len(),
            silent,
        }
    }
}

/// Returns whether the quartiles of a coordinate differ, so that it has a scale.
fn varies(rows: &[&Vec<f64>], coordinate: usize) -> bool {
    let mut values: Vec<f64> = rows.iter().map(|row| row[coordinate]).collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 4] < values[values.len() * 3 / 4]
}

/// Returns α̂, its interval, and the estimate for Gaussian numbers.
fn estimate(
    numbers: &[f64],
    coordinates: usize,
    seed: u64,
) -> Result<(f64, f64, f64, f64), TailIndexError> {
    let sample = TailSample::rows(numbers, coordinates, Scaling::PerCoordinate)?;
    let method = BlockLogMoments::default();
    let found =
        method.with_interval(&sample, &Bootstrap { resamples: 99, ..Bootstrap::default() })?;
    let gaussian = method.fit(&sample.gaussian_twin(seed)?)?.alpha;
    Ok((found.estimate.alpha, found.alpha.low, found.alpha.high, gaussian))
}
