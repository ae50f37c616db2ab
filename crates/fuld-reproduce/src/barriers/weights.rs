//! Weights of the wells of an asymmetric double well.

use super::{Barriers, Scheme, Weight, mean_and_error};
use crate::{Claim, Context, Judgement, list};
use fuld::gibbs::Gibbs;
use fuld::potential::Formula;
use fuld::{Beta, SystemKind};
use fuld_sample::SampleRequest;

/// An asymmetric double well with a barrier of about 3, whose wells have the weights 0.71 and 0.29.
pub(super) const ASYMMETRIC: &str = "3*(x^2 - 1)^2 + x/2";
/// Tail index of the weights.
pub(super) const WEIGHT_ALPHA: f64 = 1.5;

pub(super) fn measure_weight(context: &Context<'_>, scheme: &Scheme) -> anyhow::Result<Weight> {
    let request = scheme.request(WEIGHT_ALPHA, ASYMMETRIC);
    let times = |count: Option<u64>| count.map(|count| count * scheme.longer);
    let request =
        SampleRequest { thin: times(request.thin), warmup: times(request.warmup), ..request };
    let (draws, _) = context.sample(request)?;
    let left =
        |chain: &Vec<f64>| chain.iter().filter(|x| **x < 0.0).count() as f64 / chain.len() as f64;
    let (weight, weight_error) =
        mean_and_error(&draws.coordinate(0).iter().map(left).collect::<Vec<_>>());
    let exact = Gibbs::new(&ASYMMETRIC.parse::<Formula>()?, Beta::ONE)?.cdf(0.0);
    Ok(Weight {
        system: scheme.kind.name().into(),
        alpha: WEIGHT_ALPHA,
        weight,
        weight_error,
        exact,
    })
}

impl Barriers {
    /// Two per cent is what the step of the schemes explains.
    pub(super) fn right_weights(&self) -> Claim {
        let checks = self.weights.iter().map(|w| {
            let agrees = (w.weight - w.exact).abs() <= 0.02 + 2.0 * w.weight_error;
            let is_exact = w.system != SystemKind::FlmcApproximate.name();
            (
                agrees == is_exact,
                format!("{} has the weight {:.3}, exact is {:.3}", w.system, w.weight, w.exact),
            )
        });
        Claim::ours(
            "weights",
            "FULD and FLMC with its exact drift visit the wells with the right weights, FLMC with the approximate drift does not.",
            format!(
                "Weight of the left well of {ASYMMETRIC}, exact {:.3}: {}.",
                self.weights.first().map_or(f64::NAN, |w| w.exact),
                list(&self.weights, |w| format!(
                    "{} {:.3} ± {:.3}",
                    w.system, w.weight, w.weight_error
                ))
            ),
            Judgement::of(checks),
        )
    }
}
