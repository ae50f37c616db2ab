//! Figure 1: densities of the stable law, their tails, and paths of Lévy motion.

use super::claim::{Claim, Verdict};
use super::exhibit::{Exhibit, Table};
use super::lab::Lab;
use fuld::diagnostics::Sample;
use fuld_plot::{Axis, Figure, Hue, Panel};
use levy_stable::SymmetricStable;
use std::f64::consts::PI;

const ALPHAS: [f64; 4] = [2.0, 1.5, 1.0, 0.5];
/// Of a path, over a time of 1.
const STEPS: usize = 10_000;
/// Increments that are summed when scaling is measured, and how many sums there are.
const BLOCK: usize = 64;
const BLOCKS: usize = 16_384;

/// Makes the exhibit.
pub(super) fn make(lab: &Lab) -> anyhow::Result<Exhibit> {
    let laws = ALPHAS.map(SymmetricStable::new).into_iter().collect::<Result<Vec<_>, _>>()?;
    let label = |alpha: f64| format!("α = {alpha}");
    let mut densities =
        Panel::new("density of SαS(1)").x(Axis::linear("x").range(-6.0, 6.0)).y(Axis::linear("density"));
    let mut tails = Panel::new("tail P(X > x)")
        .x(Axis::log("x").range(0.1, 1e4))
        .y(Axis::log("probability").range(1e-8, 1.0));
    let mut density_data = Table::new("densities", &["alpha", "x", "pdf"]);
    let mut tail_data = Table::new("tails", &["alpha", "x", "sf"]);
    for law in &laws {
        let (alpha, hue) = (law.alpha(), Hue::alpha(law.alpha()));
        let curve: Vec<(f64, f64)> =
            (-300..=300).map(|i| f64::from(i) / 50.0).map(|x| (x, law.pdf(x))).collect();
        curve.iter().for_each(|&(x, y)| density_data.numbers(alpha.to_string(), &[x, y]));
        densities = densities.line(hue, label(alpha), curve);
        let tail: Vec<(f64, f64)> =
            (0..=250).map(|i| 10f64.powf(-1.0 + f64::from(i) / 50.0)).map(|x| (x, law.sf(x))).collect();
        tail.iter().for_each(|&(x, y)| tail_data.numbers(alpha.to_string(), &[x, y]));
        tails = tails.line(hue, label(alpha), tail);
    }
    let mut figure = Figure::new("fig1").panel(densities).panel(tails);
    let mut path_data = Table::new("paths", &["alpha", "t", "L"]);
    for (i, alpha) in ALPHAS.into_iter().enumerate() {
        let path = path(lab, alpha, i as u64)?;
        path.iter().for_each(|&(t, x)| path_data.numbers(alpha.to_string(), &[t, x]));
        let panel = Panel::new(format!("a path of Lévy motion, α = {alpha}"))
            .x(Axis::linear("t"))
            .y(Axis::linear("L_{t}"));
        figure = figure.panel(panel.thin(Hue::alpha(alpha), label(alpha), path));
    }

    let mut settings = toml::Table::new();
    settings.insert("alpha".into(), ALPHAS.to_vec().into());
    settings.insert("steps".into(), (STEPS as i64).into());
    settings.insert("scaling_block".into(), (BLOCK as i64).into());
    settings.insert("scaling_blocks".into(), (BLOCKS as i64).into());
    Ok(Exhibit {
        id: "fig1",
        title: "Figure 1 · Stable densities and Lévy paths".into(),
        text: "The noise everything is about: SαS(σ), with characteristic function exp(−|σω|^α). At α = 2 it is Gaussian; \
               below, its tails are powers, and the motion with such increments jumps."
            .into(),
        figures: vec![(figure, "Above: densities and tails at scale 1. Below: one path for each α, over 10,000 steps.".into())],
        data: vec![density_data, tail_data, path_data],
        tables: Vec::new(),
        settings,
        claims: vec![tail_claim(&laws), closed_forms(), scaling(lab)?],
    })
}

