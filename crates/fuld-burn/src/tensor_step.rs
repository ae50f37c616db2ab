//! The step in tensor operations, for any backend: the formula of the rule on slices, in the same
//! order.

use crate::device_field::{DeviceField, along_runs};
use burn::tensor::backend::Backend;
use burn::tensor::{DType, Tensor, TensorData};
use fuld::optimizer::{Coordinates, Options, Rule, WeightDecay};

/// Factors of the rules on the device, one for each run.
#[derive(Clone, Debug)]
pub(crate) struct TensorStep<B: Backend> {
    options: Options,
    /// False if μ = 0 in all runs, where b must not be read.
    has_momentum: bool,
    momentum: Tensor<B, 1>,
    inner: Tensor<B, 1>,
    /// The learning rate if α = 2 in all runs.
    outer: Tensor<B, 1>,
    /// Factor 1 − lr·wd of decoupled weight decay.
    keep: Tensor<B, 1>,
}

impl<B: Backend> TensorStep<B> {
    pub(crate) fn new(rules: &[Rule], device: &B::Device) -> Self {
        let options = rules.first().map_or_else(Options::default, |rule| *rule.options());
        let plain = rules.iter().all(|rule| rule.field().is_none());
        let decay =
            if let WeightDecay::Decoupled(decay) = options.weight_decay { decay } else { 0.0 };
        let each = |number: &dyn Fn(&Coordinates) -> f64| {
            let numbers: Vec<f32> =
                rules.iter().map(|rule| number(rule.coordinates()) as f32).collect();
            Tensor::from_data(TensorData::from(numbers.as_slice()), device)
        };
        Self {
            options,
            has_momentum: rules.iter().any(|rule| rule.coordinates().momentum() != 0.0),
            momentum: each(&Coordinates::momentum),
            inner: each(&Coordinates::inner),
            outer: each(if plain { &Coordinates::learning_rate } else { &Coordinates::outer }),
            keep: each(&|coordinates| 1.0 - coordinates.learning_rate() * decay),
        }
    }

    /// Returns parameter and buffer after a step. Without a field the step is that of SGD.
    pub(crate) fn step<const D: usize>(
        &self,
        field: Option<&DeviceField<B>>,
        x: Tensor<B, D>,
        buffer: Option<Tensor<B, D>>,
        gradient: Tensor<B, D>,
    ) -> (Tensor<B, D>, Tensor<B, D>) {
        let g = if self.options.maximize { -gradient } else { gradient };
        let g = match self.options.weight_decay {
            WeightDecay::Coupled(decay) => g + x.clone().mul_scalar(decay),
            _ => g,
        };
        let dtype = x.dtype();
        let number = |of: &Tensor<B, 1>| along_runs::<B, D, _>(of.clone()).cast(dtype);
        let momentum = number(&self.momentum);
        let b = match buffer {
            Some(buffer) if self.has_momentum => buffer * momentum.clone() + g.clone(),
            _ => g.clone(),
        };
        let direction = if self.options.nesterov { g + b.clone() * momentum } else { b.clone() };
        let h = match field {
            // Half precision cannot represent the table's cells.
            Some(field) => {
                // NaN where the momentum is infinite, as on slices.
                let infinite = direction.clone().is_inf();
                let h = field.at((direction * number(&self.inner)).cast(DType::F32)).cast(dtype);
                h.mask_fill(infinite, f32::NAN)
            }
            None => direction,
        };
        let x = match self.options.weight_decay {
            WeightDecay::Decoupled(_) => x * number(&self.keep),
            _ => x,
        };
        (x - h * number(&self.outer), b)
    }
}

#[cfg(test)]
mod tests {
    use crate::device_field::DeviceField;
    use crate::tensor_step::TensorStep;
    use crate::{Form, FuldConfig, Knee, slice_step};
    use burn::backend::Flex;
    use burn::tensor::backend::Backend;
    use burn::tensor::{Tensor, TensorData};
    use fuld::optimizer::Rule;

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
            let rules = rules(options);
            let there = |numbers: &[f32]| tensor::<B>(numbers, device);
            let step = TensorStep::<B>::new(&rules, device);
            let field = DeviceField::of(&rules, device);
            let (_, b) = step.step(field.as_ref(), there(&x), None, there(&first));
            let (moved, b) = step.step(field.as_ref(), there(&x), Some(b), there(&second));
            let here = |numbers: &[f32]| tensor::<Flex>(numbers, &Default::default());
            let (_, c) = slice_step::step(&rules, here(&x), None, here(&first));
            let (expected, c) = slice_step::step(&rules, here(&x), Some(c), here(&second));
            for (what, ours, theirs) in [("x", moved, expected), ("b", b, c)] {
                let (ours, theirs) = (ours.into_data(), theirs.into_data());
                let pairs = ours.iter::<f32>().zip(theirs.iter::<f32>());
                let worst =
                    pairs.map(|(a, b)| (a - b).abs() / b.abs().max(1e-30)).fold(0.0, f32::max);
                assert!(worst < 1e-6, "{what}: {worst:e}");
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
        let rules = [rule(&FuldConfig::new(2.0, Form::Sgd { momentum: 0.9 }))];
        let device = Default::default();
        assert!(DeviceField::<Flex>::of(&rules, &device).is_none());
        let step = TensorStep::<Flex>::new(&rules, &device);
        let (x, g) = (tensor(&numbers(0.25), &device), tensor(&numbers(0.75), &device));
        let (ours, b) = step.step(None, x.clone(), Some(g.clone()), g.clone());
        let (theirs, c) = slice_step::step(&rules, x, Some(g.clone()), g);
        assert!(ours.into_data() == theirs.into_data() && b.into_data() == c.into_data());
    }

    fn keeps_nan<B: Backend>(device: &B::Device) {
        let rules = [rule(&FuldConfig::new(1.5, Form::Sgd { momentum: 0.9 }))];
        let step = TensorStep::<B>::new(&rules, device);
        let field = DeviceField::of(&rules, device);
        let tensor = |v: [f32; 4]| Tensor::<B, 1>::from_data(TensorData::from(v), device);
        let g = tensor([f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0]);
        let (x, _) = step.step(field.as_ref(), tensor([1.0; 4]), None, g);
        let x: Vec<f32> = x.into_data().to_vec().unwrap();
        assert!(x[..3].iter().all(|x| x.is_nan()) && x[3] == 1.0, "{x:?}");
    }

    #[test]
    fn nan_stays_nan_and_infinity_becomes_nan() {
        keeps_nan::<Flex>(&Default::default());
    }
}
