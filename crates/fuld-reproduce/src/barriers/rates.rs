//! Rates of transitions between wells: their measurement, their bound and the claims about them.

use super::{
    Barriers, FLMC, FLMC_APPROXIMATE, FULD, FULD_ALPHAS, JUMP_ALPHAS, Rate, Scheme, mean_and_error,
};
use crate::{Claim, Context, Judgement, list};
use fuld::gibbs::Gibbs;
use fuld::potential::DoubleWell;
use fuld::{Beta, SystemKind};
use fuld_sample::SampleRequest;
use levy_stable::SymmetricStable;

/// A chain is in a well beyond this distance from the barrier: returns before that are not
/// transitions.
pub(super) const CORE: f64 = 0.5;

/// Returns the density at 0 of the velocity's law at β = 1, SαS(α^(−1/α)), which is E max(h(v), 0)
/// for the field h of FULD.
fn mean_outward_speed(alpha: f64) -> anyhow::Result<f64> {
    Ok(SymmetricStable::new(alpha)?.pdf(0.0) * alpha.powf(1.0 / alpha))
}

/// Returns the rate at which a position at −1 jumps beyond 0 under the noise dL, half of it for the
/// half of the time that a chain is on the left.
fn jump_rate(alpha: f64) -> f64 {
    libm::tgamma(alpha) * libm::sin(0.5 * core::f64::consts::PI * alpha)
        / (2.0 * core::f64::consts::PI)
}

/// Counts the changes from one well to the other.
fn transitions(chain: &[f64]) -> usize {
    let sides = chain.iter().filter(|x| x.abs() > CORE).map(|x| *x > 0.0);
    let (mut count, mut last) = (0, None);
    for side in sides {
        count += usize::from(last.is_some_and(|last| last != side));
        last = Some(side);
    }
    count
}

/// Returns the slope of ln y against x by least squares, and its standard error for standard errors
/// of y.
fn slope(points: &[(f64, f64, f64)]) -> (f64, f64) {
    let count = points.len() as f64;
    let centre = points.iter().map(|p| p.0).sum::<f64>() / count;
    let spread: f64 = points.iter().map(|p| (p.0 - centre).powi(2)).sum();
    let slope = points.iter().map(|p| (p.0 - centre) * p.1.ln()).sum::<f64>() / spread;
    let variance: f64 = points.iter().map(|p| ((p.0 - centre) * p.2 / p.1).powi(2)).sum();
    (slope, variance.sqrt() / spread)
}

pub(super) fn measure_rate(
    context: &Context<'_>,
    scheme: &Scheme,
    alpha: f64,
    barrier: f64,
) -> anyhow::Result<Rate> {
    let well = [("a".to_owned(), 4.0 * barrier), ("b".to_owned(), 4.0 * barrier)];
    let request = SampleRequest { param: well.into(), ..scheme.request(alpha, "double_well") };
    let (draws, _) = context.sample(request)?;
    let time = scheme.draws as f64 * scheme.thin as f64 * scheme.step;
    let counts: Vec<usize> = draws.coordinate(0).iter().map(|chain| transitions(chain)).collect();
    // Half of the transitions lead to the right.
    let rates: Vec<f64> = counts.iter().map(|count| *count as f64 / (2.0 * time)).collect();
    let (rate, rate_error) = mean_and_error(&rates);
    let target = Gibbs::new(&DoubleWell::new(1, 4.0 * barrier, 4.0 * barrier)?, Beta::ONE)?;
    let bound = mean_outward_speed(alpha)? * target.density(0.0);
    Ok(Rate {
        system: scheme.kind.name().into(),
        alpha,
        barrier,
        step: scheme.step,
        transitions: counts.iter().sum(),
        rate,
        rate_error,
        bound: scheme.kind.has_velocity().then_some(bound),
    })
}

/// Returns all systems whose rates are measured, with their tail indices.
pub(super) fn measured_systems() -> Vec<(Scheme, f64)> {
    let jumping =
        JUMP_ALPHAS.into_iter().flat_map(|alpha| [(FLMC, alpha), (FLMC_APPROXIMATE, alpha)]);
    FULD_ALPHAS.into_iter().map(|alpha| (FULD, alpha)).chain(jumping).collect()
}

impl Barriers {
    pub(super) fn of(&self, kind: SystemKind, alpha: f64) -> Vec<&Rate> {
        self.rates.iter().filter(|rate| rate.system == kind.name() && rate.alpha == alpha).collect()
    }

    /// Returns the slope of the logarithm of the rate, and its standard error.
    pub(super) fn slope(&self, kind: SystemKind, alpha: f64) -> (f64, f64) {
        slope(
            &self
                .of(kind, alpha)
                .iter()
                .map(|rate| (rate.barrier, rate.rate, rate.rate_error))
                .collect::<Vec<_>>(),
        )
    }

    /// Returns the slope of the logarithm of the bound, which is the same for all tail indices.
    pub(super) fn bound_slope(&self) -> f64 {
        let point = |rate: &&Rate| Some((rate.barrier, rate.bound?, 0.0));
        slope(&self.of(SystemKind::Fuld, 2.0).iter().filter_map(point).collect::<Vec<_>>()).0
    }

    pub(super) fn bound_holds(&self) -> Claim {
        let bounded = || self.rates.iter().filter_map(|rate| Some((rate, rate.bound?)));
        let largest = bounded().map(|(rate, bound)| rate.rate / bound).fold(0.0, f64::max);
        let checks = bounded().map(|(rate, bound)| {
            let why = format!(
                "α = {}, barrier {}: {:.2} times the bound",
                rate.alpha,
                rate.barrier,
                rate.rate / bound
            );
            (rate.rate - 2.0 * rate.rate_error <= bound, why)
        });
        Claim::ours(
            "bound",
            "The rate of transitions of FULD is at most ρ(x‡) β^(1/α−1) α^(1/α) Γ(1 + 1/α)/π at every α.",
            format!(
                "The largest of {} rates is {:.0} % of its bound.",
                bounded().count(),
                100.0 * largest
            ),
            Judgement::of(checks),
        )
    }

