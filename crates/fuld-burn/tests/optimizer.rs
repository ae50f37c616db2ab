//! The optimizer on real modules: against burn's SGD, saved by burn's recorders, in groups, in
//! stacks, on a convolutional net.

use burn::backend::{Autodiff, Flex};
use burn::grad_clipping::GradientClippingConfig;
use burn::module::{Module, ModuleVisitor, Param};
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::nn::loss::CrossEntropyLossConfig;
use burn::nn::{Linear, LinearConfig};
use burn::optim::decay::WeightDecayConfig;
use burn::optim::momentum::MomentumConfig;
use burn::optim::{GradientsParams, Optimizer, SgdConfig, SimpleOptimizer};
use burn::record::{BinBytesRecorder, FullPrecisionSettings, NamedMpkBytesRecorder, Recorder};
use burn::tensor::backend::{AutodiffBackend, Backend};
use burn::tensor::{Int, Tensor, TensorData, activation::relu};
use fuld_burn::{Form, FuldConfig, Knee};

type Cpu = Autodiff<Flex>;

/// Two convolutions, stride 2, and a linear layer: 8×8 images to 10 classes.
#[derive(Module, Debug)]
struct ConvNet<B: Backend> {
    first: Conv2d<B>,
    second: Conv2d<B>,
    last: Linear<B>,
}

impl<B: Backend> ConvNet<B> {
    fn new(device: &B::Device) -> Self {
        let conv = |channels| Conv2dConfig::new(channels, [3, 3]).with_stride([2, 2]).init(device);
        Self {
            first: conv([1, 8]),
            second: conv([8, 16]),
            last: LinearConfig::new(16, 4).init(device),
        }
    }

    fn forward(&self, images: Tensor<B, 4>) -> Tensor<B, 2> {
        let x = relu(self.second.forward(relu(self.first.forward(images))));
        self.last.forward(x.flatten::<2>(1, 3))
    }
}

/// Every parameter, one after the other.
fn weights<B: Backend, M: Module<B>>(model: &M) -> Vec<f32> {
    struct Collect(Vec<f32>);
    impl<B: Backend> ModuleVisitor<B> for Collect {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<B, D>>) {
            self.0.extend(param.val().into_data().iter::<f32>());
        }
    }
    let mut collect = Collect(Vec::new());
    model.visit(&mut collect);
    collect.0
}

/// Four kinds of 8×8 image: a bright quarter on a deterministic speckle.
fn images<B: Backend>(device: &B::Device) -> (Tensor<B, 4>, Tensor<B, 1, Int>) {
    let (count, side) = (64usize, 8usize);
    let pixel = |n: usize| {
        let (image, y, x) = (n / (side * side), n / side % side, n % side);
        let bright = image % 4 == 2 * (y / 4) + x / 4;
        let speckle = (n * 2654435761 % 1000) as f32 / 1000.0;
        speckle + if bright { 1.0 } else { 0.0 }
    };
    let pixels: Vec<f32> = (0..count * side * side).map(pixel).collect();
    let labels: Vec<i32> = (0..count).map(|image| (image % 4) as i32).collect();
    let images = Tensor::<B, 1>::from_data(TensorData::from(pixels.as_slice()), device);
    (
        images.reshape([count, 1, side, side]),
        Tensor::from_data(TensorData::from(labels.as_slice()), device),
    )
}

/// The loss before the last step, and the model after it.
fn train<B: AutodiffBackend>(
    mut model: ConvNet<B>,
    optimizer: &mut impl Optimizer<ConvNet<B>, B>,
    learning_rate: f64,
    steps: usize,
) -> (f32, ConvNet<B>) {
    let device = model.devices()[0].clone();
    let (x, y) = images::<B>(&device);
    let cross_entropy = CrossEntropyLossConfig::new().init(&device);
    let mut last = f32::NAN;
    for _ in 0..steps {
        let loss = cross_entropy.forward(model.forward(x.clone()), y.clone());
        last = loss.clone().into_data().iter::<f32>().next().unwrap();
        let gradients = GradientsParams::from_grads(loss.backward(), &model);
        model = optimizer.step(learning_rate, model, gradients);
    }
    (last, model)
}

/// A net with its weights drawn: burn draws them at first use, which would give two clones
/// different ones.
fn conv_net() -> ConvNet<Cpu> {
    let model = ConvNet::new(&Default::default());
    weights(&model);
    model
}

fn sgd(alpha: f64) -> FuldConfig {
    FuldConfig::new(alpha, Form::Sgd { momentum: 0.9 })
}

