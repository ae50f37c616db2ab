//! Beyond the paper: do heavy tails cross barriers? The transition-state bound of FULD, and dynamics whose position jumps.

use crate::{CaptionedFigure, Claim, Context, Exhibit, Judgement, TextTable, list};
use fuld::gibbs::Gibbs;
use fuld::potential::{DoubleWell, Formula};
use fuld::{Beta, Integrator, SystemKind};
use fuld_plot::{Axis, Figure, Hue, Panel};
use fuld_sample::SampleRequest;
use levy_stable::SymmetricStable;

/// Barriers H of f = 4H (x⁴/4 − x²/2), at β = 1.
const BARRIERS: [f64; 4] = [2.0, 4.0, 6.0, 8.0];
const FULD_ALPHAS: [f64; 4] = [1.0, 1.2, 1.5, 2.0];
/// Tail indices of the dynamics whose position jumps; the approximate one requires α > 1.
const JUMP_ALPHAS: [f64; 2] = [1.2, 1.5];
const GAMMA: f64 = 1.0;
const CHAINS: usize = 1024;
/// A chain is in a well beyond this distance from the barrier: returns before that are not transitions.
const CORE: f64 = 0.5;
/// An asymmetric double well with a barrier of about 3, whose wells have the weights 0.71 and 0.29.
const ASYMMETRIC: &str = "3*(x^2 - 1)^2 + x/2";
/// Tail index of the weights.
const WEIGHT_ALPHA: f64 = 1.5;

/// How a system is integrated.
struct Scheme {
    kind: SystemKind,
    integrator: Integrator,
    step: f64,
    /// Steps between looks at the position.
    thin: u64,
    /// Looks per chain for a rate.
    draws: u64,
    /// Length of the chains for weights, in units of those for rates.
    longer: u64,
}

const FULD: Scheme = Scheme {
    kind: SystemKind::Fuld,
    integrator: Integrator::Baoab,
    step: 0.02,
    thin: 10,
    draws: 6000,
    longer: 1,
};
/// Ten times as fine: the drift of FLMC is steep at the barrier.
const FLMC: Scheme = Scheme {
    kind: SystemKind::Flmc,
    integrator: Integrator::TamedEuler,
    step: 0.002,
    thin: 25,
    draws: 800,
    longer: 2,
};
const FLMC_APPROXIMATE: Scheme = Scheme { kind: SystemKind::FlmcApproximate, ..FLMC };

impl Scheme {
    fn request(&self, alpha: f64, potential: &str) -> SampleRequest {
        SampleRequest {
            potential: Some(potential.into()),
            system: Some(self.kind),
            integrator: Some(self.integrator),
            alpha: Some(alpha),
            gamma: self.kind.has_velocity().then_some(GAMMA),
            step: Some(self.step),
            chains: Some(CHAINS),
            draws: Some(self.draws),
            warmup: Some(self.draws * self.thin / 10),
            thin: Some(self.thin),
            ..SampleRequest::default()
        }
    }
}

results! {
    /// Rates of transitions between wells, and weights of the wells.
    Barriers {
        /// Transitions from the left to the right well, per chain.
        rates: Rate {
            system: String,
            alpha: f64,
            barrier: f64,
            step: f64,
            transitions: usize,
            /// Per unit of time.
            rate: f64,
            /// The standard error of the rate, from the differences between chains.
            rate_error: f64,
            /// The transition-state bound on the rate, for systems whose position does not jump.
            bound: Option<f64>,
        },
        /// The share of the left well of the asymmetric double well.
        weights: Weight { system: String, alpha: f64, weight: f64, weight_error: f64, exact: f64 },
    }
}

/// Returns the density at 0 of the velocity's law at β = 1, SαS(α^(−1/α)), which is E max(h(v), 0) for the field h of FULD.
fn mean_outward_speed(alpha: f64) -> anyhow::Result<f64> {
    Ok(SymmetricStable::new(alpha)?.pdf(0.0) * alpha.powf(1.0 / alpha))
}

/// Returns the rate at which a position at −1 jumps beyond 0 under the noise dL, half of it for the half of the time that a chain is on the left.
fn jump_rate(alpha: f64) -> f64 {
    libm::tgamma(alpha) * libm::sin(0.5 * core::f64::consts::PI * alpha) / (2.0 * core::f64::consts::PI)
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

/// Returns the mean and its standard error.
fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (count - 1.0);
    (mean, (variance / count).sqrt())
}

