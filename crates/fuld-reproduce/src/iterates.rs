//! Figure 4: the iterates behind Figure 3, and the steps at which they diverge.

use super::claim::{Claim, Judgement};
use super::context::Context;
use super::exhibit::{CaptionedFigure, Exhibit, TextTable};
use super::quartic::{ALPHAS, ETA, GAMMA, ITERATIONS, euler_chains};
use super::specification::settings;
use super::table::Tables;
use fuld::SystemKind;
use fuld_plot::{Axis, Figure, Hue, Panel};
use fuld_sample::SampleRequest;
use serde::{Deserialize, Serialize};

/// The exhibit.
pub(crate) const EXHIBIT: Exhibit = Exhibit {
    id: "fig4",
    title: "Figure 4 · Iterates, and which step is too large",
    shows: "the iterates, and which step is too large",
    seconds: 5.0,
    version: 1,
    trains: false,
    settings: |_| {
        settings([
            ("alpha", ALPHAS.to_vec().into()),
            ("gamma", GAMMA.into()),
            ("step", ETA.into()),
            ("iterations", (ITERATIONS as i64).into()),
            ("paths", (PATHS as i64).into()),
            ("steps_tried", STEPS.to_vec().into()),
            ("chains_per_step_tried", (CHAINS as i64).into()),
        ])
    },
    experiment,
    text: |_| {
        Ok(format!(
            "The iterates behind Figure 3: of {PATHS} chains the one with the median excursion, chains that diverged left out. The amplitude \
             is (γ/β)^(1/α) for both dynamics. Below, the share of {CHAINS} chains that diverged within 50,000 Euler steps of other sizes."
        ))
    },
    claims,
    figures,
    shown,
};

/// Steps at which stability is tried.
const STEPS: [f64; 4] = [0.01, 0.02, 0.05, 0.1];
/// Chains of which the typical one is drawn.
const PATHS: usize = 64;
/// Chains per step size.
const CHAINS: usize = 512;
/// `fuld sample` keeps at least four draws; divergence is noticed at every step.
const DRAWS: u64 = 10;

const SYSTEMS: [(&str, SystemKind, Hue); 2] =
    [("uncorrected", SystemKind::Uncorrected, Hue::Vermillion), ("FULD", SystemKind::Fuld, Hue::Blue)];

/// The farthest of ten successive iterates.
#[derive(Serialize, Deserialize)]
struct Iterate {
    dynamics: String,
    alpha: f64,
    k: u64,
    x: f64,
}

/// How far the chains of a dynamics go.
#[derive(Serialize, Deserialize)]
struct Excursion {
    dynamics: String,
    alpha: f64,
    /// The median over chains of the largest |x|.
    median: f64,
    /// Chains that did not diverge.
    kept: usize,
}

#[derive(Serialize, Deserialize)]
struct Stability {
    dynamics: String,
    alpha: f64,
    step: f64,
    share_diverged: f64,
}

fn experiment(context: &Context<'_>) -> anyhow::Result<Tables> {
    let (mut iterates, mut excursions, mut stability) = (Vec::new(), Vec::new(), Vec::new());
    for alpha in ALPHAS {
        for (name, system, _) in SYSTEMS {
            let request = SampleRequest {
                chains: Some(PATHS),
                warmup: Some(0),
                draws: Some(ITERATIONS),
                thin: Some(1),
                ..euler_chains(system, alpha, ETA)
            };
            let draws = context.sample(request)?.0.coordinate(0);
            let largest = |chain: &[f64]| chain.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
            let whole = draws.iter().filter(|chain| chain.iter().all(|x| x.is_finite()));
            let mut whole: Vec<(f64, &Vec<f64>)> = whole.map(|chain| (largest(chain), chain)).collect();
            whole.sort_by(|a, b| a.0.total_cmp(&b.0));
            let typical = whole.get(whole.len() / 2);
            let median = typical.map_or(f64::NAN, |(largest, _)| *largest);
            excursions.push(Excursion { dynamics: name.into(), alpha, median, kept: whole.len() });
            let path: Vec<(u64, f64)> =
                typical.map(|(_, chain)| (1..).zip(chain.iter().copied()).collect()).unwrap_or_default();
            let farthest =
                path.chunks(10).filter_map(|ten| ten.iter().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs())));
            iterates.extend(farthest.map(|&(k, x)| Iterate { dynamics: name.into(), alpha, k, x }));
        }
    }
    for (name, system, _) in SYSTEMS {
        for alpha in ALPHAS {
            for step in STEPS {
                let request = SampleRequest {
                    chains: Some(CHAINS),
                    warmup: Some(0),
                    draws: Some(DRAWS),
                    thin: Some(ITERATIONS / DRAWS),
                    ..euler_chains(system, alpha, step)
                };
                let diverged = context.sample(request)?.1.divergences.len();
                let share_diverged = diverged as f64 / CHAINS as f64;
                stability.push(Stability { dynamics: name.into(), alpha, step, share_diverged });
                context.progress(0.2 + 0.8 * stability.len() as f64 / 16.0);
            }
        }
    }
    Ok(Tables::default()
        .with("iterates", iterates)?
        .with("excursions", excursions)?
        .with("stability", stability)?)
}

