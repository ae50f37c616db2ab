//! Beyond the paper: how well exact FULD mixes, beside Hamiltonian Monte Carlo and NUTS, on targets
//! with known answers.
//!
//! | module | contents |
//! |---|---|
//! | `models` | posteriors with their data |
//! | `answers` | what is known about them |
//! | `targets` | all targets |
//! | `counted` | a counter of gradients |
//! | `nuts` | recorded runs of NUTS |
//! | `sampler` | NUTS by `nuts-rs`, which made them; part of the tests only |
//! | `measure` | the effective draws, errors and warnings of one run |
//! | `claims` | what is claimed of all of them |

mod answers;
mod claims;
mod counted;
mod measure;
mod models;
mod nuts;
#[cfg(test)]
mod sampler;
mod targets;
#[cfg(test)]
mod tests;

use crate::{CaptionedFigure, Claim, Context, Exhibit, TextTable, list};
use fuld::durable::fingerprint;
use fuld_plot::{Axis, Figure, Hue, Panel};
use fuld_sample::{Exact, SampleRequest, Target};
use std::sync::Arc;

/// Tail indices. α = 2 is Hamiltonian Monte Carlo with the same adaptation.
const ALPHAS: [f64; 4] = [1.0, 1.5, 1.8, 2.0];
/// The tail index that the claims are about.
const JUDGED: f64 = 1.8;
/// Temperatures of parallel tempering.
const TEMPERATURES: usize = 8;
/// Largest error of a right answer, in Monte Carlo standard errors.
const RIGHT: f64 = 4.0;
/// How much less efficient than NUTS is within reach.
const FACTOR: f64 = 3.0;

results! {
    /// Effective draws per gradient, errors and warnings.
    Mixing {
        /// One run. The smallest bulk ESS, the largest R̂ and the largest error are over all
        /// coordinates.
        runs: Measured {
            target: String,
            method: String,
            alpha: Option<f64>,
            seed: u64,
            /// Gradients of the draws, without the warm-up.
            gradients: u64,
            ess: f64,
            r_hat: f64,
            /// Errors of mean and standard deviation, or of two quantiles, in Monte Carlo standard
            /// errors.
            z: f64,
            /// The warnings that were given, or nothing.
            warnings: String,
        },
        /// The time of each run of FULD, warm-up included. It is the only measurement that the seed
        /// does not determine.
        times: Cost { target: String, method: String, alpha: Option<f64>, seed: u64, seconds: f64, ess_per_second: f64 },
        /// Runs of parallel tempering on the target with many modes, and their times.
        tempered: Measured,
        tempered_times: Cost,
    }
}

impl Measured {
    fn ess_per_gradient(&self) -> f64 {
        self.ess / self.gradients as f64
    }

    fn is_right(&self) -> bool {
        self.z <= RIGHT
    }

    fn cost(&self, seconds: f64) -> Cost {
        let (target, method) = (self.target.clone(), self.method.clone());
        let ess_per_second = self.ess / seconds;
        Cost { target, method, alpha: self.alpha, seed: self.seed, seconds, ess_per_second }
    }
}

/// All runs of one method on one target.
struct Cell<'a> {
    target: &'a str,
    method: String,
    runs: Vec<&'a Measured>,
    /// `None` for recorded runs.
    ess_per_second: Option<f64>,
}

impl Cell<'_> {
    fn median(&self, of: impl Fn(&Measured) -> f64) -> f64 {
        median(self.runs.iter().map(|run| of(run)))
    }

    fn ess_per_1000(&self) -> f64 {
        1000.0 * self.median(Measured::ess_per_gradient)
    }

    /// Returns whether the answer of the median run is right.
    fn is_right(&self) -> bool {
        self.median(|run| run.z) <= RIGHT
    }

    fn warned(&self) -> usize {
        self.runs.iter().filter(|run| !run.warnings.is_empty()).count()
    }
}

/// Returns the median, the upper one of an even number; NaN of none.
fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

impl Mixing {
    /// Returns the targets, in their order.
    fn targets(&self) -> Vec<&str> {
        self.runs
            .chunk_by(|a, b| a.target == b.target)
            .map(|runs| runs[0].target.as_str())
            .collect()
    }

    fn cell<'a>(&'a self, target: &'a str, alpha: Option<f64>) -> Cell<'a> {
        let is_meant = |run: &&Measured| run.target == target && run.alpha == alpha;
        let times = self.times.iter().filter(|time| time.target == target && time.alpha == alpha);
        let ess_per_second = median(times.map(|time| time.ess_per_second));
        Cell {
            target,
            method: method(alpha),
            runs: self.runs.iter().filter(is_meant).collect(),
            ess_per_second: alpha.map(|_| ess_per_second),
        }
    }