#[test]
fn alpha_2_equals_burns_sgd_bit_for_bit() {
    for (nesterov, decay) in [(false, None), (true, None), (false, Some(0.01)), (true, Some(0.01))]
    {
        let momentum = MomentumConfig { momentum: 0.9, dampening: 0.0, nesterov };
        let mut theirs = SgdConfig::new()
            .with_momentum(Some(momentum))
            .with_weight_decay(decay.map(WeightDecayConfig::new))
            .init();
        let mut ours = sgd(2.0)
            .with_nesterov(nesterov)
            .with_weight_decay(decay.unwrap_or(0.0).into())
            .init()
            .unwrap();
        let model = conv_net();
        let (_, theirs) = train(model.clone(), &mut theirs, 0.05, 20);
        let (_, ours) = train(model, &mut ours, 0.05, 20);
        assert!(weights(&theirs) == weights(&ours), "nesterov {nesterov}, decay {decay:?}");
    }
}

#[test]
fn every_form_trains_a_convolutional_net() {
    let matched = |knee| Form::Matched { momentum: 0.9, knee };
    for (alpha, form, step) in [
        (1.75, Form::Paper { gamma: 0.5, beta: 1.0 }, 0.2),
        (1.5, Form::Sgd { momentum: 0.9 }, 0.04),
        (1.5, matched(Knee::Kappa(0.5)), 0.04),
        (1.2, matched(Knee::NoiseScale(0.1)), 0.04),
    ] {
        let mut optimizer = FuldConfig::new(alpha, form).init().unwrap();
        let (first, model) = train(conv_net(), &mut optimizer, step, 1);
        let (last, _) = train(model, &mut optimizer, step, 150);
        assert!(first > 1.2 && last < 0.1, "{form:?}: from {first} to {last}");
    }
}

#[test]
fn the_papers_form_equals_the_sgd_form() {
    let (eta, gamma): (f64, f64) = (0.1, 0.5);
    let paper = FuldConfig::new(1.5, Form::Paper { gamma, beta: 1.0 });
    let same = FuldConfig::new(1.5, Form::Sgd { momentum: 1.0 - gamma * eta });
    let model = conv_net();
    let (_, a) = train(model.clone(), &mut paper.init().unwrap(), eta, 10);
    let (_, b) = train(model, &mut same.init().unwrap(), eta * eta, 10);
    for (a, b) in weights(&a).iter().zip(weights(&b)) {
        assert!((a - b).abs() < 1e-5, "{a} {b}");
    }
}

/// Asserts that training continues to the same bits after the optimizer was saved and loaded by one
/// of burn's recorders.
fn assert_continues_from_record<R, T>(recorder: R, config: &FuldConfig)
where
    R: Recorder<Cpu, RecordArgs = (), RecordOutput = T, LoadArgs = T> + Clone,
{
    let start = conv_net();
    let mut unbroken = config.init().unwrap();
    let (_, half) = train(start.clone(), &mut unbroken, 0.02, 10);
    let saved = (
        recorder.record(half.clone().into_record(), ()).unwrap(),
        recorder.record(unbroken.to_record(), ()).unwrap(),
    );
    let (_, whole) = train(half, &mut unbroken, 0.02, 10);
    let device = Default::default();
    let model = conv_net().load_record(recorder.load(saved.0, &device).unwrap());
    let mut resumed = config.init().unwrap().load_record(recorder.load(saved.1, &device).unwrap());
    let (_, resumed) = train(model, &mut resumed, 0.02, 10);
    assert!(weights(&whole) == weights(&resumed));
    // Without the state the result differs, so that the test can fail.
    let (_, without_state) = train(start, &mut config.init().unwrap(), 0.02, 10);
    let (_, without_state) = train(without_state, &mut config.init().unwrap(), 0.02, 10);
    assert!(weights(&whole) != weights(&without_state));
}

#[test]
fn state_survives_burns_recorders() {
    for config in [sgd(1.5), sgd(2.0).with_guard(Some(1.0))] {
        assert_continues_from_record(BinBytesRecorder::<FullPrecisionSettings>::default(), &config);
        assert_continues_from_record(
            NamedMpkBytesRecorder::<FullPrecisionSettings>::default(),
            &config,
        );
    }
}

