//! Figure 4: the iterates behind Figure 3, and the steps at which they diverge.

use super::claim::{Claim, Verdict};
use super::exhibit::{Exhibit, Table};
use super::lab::Lab;
use super::quartic::{ALPHAS, Dynamics, ETA, ITERATIONS, corrected, settings, uncorrected, well};
use fuld::{Integrator, Run, Schedule};
use fuld_plot::{Axis, Figure, Hue, Panel};

/// Steps at which stability is tried.
const STEPS: [f64; 4] = [0.01, 0.02, 0.05, 0.1];
const PATHS: usize = 64;

/// Makes Figure 4.
pub(super) fn make(lab: &Lab) -> anyhow::Result<Exhibit> {
    let names: [(&str, Dynamics, Hue); 2] =
        [("UD", uncorrected, Hue::Vermillion), ("FULD", corrected, Hue::Blue)];
    let mut figure = Figure::new("fig4").panel_height(200.0);
    let mut data = Table::new("iterates", &["dynamics", "alpha", "k", "x"]);
    let mut ranges = Vec::new();
    for alpha in ALPHAS {
        for (name, dynamics, hue) in names {
            let run = Run::new(dynamics(alpha)?, Integrator::Euler, Schedule::constant(ETA)?);
            let run = Run { chains: PATHS, warmup: 0, draws: ITERATIONS, thin: 1, ..run };
            let (samples, _) = lab.run(run, &well()?)?;
            let draws = samples.coordinate(0);
            let whole: Vec<&Vec<f64>> =
                draws.iter().filter(|chain| chain.iter().all(|x| x.is_finite())).collect();
            let mut largest: Vec<f64> =
                whole.iter().map(|chain| chain.iter().fold(0.0, |m: f64, x| m.max(x.abs()))).collect();
            largest.sort_by(f64::total_cmp);
            // A typical one: the chain whose largest excursion is the median of all.
            let median = largest.get(largest.len() / 2).copied().unwrap_or(f64::NAN);
            let typical = whole.iter().find(|chain| chain.iter().any(|x| x.abs() == median));
            let path: Vec<(f64, f64)> = typical
                .map(|chain| chain.iter().zip(1..).map(|(&x, k)| (f64::from(k), x)).collect())
                .unwrap_or_default();
            path.iter()
                .step_by(10)
                .for_each(|(k, x)| data.row([name.into(), alpha.to_string(), k.to_string(), x.to_string()]));
            let label = if name == "UD" { "uncorrected dynamics" } else { name };
            let panel =
                Panel::new(format!("{name}, α = {alpha}")).x(Axis::linear("k")).y(Axis::linear("x^{k}"));
            figure = figure.panel(panel.thin(hue, label, path));
            ranges.push(Range { alpha, name, median, kept: whole.len() });
        }
    }
    let (stability, diverged) = stability(lab, &names)?;
    let mut settings = settings();
    settings.insert("paths".into(), (PATHS as i64).into());
    settings.insert("steps_tried".into(), STEPS.to_vec().into());
    Ok(Exhibit {
        id: "fig4",
        title: "Figure 4 · Iterates, and which step is too large".into(),
        text: format!(
            "The iterates behind Figure 3: of {PATHS} chains the one with the median excursion (chains that diverged have none), with the amplitude (γ/β)^(1/α) for both dynamics. Below, the share \
             of 512 chains that are gone after 50,000 Euler steps of other sizes."
        ),
        figures: vec![
            (figure, "Iterates over K = 50,000 steps; note the vertical scales.".into()),
            (stability, "Share of chains that diverged within 50,000 steps, against the step size.".into()),
        ],
        data: vec![data, diverged.table()],
        tables: vec![diverged.table()],
        settings,
        claims: claims(&ranges, &diverged),
    })
}

/// How far chains go.
struct Range {
    alpha: f64,
    name: &'static str,
    /// Of the largest |x| of each chain.
    median: f64,
    kept: usize,
}

