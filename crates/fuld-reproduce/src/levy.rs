//! Figure 1: densities of the stable law, their tails, and paths of Lévy motion.

use super::claim::{Claim, Judgement};
use super::context::Context;
use super::exhibit::{CaptionedFigure, Exhibit};
use super::specification::settings;
use super::table::Tables;
use fuld::diagnostics::Sample;
use fuld_plot::{Axis, Figure, Hue, Panel};
use levy_stable::SymmetricStable;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// The exhibit.
pub(crate) const EXHIBIT: Exhibit = Exhibit {
    id: "fig1",
    title: "Figure 1 · Stable densities and Lévy paths",
    shows: "stable densities and Lévy paths",
    seconds: 1.0,
    version: 1,
    trains: false,
    settings: |_| {
        settings([
            ("alpha", ALPHAS.to_vec().into()),
            ("path_steps", (STEPS as i64).into()),
            ("scaling_alpha", SCALING_ALPHAS.to_vec().into()),
            ("increments_per_sum", (BLOCK as i64).into()),
            ("sums", (BLOCKS as i64).into()),
        ])
    },
    experiment,
    text: |_| {
        Ok("The noise of the whole paper: SαS(σ), with characteristic function exp(−|σω|^α). At α = 2 it is Gaussian. \
            Below 2 its tails are powers, and the motion with such increments jumps."
            .into())
    },
    claims,
    figures,
    shown: |_| Ok(Vec::new()),
};

const ALPHAS: [f64; 4] = [2.0, 1.5, 1.0, 0.5];
/// Steps of a path over a time of 1.
const STEPS: usize = 10_000;
/// Increments in a sum when scaling is measured.
const BLOCK: usize = 64;
/// Number of such sums.
const BLOCKS: usize = 16_384;
const SCALING_ALPHAS: [f64; 3] = [1.9, 1.5, 1.0];

#[derive(Serialize, Deserialize)]
struct Density {
    alpha: f64,
    x: f64,
    pdf: f64,
}

#[derive(Serialize, Deserialize)]
struct Tail {
    alpha: f64,
    x: f64,
    sf: f64,
}

#[derive(Serialize, Deserialize)]
struct PathPoint {
    alpha: f64,
    t: f64,
    position: f64,
}

/// The tail of a law: ln P(X > x) falls by `exponent` per decade between 10⁷ and 10⁸.
#[derive(Serialize, Deserialize)]
struct TailExponent {
    alpha: f64,
    exponent: f64,
    sf_at_30: f64,
}

/// The largest relative error of the density on [0, 5], just beside a closed form.
#[derive(Serialize, Deserialize)]
struct ClosedForm {
    law: String,
    distance_in_alpha: f64,
    error: f64,
}

/// The growth of the quartiles of sums of increments.
#[derive(Serialize, Deserialize)]
struct Scaling {
    alpha: f64,
    exponent: f64,
    standard_error: f64,
}

fn experiment(context: &Context<'_>) -> anyhow::Result<Tables> {
    let (mut densities, mut tails, mut exponents, mut paths) = (vec![], vec![], vec![], vec![]);
    for (number, alpha) in (0..).zip(ALPHAS) {
        let law = SymmetricStable::new(alpha)?;
        let points = (-300..=300).map(|i| f64::from(i) / 50.0);
        densities.extend(points.map(|x| Density { alpha, x, pdf: law.pdf(x) }));
        let points = (0..=250).map(|i| 10f64.powf(-1.0 + f64::from(i) / 50.0));
        tails.extend(points.map(|x| Tail { alpha, x, sf: law.sf(x) }));
        let exponent = (law.sf(1e7) / law.sf(1e8)).log10();
        exponents.push(TailExponent { alpha, exponent, sf_at_30: law.sf(30.0) });
        paths.extend(path(context, alpha, number)?);
    }
    Ok(Tables::default()
        .with("densities", densities)?
        .with("tails", tails)?
        .with("paths", paths)?
        .with("tail_exponents", exponents)?
        .with("closed_forms", closed_forms()?)?
        .with("scaling", scaling(context)?)?)
}

