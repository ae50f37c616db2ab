//! Beyond the paper: how the bias falls with the step, by integrator.

use crate::quartic::Length;
use crate::study::mean_and_error;
use crate::{CaptionedFigure, Claim, Context, Exhibit, Judgement, TextTable, list};
use fuld::{Integrator, SystemKind};
use fuld_plot::{Axis, Figure, Hue, Panel};
use fuld_sample::SampleRequest;

/// λ of f = λx²/2, so that E x² = 1/λ.
const STIFFNESS: f64 = 4.0;
const CHAINS: usize = 4096;
/// α and γ of the two problems.
const PROBLEMS: [(f64, f64); 2] = [(1.1, 8.0), (1.5, 2.0)];
const INTEGRATORS: [(Integrator, Hue); 3] = [
    (Integrator::Euler, Hue::Vermillion),
    (Integrator::Baoab, Hue::Blue),
    (Integrator::Aboba, Hue::Green),
];
/// `fuld sample` keeps at least four draws; averages use every step.
const DRAWS: u64 = 10;

results! {
    /// Integrators and their orders.
    Orders {
        /// The bias of E x² at one step.
        bias: Bias { integrator: String, alpha: f64, gamma: f64, step: f64, bias: f64, standard_error: f64 },
    }
}

impl Exhibit for Orders {
    const ID: &'static str = "orders";
    const TITLE: &'static str = "Beyond the paper · Better integrators at the same price";
    const SHOWS: &'static str = "beyond the paper: integrators and their orders";
    const SECONDS: f64 = 8.0;

    settings! {
        alpha: PROBLEMS.map(|(alpha, _)| alpha), gamma: PROBLEMS.map(|(_, gamma)| gamma),
        lambda: STIFFNESS, chains: CHAINS,
    }

    fn experiment(context: &Context<'_>) -> anyhow::Result<Self> {
        let mut bias = Vec::new();
        for (alpha, gamma) in PROBLEMS {
            for (integrator, _) in INTEGRATORS {
                // The bias of Euler's scheme is larger: shorter runs and smaller steps resolve it.
                let (steps, time) = if integrator.order() == 1 {
                    ([0.0125, 0.025, 0.05, 0.1], 150.0)
                } else {
                    ([0.1, 0.14, 0.2, 0.28], 3000.0)
                };
                for step in steps {
                    let (warmup, thin) = ((20.0 / step) as u64, (time / step) as u64 / DRAWS);
                    let length = Length { chains: CHAINS, warmup, draws: DRAWS, thin };
                    let average = context.second_moments(SampleRequest {
                        potential: Some("harmonic".into()),
                        param: [("lambda".to_owned(), STIFFNESS)].into(),
                        system: Some(SystemKind::Fuld),
                        integrator: Some(integrator),
                        alpha: Some(alpha),
                        gamma: Some(gamma),
                        beta: Some(1.0),
                        step: Some(step),
                        ..length.request()
                    })?;
                    let (mean, standard_error) = mean_and_error(&average.chains);
                    let (integrator, excess) = (integrator.to_string(), mean - 1.0 / STIFFNESS);
                    bias.push(Bias {
                        integrator,
                        alpha,
                        gamma,
                        step,
                        bias: excess,
                        standard_error,
                    });
                    context.progress(bias.len() as f64 / 24.0);
                }
            }
        }
        Ok(Self { bias })
    }

    fn text(&self) -> String {
        "The dynamics splits into three flows that can be solved exactly, one of them the Lévy–Ornstein–Uhlenbeck step. Composed \
         symmetrically they need one gradient per step, as Euler's scheme does, and their bias falls with the square of the step. The \
         potential is f = 2x², with E x² = 1/4."
            .into()
    }

    fn figures(&self) -> Vec<CaptionedFigure> {
        let mut figure = Figure::new("orders");
        for (alpha, gamma) in PROBLEMS {
            let mut panel = Panel::new(format!("α = {alpha}, γ = {gamma}"))
                .x(Axis::log("step η"))
                .y(Axis::log("|bias of E x²|").range(5e-5, 0.2));
            for (integrator, hue) in INTEGRATORS {
                let name = integrator.to_string();
                let points =
                    || self.bias.iter().filter(|p| p.integrator == name && p.alpha == alpha);
                let line: Vec<(f64, f64)> = points().map(|p| (p.step, p.bias.abs())).collect();
                let bar = |p: &Bias| {
                    let (bias, error) = (p.bias.abs(), p.standard_error);
                    (p.step, (bias - error).max(1e-7), bias + error)
                };
                let bars = points().map(bar).collect();
                panel =
                    panel.line(hue, "", line.clone()).error_bars(hue, bars).dots(hue, &name, line);
            }
            figure = figure.panel(panel);
        }
        vec![CaptionedFigure::new(
            figure,
            "Bias of E x² against the step, with one standard error.",
        )]
    }

    fn shown(&self) -> Vec<TextTable> {
        let orders = self.orders();
        let problems = PROBLEMS.map(|(alpha, gamma)| format!("α = {alpha}, γ = {gamma}"));
        let columns = std::iter::once("measured order".to_owned())
            .chain(problems)
            .chain(["in theory".to_owned()]);
        let rows = INTEGRATORS.into_iter().map(|(integrator, _)| {
            let name = integrator.to_string();
            let cells = PROBLEMS.map(|(alpha, _)| {
                let order = orders.iter().find(|o| o.integrator == name && o.alpha == alpha);
                order.map_or("–".into(), |o| format!("{:.2} ± {:.2}", o.order, o.error))
            });
            [name].into_iter().chain(cells).chain([integrator.order().to_string()])
        });
        vec![TextTable::new(columns, rows)]
    }

