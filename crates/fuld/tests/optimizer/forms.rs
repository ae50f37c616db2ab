//! Settings, gradients and rules for the tests. The constructors take their parameters in the order
//! of the structs' fields.

use fuld::optimizer::{
    Authors, Coordinates, Matched, NoiseMatched, Options, Paper, PaperSgd, Rule, RuleError, Sgd,
    WeightDecay,
};
use rand::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

type Form = Result<Coordinates, RuleError>;

pub(crate) fn paper(alpha: f64, eta: f64, gamma: f64, beta: f64) -> Form {
    Coordinates::paper(Paper { alpha, eta, gamma, beta })
}

pub(crate) fn paper_sgd(alpha: f64, learning_rate: f64, momentum: f64, beta: f64) -> Form {
    Coordinates::paper_sgd(PaperSgd { alpha, learning_rate, momentum, beta })
}

pub(crate) fn authors(alpha: f64, eta: f64, gamma: f64) -> Form {
    Coordinates::authors(Authors { alpha, eta, gamma })
}

pub(crate) fn sgd(alpha: f64, learning_rate: f64, momentum: f64) -> Form {
    Coordinates::sgd(Sgd { alpha, learning_rate, momentum })
}

pub(crate) fn matched(alpha: f64, learning_rate: f64, momentum: f64, kappa: f64) -> Form {
    Coordinates::matched(Matched { alpha, learning_rate, momentum, kappa })
}

pub(crate) fn noise_matched(
    alpha: f64,
    learning_rate: f64,
    momentum: f64,
    noise_scale: f64,
) -> Form {
    Coordinates::noise_matched(NoiseMatched { alpha, learning_rate, momentum, noise_scale })
}

pub(crate) fn kappa(
    alpha: f64,
    learning_rate: f64,
    momentum: f64,
    noise_scale: f64,
) -> Result<f64, RuleError> {
    NoiseMatched { alpha, learning_rate, momentum, noise_scale }.kappa()
}

/// Returns numbers that are uniform on (−1, 1).
pub(crate) fn uniform(rng: &mut Xoshiro256PlusPlus) -> f64 {
    ((rng.next_u64() >> 11) as f64 + 0.5) / (1u64 << 52) as f64 - 1.0
}

/// Returns a gradient with small and some huge components.
pub(crate) fn gradient(rng: &mut Xoshiro256PlusPlus, length: usize) -> Vec<f64> {
    (0..length).map(|_| uniform(rng) * 10f64.powf(3.0 * uniform(rng) - 1.0)).collect()
}

pub(crate) fn rule(coordinates: Result<Coordinates, RuleError>, options: Options) -> Rule {
    Rule::new(coordinates.unwrap(), options).unwrap()
}

/// Returns every combination of options, with Nesterov only if there is momentum.
pub(crate) fn all_options(momentum: f64) -> Vec<Options> {
    let mut all = Vec::new();
    for weight_decay in
        [WeightDecay::None, WeightDecay::Coupled(0.01), WeightDecay::Decoupled(0.02)]
    {
        for (nesterov, maximize) in [(false, false), (false, true), (true, false), (true, true)] {
            if momentum > 0.0 || !nesterov {
                all.push(Options { weight_decay, nesterov, maximize });
            }
        }
    }
    all
}