fn path(context: &Context<'_>, alpha: f64, number: u64) -> anyhow::Result<Vec<PathPoint>> {
    let dt = 1.0 / STEPS as f64;
    let scale = dt.powf(1.0 / alpha);
    let mut position = 0.0;
    let mut path = vec![PathPoint { alpha, t: 0.0, position }];
    for (k, xi) in context.noise(alpha, number, STEPS)?.into_iter().enumerate() {
        position += scale * xi;
        path.push(PathPoint { alpha, t: (k + 1) as f64 * dt, position });
    }
    Ok(path)
}

/// Compares the general formula with the closed forms, a little beside them: there it must join them.
fn closed_forms() -> anyhow::Result<Vec<ClosedForm>> {
    let cauchy: fn(f64) -> f64 = |x| 1.0 / (PI * (1.0 + x * x));
    let gauss: fn(f64) -> f64 = |x| (-0.25 * x * x).exp() / (4.0 * PI).sqrt();
    let mut all = Vec::new();
    for (name, alpha, offset, exact) in [("Cauchy", 1.0, 1e-12, cauchy), ("Gauss", 2.0, -1e-14, gauss)] {
        let law = SymmetricStable::new(alpha + offset)?;
        let points = (0..=500).map(|i| f64::from(i) / 100.0);
        let error = points.map(|x| (law.pdf(x) / exact(x) - 1.0).abs()).fold(0.0, f64::max);
        all.push(ClosedForm { law: name.into(), distance_in_alpha: offset, error });
    }
    Ok(all)
}

/// Compares the quartiles of sums of n increments with those of single ones: they grow by n^(1/α).
fn scaling(context: &Context<'_>) -> anyhow::Result<Vec<Scaling>> {
    let mut all = Vec::new();
    for (number, alpha) in (100..).zip(SCALING_ALPHAS) {
        let draws = context.noise(alpha, number, BLOCK * BLOCKS)?;
        let sums: Vec<f64> = draws.chunks_exact(BLOCK).map(|block| block.iter().sum()).collect();
        let spread = |numbers: Vec<f64>| -> anyhow::Result<f64> {
            let sample = Sample::new(numbers)?;
            Ok(sample.quantile(0.75)? - sample.quantile(0.25)?)
        };
        let exponent = (spread(sums)? / spread(draws)?).ln() / (BLOCK as f64).ln();
        // The standard error of a quartile of n draws is about 1.2/√n of the interquartile range.
        let standard_error = 1.7 / (BLOCKS as f64).sqrt() / (BLOCK as f64).ln();
        all.push(Scaling { alpha, exponent, standard_error });
    }
    Ok(all)
}

fn figures(tables: &Tables) -> anyhow::Result<Vec<CaptionedFigure>> {
    let (densities, tails): (Vec<Density>, Vec<Tail>) = (tables.rows("densities")?, tables.rows("tails")?);
    let paths: Vec<PathPoint> = tables.rows("paths")?;
    let mut left =
        Panel::new("density of SαS(1)").x(Axis::linear("x").range(-6.0, 6.0)).y(Axis::linear("density"));
    let mut right = Panel::new("tail P(X > x)")
        .x(Axis::log("x").range(0.1, 1e4))
        .y(Axis::log("probability").range(1e-8, 1.0));
    for alpha in ALPHAS {
        let (hue, label) = (Hue::alpha(alpha), format!("α = {alpha}"));
        let curve = densities.iter().filter(|p| p.alpha == alpha).map(|p| (p.x, p.pdf)).collect();
        left = left.line(hue, label.clone(), curve);
        right =
            right.line(hue, label, tails.iter().filter(|p| p.alpha == alpha).map(|p| (p.x, p.sf)).collect());
    }
    let mut figure = Figure::new("fig1").panel(left).panel(right);
    for alpha in ALPHAS {
        let path = paths.iter().filter(|p| p.alpha == alpha).map(|p| (p.t, p.position)).collect();
        let panel = Panel::new(format!("a path of Lévy motion, α = {alpha}"))
            .x(Axis::linear("t"))
            .y(Axis::linear("L_{t}"));
        figure = figure.panel(panel.thin(Hue::alpha(alpha), format!("α = {alpha}"), path));
    }
    let caption = "Above: densities and tails at scale 1. Below: one path for each α, over 10,000 steps.";
    Ok(vec![CaptionedFigure::new(figure, caption)])
}

