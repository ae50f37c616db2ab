//! ∇G_α from a table on the device, for backends whose memory cannot be accessed directly.
//!
//! The tables are those that the rule evaluates on slices ([`FieldTable::single`]), evaluated by
//! tensor operations: octave, piece, place t within the piece, polynomial. Tensors cannot be
//! reinterpreted as integers, so the octave of u is ⌊log₂ u⌋ instead of the bits of its exponent.
//! If rounding makes that off by one next to an edge between octaves, the place lies just outside
//! the piece, by at most 1e-5 of an octave, and the polynomial is as accurate there. Everything
//! else is exact: factors are powers of two. The relative error is below 3e-7 (measured: 1.9e-7).

use burn::tensor::backend::Backend;
use burn::tensor::{BasicOps, Int, Tensor, TensorData};
use fuld::optimizer::Rule;
use levy_stable::FieldTable;
use std::iter;

/// Largest |v| that is looked up: twice as much is still finite in single precision.
const LARGEST: f32 = f32::MAX / 4.0;

/// The table of each run, one after the other. All have the same number of coefficients per piece.
#[derive(Clone, Debug)]
pub(crate) struct DeviceField<B: Backend> {
    runs: Runs<B>,
    octaves: Octaves<B>,
    /// The coefficients of all pieces by power, the lowest first.
    coefficients: Vec<Tensor<B, 1>>,
}

/// Numbers of each run.
#[derive(Clone, Debug)]
struct Runs<B: Backend> {
    /// w, which is added to small |v|.
    shift: Tensor<B, 1>,
    /// Exponent of the first octave.
    lowest: Tensor<B, 1>,
    /// Number of the last octave.
    last: Tensor<B, 1>,
    /// Number of octaves that hold ∇G/v; the others hold v∇G.
    near_octaves: Tensor<B, 1>,
    /// Index of the first octave among those of all runs.
    start: Tensor<B, 1, Int>,
}

/// Numbers of each octave of all runs.
#[derive(Clone, Debug)]
struct Octaves<B: Backend> {
    /// Pieces per unit of u.
    density: Tensor<B, 1>,
    /// Number of pieces.
    count: Tensor<B, 1>,
    /// Index of the first piece among those of all runs.
    first: Tensor<B, 1, Int>,
}

impl<B: Backend> DeviceField<B> {
    /// Uploads the tables of the runs, or returns None if α = 2 everywhere: there the field is the
    /// identity.
    pub(crate) fn of(rules: &[Rule], device: &B::Device) -> Option<Self> {
        if rules.iter().all(|rule| rule.field().is_none()) {
            return None;
        }
        let identity = FieldTable::new(2.0).expect("alpha = 2 has a table");
        let tables: Vec<_> =
            rules.iter().map(|rule| rule.field().unwrap_or(&identity).single()).collect();
        let terms = identity.single().terms;
        let (mut density, mut count, mut first) = (Vec::new(), Vec::new(), Vec::new());
        let mut pieces = 0;
        for table in &tables {
            for (&[piece, split], exponent) in iter::zip(&table.octaves, table.lowest..) {
                density.push((f64::from(split) - f64::from(exponent)).exp2());
                count.push(f64::from(split).exp2());
                first.push((pieces + piece as usize) as i32);
            }
            pieces += table.pieces();
        }
        let starts = tables.iter().scan(0, |next, table| {
            let start = *next;
            *next += table.octaves.len() as i32;
            Some(start)
        });
        let floats = |numbers: Vec<f64>| {
            let numbers: Vec<f32> = numbers.into_iter().map(|number| number as f32).collect();
            Tensor::from_data(TensorData::from(numbers.as_slice()), device)
        };
        let ints =
            |numbers: Vec<i32>| Tensor::from_data(TensorData::from(numbers.as_slice()), device);
        let power = |power: usize| {
            let all = tables
                .iter()
                .flat_map(|table| table.coefficients.iter().skip(power).step_by(terms));
            floats(all.copied().collect())
        };
        Some(Self {
            runs: Runs {
                shift: floats(tables.iter().map(|table| f64::from(table.lowest).exp2()).collect()),
                lowest: floats(tables.iter().map(|table| f64::from(table.lowest)).collect()),
                last: floats(tables.iter().map(|table| table.octaves.len() as f64 - 1.0).collect()),
                near_octaves: floats(
                    tables.iter().map(|table| f64::from(table.near_octaves)).collect(),
                ),
                start: ints(starts.collect()),
            },
            octaves: Octaves { density: floats(density), count: floats(count), first: ints(first) },
            coefficients: (0..terms).map(power).collect(),
        })
    }

