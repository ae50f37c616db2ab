//! ∇G_α from a table on the device, for backends whose memory is not ours to loop over.
//!
//! With u = ln(1 + |v|), ∇G_α(v) = v/(1 + v²) · r(u), where r runs smoothly from the slope at 0 to 1 + α: its values at
//! equal steps of u, joined by straight lines, give the field to 5e-6 of itself. What limits it is u, rounded to single precision.

use burn::tensor::backend::Backend;
use burn::tensor::{Int, Tensor, TensorData};
use fuld::optimizer::Rule;

/// Steps of the table.
const CELLS: usize = 1 << 16;
/// The table's end, |v| = e^40 − 1 ~ 2e17: a power tail beyond, and its square is still a number of single precision.
const END: f64 = 40.0;

/// The field of each run, one table after the other.
#[derive(Clone, Debug)]
pub(crate) struct DeviceField<B: Backend> {
    /// r, `CELLS` + 1 values a run.
    values: Tensor<B, 1>,
    /// Where each run's values begin.
    starts: Tensor<B, 1, Int>,
}

impl<B: Backend> DeviceField<B> {
    /// None if α = 2 everywhere: there the field is the identity.
    pub(crate) fn of(rules: &[Rule], device: &B::Device) -> Option<Self> {
        if rules.iter().all(|rule| rule.field().is_none()) {
            return None;
        }
        let values: Vec<f32> = rules.iter().flat_map(ratios).collect();
        let starts: Vec<i32> = (0..rules.len()).map(|run| (run * (CELLS + 1)) as i32).collect();
        Some(Self {
            values: Tensor::from_data(TensorData::from(values.as_slice()), device),
            starts: Tensor::from_data(TensorData::from(starts.as_slice()), device),
        })
    }

    /// ∇G_α(v), each run with its own α.
    pub(crate) fn at<const D: usize>(&self, v: Tensor<B, D>) -> Tensor<B, D> {
        let shape = v.shape();
        // Infinity would be 0·∞ below; so far out the field is less than 1e-16 of its bend.
        let far = END.exp();
        // Some devices clamp NaN to a number.
        let nan = v.clone().is_nan();
        let v = v.clamp(-far, far);
        let u = v.clone().abs().log1p().mul_scalar(CELLS as f64 / END).clamp_max(CELLS as f64 - 1.0);
        let cell = u.clone().int();
        let weight = u - cell.clone().float();
        let first = (cell + along_runs(self.starts.clone())).reshape([-1]);
        let low = self.values.clone().select(0, first.clone()).reshape(shape.clone());
        let high = self.values.clone().select(0, first.add_scalar(1)).reshape(shape);
        let ratio = low.clone() + weight * (high - low);
        (v.clone() * ratio / v.square().add_scalar(1.0)).mask_fill(nan, f32::NAN)
    }
}

/// r at the ends of the cells.
fn ratios(rule: &Rule) -> Vec<f32> {
    let ratio = |k: usize| {
        let v = (END * k as f64 / CELLS as f64).exp_m1();
        let field = if let Some(table) = rule.field() { table.at(v) } else { v };
        (field / v * (1.0 + v * v)) as f32
    };
    let mut ratios: Vec<f32> = (0..=CELLS).map(|k| ratio(k.max(1))).collect();
    // r is even in v, hence flat at 0: its value there by extrapolation from the next two.
    ratios[0] = ratios[1] - (ratios[2] - ratios[1]) / 3.0;
    ratios
}

/// [runs] as [runs, 1, …, 1].
pub(crate) fn along_runs<B: Backend, const D: usize, K>(numbers: Tensor<B, 1, K>) -> Tensor<B, D, K>
where
    K: burn::tensor::BasicOps<B>,
{
    let mut shape = [1; D];
    shape[0] = numbers.dims()[0];
    numbers.reshape(shape)
}
