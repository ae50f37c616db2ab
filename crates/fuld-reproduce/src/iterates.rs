//! Figure 4: the iterates behind Figure 3, and the steps at which they diverge.

use crate::drawing::curve;
use crate::quartic::{ALPHAS, ETA, GAMMA, ITERATIONS, Length, euler_chains};
use crate::{CaptionedFigure, Claim, Context, Exhibit, Judgement, TextTable};
use fuld::SystemKind;
use fuld_plot::{Axis, Figure, Hue, Panel};

/// Steps at which stability is tried.
const STEPS: [f64; 4] = [0.01, 0.02, 0.05, 0.1];
/// Chains from which the typical one is drawn.
const PATHS: usize = 64;
/// Chains per step size.
const CHAINS: usize = 512;
/// `fuld sample` keeps at least four draws; divergence is noticed at every step.
const DRAWS: u64 = 10;

/// Systems, with their names and colours in figures.
const SYSTEMS: [(SystemKind, &str, Hue); 2] = [
    (SystemKind::Uncorrected, "uncorrected", Hue::Vermillion),
    (SystemKind::Fuld, "FULD", Hue::Blue),
];

results! {
    /// The iterates, and which step is too large.
    Fig4 {
        /// The farthest of ten successive iterates.
        iterates: Iterate { system: String, alpha: f64, k: u64, x: f64 },
        /// The median over chains of the largest |x|, of those chains that did not diverge.
        excursions: Excursion { system: String, alpha: f64, median: f64, kept: usize },
        stability: Stability { system: String, alpha: f64, step: f64, share_diverged: f64 },
    }
}

impl Exhibit for Fig4 {
    const ID: &'static str = "fig4";
    const TITLE: &'static str = "Figure 4 · Iterates, and which step is too large";
    const SHOWS: &'static str = "the iterates, and which step is too large";
    const SECONDS: f64 = 1.5;
    const VERSION: u32 = 2;

    settings! {
        alpha: ALPHAS, gamma: GAMMA, step: ETA, iterations: ITERATIONS,
        paths: PATHS, steps_tried: STEPS, chains_per_step_tried: CHAINS,
    }

    fn experiment(context: &Context<'_>) -> anyhow::Result<Self> {
        let mut results = Self::default();
        for alpha in ALPHAS {
            for (system, ..) in SYSTEMS {
                let length = Length { chains: PATHS, warmup: 0, draws: ITERATIONS, thin: 1 };
                let (draws, _) = context.sample(euler_chains(system, alpha, ETA, length))?;
                results.add_typical(system, alpha, &draws.coordinate(0));
            }
        }
        for (kind, ..) in SYSTEMS {
            for (alpha, step) in
                ALPHAS.into_iter().flat_map(|alpha| STEPS.map(|step| (alpha, step)))
            {
                let length =
                    Length { chains: CHAINS, warmup: 0, draws: DRAWS, thin: ITERATIONS / DRAWS };
                let (_, outcome) = context.sample(euler_chains(kind, alpha, step, length))?;
                let share_diverged = outcome.divergences.len() as f64 / CHAINS as f64;
                let system = kind.name().into();
                results.stability.push(Stability { system, alpha, step, share_diverged });
                context.progress(0.2 + 0.8 * results.stability.len() as f64 / 16.0);
            }
        }
        Ok(results)
    }

    fn text(&self) -> String {
        format!(
            "The iterates behind Figure 3: of {PATHS} chains the one with the median excursion, chains that diverged left out. The amplitude \
             is (γ/β)^(1/α) for both dynamics. Below, the share of {CHAINS} chains that diverged within 50,000 Euler steps of other sizes."
        )
    }

    fn figures(&self) -> Vec<CaptionedFigure> {
        let mut paths = Figure::new("fig4").panel_height(200.0);
        for alpha in ALPHAS {
            for (system, name, hue) in SYSTEMS {
                let is_meant = |i: &Iterate| i.system == system.name() && i.alpha == alpha;
                let path = curve(&self.iterates, is_meant, |i| (i.k as f64, i.x));
                let panel = Panel::new(format!("{name}, α = {alpha}"));
                paths = paths.panel(
                    panel.x(Axis::linear("k")).y(Axis::linear("x^{k}")).thin(hue, name, path),
                );
            }
        }
        let mut panel = Panel::new("")
            .x(Axis::log("step η").ticks(&STEPS))
            .y(Axis::linear("share diverged").range(-0.03, 1.03));
        for (system, name, hue) in SYSTEMS {
            for alpha in ALPHAS {
                let is_meant = |s: &Stability| s.system == system.name() && s.alpha == alpha;
                let points = curve(&self.stability, is_meant, |s| (s.step, s.share_diverged));
                let draw = if alpha == 1.0 { Panel::line } else { Panel::dashed };
                panel = panel.dots(hue, "", points.clone());
                panel = draw(panel, hue, format!("{name}, α = {alpha}"), points);
            }
        }
        let diverged = Figure::new("fig4-stability").columns(1).panel_height(240.0).panel(panel);
        let caption = "Share of chains that diverged within 50,000 steps, against the step size.";
        vec![
            CaptionedFigure::new(
                paths,
                "Iterates over K = 50,000 steps; note the vertical scales.",
            ),
            CaptionedFigure::new(diverged, caption),
        ]
    }

