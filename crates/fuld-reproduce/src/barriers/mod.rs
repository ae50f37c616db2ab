//! Beyond the paper: do heavy tails cross barriers? The transition-state bound of FULD, and
//! dynamics whose position jumps.

mod rates;
mod weights;

use crate::{CaptionedFigure, Claim, Context, Exhibit, TextTable};
use fuld::{Integrator, SystemKind};
use fuld_plot::{Axis, Figure, Hue, Panel};
use fuld_sample::SampleRequest;
use rates::{CORE, measure_rate, measured_systems};
use weights::{ASYMMETRIC, WEIGHT_ALPHA, measure_weight};

/// Barriers H of f = 4H (x⁴/4 − x²/2), at β = 1.
const BARRIERS: [f64; 4] = [2.0, 4.0, 6.0, 8.0];
const FULD_ALPHAS: [f64; 4] = [1.0, 1.2, 1.5, 2.0];
/// Tail indices of the dynamics whose position jumps; the approximate one requires α > 1.
const JUMP_ALPHAS: [f64; 2] = [1.2, 1.5];
const GAMMA: f64 = 1.0;
const CHAINS: usize = 1024;
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
    draws: 3000,
    longer: 2,
};
/// Ten times as fine: the drift of FLMC is steep at the barrier.
const FLMC: Scheme = Scheme {
    kind: SystemKind::Flmc,
    integrator: Integrator::TamedEuler,
    step: 0.002,
    thin: 25,
    draws: 400,
    longer: 4,
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

/// Returns the mean and its standard error.
fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (count - 1.0);
    (mean, (variance / count).sqrt())
}

impl Exhibit for Barriers {
    const ID: &'static str = "barriers";
    const TITLE: &'static str = "Beyond the paper · Do heavy tails cross barriers?";
    const SHOWS: &'static str = "beyond the paper: rates of crossing a barrier, and their bound";
    const SECONDS: f64 = 8.0;

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
            right = right.joined(
                hue,
                format!("{}, α = {alpha}", kind.name()),
                points(kind, alpha, per_step),
            );
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
