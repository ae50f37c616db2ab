//! The step in tensor operations, for any backend: the formula of the rule on slices, in the same order.

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
    /// Largest gradient components let through, if any run has a limit.
    limit: Option<Tensor<B, 1>>,
}

impl<B: Backend> TensorStep<B> {
    pub(crate) fn new(rules: &[Rule], device: &B::Device) -> Self {
        let options = rules.first().map_or_else(Options::default, |rule| *rule.options());
        let plain = rules.iter().all(|rule| rule.field().is_none());
        let decay = if let WeightDecay::Decoupled(decay) = options.weight_decay { decay } else { 0.0 };
        let of_rules = |number: &dyn Fn(&Rule) -> f64| {
            let numbers: Vec<f32> = rules.iter().map(|rule| number(rule) as f32).collect();
            Tensor::from_data(TensorData::from(numbers.as_slice()), device)
        };
        let each = |number: &dyn Fn(&Coordinates) -> f64| of_rules(&|rule| number(rule.coordinates()));
        let limited = rules.iter().any(|rule| rule.limit().is_finite());
        Self {
            options,
            has_momentum: rules.iter().any(|rule| rule.coordinates().momentum() != 0.0),
            momentum: each(&Coordinates::momentum),
            inner: each(&Coordinates::inner),
            outer: each(if plain { &Coordinates::learning_rate } else { &Coordinates::outer }),
            keep: each(&|coordinates| 1.0 - coordinates.learning_rate() * decay),
            limit: limited.then(|| of_rules(&Rule::limit)),
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
        let g = match &self.limit {
            Some(limit) => within(gradient, along_runs(limit.clone())),
            None => gradient,
        };
        let g = if self.options.maximize { -g } else { g };
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

/// Clamps each component to ±limit; NaN stays NaN.
fn within<B: Backend, const D: usize>(g: Tensor<B, D>, limit: Tensor<B, D>) -> Tensor<B, D> {
    let limit = limit.cast(g.dtype()).expand(g.shape());
    let nan = g.clone().is_nan();
    g.max_pair(-limit.clone()).min_pair(limit).mask_fill(nan, f32::NAN)
}

#[cfg(test)]
mod tests {
    use crate::calibrations::Calibrations;
    use crate::device_field::DeviceField;
    use crate::step_rule::StepRule;
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
        let forms = [(2.0, Form::Sgd { momentum: 0.9 }), (1.75, matched), (1.0, matched), (0.5, matched)];
        forms.iter().map(|&(alpha, form)| rule(&options(FuldConfig::new(alpha, form)))).collect()
    }

    fn rule(config: &FuldConfig) -> Rule {
        let StepRule::Fixed(_, rule) = config.step_rule(0.04).unwrap() else { panic!("an estimated rule") };
        rule
    }

    fn step_rules(rules: &[Rule]) -> Vec<StepRule> {
        rules.iter().map(|rule| StepRule::Fixed(Form::Sgd { momentum: 0.9 }, rule.clone())).collect()
    }

    /// Two steps in tensor operations on a device against the rule on slices: every change of x to 1e-6 of itself.
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
            let step_rules = step_rules(&rules);
            let (_, c) = slice_step::step(&step_rules, None, here(&x), None, here(&first));
            let (expected, c) = slice_step::step(&step_rules, None, here(&x), Some(c), here(&second));
            for (what, ours, theirs) in [("x", moved, expected), ("b", b, c)] {
                let (ours, theirs) = (ours.into_data(), theirs.into_data());
                let pairs = ours.iter::<f32>().zip(theirs.iter::<f32>());
                let worst = pairs.map(|(a, b)| (a - b).abs() / b.abs().max(1e-30)).fold(0.0, f32::max);
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
        calibrates_alike::<burn::backend::Cuda>(&Default::default());
        keeps_nan::<burn::backend::Cuda>(&Default::default());
    }

    /// Forty steps of one run with given settings and three with estimated ones, in tensor operations and on slices: the estimates agree to
    /// 1e-4, and the parameters as closely as the fields do.
    fn calibrates_alike<B: Backend>(device: &B::Device) {
        let knees = [Knee::NoiseScale(1.0), Knee::Auto, Knee::NoiseScale(1.0), Knee::Auto];
        let config = |(run, &knee): (usize, &Knee)| {
            let form = Form::Matched { momentum: 0.9, knee };
            FuldConfig::new(1.4, form).with_auto_alpha(run > 1).with_nesterov(true).with_weight_decay(0.01)
        };
        let step_rules: Vec<StepRule> =
            knees.iter().enumerate().map(|run| config(run).step_rule(0.01).unwrap()).collect();
        // Cauchy, to the power that gives it the tail of α = 1.5.
        let mut words = fuld::random::Stream::new(3, 0, fuld::random::Purpose::Noise).words();
        let mut noise = || {
            let u = (words.next().unwrap() >> 11) as f64 / (1u64 << 53) as f64;
            let cauchy = (std::f64::consts::PI * (u - 0.5)).tan();
            (cauchy.signum() * cauchy.abs().powf(1.0 / 1.5)) as f32
        };
        let count = 4 * 2000;
        let here = |numbers: &[f32]| tensor::<Flex>(numbers, &Default::default());
        let there = |numbers: &[f32]| tensor::<B>(numbers, device);
        let (mut x, mut b) = (here(&vec![0.5; count]), None);
        let (mut y, mut c) = (there(&vec![0.5; count]), None);
        let mut calibrations = [(); 2].map(|()| Calibrations::load::<B>(&step_rules, None, 2000));
        let [Some(ours), Some(theirs)] = &mut calibrations else { panic!("no run is calibrated") };
        for _ in 0..40 {
            let g: Vec<f32> = (0..count).map(|_| noise()).collect();
            let (moved, buffer) = slice_step::step(&step_rules, Some(ours), x, b, here(&g));
            (x, b) = (moved, Some(buffer));
            let rules = theirs.observe(&step_rules, &y, c.as_ref(), &there(&g));
            let field = DeviceField::of(&rules, device);
            let (moved, buffer) = TensorStep::<B>::new(&rules, device).step(field.as_ref(), y, c, there(&g));
            (y, c) = (moved, Some(buffer));
        }
        for (ours, theirs) in ours.estimates().iter().zip(theirs.estimates()).skip(1) {
            assert!((ours.noise_alpha - theirs.noise_alpha).abs() < 1e-4, "{ours:?} {theirs:?}");
            assert!((ours.momentum_knee / theirs.momentum_knee - 1.0).abs() < 1e-4, "{ours:?} {theirs:?}");
        }
        let (x, y) = (x.into_data(), y.into_data());
        let worst = x.iter::<f32>().zip(y.iter::<f32>()).map(|(x, y)| (x - y).abs()).fold(0.0, f32::max);
        assert!(worst < 1e-4, "{worst:e}");
    }

    #[test]
    fn tensor_operations_calibrate_as_slices_do() {
        calibrates_alike::<Flex>(&Default::default());
    }

    #[test]
    fn without_a_field_the_bits_are_those_of_sgd() {
        let rules = [rule(&FuldConfig::new(2.0, Form::Sgd { momentum: 0.9 }))];
        let device = Default::default();
        assert!(DeviceField::<Flex>::of(&rules, &device).is_none());
        let step = TensorStep::<Flex>::new(&rules, &device);
        let (x, g) = (tensor(&numbers(0.25), &device), tensor(&numbers(0.75), &device));
        let (ours, b) = step.step(None, x.clone(), Some(g.clone()), g.clone());
        let (theirs, c) = slice_step::step(&step_rules(&rules), None, x, Some(g.clone()), g);
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