    fn shown(&self) -> Vec<TextTable> {
        let columns =
            std::iter::once("diverged at η =".to_owned()).chain(STEPS.map(|step| step.to_string()));
        let rows = self.stability.chunk_by(|a, b| a.system == b.system && a.alpha == b.alpha);
        let rows = rows.map(|row| {
            let name = format!("{}, α = {}", title(&row[0].system), row[0].alpha);
            let shares = row.iter().map(|s| format!("{:.1} %", 100.0 * s.share_diverged));
            std::iter::once(name).chain(shares)
        });
        vec![TextTable::new(columns, rows)]
    }

    fn claims(&self) -> Vec<Claim> {
        vec![self.range(), self.largest_step()]
    }
}

impl Fig4 {
    /// Adds the chain with the median excursion, of those that did not diverge.
    fn add_typical(&mut self, system: SystemKind, alpha: f64, draws: &[Vec<f64>]) {
        let system = || system.name().to_owned();
        let largest = |chain: &[f64]| chain.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        let whole = draws.iter().filter(|chain| chain.iter().all(|x| x.is_finite()));
        let mut whole: Vec<(f64, &Vec<f64>)> = whole.map(|chain| (largest(chain), chain)).collect();
        whole.sort_by(|a, b| a.0.total_cmp(&b.0));
        let typical = whole.get(whole.len() / 2);
        let median = typical.map_or(f64::NAN, |(largest, _)| *largest);
        self.excursions.push(Excursion { system: system(), alpha, median, kept: whole.len() });
        let path: Vec<(u64, f64)> = typical
            .map(|(_, chain)| (1..).zip(chain.iter().copied()).collect())
            .unwrap_or_default();
        let farthest = path
            .chunks(10)
            .filter_map(|ten| ten.iter().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs())));
        self.iterates.extend(farthest.map(|&(k, x)| Iterate { system: system(), alpha, k, x }));
    }

    fn range(&self) -> Claim {
        let of = |system: SystemKind, alpha: f64| {
            let found =
                self.excursions.iter().find(|e| e.system == system.name() && e.alpha == alpha);
            found.map_or((f64::NAN, 0), |e| (e.median, e.kept))
        };
        let ((heavy, kept), (light, _)) =
            (of(SystemKind::Uncorrected, 1.0), of(SystemKind::Uncorrected, 1.9));
        let ((fuld, _), (fuld_light, _)) = (of(SystemKind::Fuld, 1.0), of(SystemKind::Fuld, 1.9));
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
                    format!(
                        "the uncorrected iterates reach {heavy:.0} at α = 1, {light:.1} at 1.9"
                    ),
                ),
                (fuld < 5.0, format!("FULD's iterates reach {fuld:.1} at α = 1")),
                (fuld_light < 5.0, format!("FULD's iterates reach {fuld_light:.1} at α = 1.9")),
            ]),
        )
    }

    fn largest_step(&self) -> Claim {
        let [small, middle, large] = [0.01, 0.02, 0.05].map(|step| {
            let uncorrected = SystemKind::Uncorrected.name();
            let is_meant =
                |s: &&Stability| s.system == uncorrected && s.alpha == 1.0 && s.step == step;
            100.0 * self.stability.iter().find(is_meant).map_or(f64::NAN, |s| s.share_diverged)
        });
        let of_fuld = self.stability.iter().filter(|s| s.system == SystemKind::Fuld.name());
        let worst = 100.0 * of_fuld.map(|s| s.share_diverged).fold(0.0, f64::max);
        Claim::paper(
            "stability",
            "For small α the uncorrected dynamics diverges at slightly larger steps; FULD never did.",
            format!(
                "Uncorrected at α = 1, {small:.0} % of the chains diverge at η = 0.01, {middle:.0} % at 0.02, {large:.0} % at 0.05; for \
                 FULD at most {worst:.1} % up to η = 0.1."
            ),
            Judgement::of([
                (large > 50.0, "most uncorrected chains survive η = 0.05 at α = 1".to_owned()),
                (
                    worst == 0.0,
                    format!("{worst:.1} % of FULD's chains diverge at some step up to 0.1"),
                ),
            ]),
        )
    }
}

/// Returns the name of a system in figures and texts.
fn title(system: &str) -> &'static str {
    SYSTEMS.into_iter().find(|(kind, ..)| kind.name() == system).map_or("", |(_, title, _)| title)
}