/// Shares of chains that diverged: dynamics, α, and one number for each step.
struct Diverged(Vec<(&'static str, f64, [f64; STEPS.len()])>);

impl Diverged {
    fn table(&self) -> Table {
        let columns: Vec<String> =
            std::iter::once("diverged at η =".into()).chain(STEPS.iter().map(ToString::to_string)).collect();
        let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
        let mut table = Table::new("diverged", &columns);
        for (name, alpha, shares) in &self.0 {
            let [a, b, c, d] = shares.map(|share| format!("{:.1} %", 100.0 * share));
            table.row([format!("{name}, α = {alpha}"), a, b, c, d]);
        }
        table
    }
}

fn stability(lab: &Lab, names: &[(&'static str, Dynamics, Hue); 2]) -> anyhow::Result<(Figure, Diverged)> {
    let mut all = Vec::new();
    let mut panel = Panel::new("")
        .x(Axis::log("step η").ticks(&STEPS))
        .y(Axis::linear("share diverged").range(-0.03, 1.03));
    for &(name, dynamics, hue) in names {
        for alpha in ALPHAS {
            let mut shares = [0.0; STEPS.len()];
            for (share, eta) in shares.iter_mut().zip(STEPS) {
                let run = Run::new(dynamics(alpha)?, Integrator::Euler, Schedule::constant(eta)?);
                let run = Run { chains: 512, warmup: 0, draws: 1, thin: ITERATIONS, ..run };
                *share = lab.run(run, &well()?)?.1.divergences.len() as f64 / 512.0;
            }
            let points: Vec<(f64, f64)> = STEPS.into_iter().zip(shares).collect();
            let label = format!("{name}, α = {alpha}");
            panel = panel.dots(hue, "", points.clone());
            panel =
                if alpha == 1.0 { panel.line(hue, label, points) } else { panel.dashed(hue, label, points) };
            all.push((name, alpha, shares));
        }
    }
    Ok((Figure::new("fig4-stability").columns(1).panel_height(240.0).panel(panel), Diverged(all)))
}

fn claims(ranges: &[Range], diverged: &Diverged) -> Vec<Claim> {
    let range = |name: &str, alpha: f64| {
        ranges
            .iter()
            .find(|r| r.name == name && r.alpha == alpha)
            .map_or((f64::NAN, 0), |r| (r.median, r.kept))
    };
    let ((ud, kept), (ud_light, _)) = (range("UD", 1.0), range("UD", 1.9));
    let ((fuld, _), (fuld_light, _)) = (range("FULD", 1.0), range("FULD", 1.9));
    let shares = |name: &str, alpha: f64| {
        diverged.0.iter().find(|d| d.0 == name && d.1 == alpha).map_or([f64::NAN; STEPS.len()], |d| d.2)
    };
    let (heavy, corrected) = (shares("UD", 1.0), [shares("FULD", 1.0), shares("FULD", 1.9)]);
    let worst = corrected.iter().flatten().copied().fold(0.0, f64::max);
    vec![
        Claim::new(
            "The iterates of the uncorrected dynamics are well-behaved at α = 1.9 but range far at α = 1; FULD's are kept in a reasonable range at both.",
            format!(
                "Median of the largest |x| in 50,000 steps: UD {ud_light:.1} at α = 1.9, {ud:.0} at α = 1 (of the {kept} of {PATHS} chains that did not \
                 diverge); FULD {fuld_light:.1} and {fuld:.1}."
            ),
            Verdict::of_all([ud > 3.0 * ud_light, fuld < 5.0, fuld_light < 5.0]),
        ),
        Claim::new(
            "For small α the uncorrected dynamics diverges at slightly larger steps; FULD never did.",
            format!(
                "UD at α = 1 loses {:.0} % of its chains at η = 0.01, {:.0} % at 0.02, {:.0} % at 0.05; FULD at most {:.1} % up to η = 0.1.",
                100.0 * heavy[0],
                100.0 * heavy[1],
                100.0 * heavy[2],
                100.0 * worst
            ),
            Verdict::of_all([heavy[2] > 0.5, worst == 0.0]),
        ),
    ]
}