fn path(lab: &Lab, alpha: f64, number: u64) -> anyhow::Result<Vec<(f64, f64)>> {
    let dt = 1.0 / STEPS as f64;
    let scale = dt.powf(1.0 / alpha);
    let mut at = 0.0;
    let mut path = vec![(0.0, 0.0)];
    for (k, xi) in lab.noise(alpha, number, STEPS)?.into_iter().enumerate() {
        at += scale * xi;
        path.push(((k + 1) as f64 * dt, at));
    }
    Ok(path)
}

/// The exponent of the tail, from the slope of ln P(X > x) over a decade far out.
fn tail_claim(laws: &[SymmetricStable]) -> Claim {
    let exponents: Vec<(f64, f64)> = laws
        .iter()
        .filter(|law| law.alpha() < 2.0)
        .map(|law| (law.alpha(), (law.sf(1e7) / law.sf(1e8)).log10()))
        .collect();
    let texts: Vec<String> =
        exponents.iter().map(|(alpha, slope)| format!("{slope:.3} at α = {alpha}")).collect();
    let right = exponents.iter().map(|(alpha, slope)| (slope - alpha).abs() < 0.01);
    let gauss = laws[0].sf(30.0);
    Claim::new(
        "Tails get heavier as α gets smaller; α = 2 is Gaussian.",
        format!(
            "P(X > x) falls as the power {} of 1/x; at α = 2 P(X > 30) = {gauss:.1e}, no power at all.",
            texts.join(", ")
        ),
        Verdict::of_all(right.chain([gauss < 1e-90])),
    )
}

/// The largest relative error against the two closed forms.
fn closed_forms() -> Claim {
    let error = |alpha: f64, exact: fn(f64) -> f64| {
        // Beside, not at, the closed form: there the general formula must join it.
        let law = SymmetricStable::new(alpha).map_err(|_| ());
        law.map_or(f64::NAN, |law| {
            (0..=500)
                .map(|i| f64::from(i) / 100.0)
                .map(|x| (law.pdf(x) / exact(x) - 1.0).abs())
                .fold(0.0, f64::max)
        })
    };
    let cauchy = error(1.0 + 1e-12, |x| 1.0 / (PI * (1.0 + x * x)));
    let gauss = error(2.0 - 1e-14, |x| (-0.25 * x * x).exp() / (4.0 * PI).sqrt());
    Claim::new(
        "α = 2 gives N(0, 2σ²); α = 1 is the Cauchy law.",
        format!(
            "The general formula, a hair beside them: at α = 1 + 10⁻¹² within {cauchy:.0e} of Cauchy, at α = 2 − 10⁻¹⁴ \
             within {gauss:.0e} of Gauss, on [0, 5]."
        ),
        // Farther out the power tail, of weight 2 − α, is felt beside the Gaussian.
        Verdict::of_all([cauchy < 1e-10, gauss < 1e-10]),
    )
}

/// Sums of n increments against single ones: their quartiles grow by n^(1/α).
fn scaling(lab: &Lab) -> anyhow::Result<Claim> {
    let (mut texts, mut right) = (Vec::new(), Vec::new());
    for (i, alpha) in [1.9, 1.5, 1.0].into_iter().enumerate() {
        let draws = lab.noise(alpha, 100 + i as u64, BLOCK * BLOCKS)?;
        let sums: Vec<f64> = draws.chunks_exact(BLOCK).map(|block| block.iter().sum()).collect();
        let spread = |numbers: Vec<f64>| -> anyhow::Result<f64> {
            let sample = Sample::new(numbers)?;
            Ok(sample.quantile(0.75)? - sample.quantile(0.25)?)
        };
        let exponent = (spread(sums)? / spread(draws)?).ln() / (BLOCK as f64).ln();
        // A quartile of n draws is known to about 1.2/√n of the interquartile range.
        let error = 1.7 / (BLOCKS as f64).sqrt() / (BLOCK as f64).ln();
        texts.push(format!("{exponent:.3} at α = {alpha} (1/α = {:.3})", 1.0 / alpha));
        right.push((exponent - 1.0 / alpha).abs() < 4.0 * error);
    }
    Ok(Claim::new(
        "Increments over a time t − s have the law SαS((t − s)^(1/α)).",
        format!("The quartiles of sums of {BLOCK} increments grow with the exponent {}.", texts.join(", ")),
        Verdict::of_all(right),
    ))
}