    fn tempered(&self) -> Cell<'_> {
        let ess_per_second = median(self.tempered_times.iter().map(|time| time.ess_per_second));
        let method = format!("{}, temper = {TEMPERATURES}", method(Some(JUDGED)));
        Cell {
            target: targets::MODES,
            method,
            runs: self.tempered.iter().collect(),
            ess_per_second: Some(ess_per_second),
        }
    }

    /// Returns the cells of a method for all targets.
    fn cells(&self, alpha: Option<f64>) -> Vec<Cell<'_>> {
        self.targets().into_iter().map(|target| self.cell(target, alpha)).collect()
    }
}

/// Returns the name of a method in the report.
fn method(alpha: Option<f64>) -> String {
    alpha.map_or("NUTS".into(), |alpha| format!("α = {alpha}"))
}

/// Returns all methods: the tail indices, then NUTS.
fn methods() -> impl Iterator<Item = Option<f64>> {
    ALPHAS.into_iter().map(Some).chain([None])
}

/// A run of FULD that the study makes.
struct PlannedRun<'a> {
    problem: &'a targets::Problem,
    exact: Arc<Exact>,
    /// Tail index, and temperatures of parallel tempering.
    settings: (f64, Option<usize>),
    seed: u64,
}

impl Exhibit for Mixing {
    const ID: &'static str = "mixing";
    const TITLE: &'static str = "Beyond the paper · How well exact FULD mixes";
    const SHOWS: &'static str =
        "beyond the paper: exact FULD beside HMC and NUTS on twelve targets";
    const SECONDS: f64 = 24.0;
    /// 2: R̂ of short chains that agree does not warn. 3: sums of the logistic regression in
    /// another order.
    const VERSION: u32 = 3;

    settings! {
        alpha: ALPHAS, runs: [targets::RUNS, targets::ONCE], least_alpha_for_once: targets::LEAST_FOR_ONCE,
        nuts: format!("{:016x}", fingerprint(nuts::FILE.as_bytes())),
    }

    fn experiment(context: &Context<'_>) -> anyhow::Result<Self> {
        context.check_stop()?;
        let (problems, nuts) = (targets::problems()?, nuts::runs()?);
        let mut runs = Vec::new();
        for problem in &problems {
            let counted = counted::Counted::new(Arc::clone(&problem.potential));
            let target = Target::from_potential(Box::new(counted));
            let exact = Exact::new(&SampleRequest::default().complete_on(&target)?, &target);
            let exact = Arc::new(exact);
            let tempered = (problem.name == targets::MODES).then_some((JUDGED, Some(TEMPERATURES)));
            let settings = tempered.into_iter().chain(problem.alphas().map(|alpha| (alpha, None)));
            for (settings, run) in settings.flat_map(|it| (0..problem.runs).map(move |n| (it, n))) {
                let (exact, seed) = (Arc::clone(&exact), context.seed.wrapping_add(run));
                runs.push(PlannedRun { problem, exact, settings, seed });
            }
        }
        let measured = measure::all(context, &runs)?;
        let mut results = Self::default();
        for problem in &problems {
            let of_problem =
                runs.iter().zip(&measured).filter(|(run, _)| run.problem.name == problem.name);
            for (run, (measured, cost)) in of_problem {
                let (runs, times) = match run.settings {
                    (_, Some(_)) => (&mut results.tempered, &mut results.tempered_times),
                    (_, None) => (&mut results.runs, &mut results.times),
                };
                runs.push(measured.clone());
                times.push(cost.clone());
            }
            results.runs.extend(nuts.iter().filter(|run| run.target == problem.name).cloned());
        }
        Ok(results)
    }

    fn text(&self) -> String {
        format!(
            "Exact FULD with the default settings of fuld sample (64 chains, 500 iterations of warm-up, 1000 draws), at {} tail \
             indices, or those of at least {} where a run takes several seconds; α = 2 is Hamiltonian Monte Carlo with the same adaptation. NUTS is nuts-rs, the core of nutpie, with its default settings. \
             Its numbers are recorded, not measured anew: {}. All start from N(0, 1), which is hundreds of posterior standard deviations from the linear regression. ESS is the bulk \
             effective sample size of the worst coordinate, and errors are those of means and standard deviations (of the median and the 95 % \
             quantile where these do not exist, and for the second coordinate of the funnel) in units of their Monte Carlo standard errors; both \
             are computed by the same code for all methods. Only gradients of the draws count, not those of the warm-up; seconds include the \
             warm-up, on one core, and are not recorded for NUTS. Numbers are medians of {} runs, and of a single one for the rotated Gaussian, the logistic \
             regression and the stochastic-volatility model. Known answers are closed forms or quadrature; those of the logistic \
             regression and of the stochastic-volatility model are long NUTS runs, and their errors are taken into account. Warnings are those \
             that a user sees. In one and two dimensions the program also compares the draws with the exact law by quadrature: the \
             warning “KS” is not available in more dimensions.",
            ALPHAS.len(),
            targets::LEAST_FOR_ONCE,
            nuts::settings(),
            targets::RUNS,
        )
    }

