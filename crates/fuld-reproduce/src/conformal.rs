//! The supplement's conformal Hamiltonian fields: the deterministic part of FULD.

use crate::drawing::curve;
use crate::{CaptionedFigure, Claim, Context, Exhibit, Judgement, TextTable};
use fuld::potential::{Cauchy, DoubleWell};
use fuld::{Alpha, Beta, Friction, Potential, System, SystemKind, Underdamped};
use fuld_plot::{Axis, Figure, Hue, Panel};

const GAMMA: f64 = 1.0;
const ALPHAS: [f64; 2] = [2.0, 1.7];
/// Fields are drawn and compared for |x|, |v| up to this.
const WINDOW: f64 = 3.0;
/// Arrows from 0 to the edge of the window.
const CELLS: i32 = 6;
/// Time step of trajectories.
const DT: f64 = 2e-3;
/// Length of trajectories.
const TIME: f64 = 40.0;
/// Where the two trajectories of the figure start.
const STARTS: [(f64, f64); 2] = [(-3.0, 2.0), (3.0, -2.0)];
/// The system in the tables, and the names in the file and in the caption of its figure.
const PROBLEMS: [(SystemKind, &str, &str); 2] = [
    (SystemKind::FuldGaussian, "gaussian", "x⁴/4, Gaussian energy"),
    (SystemKind::Fuld, "stable", "−log Cauchy, stable energy"),
];

results! {
    /// Conformal Hamiltonian fields.
    Conformal {
        /// The field at a point: dx/dt, and the two parts of dv/dt.
        fields: Arrow { system: String, alpha: f64, x: f64, v: f64, transport: f64, force: f64, friction: f64 },
        trajectories: TrajectoryPoint { system: String, alpha: f64, trajectory: usize, x: f64, v: f64 },
        measured: Measured {
            system: String,
            alpha: f64,
            /// Share of the window in which the field points away from the origin.
            outward: f64,
            /// Mean time over the trajectories that settle.
            settling_time: f64,
            trajectories: usize,
            /// Trajectories that do not settle.
            escaped: usize,
            /// v c(v) at the edge of the window: the power of dissipation.
            power: f64,
        },
    }
}

/// A field in the (x, v) plane.
struct Field {
    system: System,
    potential: Box<dyn Potential>,
}

impl Field {
    /// Creates the field of a system with its potential in [`PROBLEMS`].
    fn new(system: SystemKind, alpha: f64) -> anyhow::Result<Self> {
        let parameters = Underdamped {
            alpha: Alpha::new(alpha)?,
            gamma: Friction::new(GAMMA)?,
            beta: Beta::ONE,
        };
        Ok(if system == SystemKind::FuldGaussian {
            let system = System::fuld_gaussian(parameters)?;
            Self { system, potential: Box::new(DoubleWell::new(1, 1.0, 0.0)?) }
        } else {
            Self { system: System::fuld(parameters)?, potential: Box::new(Cauchy::new(1, 1.0)?) }
        })
    }

    /// Returns transport, force and friction at a point.
    fn at(&self, x: f64, v: f64) -> (f64, f64, f64) {
        let field = self.system.field(&*self.potential, &[x], &[v]);
        field
            .map_or((f64::NAN, f64::NAN, f64::NAN), |f| (f.transport[0], f.force[0], f.friction[0]))
    }

    fn velocity(&self, (x, v): (f64, f64)) -> (f64, f64) {
        let (transport, force, friction) = self.at(x, v);
        (transport, force + friction)
    }

    fn outward(&self) -> f64 {
        let all = grid(24);
        let count = all.iter().filter(|&&(x, v)| {
            let (dx, dv) = self.velocity((x, v));
            x * dx + v * dv > 0.0
        });
        count.count() as f64 / all.len() as f64
    }

