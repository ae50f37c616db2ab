//! ∇G_α from a table on the device, for backends whose memory cannot be accessed directly.
//!
//! The tables are those that the rule evaluates on slices ([`FieldTable::single`]), evaluated by
//! tensor operations: octave, piece, place t within the piece, polynomial. Tensors cannot be
//! reinterpreted as integers, so the octave of u is ⌊log₂ u⌋ instead of the bits of its exponent.
//! If rounding makes that off by one next to an edge between octaves, the place lies just outside
//! the piece, by at most 1e-5 of an octave, and the polynomial is as accurate there. Everything
//! else is exact: factors are powers of two. The relative error is below 3e-7 (measured: 1.9e-7).

use burn::tensor::backend::Backend;
use burn::tensor::{Int, Tensor, TensorData};
use levy_stable::FieldTable;
use std::iter;

/// Largest |v| that is looked up: twice as much is still finite in single precision.
const LARGEST: f32 = f32::MAX / 4.0;

/// The table of one α.
#[derive(Clone, Debug)]
pub(crate) struct DeviceField<B: Backend> {
    /// w, which is added to small |v|.
    shift: f64,
    /// Exponent of the first octave.
    lowest: f64,
    /// Number of the last octave.
    last: f64,
    /// Number of octaves that hold ∇G/v; the others hold v∇G.
    near_octaves: f64,
    octaves: Octaves<B>,
    /// The coefficients of all pieces by power, the lowest first.
    coefficients: Vec<Tensor<B, 1>>,
}

/// Numbers of each octave.
#[derive(Clone, Debug)]
struct Octaves<B: Backend> {
    /// Pieces per unit of u.
    density: Tensor<B, 1>,
    /// Number of pieces.
    count: Tensor<B, 1>,
    /// Index of the first piece.
    first: Tensor<B, 1, Int>,
}

impl<B: Backend> DeviceField<B> {
    /// Uploads a table.
    pub(crate) fn new(table: &FieldTable, device: &B::Device) -> Self {
        let table = table.single();
        let (mut density, mut count, mut first) = (Vec::new(), Vec::new(), Vec::new());
        for (&[piece, split], exponent) in iter::zip(&table.octaves, table.lowest..) {
            density.push((f64::from(split) - f64::from(exponent)).exp2());
            count.push(f64::from(split).exp2());
            first.push(piece as i32);
        }
        let floats = |numbers: Vec<f64>| {
            let numbers: Vec<f32> = numbers.into_iter().map(|number| number as f32).collect();
            Tensor::from_data(TensorData::from(numbers.as_slice()), device)
        };
        let power = |power: usize| {
            floats(table.coefficients.iter().skip(power).step_by(table.terms).copied().collect())
        };
        Self {
            shift: f64::from(table.lowest).exp2(),
            lowest: f64::from(table.lowest),
            last: table.octaves.len() as f64 - 1.0,
            near_octaves: f64::from(table.near_octaves),
            octaves: Octaves {
                density: floats(density),
                count: floats(count),
                first: Tensor::from_data(TensorData::from(first.as_slice()), device),
            },
            coefficients: (0..table.terms).map(power).collect(),
        }
    }

    /// Returns ∇G_α(v) in single precision.
    pub(crate) fn at<const D: usize>(&self, v: Tensor<B, D>) -> Tensor<B, D> {
        let shape = v.shape();
        // NaN has no octave.
        let nan = v.clone().is_nan();
        let v = v.mask_fill(nan.clone(), 0.0).clamp(-LARGEST, LARGEST);
        let size = v.clone().abs();
        let u = size.clone().add_scalar(self.shift).max_pair(size.mul_scalar(2.0));

        let exponent = u.clone().log().mul_scalar(std::f64::consts::LOG2_E).floor();
        let octave = exponent.sub_scalar(self.lowest).clamp(0.0, self.last);
        let near = octave.clone().lower_elem(self.near_octaves);
        let octave = octave.int().reshape([-1]);

        let of_octave = |numbers: &Tensor<B, 1>| looked_up(numbers, &octave, &shape);
        let count = of_octave(&self.octaves.count);
        // Exact: both are multiples of the last bit of u, in pieces.
        let place = u * of_octave(&self.octaves.density) - count.clone();
        let index = place.clone().floor().clamp_min(0.0).min_pair(count.sub_scalar(1.0));
        let t = (place - index.clone()).sub_scalar(0.5);
        let piece =
            index.int().reshape([-1]) + self.octaves.first.clone().select(0, octave.clone());

        let mut terms =
            self.coefficients.iter().rev().map(|power| looked_up(power, &piece, &shape));
        let highest = terms.next().expect("a polynomial has coefficients");
        let held = terms.fold(highest, |sum, term| sum * t.clone() + term);
        let (straight, falling) = (held.clone() * v.clone(), held / v);
        falling.mask_where(near, straight).mask_fill(nan, f32::NAN)
    }
}

/// Returns `numbers[index]` in a given shape.
fn looked_up<B: Backend, const D: usize>(
    numbers: &Tensor<B, 1>,
    index: &Tensor<B, 1, Int>,
    shape: &burn::tensor::Shape,
) -> Tensor<B, D> {
    numbers.clone().select(0, index.clone()).reshape(shape.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::backend::Flex;

    #[test]
    fn tensor_operations_give_the_field_of_the_law() {
        // Both sides of every edge between octaves of single precision, and points between.
        let edges = (28..240u32).map(|exponent| f32::from_bits(exponent << 23));
        let between = (0..30_000).map(|n| (200.0 * f64::from(n) / 30_000.0 - 99.0).exp2() as f32);
        let v: Vec<f32> =
            edges.flat_map(|v| [v, v.next_down(), -v.next_up()]).chain(between).collect();
        for alpha in [2.0, 1.99, 1.5, 1.0, 0.5, 0.15] {
            let table = FieldTable::new(alpha).unwrap();
            let field = DeviceField::<Flex>::new(&table, &Default::default());
            let tensor =
                Tensor::<Flex, 1>::from_data(TensorData::from(v.as_slice()), &Default::default());
            let ours = field.at(tensor).into_data();
            let mut worst = 0.0f64;
            for (ours, &v) in ours.iter::<f32>().zip(&v) {
                let exact = table.at(v.into());
                // Below the least normal number digits are lost.
                if exact.abs() > f64::from(f32::MIN_POSITIVE) {
                    worst = worst.max((f64::from(ours) / exact - 1.0).abs());
                }
            }
            assert!(worst < 3e-7, "{alpha}: {worst:e}");
        }
    }
}