    /// Returns ∇G_α(v) in single precision, each run with its own α.
    pub(crate) fn at<const D: usize>(&self, v: Tensor<B, D>) -> Tensor<B, D> {
        let shape = v.shape();
        let run =
            |numbers: &Tensor<B, 1>| along_runs::<B, D, _>(numbers.clone()).expand(shape.clone());
        // NaN has no octave.
        let nan = v.clone().is_nan();
        let v = v.mask_fill(nan.clone(), 0.0).clamp(-LARGEST, LARGEST);
        let size = v.clone().abs();
        let u = (size.clone() + run(&self.runs.shift)).max_pair(size.mul_scalar(2.0));

        let exponent = u.clone().log().mul_scalar(std::f64::consts::LOG2_E).floor();
        let octave =
            (exponent - run(&self.runs.lowest)).clamp_min(0.0).min_pair(run(&self.runs.last));
        let near = octave.clone().lower(run(&self.runs.near_octaves));
        let octave = (octave.int() + along_runs(self.runs.start.clone())).reshape([-1]);

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

/// Reshapes [runs] to [runs, 1, …, 1].
pub(crate) fn along_runs<B: Backend, const D: usize, K>(numbers: Tensor<B, 1, K>) -> Tensor<B, D, K>
where
    K: BasicOps<B>,
{
    let mut shape = [1; D];
    shape[0] = numbers.dims()[0];
    numbers.reshape(shape)
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::backend::Flex;
    use fuld::optimizer::{Coordinates, Options, Sgd};

    #[test]
    fn tensor_operations_give_the_field_of_the_law() {
        let alphas = [2.0, 1.99, 1.5, 1.0, 0.5, 0.15];
        let rule = |&alpha: &f64| {
            let coordinates =
                Coordinates::sgd(Sgd { alpha, learning_rate: 0.1, momentum: 0.9 }).unwrap();
            Rule::new(coordinates, Options::default()).unwrap()
        };
        let rules: Vec<Rule> = alphas.iter().map(rule).collect();
        let field = DeviceField::<Flex>::of(&rules, &Default::default()).unwrap();
        // Both sides of every edge between octaves of single precision, and points between.
        let edges = (28..240u32).map(|exponent| f32::from_bits(exponent << 23));
        let between = (0..30_000).map(|n| (200.0 * f64::from(n) / 30_000.0 - 99.0).exp2() as f32);
        let v: Vec<f32> =
            edges.flat_map(|v| [v, v.next_down(), -v.next_up()]).chain(between).collect();
        let all: Vec<f32> = iter::repeat_n(&v, alphas.len()).flatten().copied().collect();
        let tensor =
            Tensor::<Flex, 1>::from_data(TensorData::from(all.as_slice()), &Default::default());
        let ours = field.at(tensor.reshape([alphas.len() as i32, -1])).into_data();
        let exact = rules.iter().flat_map(|rule| v.iter().map(move |&v| (rule, f64::from(v))));
        let mut worst = 0.0f64;
        for (ours, (rule, v)) in ours.iter::<f32>().zip(exact) {
            let exact = rule.field().map_or(v, |table| table.at(v));
            // Below the least normal number digits are lost.
            if exact.abs() > f64::from(f32::MIN_POSITIVE) {
                worst = worst.max((f64::from(ours) / exact - 1.0).abs());
            }
        }
        assert!(worst < 3e-7, "{worst:e}");
    }
}
