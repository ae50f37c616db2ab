//! Figure 1: densities of the stable law, their tails, and paths of Lévy motion.

use crate::drawing::by_alpha;
use crate::{CaptionedFigure, Claim, Context, Exhibit, Judgement, list};
use fuld::diagnostics::Sample;
use fuld_plot::{Axis, Figure, Panel};
use levy_stable::SymmetricStable;
use std::f64::consts::PI;

const ALPHAS: [f64; 4] = [2.0, 1.5, 1.0, 0.5];
/// Steps of a path over a time of 1.
const STEPS: usize = 10_000;
/// Increments in a sum when scaling is measured.
const BLOCK: usize = 64;
/// Number of such sums.
const BLOCKS: usize = 16_384;
const SCALING_ALPHAS: [f64; 3] = [1.9, 1.5, 1.0];

results! {
    /// Stable densities and Lévy paths.
    Fig1 {
        densities: Density { alpha: f64, x: f64, pdf: f64 },
        tails: Tail { alpha: f64, x: f64, sf: f64 },
        paths: PathPoint { alpha: f64, t: f64, position: f64 },
        /// The tail of a law: ln P(X > x) falls by `exponent` per decade between 10⁷ and 10⁸.
        tail_exponents: TailExponent { alpha: f64, exponent: f64, sf_at_30: f64 },
        /// The largest relative error of the density on [0, 5], just beside a closed form.
        closed_forms: ClosedForm { law: String, distance_in_alpha: f64, error: f64 },
        /// The growth of the quartiles of sums of increments.
        scaling: Scaling { alpha: f64, exponent: f64, standard_error: f64 },
    }
}

impl Exhibit for Fig1 {
    const ID: &'static str = "fig1";
    const TITLE: &'static str = "Figure 1 · Stable densities and Lévy paths";
    const SHOWS: &'static str = "stable densities and Lévy paths";
    const SECONDS: f64 = 0.3;

    settings! {
        alpha: ALPHAS, path_steps: STEPS,
        scaling_alpha: SCALING_ALPHAS, increments_per_sum: BLOCK, sums: BLOCKS,
    }

    fn experiment(context: &Context<'_>) -> anyhow::Result<Self> {
        let mut results = Self::default();
        for (number, alpha) in (0..).zip(ALPHAS) {
            context.check_stop()?;
            let law = SymmetricStable::new(alpha)?;
            let points = (-300..=300).map(|i| f64::from(i) / 50.0);
            results.densities.extend(points.map(|x| Density { alpha, x, pdf: law.pdf(x) }));
            let points = (0..=250).map(|i| 10f64.powf(-1.0 + f64::from(i) / 50.0));
            results.tails.extend(points.map(|x| Tail { alpha, x, sf: law.sf(x) }));
            let exponent = (law.sf(1e7) / law.sf(1e8)).log10();
            results.tail_exponents.push(TailExponent { alpha, exponent, sf_at_30: law.sf(30.0) });
            results.add_path(alpha, &context.noise(alpha, number, STEPS)?);
        }
        results.add_closed_forms()?;
        results.add_scaling(context)?;
        Ok(results)
    }

    fn text(&self) -> String {
        "The noise of the whole paper: SαS(σ), with characteristic function exp(−|σω|^α). At α = 2 it is Gaussian. \
         Below 2 its tails are powers, and the motion with such increments jumps."
            .into()
    }

    fn figures(&self) -> Vec<CaptionedFigure> {
        let density = Panel::new("density of SαS(1)")
            .x(Axis::linear("x").range(-6.0, 6.0))
            .y(Axis::linear("density"));
        let tail = Panel::new("tail P(X > x)")
            .x(Axis::log("x").range(0.1, 1e4))
            .y(Axis::log("probability").range(1e-8, 1.0));
        let density = by_alpha(density, Panel::line, &self.densities, |p| (p.alpha, p.x, p.pdf));
        let tail = by_alpha(tail, Panel::line, &self.tails, |p| (p.alpha, p.x, p.sf));
        let paths = self.paths.chunk_by(|a, b| a.alpha == b.alpha).map(|path| {
            let panel = Panel::new(format!("a path of Lévy motion, α = {}", path[0].alpha));
            let panel = panel.x(Axis::linear("t")).y(Axis::linear("L_{t}"));
            by_alpha(panel, Panel::thin, path, |p| (p.alpha, p.t, p.position))
        });
        let figure = paths.fold(Figure::new("fig1").panel(density).panel(tail), Figure::panel);
        let caption =
            "Above: densities and tails at scale 1. Below: one path for each α, over 10,000 steps.";
        vec![CaptionedFigure::new(figure, caption)]
    }

    fn claims(&self) -> Vec<Claim> {
        vec![self.tails_are_powers(), self.joins_closed_forms(), self.sums_scale()]
    }
}