    /// Returns the points of a trajectory, by the classical Runge–Kutta scheme.
    fn trajectory(&self, start: (f64, f64)) -> impl Iterator<Item = (f64, f64)> + '_ {
        let along = |(x, v): (f64, f64), (dx, dv): (f64, f64), t: f64| (x + t * dx, v + t * dv);
        std::iter::successors(Some(start), move |&z| {
            let a = self.velocity(z);
            let b = self.velocity(along(z, a, 0.5 * DT));
            let c = self.velocity(along(z, b, 0.5 * DT));
            let d = self.velocity(along(z, c, DT));
            Some(along(
                z,
                (a.0 + 2.0 * b.0 + 2.0 * c.0 + d.0, a.1 + 2.0 * b.1 + 2.0 * c.1 + d.1),
                DT / 6.0,
            ))
        })
    }

    /// Returns the time after which a trajectory stays within |x| < 1/2; infinite if it does not,
    /// or ever leaves four times the window.
    fn settling_time(&self, start: (f64, f64)) -> f64 {
        let mut settled = 0.0;
        for (step, (x, v)) in self.trajectory(start).take((TIME / DT) as usize).enumerate() {
            if !(x.abs() < 4.0 * WINDOW && v.abs() < 4.0 * WINDOW) {
                return f64::INFINITY;
            }
            if x.abs() > 0.5 {
                settled = step as f64 * DT;
            }
        }
        if settled < 0.9 * TIME { settled } else { f64::INFINITY }
    }

    fn measure(
        &self,
        system: SystemKind,
        alpha: f64,
        context: &Context<'_>,
    ) -> anyhow::Result<Measured> {
        let mut times = Vec::new();
        for start in grid(3) {
            context.check_stop()?;
            times.push(self.settling_time(start));
        }
        let settled: Vec<f64> = times.iter().copied().filter(|time| time.is_finite()).collect();
        Ok(Measured {
            system: system.name().into(),
            alpha,
            outward: self.outward(),
            settling_time: settled.iter().sum::<f64>() / settled.len() as f64,
            trajectories: times.len(),
            escaped: times.len() - settled.len(),
            power: -WINDOW * self.at(0.0, WINDOW).2 / GAMMA,
        })
    }
}

fn grid(cells: i32) -> Vec<(f64, f64)> {
    let at = move |i: i32| WINDOW * f64::from(i) / f64::from(cells);
    let all = (-cells..=cells).flat_map(move |i| (-cells..=cells).map(move |j| (at(i), at(j))));
    all.filter(|&(x, v)| x != 0.0 || v != 0.0).collect()
}

impl Exhibit for Conformal {
    const ID: &'static str = "conformal";
    const TITLE: &'static str = "Supplement · Conformal Hamiltonian fields";
    const SHOWS: &'static str = "the supplement's conformal Hamiltonian fields";
    const SECONDS: f64 = 0.5;
    const VERSION: u32 = 2;

    settings! { alpha: ALPHAS, beta: 1.0, gamma: GAMMA, window: WINDOW, runge_kutta_step: DT, time: TIME }

    fn experiment(context: &Context<'_>) -> anyhow::Result<Self> {
        let mut results = Self::default();
        for (kind, ..) in PROBLEMS {
            let system = || kind.name().to_owned();
            for alpha in ALPHAS {
                let field = Field::new(kind, alpha)?;
                results.fields.extend(grid(CELLS).into_iter().map(|(x, v)| {
                    let (transport, force, friction) = field.at(x, v);
                    Arrow { system: system(), alpha, x, v, transport, force, friction }
                }));
                for (trajectory, start) in STARTS.into_iter().enumerate() {
                    let points = field.trajectory(start).take(10_000).step_by(10);
                    let point =
                        |(x, v)| TrajectoryPoint { system: system(), alpha, trajectory, x, v };
                    results.trajectories.extend(points.map(point));
                }
                results.measured.push(field.measure(kind, alpha, context)?);
            }
        }
        Ok(results)
    }

    fn text(&self) -> String {
        "Without noise the dynamics has a Hamiltonian part, which conserves the energy f(x) + g(v), and a dissipative part, which lowers \
         it. The figures show them apart and together in the window |x|, |v| ≤ 3 at γ = 1. Two numbers summarise the total field: the \
         share of the window in which it points away from the origin, and the mean time until trajectories that start in the window \
         stay within |x| < 1/2."
            .into()
    }

    fn figures(&self) -> Vec<CaptionedFigure> {
        PROBLEMS
            .map(|(system, name, title)| {
                let mut figure =
                    Figure::new(format!("conformal-{name}")).columns(3).panel_height(250.0);
                for alpha in ALPHAS {
                    let is_meant = |a: &&Arrow| a.system == system.name() && a.alpha == alpha;
                    let arrows: Vec<&Arrow> = self.fields.iter().filter(is_meant).collect();
                    let mut total =
                        panel("total", alpha, &arrows, |a| (a.transport, a.force + a.friction));
                    for number in 0..STARTS.len() {
                        let is_meant = |p: &TrajectoryPoint| {
                            p.system == system.name() && p.alpha == alpha && p.trajectory == number
                        };
                        let line = curve(&self.trajectories, is_meant, |p| (p.x, p.v));
                        total = total.line(Hue::Ink, "two trajectories", line);
                    }
                    figure = figure
                        .panel(panel("dissipative", alpha, &arrows, |a| (0.0, a.friction)))
                        .panel(panel("Hamiltonian", alpha, &arrows, |a| (a.transport, a.force)))
                        .panel(total);
                }
                let caption = format!(
                    "f = {title}. Arrows show the direction; their lengths are compressed."
                );
                CaptionedFigure::new(figure, caption)
            })
            .into()
    }