fn figures(tables: &Tables) -> anyhow::Result<Vec<CaptionedFigure>> {
    let (iterates, stability): (Vec<Iterate>, Vec<Stability>) =
        (tables.rows("iterates")?, tables.rows("stability")?);
    let mut paths = Figure::new("fig4").panel_height(200.0);
    for alpha in ALPHAS {
        for (name, _, hue) in SYSTEMS {
            let path = iterates.iter().filter(|i| i.dynamics == name && i.alpha == alpha);
            let panel =
                Panel::new(format!("{name}, α = {alpha}")).x(Axis::linear("k")).y(Axis::linear("x^{k}"));
            paths = paths.panel(panel.thin(hue, name, path.map(|i| (i.k as f64, i.x)).collect()));
        }
    }
    let mut panel = Panel::new("")
        .x(Axis::log("step η").ticks(&STEPS))
        .y(Axis::linear("share diverged").range(-0.03, 1.03));
    for (name, _, hue) in SYSTEMS {
        for alpha in ALPHAS {
            let of = stability.iter().filter(|s| s.dynamics == name && s.alpha == alpha);
            let points: Vec<(f64, f64)> = of.map(|s| (s.step, s.share_diverged)).collect();
            let label = format!("{name}, α = {alpha}");
            panel = panel.dots(hue, "", points.clone());
            panel =
                if alpha == 1.0 { panel.line(hue, label, points) } else { panel.dashed(hue, label, points) };
        }
    }
    let diverged = Figure::new("fig4-stability").columns(1).panel_height(240.0).panel(panel);
    Ok(vec![
        CaptionedFigure::new(paths, "Iterates over K = 50,000 steps; note the vertical scales."),
        CaptionedFigure::new(
            diverged,
            "Share of chains that diverged within 50,000 steps, against the step size.",
        ),
    ])
}

fn shown(tables: &Tables) -> anyhow::Result<Vec<TextTable>> {
    let stability: Vec<Stability> = tables.rows("stability")?;
    let columns = std::iter::once("diverged at η =".to_owned()).chain(STEPS.map(|step| step.to_string()));
    let rows = stability.chunk_by(|a, b| a.dynamics == b.dynamics && a.alpha == b.alpha);
    Ok(vec![rows.fold(TextTable::new(columns), |table, row| {
        let name = format!("{}, α = {}", row[0].dynamics, row[0].alpha);
        let shares = row.iter().map(|s| format!("{:.1} %", 100.0 * s.share_diverged));
        table.row(std::iter::once(name).chain(shares))
    })])
}

fn claims(tables: &Tables) -> anyhow::Result<Vec<Claim>> {
    let (excursions, stability): (Vec<Excursion>, Vec<Stability>) =
        (tables.rows("excursions")?, tables.rows("stability")?);
    Ok(vec![excursion_claim(&excursions), stability_claim(&stability)])
}

fn excursion_claim(all: &[Excursion]) -> Claim {
    let of = |dynamics: &str, alpha: f64| {
        let found = all.iter().find(|e| e.dynamics == dynamics && e.alpha == alpha);
        found.map_or((f64::NAN, 0), |e| (e.median, e.kept))
    };
    let ((heavy, kept), (light, _)) = (of("uncorrected", 1.0), of("uncorrected", 1.9));
    let ((fuld, _), (fuld_light, _)) = (of("FULD", 1.0), of("FULD", 1.9));
    Claim::paper(
        "range",
        "The iterates of the uncorrected dynamics are well-behaved at α = 1.9 but range far at α = 1; FULD's are kept in a reasonable \
         range at both.",
        format!(
            "Median of the largest |x| in 50,000 steps: uncorrected {light:.1} at α = 1.9 and {heavy:.0} at α = 1, over the {kept} of \
             {PATHS} chains that did not diverge; FULD {fuld_light:.1} and {fuld:.1}."
        ),
        Judgement::of([
            (
                heavy > 3.0 * light,
                format!("the uncorrected iterates reach {heavy:.0} at α = 1, {light:.1} at 1.9"),
            ),
            (fuld < 5.0, format!("FULD's iterates reach {fuld:.1} at α = 1")),
            (fuld_light < 5.0, format!("FULD's iterates reach {fuld_light:.1} at α = 1.9")),
        ]),
    )
}

fn stability_claim(all: &[Stability]) -> Claim {
    let uncorrected = |step: f64| {
        let is_it = |s: &&Stability| s.dynamics == "uncorrected" && s.alpha == 1.0 && s.step == step;
        100.0 * all.iter().find(is_it).map_or(f64::NAN, |s| s.share_diverged)
    };
    let of_fuld = all.iter().filter(|s| s.dynamics == "FULD");
    let worst = 100.0 * of_fuld.map(|s| s.share_diverged).fold(0.0, f64::max);
    Claim::paper(
        "stability",
        "For small α the uncorrected dynamics diverges at slightly larger steps; FULD never did.",
        format!(
            "Uncorrected at α = 1, {:.0} % of the chains diverge at η = 0.01, {:.0} % at 0.02, {:.0} % at 0.05; for FULD at most \
             {worst:.1} % up to η = 0.1.",
            uncorrected(0.01),
            uncorrected(0.02),
            uncorrected(0.05)
        ),
        Judgement::of([
            (uncorrected(0.05) > 50.0, "most uncorrected chains survive η = 0.05 at α = 1".to_owned()),
            (worst == 0.0, format!("{worst:.1} % of FULD's chains diverge at some step up to 0.1")),
        ]),
    )
}
