//! The options of `fuld train` that describe a run.

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use fuld_train::spec::{
    FieldFormula, GuardRequest, InjectedNoise, NamedChoice, NoiseScaleRequest, Optimizer,
    TrainRequest, parse_alpha, parse_every,
};

/// The settings of a run. Every option has a default.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct TrainArgs {
    /// Units of each hidden layer [default: 256]
    #[arg(long, help_heading = "Task")]
    width: Option<usize>,
    /// Linear layers, the last one included [default: 4]
    #[arg(long, help_heading = "Task")]
    depth: Option<usize>,
    /// Images per minibatch [default: 100]
    #[arg(long, help_heading = "Task")]
    batch: Option<usize>,
    /// Iterations [default: 10000, digits 2000]
    #[arg(long, value_name = "K", help_heading = "Task")]
    iterations: Option<u64>,
    /// Iterations between two measurements [default: 100]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Task")]
    measure_every: Option<u64>,
    /// Seed of weights, minibatches and noise [default: 0]
    #[arg(long, help_heading = "Task")]
    seed: Option<u64>,
    /// The optimizer [default: fuld]
    #[arg(long, value_parser = named::<Optimizer>(), help_heading = "Optimizer")]
    optimizer: Option<Optimizer>,
    /// Tail index of fuld, from 0.1 to 2; 2 is sgdm [default: 1.75]
    #[arg(long, value_name = "A", value_parser = parse_alpha, allow_negative_numbers = true, help_heading = "Optimizer")]
    alpha: Option<f64>,
    /// Step size of the paper's form [default: 0.1]
    #[arg(long, allow_negative_numbers = true, help_heading = "Optimizer")]
    eta: Option<f64>,
    /// Friction of the paper's form [default: 0.1, cifar10 0.9]
    #[arg(long, allow_negative_numbers = true, help_heading = "Optimizer")]
    gamma: Option<f64>,
    /// Inverse temperature of the paper's form [default: 1]
    #[arg(long, allow_negative_numbers = true, help_heading = "Optimizer")]
    beta: Option<f64>,
    /// Field of the paper's form [default: paper]
    #[arg(long, value_parser = named::<FieldFormula>(), help_heading = "Optimizer")]
    field: Option<FieldFormula>,
    /// Learning rate, instead of eta [default with --momentum, --noise-scale or --kappa: 0.01; adam
    /// 0.001]
    #[arg(long, allow_negative_numbers = true, help_heading = "Optimizer")]
    lr: Option<f64>,
    /// Momentum, instead of gamma [default with --lr, --noise-scale or --kappa: 0.99]
    #[arg(long, allow_negative_numbers = true, help_heading = "Optimizer")]
    momentum: Option<f64>,
    /// Scale of the gradient noise, which determines the knee of fuld's field in the matched form:
    /// a number, or injected for the scale of --inject-noise
    #[arg(
        long,
        value_name = "S|injected",
        allow_negative_numbers = true,
        conflicts_with = "kappa",
        help_heading = "Optimizer"
    )]
    noise_scale: Option<NoiseScaleRequest>,
    /// Knee of fuld's field, instead of --noise-scale: the |v| at which the field departs from its
    /// tangent
    #[arg(long, value_name = "K", allow_negative_numbers = true, help_heading = "Optimizer")]
    kappa: Option<f64>,
    /// Limit of clip-norm [default: 1] or clip-value [default: 0.01]
    #[arg(long, allow_negative_numbers = true, help_heading = "Optimizer")]
    clip: Option<f64>,
    /// Guard the gradients of any optimizer: clip components at C times the geometric mean of their
    /// layer, and scale down bursts [default without C: 1, adam 30]
    #[arg(
        long,
        value_name = "C",
        num_args = 0..=1,
        default_missing_value = "default",
        allow_negative_numbers = true,
        help_heading = "Optimizer"
    )]
    guard: Option<GuardRequest>,
    /// Add symmetric stable noise to every component of the gradients, as in 1.5,1e-3
    #[arg(long, value_name = "ALPHA,SCALE", help_heading = "Noise")]
    inject_noise: Option<InjectedNoise>,
    /// Estimate the tail index of each layer's gradient noise every N iterations, as in every=1000
    #[arg(long, value_name = "every=N", value_parser = parse_every, help_heading = "Noise")]
    tail_index: Option<u64>,
}

impl TrainArgs {
    /// Returns the request for a run on a data set.
    pub(super) fn request(&self, data: Option<String>) -> TrainRequest {
        let args = self.clone();
        TrainRequest {
            data,
            width: args.width,
            depth: args.depth,
            batch: args.batch,
            iterations: args.iterations,
            measure_every: args.measure_every,
            seed: args.seed,
            optimizer: args.optimizer,
            alpha: args.alpha,
            eta: args.eta,
            gamma: args.gamma,
            beta: args.beta,
            field: args.field,
            lr: args.lr,
            momentum: args.momentum,
            noise_scale: args.noise_scale,
            kappa: args.kappa,
            clip: args.clip,
            guard: args.guard,
            inject_noise: args.inject_noise,
            tail_index: args.tail_index,
        }
    }
}

/// Parses one of a few named values, and describes each in the help.
pub(super) fn named<T: NamedChoice>() -> impl TypedValueParser<Value = T> {
    let names =
        T::ALL.iter().map(|(_, name, description)| PossibleValue::new(*name).help(*description));
    PossibleValuesParser::new(names.collect::<Vec<_>>()).try_map(|text| {
        let value = T::ALL.iter().find(|(_, name, _)| *name == text).map(|(value, ..)| *value);
        value.ok_or_else(|| format!("unknown value {text:?}"))
    })
}