fn claims(tables: &Tables) -> anyhow::Result<Vec<Claim>> {
    let exponents: Vec<TailExponent> = tables.rows("tail_exponents")?;
    let closed_forms: Vec<ClosedForm> = tables.rows("closed_forms")?;
    let scaling: Vec<Scaling> = tables.rows("scaling")?;
    Ok(vec![tail_claim(&exponents), closed_form_claim(&closed_forms), scaling_claim(&scaling)])
}

fn tail_claim(all: &[TailExponent]) -> Claim {
    let (gauss, powers): (Vec<_>, Vec<_>) = all.iter().partition(|tail| tail.alpha == 2.0);
    let texts: Vec<String> =
        powers.iter().map(|tail| format!("{:.3} at α = {}", tail.exponent, tail.alpha)).collect();
    let sf = gauss.first().map_or(f64::NAN, |tail| tail.sf_at_30);
    let power_checks = powers.iter().map(|tail| {
        let why = format!("at α = {} the tail falls with the power {:.3}", tail.alpha, tail.exponent);
        ((tail.exponent - tail.alpha).abs() < 0.01, why)
    });
    let checks = power_checks.chain([(sf < 1e-90, "the tail at α = 2 is not Gaussian".to_owned())]);
    Claim::paper(
        "tails",
        "Tails get heavier as α gets smaller; α = 2 is Gaussian.",
        format!(
            "P(X > x) falls with the power {} of 1/x. At α = 2, P(X > 30) = {sf:.1e}: faster than any power.",
            texts.join(", ")
        ),
        Judgement::of(checks),
    )
}

fn closed_form_claim(all: &[ClosedForm]) -> Claim {
    let error = |law: &str| all.iter().find(|form| form.law == law).map_or(f64::NAN, |form| form.error);
    let (cauchy, gauss) = (error("Cauchy"), error("Gauss"));
    Claim::paper(
        "closed-forms",
        "α = 2 gives N(0, 2σ²); α = 1 is the Cauchy law.",
        format!(
            "The general formula, evaluated just beside them: at α = 1 + 10⁻¹² it is within {cauchy:.0e} of the Cauchy density, at \
             α = 2 − 10⁻¹⁴ within {gauss:.0e} of the Gaussian one, on [0, 5]."
        ),
        // Farther out the power tail, with weight 2 − α, exceeds the Gaussian one.
        Judgement::of([
            (cauchy < 1e-10, format!("the density beside α = 1 is {cauchy:.0e} off the Cauchy density")),
            (gauss < 1e-10, format!("the density beside α = 2 is {gauss:.0e} off the Gaussian density")),
        ]),
    )
}

fn scaling_claim(all: &[Scaling]) -> Claim {
    let text = |s: &Scaling| format!("{:.3} at α = {} (1/α = {:.3})", s.exponent, s.alpha, 1.0 / s.alpha);
    let texts: Vec<String> = all.iter().map(text).collect();
    Claim::paper(
        "scaling",
        "Increments over a time t − s have the law SαS((t − s)^(1/α)).",
        format!("The quartiles of sums of {BLOCK} increments grow with the exponent {}.", texts.join(", ")),
        Judgement::of(all.iter().map(|s| {
            let holds = (s.exponent - 1.0 / s.alpha).abs() < 4.0 * s.standard_error;
            (holds, format!("at α = {} the exponent is {:.3}, not 1/α", s.alpha, s.exponent))
        })),
    )
}