    fn shown(&self) -> Vec<TextTable> {
        vec![TextTable::of(
            &self.measured,
            &[
                ("field", |m| format!("{}, α = {}", title(&m.system), m.alpha)),
                ("points outward", |m| format!("{:.1} %", 100.0 * m.outward)),
                ("time to settle", |m| format!("{:.2}", m.settling_time)),
                ("did not settle", |m| m.escaped.to_string()),
                ("v c(v) at v = 3", |m| format!("{:.1}", m.power)),
            ],
        )]
    }

    fn claims(&self) -> Vec<Claim> {
        let [light, heavy, slow, fast] = &self.measured[..] else { return Vec::new() };
        let percent = |share: f64| format!("{:.0} %", 100.0 * share);
        let settled = |m: &Measured| {
            format!(
                "all but {} settle at the origin, in a mean time of {:.2}",
                m.escaped, m.settling_time
            )
        };
        let quartic = Claim::paper(
            "quartic",
            "f = x⁴/4, Gaussian energy: the field tends to diverge at α = 2; at α = 1.7 the strong dissipation compensates for the fast-growing f.",
            format!(
                "The dissipation at |v| = 3 is {:.1} times as strong at α = {} as at α = {}; the field points outward in {} of the window \
                 against {}. Of {} trajectories at α = 2 {}; at α = 1.7 {}.",
                heavy.power / light.power,
                heavy.alpha,
                light.alpha,
                percent(heavy.outward),
                percent(light.outward),
                light.trajectories,
                settled(light),
                settled(heavy),
            ),
            Judgement::of([
                (heavy.power > light.power, "the dissipation is not stronger at α = 1.7"),
                (
                    heavy.outward < light.outward,
                    "the field points outward no less often at α = 1.7",
                ),
                (light.escaped > 0, "no trajectory diverges at α = 2 either"),
            ]),
        );
        let (slow_time, fast_time) = (slow.settling_time, fast.settling_time);
        let cauchy = Claim::paper(
            "cauchy",
            "f = −log Cauchy, stable energy: at α = 2 the field concentrates very slowly at the minimum, at α = 1.7 faster.",
            format!(
                "Mean time until |x| stays below 1/2: {slow_time:.2} at α = 2, {fast_time:.2} at α = 1.7; outward in {} and {} of the \
                 window.",
                percent(slow.outward),
                percent(fast.outward)
            ),
            Judgement::of([
                // A tenth is the smallest difference that one would call faster.
                (
                    fast_time < 0.9 * slow_time,
                    format!(
                        "trajectories take {fast_time:.2} to settle at α = 1.7 and {slow_time:.2} at α = 2, which differ by less than a tenth"
                    ),
                ),
                (
                    fast.outward < slow.outward,
                    "the field points outward no less often at α = 1.7".to_owned(),
                ),
            ]),
        );
        vec![quartic, cauchy]
    }
}

/// Returns the title of the problem of a system.
fn title(system: &str) -> &'static str {
    PROBLEMS.into_iter().find(|(kind, ..)| kind.name() == system).map_or("", |(.., title)| title)
}

fn panel(name: &str, alpha: f64, arrows: &[&Arrow], part: fn(&Arrow) -> (f64, f64)) -> Panel {
    let cell = WINDOW / f64::from(CELLS);
    // Long arrows would hide the short ones: lengths are compressed to at most nine tenths of a
    // cell.
    let drawn = |a: &&Arrow| {
        let (dx, dv) = part(a);
        let length = dx.hypot(dv);
        let scale =
            if length > 0.0 { 0.9 * cell * (length / (1.0 + length)).sqrt() / length } else { 0.0 };
        (a.x - 0.5 * scale * dx, a.v - 0.5 * scale * dv, scale * dx, scale * dv)
    };
    let edge = WINDOW + 0.5 * cell;
    Panel::new(format!("{name}, α = {alpha}"))
        .x(Axis::linear("x").range(-edge, edge))
        .y(Axis::linear("v").range(-edge, edge))
        .arrows(Hue::alpha(alpha), "", arrows.iter().map(drawn).collect())
}
