//! The step in tensor operations, for any backend: the formula of the rule on slices, in the same
//! order.

use crate::device_field::DeviceField;
use burn::tensor::backend::Backend;
use burn::tensor::{DType, Tensor};
use fuld::optimizer::{Rule, WeightDecay};

/// Returns parameter and buffer after a step. Without a field the step is that of SGD.
pub(crate) fn step<B: Backend, const D: usize>(
    rule: &Rule,
    field: Option<&DeviceField<B>>,
    x: Tensor<B, D>,
    buffer: Option<Tensor<B, D>>,
    gradient: Tensor<B, D>,
) -> (Tensor<B, D>, Tensor<B, D>) {
    let (coordinates, options, dtype) = (rule.coordinates(), rule.options(), x.dtype());
    let momentum = coordinates.momentum();
    let g = if options.maximize { -gradient } else { gradient };
    let g = match options.weight_decay {
        WeightDecay::Coupled(decay) => g + x.clone().mul_scalar(decay),
        _ => g,
    };
    let b = match buffer {
        // At μ = 0, b must not be read.
        Some(buffer) if momentum != 0.0 => buffer.mul_scalar(momentum) + g.clone(),
        _ => g.clone(),
    };
    let direction = if options.nesterov { g + b.clone().mul_scalar(momentum) } else { b.clone() };
    let (h, outer) = match field {
        // Half precision cannot represent the table's cells.
        Some(field) => {
            // NaN where the momentum is infinite, as on slices.
            let infinite = direction.clone().is_inf();
            let v = direction.mul_scalar(coordinates.inner()).cast(DType::F32);
            (field.at(v).cast(dtype).mask_fill(infinite, f32::NAN), coordinates.outer())
        }
        None => (direction, coordinates.learning_rate()),
    };
    let x = match options.weight_decay {
        WeightDecay::Decoupled(decay) => x.mul_scalar(1.0 - coordinates.learning_rate() * decay),
        _ => x,
    };
    (x - h.mul_scalar(outer), b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Form, FuldConfig, Knee, slice_step};
    use burn::backend::Flex;
    use burn::tensor::TensorData;

    /// A million numbers of either sign, log-uniform from 1e-8 to 1e8, by a golden-ratio sequence.
    fn numbers(phase: f64) -> Vec<f32> {
        let number = |n: usize| {
            let u = (n as f64 * 0.618_033_988_749_895 + phase).fract();
            let sign = if n.is_multiple_of(3) { -1.0 } else { 1.0 };
            (sign * 10f64.powf(16.0 * u - 8.0)) as f32
        };
        (0..1_000_000).map(number).collect()
    }

    fn tensor<B: Backend>(numbers: &[f32], device: &B::Device) -> Tensor<B, 2> {
        Tensor::<B, 1>::from_data(TensorData::from(numbers), device).reshape([4, -1])
    }

    fn uploaded<B: Backend>(rule: &Rule, device: &B::Device) -> Option<DeviceField<B>> {
        rule.field().map(|table| DeviceField::new(table, device))
    }

    fn rules(options: impl Fn(FuldConfig) -> FuldConfig) -> Vec<Rule> {
        let matched = Form::Matched { momentum: 0.5, knee: Knee::Kappa(0.3) };
        let forms =
            [(2.0, Form::Sgd { momentum: 0.9 }), (1.75, matched), (1.0, matched), (0.5, matched)];
        forms.iter().map(|&(alpha, form)| rule(&options(FuldConfig::new(alpha, form)))).collect()
    }

    fn rule(config: &FuldConfig) -> Rule {
        config.step_rule(0.04).unwrap().rule
    }

    /// Two steps in tensor operations on a device against the rule on slices: every change of x to
    /// 1e-6 of itself.
    fn agrees<B: Backend>(device: &B::Device) {
        type Options = fn(FuldConfig) -> FuldConfig;
        let options: [Options; 3] = [
            |config| config,
            |config| config.with_nesterov(true).with_weight_decay(0.1),
            |config| config.with_maximize(true).with_weight_decay(0.1).with_decoupled(true),
        ];
        let (first, second) = (numbers(0.0), numbers(0.5));
        // Parameters so small that x − outer·h is the change itself.
        let x: Vec<f32> = second.iter().map(|x| x * 1e-30).collect();
        for options in options {
            for rule in rules(options) {
                let there = |numbers: &[f32]| tensor::<B>(numbers, device);
                let field = uploaded(&rule, device);
                let (_, b) = step(&rule, field.as_ref(), there(&x), None, there(&first));
                let (moved, b) = step(&rule, field.as_ref(), there(&x), Some(b), there(&second));
                let here = |numbers: &[f32]| tensor::<Flex>(numbers, &Default::default());
                let (_, c) = slice_step::step(&rule, here(&x), None, here(&first));
                let (expected, c) = slice_step::step(&rule, here(&x), Some(c), here(&second));
                for (what, ours, theirs) in [("x", moved, expected), ("b", b, c)] {
                    let (ours, theirs) = (ours.into_data(), theirs.into_data());
                    let pairs = ours.iter::<f32>().zip(theirs.iter::<f32>());
                    let worst =
                        pairs.map(|(a, b)| (a - b).abs() / b.abs().max(1e-30)).fold(0.0, f32::max);
                    assert!(worst < 1e-6, "{what}: {worst:e}");
                }
            }
        }
    }

    #[test]
    fn tensor_operations_take_the_step_of_the_slices() {
        agrees::<Flex>(&Default::default());
    }

    /// Run where there is a GPU: `cargo test -p fuld-burn --features cuda -- --ignored`.
    #[cfg(feature = "cuda")]
    #[test]
    #[ignore = "needs an NVIDIA GPU"]
    fn cuda_takes_the_step_of_the_slices() {
        agrees::<burn::backend::Cuda>(&Default::default());
        keeps_nan::<burn::backend::Cuda>(&Default::default());
    }

    #[test]
    fn without_a_field_the_bits_are_those_of_sgd() {
        let rule = rule(&FuldConfig::new(2.0, Form::Sgd { momentum: 0.9 }));
        let device = Default::default();
        assert!(uploaded::<Flex>(&rule, &device).is_none());
        let tensor = |phase| tensor::<Flex>(&numbers(phase), &device);
        let (x, g) = (tensor(0.25), tensor(0.75));
        let (ours, b) = step(&rule, None, x.clone(), Some(g.clone()), g.clone());
        let (theirs, c) = slice_step::step(&rule, x, Some(g.clone()), g);
        assert!(ours.into_data() == theirs.into_data() && b.into_data() == c.into_data());
    }

    fn keeps_nan<B: Backend>(device: &B::Device) {
        let rule = rule(&FuldConfig::new(1.5, Form::Sgd { momentum: 0.9 }));
        let field = uploaded(&rule, device);
        let tensor = |v: [f32; 4]| Tensor::<B, 1>::from_data(TensorData::from(v), device);
        let g = tensor([f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0]);
        let (x, _) = step(&rule, field.as_ref(), tensor([1.0; 4]), None, g);
        let x: Vec<f32> = x.into_data().to_vec().unwrap();
        assert!(x[..3].iter().all(|x| x.is_nan()) && x[3] == 1.0, "{x:?}");
    }

    #[test]
    fn nan_stays_nan_and_infinity_becomes_nan() {
        keeps_nan::<Flex>(&Default::default());
    }
}