/// Returns the slope of ln y against x by least squares, and its standard error for standard errors of y.
fn slope(points: &[(f64, f64, f64)]) -> (f64, f64) {
    let count = points.len() as f64;
    let centre = points.iter().map(|p| p.0).sum::<f64>() / count;
    let spread: f64 = points.iter().map(|p| (p.0 - centre).powi(2)).sum();
    let slope = points.iter().map(|p| (p.0 - centre) * p.1.ln()).sum::<f64>() / spread;
    let variance: f64 = points.iter().map(|p| ((p.0 - centre) * p.2 / p.1).powi(2)).sum();
    (slope, variance.sqrt() / spread)
}

fn measure_rate(context: &Context<'_>, scheme: &Scheme, alpha: f64, barrier: f64) -> anyhow::Result<Rate> {
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

fn measure_weight(context: &Context<'_>, scheme: &Scheme) -> anyhow::Result<Weight> {
    let request = scheme.request(WEIGHT_ALPHA, ASYMMETRIC);
    let times = |count: Option<u64>| count.map(|count| count * scheme.longer);
    let request = SampleRequest { thin: times(request.thin), warmup: times(request.warmup), ..request };
    let (draws, _) = context.sample(request)?;
    let left = |chain: &Vec<f64>| chain.iter().filter(|x| **x < 0.0).count() as f64 / chain.len() as f64;
    let (weight, weight_error) = mean_and_error(&draws.coordinate(0).iter().map(left).collect::<Vec<_>>());
    let exact = Gibbs::new(&ASYMMETRIC.parse::<Formula>()?, Beta::ONE)?.cdf(0.0);
    Ok(Weight { system: scheme.kind.name().into(), alpha: WEIGHT_ALPHA, weight, weight_error, exact })
}

/// Returns all systems whose rates are measured, with their tail indices.
fn measured_systems() -> Vec<(Scheme, f64)> {
    let jumping = JUMP_ALPHAS.into_iter().flat_map(|alpha| [(FLMC, alpha), (FLMC_APPROXIMATE, alpha)]);
    FULD_ALPHAS.into_iter().map(|alpha| (FULD, alpha)).chain(jumping).collect()
}

impl Barriers {
    fn of(&self, kind: SystemKind, alpha: f64) -> Vec<&Rate> {
        self.rates.iter().filter(|rate| rate.system == kind.name() && rate.alpha == alpha).collect()
    }

    /// Returns the slope of the logarithm of the rate, and its standard error.
    fn slope(&self, kind: SystemKind, alpha: f64) -> (f64, f64) {
        slope(
            &self
                .of(kind, alpha)
                .iter()
                .map(|rate| (rate.barrier, rate.rate, rate.rate_error))
                .collect::<Vec<_>>(),
        )
    }

    /// Returns the slope of the logarithm of the bound, which is the same for all tail indices.
    fn bound_slope(&self) -> f64 {
        let point = |rate: &&Rate| Some((rate.barrier, rate.bound?, 0.0));
        slope(&self.of(SystemKind::Fuld, 2.0).iter().filter_map(point).collect::<Vec<_>>()).0
    }
}

impl Exhibit for Barriers {
    const ID: &'static str = "barriers";
    const TITLE: &'static str = "Beyond the paper · Do heavy tails cross barriers?";
    const SHOWS: &'static str = "beyond the paper: rates of crossing a barrier, and their bound";
    const SECONDS: f64 = 25.0;

    settings! {
        barrier: BARRIERS, fuld_alpha: FULD_ALPHAS, jump_alpha: JUMP_ALPHAS, gamma: GAMMA, chains: CHAINS, core: CORE,
        step: [FULD.step, FLMC.step], draws: [FULD.draws, FLMC.draws], asymmetric: ASYMMETRIC, weight_alpha: WEIGHT_ALPHA
    }

    fn experiment(context: &Context<'_>) -> anyhow::Result<Self> {
        let mut results = Self::default();
        let systems = measured_systems();
        let count = (systems.len() * BARRIERS.len() + 3) as f64;
        for (scheme, alpha) in &systems {
            for barrier in BARRIERS {
                results.rates.push(measure_rate(context, scheme, *alpha, barrier)?);
                context.progress(results.rates.len() as f64 / count);
            }
        }
        for scheme in [FULD, FLMC, FLMC_APPROXIMATE] {
            results.weights.push(measure_weight(context, &scheme)?);
            context.progress((results.rates.len() + results.weights.len()) as f64 / count);
        }
        Ok(results)
    }

    fn text(&self) -> String {
        format!(
            "In FULD noise acts on v, and x moves with the velocity h(v) = β^(1/α−1) ∇G_α(β^(1/α) v). In the stationary state x and v are \
             independent, with the densities ρ = e^(−βf)/Z and e^(−βg), h = g′. A path from the left of a point x‡ to its right crosses it with \
             h(v) > 0, and the expected number of such crossings per unit of time is ρ(x‡) E max(h(v), 0). No rate of transitions exceeds this \
             flux, whatever friction and noise do: it is the bound of transition-state theory. Because h e^(−βg) = −(e^(−βg))′/β, the mean \
             E max(h, 0) is e^(−βg(0))/(β ∫ e^(−βg)), the density of v at 0 divided by β: β^(1/α−1) α^(1/α) Γ(1 + 1/α)/π, which is \
             1/√(2πβ) at α = 2 and 1/π at α = 1. It is finite for every α, so the rate of FULD is at most a constant times e^(−β·barrier)/Z: the \
             exponent of Arrhenius, as for Langevin dynamics. Heavy tails of v do not help, because h(v) falls like 1/v where v is large. \
             A position that jumps, as in FLMC, is not bound: it crosses with the rate of long jumps, which for narrow wells at ±1 tends to \
             Γ(α) sin(πα/2)/2π whatever the barrier. Measured on f = 4H (x⁴/4 − x²/2) with the barrier H at β = 1: {CHAINS} chains, γ = {GAMMA}; \
             a transition is a change from x < −{CORE} to x > {CORE}."
        )
    }

    fn figures(&self) -> Vec<CaptionedFigure> {
        let axis = || Axis::linear("barrier β·H").ticks(&BARRIERS);
        let points = |kind: SystemKind, alpha: f64, of: fn(&Rate) -> f64| -> Vec<(f64, f64)> {
            self.of(kind, alpha).into_iter().map(|rate| (rate.barrier, of(rate))).collect()
        };
        let mut left = Panel::new("FULD: dots, and its bound: dashed")
            .x(axis())
            .y(Axis::log("transitions per unit of time"));
        for alpha in FULD_ALPHAS {
            let bound = points(SystemKind::Fuld, alpha, |rate| rate.bound.unwrap_or(f64::NAN));
            left = left.dashed(Hue::alpha(alpha), "", bound).dots(
                Hue::alpha(alpha),
                format!("FULD, α = {alpha}"),
                points(SystemKind::Fuld, alpha, |rate| rate.rate),
            );
        }
        let per_step = |rate: &Rate| rate.rate * rate.step;
        let mut right = Panel::new("per step").x(axis()).y(Axis::log("transitions per gradient"));
        for alpha in [1.5, 2.0] {
            right = right.joined(
                Hue::alpha(alpha),
                format!("FULD, α = {alpha}"),
                points(SystemKind::Fuld, alpha, per_step),
            );
        }
        for (kind, alpha, hue) in [
            (SystemKind::Flmc, 1.5, Hue::Green),
            (SystemKind::Flmc, 1.2, Hue::Sky),
            (SystemKind::FlmcApproximate, 1.5, Hue::Orange),
        ] {
            right = right.joined(hue, format!("{}, α = {alpha}", kind.name()), points(kind, alpha, per_step));
        }
        let figure = Figure::new("barriers").panel(left).panel(right);
        let caption = "Left: rates of FULD and their bounds, which fall exponentially with the barrier at every α. Right: transitions per \
                       gradient; the rates of dynamics whose position jumps hardly depend on the barrier.";
        vec![CaptionedFigure::new(figure, caption)]
    }

    fn shown(&self) -> Vec<TextTable> {
        let rates = TextTable::of(
            &self.rates,
            &[
                ("system", |r| format!("{}, α = {}", r.system, r.alpha)),
                ("barrier", |r| r.barrier.to_string()),
                ("transitions", |r| r.transitions.to_string()),
                ("per unit of time", |r| format!("{:.2e} ± {:.0e}", r.rate, r.rate_error)),
                ("of the bound", |r| {
                    r.bound.map_or("–".into(), |bound| format!("{:.0} %", 100.0 * r.rate / bound))
                }),
                ("per 10⁶ gradients", |r| format!("{:.3}", 1e6 * r.rate * r.step)),
            ],
        );
        let weights = TextTable::of(
            &self.weights,
            &[
                ("system", |w| format!("{}, α = {}", w.system, w.alpha)),
                ("weight of the left well", |w| format!("{:.4} ± {:.4}", w.weight, w.weight_error)),
                ("exact", |w| format!("{:.4}", w.exact)),
            ],
        );
        vec![rates, weights]
    }

    fn claims(&self) -> Vec<Claim> {
        vec![self.bound_holds(), self.exponent(), self.jumps(), self.right_weights()]
    }
}

impl Barriers {
    fn bound_holds(&self) -> Claim {
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
            format!("The largest of {} rates is {:.0} % of its bound.", bounded().count(), 100.0 * largest),
            Judgement::of(checks),
        )
    }

    /// A tenth is what the friction's influence on the prefactor explains.
    fn exponent(&self) -> Claim {
        let bound = self.bound_slope();
        let slopes: Vec<(f64, (f64, f64))> =
            FULD_ALPHAS.map(|alpha| (alpha, self.slope(SystemKind::Fuld, alpha))).into();
        let checks = slopes.iter().map(|(alpha, (slope, error))| {
            ((slope - bound).abs() <= 0.1 + 2.0 * error, format!("the slope is {slope:.2} at α = {alpha}"))
        });
        Claim::ours(
            "arrhenius",
            "FULD has the exponent of Langevin dynamics at every α: heavy-tailed velocities do not cross barriers more easily.",
            format!(
                "Slope of the logarithm of the rate against the barrier: {}; the bound's, −1 with a prefactor that grows slowly, is {bound:.2}.",
                list(&slopes, |(alpha, (slope, error))| format!("{slope:.2} ± {error:.2} at α = {alpha}"))
            ),
            Judgement::of(checks),
        )
    }

    fn jumps(&self) -> Claim {
        let slopes: Vec<(f64, (f64, f64))> =
            JUMP_ALPHAS.map(|alpha| (alpha, self.slope(SystemKind::Flmc, alpha))).into();
        let checks = slopes.iter().map(|(alpha, (slope, _))| {
            (slope.abs() <= 0.1, format!("the slope is {slope:.2} at α = {alpha}"))
        });
        let highest = |alpha: f64| self.of(SystemKind::Flmc, alpha).last().map_or(f64::NAN, |rate| rate.rate);
        Claim::ours(
            "jumps",
            "The rate of FLMC, whose position jumps, does not fall exponentially with the barrier.",
            format!(
                "Slope of the logarithm of the rate: {}. At the highest barrier the rate is {}.",
                list(&slopes, |(alpha, (slope, error))| format!("{slope:.3} ± {error:.3} at α = {alpha}")),
                list(JUMP_ALPHAS, |alpha| format!(
                    "{:.3} at α = {alpha} (narrow wells: {:.3})",
                    highest(alpha),
                    jump_rate(alpha)
                )),
            ),
            Judgement::of(checks),
        )
    }

    /// Two per cent is what the step of the schemes explains.
    fn right_weights(&self) -> Claim {
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
                list(&self.weights, |w| format!("{} {:.3} ± {:.3}", w.system, w.weight, w.weight_error))
            ),
            Judgement::of(checks),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    #[test]
    fn returns_are_not_transitions() {
        assert_eq!(transitions(&[-1.0, 0.2, -1.0, 0.6, 0.4, -0.4, 0.9, -0.7]), 2);
        assert_eq!((transitions(&[0.1, -0.2]), transitions(&[])), (0, 0));
    }

    #[test]
    fn slopes_are_those_of_the_logarithm() {
        let points: Vec<_> = [2.0f64, 4.0, 6.0].map(|x| (x, 3.0 * (-x).exp(), 0.3 * (-x).exp())).into();
        let (slope, error) = slope(&points);
        // The error of every logarithm is 0.1; their weights are −1/4, 0 and 1/4.
        assert!((slope + 1.0).abs() < 1e-12 && (error - 0.1 / 8f64.sqrt()).abs() < 1e-12, "{slope} {error}");
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
                let rate =
                    if fuld { share * (-exponent * barrier).exp() } else { (-jump_exponent * barrier).exp() };
                let (system, bound) = (kind.name().into(), fuld.then_some(bound));
                Rate { system, alpha, barrier, step: 0.1, transitions: 9, rate, rate_error: 0.0, bound }
            };
            let fuld = FULD_ALPHAS.map(|alpha| (SystemKind::Fuld, alpha)).into_iter();
            let all = fuld.chain(JUMP_ALPHAS.map(|alpha| (SystemKind::Flmc, alpha)));
            let rates =
                all.flat_map(|(kind, alpha)| BARRIERS.map(|barrier| rate(kind, alpha, barrier))).collect();
            let claims = Barriers { rates, weights: Vec::new() }.claims();
            [claims[0].verdict, claims[1].verdict, claims[2].verdict]
        };
        let (holds, fails) = (Verdict::Holds, Verdict::Fails);
        assert_eq!(verdicts(0.5, 1.0, 0.0), [holds, holds, holds]);
        assert_eq!(verdicts(5.0, 0.7, 1.0), [fails, fails, fails]);
    }
}