impl Fig1 {
    fn add_path(&mut self, alpha: f64, noise: &[f64]) {
        let dt = 1.0 / STEPS as f64;
        let scale = dt.powf(1.0 / alpha);
        let mut position = 0.0;
        self.paths.push(PathPoint { alpha, t: 0.0, position });
        for (k, xi) in noise.iter().enumerate() {
            position += scale * xi;
            self.paths.push(PathPoint { alpha, t: (k + 1) as f64 * dt, position });
        }
    }

    /// Compares the general formula with the closed forms, a little beside them: there it must join
    /// them.
    fn add_closed_forms(&mut self) -> anyhow::Result<()> {
        let cauchy: fn(f64) -> f64 = |x| 1.0 / (PI * (1.0 + x * x));
        let gauss: fn(f64) -> f64 = |x| (-0.25 * x * x).exp() / (4.0 * PI).sqrt();
        for (name, alpha, offset, exact) in
            [("Cauchy", 1.0, 1e-12, cauchy), ("Gauss", 2.0, -1e-14, gauss)]
        {
            let law = SymmetricStable::new(alpha + offset)?;
            let points = (0..=500).map(|i| f64::from(i) / 100.0);
            let error = points.map(|x| (law.pdf(x) / exact(x) - 1.0).abs()).fold(0.0, f64::max);
            self.closed_forms.push(ClosedForm {
                law: name.into(),
                distance_in_alpha: offset,
                error,
            });
        }
        Ok(())
    }

    /// Compares the quartiles of sums of n increments with those of single ones: they grow by
    /// n^(1/α).
    fn add_scaling(&mut self, context: &Context<'_>) -> anyhow::Result<()> {
        for (number, alpha) in (100..).zip(SCALING_ALPHAS) {
            context.check_stop()?;
            let draws = context.noise(alpha, number, BLOCK * BLOCKS)?;
            let sums: Vec<f64> =
                draws.chunks_exact(BLOCK).map(|block| block.iter().sum()).collect();
            let spread = |numbers: Vec<f64>| -> anyhow::Result<f64> {
                let sample = Sample::new(numbers)?;
                Ok(sample.quantile(0.75)? - sample.quantile(0.25)?)
            };
            let exponent = (spread(sums)? / spread(draws)?).ln() / (BLOCK as f64).ln();
            // The standard error of a quartile of n draws is about 1.2/√n of the interquartile
            // range.
            let standard_error = 1.7 / (BLOCKS as f64).sqrt() / (BLOCK as f64).ln();
            self.scaling.push(Scaling { alpha, exponent, standard_error });
        }
        Ok(())
    }

    fn tails_are_powers(&self) -> Claim {
        let (gauss, powers): (Vec<_>, Vec<_>) =
            self.tail_exponents.iter().partition(|t| t.alpha == 2.0);
        let sf = gauss.first().map_or(f64::NAN, |tail| tail.sf_at_30);
        let checks = powers.iter().map(|tail| {
            let why =
                format!("at α = {} the tail falls with the power {:.3}", tail.alpha, tail.exponent);
            ((tail.exponent - tail.alpha).abs() < 0.01, why)
        });
        Claim::paper(
            "tails",
            "Tails get heavier as α gets smaller; α = 2 is Gaussian.",
            format!(
                "P(X > x) falls with the power {} of 1/x. At α = 2, P(X > 30) = {sf:.1e}: faster than any power.",
                list(&powers, |tail| format!("{:.3} at α = {}", tail.exponent, tail.alpha))
            ),
            Judgement::of(
                checks.chain([(sf < 1e-90, "the tail at α = 2 is not Gaussian".to_owned())]),
            ),
        )
    }

    fn joins_closed_forms(&self) -> Claim {
        let error = |law| {
            self.closed_forms.iter().find(|form| form.law == law).map_or(f64::NAN, |f| f.error)
        };
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
                (
                    cauchy < 1e-10,
                    format!("the density beside α = 1 is {cauchy:.0e} off the Cauchy density"),
                ),
                (
                    gauss < 1e-10,
                    format!("the density beside α = 2 is {gauss:.0e} off the Gaussian density"),
                ),
            ]),
        )
    }

    fn sums_scale(&self) -> Claim {
        let exponents = list(&self.scaling, |s| {
            format!("{:.3} at α = {} (1/α = {:.3})", s.exponent, s.alpha, 1.0 / s.alpha)
        });
        Claim::paper(
            "scaling",
            "Increments over a time t − s have the law SαS((t − s)^(1/α)).",
            format!(
                "The quartiles of sums of {BLOCK} increments grow with the exponent {exponents}."
            ),
            Judgement::of(self.scaling.iter().map(|s| {
                let holds = (s.exponent - 1.0 / s.alpha).abs() < 4.0 * s.standard_error;
                (holds, format!("at α = {} the exponent is {:.3}, not 1/α", s.alpha, s.exponent))
            })),
        )
    }
}