#[test]
fn parameter_groups_have_separate_settings() {
    let model = conv_net();
    let before = weights(&model);
    let device = Default::default();
    let (x, y) = images::<Cpu>(&device);
    let loss = CrossEntropyLossConfig::new().init(&device).forward(model.forward(x), y);
    let mut gradients = loss.backward();
    let of_last = GradientsParams::from_params(&mut gradients, &model, &[model.last.weight.id]);
    let rest = GradientsParams::from_params(
        &mut gradients,
        &model,
        &[model.first.weight.id, model.second.weight.id],
    );
    let (mut still, mut moving) = (sgd(2.0).init().unwrap(), sgd(1.5).init().unwrap());
    let model: ConvNet<Cpu> = still.step(0.0, model, rest);
    let model: ConvNet<Cpu> = moving.step(0.1, model, of_last);
    let after = weights(&model);
    let moved: Vec<bool> = before.iter().zip(&after).map(|(a, b)| a != b).collect();
    let (others, last) = moved.split_at(moved.len() - 16 * 4 - 4);
    assert!(others.iter().all(|moved| !moved) && last.iter().any(|moved| *moved));
    assert_eq!(still.to_record().len(), 2);
    assert_eq!(moving.to_record().len(), 1);
}

#[test]
fn gradients_are_clipped_by_burn() {
    let clipping = Some(GradientClippingConfig::Value(1e-3));
    let mut clipped = sgd(2.0).with_gradient_clipping(clipping).init().unwrap();
    let model = conv_net();
    let before = weights(&model);
    let (_, model) = train(model, &mut clipped, 1.0, 1);
    let largest =
        before.iter().zip(weights(&model)).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!((largest - 1e-3).abs() < 1e-6, "{largest}");
}

#[test]
fn errors_name_the_invalid_setting() {
    let error = |config: FuldConfig| config.build::<Flex>().unwrap_err().to_string();
    assert!(error(sgd(2.1)).contains("2.1"));
    assert!(error(sgd(f64::NAN)).contains("NaN"));
    assert!(error(FuldConfig::new(1.5, Form::Sgd { momentum: 1.5 })).contains("1.5"));
    assert!(error(sgd(1.5).with_weight_decay(-0.5)).contains("-0.5"));
    let matched = |knee| FuldConfig::new(1.5, Form::Matched { momentum: 0.9, knee });
    assert!(error(matched(Knee::Kappa(-1.0))).contains("-1"));
    assert!(error(matched(Knee::NoiseScale(0.0))).contains('0'));
}

#[test]
#[should_panic(expected = "learning rate must be finite and not negative, got -0.1")]
fn a_negative_learning_rate_is_refused() {
    train(conv_net(), &mut sgd(1.5).init().unwrap(), -0.1, 1);
}

#[test]
fn double_precision_stays_double() {
    let device = Default::default();
    let x = Tensor::<Flex, 1>::from_data(
        TensorData::from([1.0f64, -2.0]),
        (&device, burn::tensor::DType::F64),
    );
    let (x, _) = sgd(1.0).build::<Flex>().unwrap().step(0.25, x.clone(), x, None);
    let x: Vec<f64> = x.into_data().to_vec().unwrap();
    // ∇G_1(v) = 2v/(1 + v²) at v = 0.5·b: 1 − 0.5·0.8 and −2 + 0.5·1
    assert!((x[0] - 0.6).abs() < 1e-13 && (x[1] + 1.5).abs() < 1e-13, "{x:?}");
}

/// A guard inside FULD, and around an optimizer that takes the same steps, make the same
/// parameters; a corrupted gradient harms neither.
#[test]
fn a_guard_within_and_around_agree() {
    use burn::optim::SimpleOptimizer;
    let device = Default::default();
    let inside = sgd(2.0).with_guard(Some(2.0)).build::<Flex>().unwrap();
    let around = fuld_burn::Guarded::new(
        sgd(2.0).build::<Flex>().unwrap(),
        fuld::guard::Guard::new(2.0).unwrap(),
    );
    let (mut x, mut y) =
        (Tensor::<Flex, 1>::zeros([4], &device), Tensor::<Flex, 1>::zeros([4], &device));
    let (mut a, mut b) = (None, None);
    for step in 0..5 {
        let odd = if step == 3 { f32::INFINITY } else { -0.1 };
        let g = Tensor::<Flex, 1>::from_data([0.1, 0.2, odd, f32::NAN], &device);
        (x, a) = inside.step(0.1, x, g.clone(), a);
        (y, b) = around.step(0.1, y, g, b);
    }
    let x: Vec<f32> = x.into_data().to_vec().unwrap();
    assert!(x.iter().all(|x| x.is_finite()) && x[3] == 0.0 && x[0] != 0.0, "{x:?}");
    assert_eq!(x, y.into_data().to_vec::<f32>().unwrap());
    assert!(
        sgd(2.0).with_guard(Some(-1.0)).build::<Flex>().unwrap_err().to_string().contains("got -1")
    );
}
