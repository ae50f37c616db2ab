//! Beyond the paper: a working scheme for the Gaussian kinetic energy, which the paper gives up.

use super::claim::{Claim, Judgement, Verdict};
use super::context::Context;
use super::distance::Distance;
use super::exhibit::{CaptionedFigure, Exhibit, TextTable};
use super::quartic::{WINDOW, chains, exact_density, finite, target};
use super::specification::settings;
use super::table::Tables;
use fuld::diagnostics::{Histogram, Sample};
use fuld::gibbs::Gibbs;
use fuld::potential::Harmonic;
use fuld::{Beta, Integrator, SystemKind};
use fuld_plot::{Axis, Figure, Hue, Panel};
use fuld_sample::SampleRequest;
use serde::{Deserialize, Serialize};

/// The exhibit.
pub(crate) const EXHIBIT: Exhibit = Exhibit {
    id: "gaussian",
    title: "Beyond the paper · The Gaussian kinetic energy, working",
    shows: "beyond the paper: the Gaussian kinetic energy, working",
    seconds: 5.0,
    version: 1,
    trains: false,
    settings: |_| {
        settings([
            ("alpha", ALPHAS.to_vec().into()),
            ("gamma", GAMMA.into()),
            ("step", ETA.into()),
            ("chains", (CHAINS as i64).into()),
        ])
    },
    experiment,
    text: |_| {
        Ok("The paper leaves this energy to theory, because Euler's explicit step explodes on a drift that grows like e^(v²/2). But \
            v′ = −γc(v) is a scalar equation whose flow returns from infinity in finite time: with T(v) = ∫_v^∞ du/c(u), \
            v(t) = T⁻¹(T(v₀) + γt). Tabulated once and composed symmetrically with the jump, it gives a stable second-order scheme."
            .into())
    },
    claims,
    figures,
    shown,
};

const ALPHAS: [f64; 4] = [1.9, 1.7, 1.5, 1.2];
const GAMMA: f64 = 5.0;
const ETA: f64 = 0.01;
const CHAINS: usize = 2048;

/// The splitting scheme and Euler's at one α.
#[derive(Serialize, Deserialize)]
struct Measured {
    alpha: f64,
    /// Distance of x to e^(−f).
    position_ks: f64,
    position_ks_noise: f64,
    /// Distance of v to N(0, 1).
    velocity_ks: f64,
    velocity_ks_noise: f64,
    largest_x: f64,
    diverged: usize,
    euler_diverged: usize,
}

impl Measured {
    fn agrees(&self) -> bool {
        Distance { ks: self.position_ks, ks_noise: self.position_ks_noise }.agrees()
            && Distance { ks: self.velocity_ks, ks_noise: self.velocity_ks_noise }.agrees()
    }

    fn euler_share(&self) -> f64 {
        self.euler_diverged as f64 / CHAINS as f64
    }
}

#[derive(Serialize, Deserialize)]
struct Density {
    alpha: f64,
    x: f64,
    density: f64,
}

fn experiment(context: &Context<'_>) -> anyhow::Result<Tables> {
    let (target, normal) = (target(1.0)?, Gibbs::new(&Harmonic::isotropic(1, 1.0)?, Beta::ONE)?);
    let (mut summary, mut densities) = (Vec::new(), Vec::new());
    for alpha in ALPHAS {
        let request = |integrator| SampleRequest {
            alpha: Some(alpha),
            gamma: Some(GAMMA),
            beta: Some(1.0),
            chains: Some(CHAINS),
            warmup: Some(2_000),
            draws: Some(40),
            thin: Some(100),
            velocities: integrator == Integrator::Baoab,
            ..chains(SystemKind::FuldGaussian, integrator, ETA)
        };
        let (samples, outcome) = context.sample(request(Integrator::Baoab))?;
        let euler_diverged = context.sample(request(Integrator::Euler))?.1.divergences.len();
        let draws = samples.coordinate(0);
        let position = Distance::of(&draws, &target)?;
        let velocity = Distance::of(&samples.velocity(0).unwrap_or_default(), &normal)?;
        let x = finite(&draws);
        summary.push(Measured {
            alpha,
            position_ks: position.ks,
            position_ks_noise: position.ks_noise,
            velocity_ks: velocity.ks,
            velocity_ks_noise: velocity.ks_noise,
            largest_x: x.iter().fold(0.0, |m: f64, x| m.max(x.abs())),
            diverged: outcome.divergences.len(),
            euler_diverged,
        });
        let bins = Histogram::new(&Sample::new(x)?, -WINDOW, WINDOW, 100)?;
        densities.extend(bins.density().map(|(x, density)| Density { alpha, x, density }));
        context.progress(summary.len() as f64 / ALPHAS.len() as f64);
    }
    Ok(Tables::default().with("summary", summary)?.with("densities", densities)?)
}