    fn figures(&self) -> Vec<CaptionedFigure> {
        let mut figure = Figure::new("mixing").columns(3).panel_height(210.0);
        for target in self.targets() {
            let right = |cell: &Cell<'_>| cell.is_right();
            let cells: Vec<Cell<'_>> =
                ALPHAS.into_iter().map(|alpha| self.cell(target, Some(alpha))).collect();
            let points = |is_right: bool| -> Vec<(f64, f64)> {
                let measured = cells.iter().zip(ALPHAS).filter(|(cell, _)| !cell.runs.is_empty());
                let chosen = measured.filter(|(cell, _)| right(cell) == is_right);
                chosen.map(|(cell, alpha)| (alpha, cell.ess_per_1000())).collect()
            };
            let nuts = self.cell(target, None);
            let line = vec![(1.0, nuts.ess_per_1000()), (2.0, nuts.ess_per_1000())];
            let panel = Panel::new(target)
                .x(Axis::linear("α").ticks(&[1.0, 1.5, 2.0]))
                .y(Axis::log("ESS per 1000 gradients"));
            let panel = if right(&nuts) {
                panel.line(Hue::Vermillion, "NUTS", line)
            } else {
                panel.dotted(Hue::Vermillion, "NUTS, wrong", line)
            };
            figure = figure.panel(panel.dots(Hue::Blue, "exact FULD", points(true)).dots(
                Hue::Muted,
                "exact FULD, wrong",
                points(false),
            ));
        }
        let caption = format!(
            "Effective draws per 1000 gradients against the tail index. α = 2 is HMC. Wrong means more than {RIGHT} Monte \
             Carlo standard errors from the known answer."
        );
        vec![CaptionedFigure::new(figure, caption)]
    }

    fn shown(&self) -> Vec<TextTable> {
        let value = |cell: Cell<'_>| {
            if cell.runs.is_empty() {
                return "–".into();
            }
            let mark = if cell.is_right() { "" } else { " ✗" };
            format!("{}{mark}", digits(cell.ess_per_1000()))
        };
        let headings = ["ESS per 1000 gradients (✗: wrong answer)".to_owned()].into_iter();
        let row = |target| {
            let cells = methods().map(move |alpha| value(self.cell(target, alpha)));
            [target.to_owned()].into_iter().chain(cells)
        };
        let short = TextTable::new(
            headings.chain(methods().map(method)),
            self.targets().into_iter().map(row),
        );
        let cells: Vec<Cell<'_>> = self
            .targets()
            .into_iter()
            .flat_map(|target| methods().map(move |alpha| self.cell(target, alpha)))
            .chain([self.tempered()])
            .filter(|cell| !cell.runs.is_empty())
            .collect();
        let all = TextTable::of(
            &cells,
            &[
                ("target", |cell| cell.target.into()),
                ("method", |cell| cell.method.clone()),
                ("ESS", |cell| format!("{:.0}", cell.median(|run| run.ess))),
                ("gradients", |cell| format!("{:.0}", cell.median(|run| run.gradients as f64))),
                ("per 1000 gradients", |cell| digits(cell.ess_per_1000())),
                ("per second", |cell| cell.ess_per_second.map_or("–".into(), digits)),
                ("R̂", |cell| format!("{:.3}", cell.median(|run| run.r_hat))),
                ("largest error", |cell| digits(cell.median(|run| run.z))),
                ("runs with a warning", |cell| {
                    let all: std::collections::BTreeSet<&str> = cell
                        .runs
                        .iter()
                        .flat_map(|run| run.warnings.split(", "))
                        .filter(|name| !name.is_empty())
                        .collect();
                    let names = list(all, ToOwned::to_owned);
                    if names.is_empty() {
                        "none".into()
                    } else {
                        format!("{} ({names})", cell.warned())
                    }
                }),
            ],
        );
        vec![short, all]
    }

    fn claims(&self) -> Vec<Claim> {
        vec![self.trust(), self.against_hmc(), self.against_nuts(), self.many_modes()]
    }
}

/// Returns a number with three significant digits or all digits before the point.
fn digits(value: f64) -> String {
    let decimals = (2 - value.abs().max(1e-9).log10().floor() as i32).clamp(0, 4) as usize;
    format!("{value:.decimals$}")
}