    /// A tenth is what the friction's influence on the prefactor explains.
    pub(super) fn exponent(&self) -> Claim {
        let bound = self.bound_slope();
        let slopes: Vec<(f64, (f64, f64))> =
            FULD_ALPHAS.map(|alpha| (alpha, self.slope(SystemKind::Fuld, alpha))).into();
        let checks = slopes.iter().map(|(alpha, (slope, error))| {
            (
                (slope - bound).abs() <= 0.1 + 2.0 * error,
                format!("the slope is {slope:.2} at α = {alpha}"),
            )
        });
        Claim::ours(
            "arrhenius",
            "FULD has the exponent of Langevin dynamics at every α: heavy-tailed velocities do not cross barriers more easily.",
            format!(
                "Slope of the logarithm of the rate against the barrier: {}; the bound's, −1 with a prefactor that grows slowly, is {bound:.2}.",
                list(&slopes, |(alpha, (slope, error))| format!(
                    "{slope:.2} ± {error:.2} at α = {alpha}"
                ))
            ),
            Judgement::of(checks),
        )
    }

    pub(super) fn jumps(&self) -> Claim {
        let slopes: Vec<(f64, (f64, f64))> =
            JUMP_ALPHAS.map(|alpha| (alpha, self.slope(SystemKind::Flmc, alpha))).into();
        let checks = slopes.iter().map(|(alpha, (slope, _))| {
            (slope.abs() <= 0.1, format!("the slope is {slope:.2} at α = {alpha}"))
        });
        let highest =
            |alpha: f64| self.of(SystemKind::Flmc, alpha).last().map_or(f64::NAN, |rate| rate.rate);
        Claim::ours(
            "jumps",
            "The rate of FLMC, whose position jumps, does not fall exponentially with the barrier.",
            format!(
                "Slope of the logarithm of the rate: {}. At the highest barrier the rate is {}.",
                list(&slopes, |(alpha, (slope, error))| format!(
                    "{slope:.3} ± {error:.3} at α = {alpha}"
                )),
                list(JUMP_ALPHAS, |alpha| format!(
                    "{:.3} at α = {alpha} (narrow wells: {:.3})",
                    highest(alpha),
                    jump_rate(alpha)
                )),
            ),
            Judgement::of(checks),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::BARRIERS;
    use super::*;
    use crate::{Exhibit, Verdict};

    #[test]
    fn returns_are_not_transitions() {
        assert_eq!(transitions(&[-1.0, 0.2, -1.0, 0.6, 0.4, -0.4, 0.9, -0.7]), 2);
        assert_eq!((transitions(&[0.1, -0.2]), transitions(&[])), (0, 0));
    }

    #[test]
    fn slopes_are_those_of_the_logarithm() {
        let points: Vec<_> =
            [2.0f64, 4.0, 6.0].map(|x| (x, 3.0 * (-x).exp(), 0.3 * (-x).exp())).into();
        let (slope, error) = slope(&points);
        // The error of every logarithm is 0.1; their weights are −1/4, 0 and 1/4.
        assert!(
            (slope + 1.0).abs() < 1e-12 && (error - 0.1 / 8f64.sqrt()).abs() < 1e-12,
            "{slope} {error}"
        );
    }

    /// E max(h, 0) at α = 2 and 1, in closed form.
    #[test]
    fn mean_speeds_are_known() {
        let pi = core::f64::consts::PI;
        assert!((mean_outward_speed(2.0).unwrap() - 1.0 / (2.0 * pi).sqrt()).abs() < 1e-14);
        assert!((mean_outward_speed(1.0).unwrap() - 1.0 / pi).abs() < 1e-14);
        assert!((jump_rate(1.0) - 0.5 / pi).abs() < 1e-14);
    }

    #[test]
    fn rates_above_the_bound_or_that_do_not_fall_decide() {
        let verdicts = |share: f64, exponent: f64, jump_exponent: f64| {
            let rate = |kind: SystemKind, alpha: f64, barrier: f64| {
                let bound = (-barrier).exp();
                let fuld = kind == SystemKind::Fuld;
                let rate = if fuld {
                    share * (-exponent * barrier).exp()
                } else {
                    (-jump_exponent * barrier).exp()
                };
                let (system, bound) = (kind.name().into(), fuld.then_some(bound));
                Rate {
                    system,
                    alpha,
                    barrier,
                    step: 0.1,
                    transitions: 9,
                    rate,
                    rate_error: 0.0,
                    bound,
                }
            };
            let fuld = FULD_ALPHAS.map(|alpha| (SystemKind::Fuld, alpha)).into_iter();
            let all = fuld.chain(JUMP_ALPHAS.map(|alpha| (SystemKind::Flmc, alpha)));
            let rates = all
                .flat_map(|(kind, alpha)| BARRIERS.map(|barrier| rate(kind, alpha, barrier)))
                .collect();
            let claims = Barriers { rates, weights: Vec::new() }.claims();
            [claims[0].verdict, claims[1].verdict, claims[2].verdict]
        };
        let (holds, fails) = (Verdict::Holds, Verdict::Fails);
        assert_eq!(verdicts(0.5, 1.0, 0.0), [holds, holds, holds]);
        assert_eq!(verdicts(5.0, 0.7, 1.0), [fails, fails, fails]);
    }
}