fn figures(tables: &Tables) -> anyhow::Result<Vec<CaptionedFigure>> {
    let (summary, densities): (Vec<Measured>, Vec<Density>) =
        (tables.rows("summary")?, tables.rows("densities")?);
    let mut left = Panel::new("positions, by the splitting scheme")
        .x(Axis::linear("x").range(-WINDOW, WINDOW))
        .y(Axis::linear("density"))
        .area(Hue::Muted, "exp(−f), normalised", exact_density()?);
    for alpha in ALPHAS {
        let curve = densities.iter().filter(|p| p.alpha == alpha).map(|p| (p.x, p.density)).collect();
        left = left.line(Hue::alpha(alpha), format!("α = {alpha}"), curve);
    }
    let euler: Vec<(f64, f64)> = summary.iter().map(|m| (m.alpha, m.euler_share())).collect();
    let splitting: Vec<(f64, f64)> =
        summary.iter().map(|m| (m.alpha, m.diverged as f64 / CHAINS as f64)).collect();
    let right = Panel::new("chains that diverged")
        .x(Axis::linear("α").ticks(&[1.2, 1.5, 1.7, 1.9]))
        .y(Axis::linear("share diverged").range(-0.03, 1.03))
        .line(Hue::Vermillion, "", euler.clone())
        .dots(Hue::Vermillion, "Euler–Maruyama", euler)
        .line(Hue::Blue, "", splitting.clone())
        .dots(Hue::Blue, "splitting with the exact flow of c", splitting);
    let figure = Figure::new("gaussian").panel(left).panel(right);
    Ok(vec![CaptionedFigure::new(figure, format!("γ = {GAMMA}, η = {ETA}, 6,000 steps."))])
}

fn shown(tables: &Tables) -> anyhow::Result<Vec<TextTable>> {
    let columns =
        ["α", "KS of x", "KS of v", "95 % of noise (x)", "largest |x|", "diverged", "Euler diverged"];
    let summary: Vec<Measured> = tables.rows("summary")?;
    Ok(vec![summary.iter().fold(TextTable::new(columns), |table, m| {
        table.row([
            m.alpha.to_string(),
            format!("{:.4}", m.position_ks),
            format!("{:.4}", m.velocity_ks),
            format!("{:.4}", m.position_ks_noise),
            format!("{:.2}", m.largest_x),
            m.diverged.to_string(),
            format!("{:.0} %", 100.0 * m.euler_share()),
        ])
    })])
}

fn claims(tables: &Tables) -> anyhow::Result<Vec<Claim>> {
    let all: Vec<Measured> = tables.rows("summary")?;
    let share = |m: &Measured| format!("{:.0} % at α = {}", 100.0 * m.euler_share(), m.alpha);
    let texts: Vec<String> = all.iter().map(share).collect();
    let worst = all.iter().map(|m| m.position_ks.max(m.velocity_ks)).fold(0.0, f64::max);
    let diverged: usize = all.iter().map(|m| m.diverged).sum();
    let practical = diverged == 0 && all.iter().all(Measured::agrees);
    Ok(vec![
        Claim::paper(
            "euler",
            "The Euler discretisation with the Gaussian kinetic energy does not yield a practical algorithm.",
            format!(
                "With Euler's scheme at η = {ETA}, {} of the chains diverge within 6,000 steps.",
                texts.join(", ")
            ),
            Judgement::of(all.iter().map(|m| (m.euler_share() > 0.5, format!("only {} diverge", share(m))))),
        ),
        Claim::paper(
            "theory",
            "FULD with the Gaussian kinetic energy is mostly of theoretical interest.",
            format!(
                "With the splitting scheme {diverged} of {} chains diverge; x and v are within {worst:.3} of e^(−f) and N(0, 1) in KS \
                 distance at all four α.",
                CHAINS * all.len()
            ),
            Judgement::new(
                Verdict::of(!practical),
                "a splitting scheme with the exact flow of the drift samples exp(−f) at every α without losing a chain",
            ),
        ),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scheme_that_loses_chains_is_theory() {
        let verdicts = |diverged: usize, euler_diverged: usize| {
            let measured = Measured {
                alpha: 1.5,
                position_ks: 0.004,
                position_ks_noise: 0.005,
                velocity_ks: 0.004,
                velocity_ks_noise: 0.005,
                largest_x: 3.0,
                diverged,
                euler_diverged,
            };
            let claims = claims(&Tables::default().with("summary", [measured]).unwrap()).unwrap();
            [claims[0].verdict, claims[1].verdict]
        };
        assert_eq!(verdicts(0, CHAINS), [Verdict::Holds, Verdict::Fails]);
        assert_eq!(verdicts(3, 0), [Verdict::Fails, Verdict::Holds]);
    }
}