    fn claims(&self) -> Vec<Claim> {
        let orders = self.orders();
        let judged = |integrators: &[Integrator], holds: &dyn Fn(&Order) -> bool| {
            let names: Vec<String> = integrators.iter().map(ToString::to_string).collect();
            let of: Vec<&Order> =
                orders.iter().filter(|order| names.contains(&order.integrator)).collect();
            let text = |o: &&Order| {
                format!("{} {:.2} ± {:.2} (α = {})", o.integrator, o.order, o.error, o.alpha)
            };
            let checks = of
                .iter()
                .map(|order| (holds(order), format!("the measured order is {}", text(order))));
            // Each integrator must have been measured at least once.
            let missing = names.iter().filter(|name| !of.iter().any(|o| o.integrator == **name));
            let missing =
                missing.map(|name| (false, format!("the bias of {name} is not significant")));
            (list(&of, text), Judgement::of(checks.chain(missing)))
        };
        // The largest step is a little beyond the asymptotic regime.
        let (euler, first) = judged(&[Integrator::Euler], &|o| {
            (o.order - 1.0).abs() < 0.25 + 2.0 * o.error.min(0.1)
        });
        let (splittings, second) =
            judged(&[Integrator::Baoab, Integrator::Aboba], &|o| o.order - 2.0 * o.error > 1.0);
        vec![
            Claim::ours(
                "euler",
                "Euler's scheme, the paper's, is of first order in the step.",
                format!("Measured: {euler}."),
                first,
            ),
            Claim::ours(
                "splittings",
                "BAOAB and ABOBA are of higher than first order: of second, or more where the leading error happens to cancel.",
                format!("Measured, where the bias is significant and of one sign: {splittings}."),
                second,
            ),
        ]
    }
}

/// A measured order of convergence.
struct Order {
    integrator: String,
    alpha: f64,
    order: f64,
    error: f64,
}

impl Order {
    /// Fits the slope of ln|bias| against ln η by weighted least squares to the points where the
    /// bias is significant. Returns `None` if there are fewer than two such points, or they change
    /// sign.
    fn of(curve: &[Bias]) -> Option<Self> {
        let significant: Vec<&Bias> =
            curve.iter().filter(|p| p.bias.abs() > 4.0 * p.standard_error).collect();
        let one_sign =
            significant.iter().all(|p| p.bias > 0.0) || significant.iter().all(|p| p.bias < 0.0);
        if significant.len() < 2 || !one_sign {
            return None;
        }
        let point =
            |p: &&Bias| (p.step.ln(), p.bias.abs().ln(), (p.bias / p.standard_error).powi(2));
        let points: Vec<(f64, f64, f64)> = significant.iter().map(point).collect();
        let sum = |of: &dyn Fn(&(f64, f64, f64)) -> f64| points.iter().map(of).sum::<f64>();
        let weight = sum(&|p| p.2);
        let (x, y) = (sum(&|p| p.2 * p.0) / weight, sum(&|p| p.2 * p.1) / weight);
        let spread = sum(&|p| p.2 * (p.0 - x).powi(2));
        Some(Self {
            integrator: curve[0].integrator.clone(),
            alpha: curve[0].alpha,
            order: sum(&|p| p.2 * (p.0 - x) * (p.1 - y)) / spread,
            error: spread.sqrt().recip(),
        })
    }
}

impl Orders {
    /// Returns the measured orders of all integrators on all problems.
    fn orders(&self) -> Vec<Order> {
        let curves = self.bias.chunk_by(|a, b| a.integrator == b.integrator && a.alpha == b.alpha);
        curves.filter_map(Order::of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    fn curve(integrator: Integrator, power: i32) -> Vec<Bias> {
        let bias = |step: f64| Bias {
            integrator: integrator.to_string(),
            alpha: 1.5,
            gamma: 2.0,
            step,
            bias: 3.0 * step.powi(power),
            standard_error: 1e-3 * step.powi(power),
        };
        [0.1, 0.2, 0.4].map(bias).to_vec()
    }

    fn verdicts(curves: &[Vec<Bias>]) -> Vec<Verdict> {
        let claims = Orders { bias: curves.concat() }.claims();
        claims.into_iter().map(|claim| claim.verdict).collect()
    }

    #[test]
    fn slopes_are_orders() {
        assert!((Order::of(&curve(Integrator::Baoab, 2)).unwrap().order - 2.0).abs() < 1e-9);
        let of = |euler: i32, splittings: i32| {
            verdicts(&[
                curve(Integrator::Euler, euler),
                curve(Integrator::Baoab, splittings),
                curve(Integrator::Aboba, splittings),
            ])
        };
        assert_eq!(of(1, 2), [Verdict::Holds, Verdict::Holds]);
        assert_eq!(of(2, 1), [Verdict::Fails, Verdict::Fails]);
        // An integrator that was not measured proves nothing.
        assert_eq!(verdicts(&[curve(Integrator::Baoab, 2)])[1], Verdict::InPart);
    }
}
