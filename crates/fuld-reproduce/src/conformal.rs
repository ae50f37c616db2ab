//! The supplement's conformal Hamiltonian fields: what the deterministic part of FULD does.

use super::claim::{Claim, Verdict};
use super::exhibit::{Exhibit, Table};
use super::parameters::underdamped;
use fuld::potential::{Cauchy, DoubleWell};
use fuld::{Potential, System};
use fuld_plot::{Axis, Figure, Hue, Panel};

const GAMMA: f64 = 1.0;
const ALPHAS: [f64; 2] = [2.0, 1.7];
/// Fields are drawn, and compared, for |x|, |v| up to this.
const REACH: f64 = 3.0;
const CELLS: i32 = 6;
/// Step and length of trajectories.
const DT: f64 = 2e-3;
const TIME: f64 = 40.0;

/// A field in the (x, v) plane.
struct Field<'a> {
    system: System,
    potential: &'a dyn Potential,
}

/// dx/dt, the force and the friction at a point.
struct Arrow {
    transport: f64,
    force: f64,
    friction: f64,
}

impl Field<'_> {
    fn at(&self, x: f64, v: f64) -> Arrow {
        let field = self.system.field(self.potential, &[x], &[v]);
        let (transport, force, friction) =
            field.map_or((f64::NAN, f64::NAN, f64::NAN), |f| (f.transport[0], f.force[0], f.friction[0]));
        Arrow { transport, force, friction }
    }

    fn velocity(&self, (x, v): (f64, f64)) -> (f64, f64) {
        let arrow = self.at(x, v);
        (arrow.transport, arrow.force + arrow.friction)
    }

    /// Share of the window in which the field points away from the origin.
    fn outward(&self) -> f64 {
        let all = grid(24);
        let count = all.iter().filter(|&&(x, v)| {
            let (dx, dv) = self.velocity((x, v));
            x * dx + v * dv > 0.0
        });
        count.count() as f64 / all.len() as f64
    }

    /// Where a trajectory is after each step, by the classical Runge–Kutta scheme.
    fn trajectory(&self, start: (f64, f64)) -> impl Iterator<Item = (f64, f64)> + '_ {
        let along = |(x, v): (f64, f64), (dx, dv): (f64, f64), t: f64| (x + t * dx, v + t * dv);
        std::iter::successors(Some(start), move |&z| {
            let a = self.velocity(z);
            let b = self.velocity(along(z, a, 0.5 * DT));
            let c = self.velocity(along(z, b, 0.5 * DT));
            let d = self.velocity(along(z, c, DT));
            Some(along(z, (a.0 + 2.0 * b.0 + 2.0 * c.0 + d.0, a.1 + 2.0 * b.1 + 2.0 * c.1 + d.1), DT / 6.0))
        })
    }

    /// The time after which a trajectory stays within |x| < 1/2; infinite if it does not, or ever left four times the window.
    fn settles(&self, start: (f64, f64)) -> f64 {
        let mut settled = 0.0;
        for (step, (x, v)) in self.trajectory(start).take((TIME / DT) as usize).enumerate() {
            if !(x.abs() < 4.0 * REACH && v.abs() < 4.0 * REACH) {
                return f64::INFINITY;
            }
            if x.abs() > 0.5 {
                settled = step as f64 * DT;
            }
        }
        if settled < 0.9 * TIME { settled } else { f64::INFINITY }
    }
}

fn grid(cells: i32) -> Vec<(f64, f64)> {
    let at = move |i: i32| REACH * f64::from(i) / f64::from(cells);
    let all = (-cells..=cells).flat_map(move |i| (-cells..=cells).map(move |j| (at(i), at(j))));
    all.filter(|&(x, v)| x != 0.0 || v != 0.0).collect()
}

/// What is measured of a field.
struct Measured {
    alpha: f64,
    outward: f64,
    /// Mean over starts in the window, of those that settle.
    settles: f64,
    /// Trajectories, and those that did not settle.
    starts: usize,
    escaped: usize,
    /// v c(v) at the edge of the window: the power of dissipation.
    power: f64,
}

fn measure(field: &Field<'_>, alpha: f64) -> Measured {
    let times: Vec<f64> = grid(3).into_iter().map(|start| field.settles(start)).collect();
    let settled: Vec<f64> = times.iter().copied().filter(|time| time.is_finite()).collect();
    Measured {
        alpha,
        outward: field.outward(),
        settles: settled.iter().sum::<f64>() / settled.len() as f64,
        starts: times.len(),
        escaped: times.len() - settled.len(),
        power: -REACH * field.at(0.0, REACH).friction / GAMMA,
    }
}

/// Makes the exhibit.
pub(super) fn make() -> anyhow::Result<Exhibit> {
    let (quartic, cauchy) = (DoubleWell::new(1, 1.0, 0.0)?, Cauchy::new(1, 1.0)?);
    let mut data = Table::new("fields", &["field", "alpha", "x", "v", "transport", "force", "friction"]);
    let mut table = Table::new(
        "measured",
        &["field", "points outward", "time to settle", "did not settle", "v c(v) at v = 3"],
    );
    let (mut figures, mut measured) = (Vec::new(), Vec::new());
    for (name, title, gaussian) in
        [("gaussian", "x⁴/4, Gaussian energy", true), ("stable", "−log Cauchy, stable energy", false)]
    {
        let mut figure = Figure::new(format!("conformal-{name}")).columns(3).panel_height(250.0);
        for alpha in ALPHAS {
            let potential: &dyn Potential = if gaussian { &quartic } else { &cauchy };
            let system = if gaussian {
                System::fuld_gaussian(underdamped(alpha, GAMMA)?)?
            } else {
                System::fuld(underdamped(alpha, GAMMA)?)?
            };
            let field = Field { system, potential };
            for panel in panels(&field, alpha) {
                figure = figure.panel(panel);
            }
            for (x, v) in grid(2 * CELLS) {
                let a = field.at(x, v);
                data.row([
                    name.into(),
                    alpha.to_string(),
                    x.to_string(),
                    v.to_string(),
                    a.transport.to_string(),
                    a.force.to_string(),
                    a.friction.to_string(),
                ]);
            }
            let m = measure(&field, alpha);
            table.row([
                format!("{title}, α = {alpha}"),
                format!("{:.1} %", 100.0 * m.outward),
                format!("{:.2}", m.settles),
                m.escaped.to_string(),
                format!("{:.1}", m.power),
            ]);
            measured.push(m);
        }
        figures.push((
            figure,
            format!("f = {title}. Arrows show direction; their length is the field's, compressed."),
        ));
    }
    let mut settings = toml::Table::new();
    settings.insert("alpha".into(), ALPHAS.to_vec().into());
    settings.insert("beta".into(), 1.0.into());
    settings.insert("gamma".into(), GAMMA.into());
    settings.insert("window".into(), REACH.into());
    settings.insert("runge_kutta_step".into(), DT.into());
    settings.insert("time".into(), TIME.into());
    Ok(Exhibit {
        id: "conformal",
        title: "Supplement · Conformal Hamiltonian fields".into(),
        text: "Without noise the dynamics has two parts: a Hamiltonian one, which keeps the energy f(x) + g(v), and a dissipative one, which lowers \
               it. Drawn apart and together, in the window |x|, |v| ≤ 3 at γ = 1; and measured: the share of the window in which the total field \
               points away from the origin, the mean time until trajectories that start in the window stay within |x| < 1/2."
            .into(),
        figures,
        data: vec![data, table.clone()],
        tables: vec![table],
        settings,
        claims: claims(&measured),
    })
}

fn panels(field: &Field<'_>, alpha: f64) -> Vec<Panel> {
    let cell = REACH / f64::from(CELLS);
    // Long arrows would hide the short ones: lengths are compressed to at most nine tenths of a cell.
    let drawn = |x: f64, v: f64, dx: f64, dv: f64| {
        let length = dx.hypot(dv);
        let scale = if length > 0.0 { 0.9 * cell * (length / (1.0 + length)).sqrt() / length } else { 0.0 };
        (x - 0.5 * scale * dx, v - 0.5 * scale * dv, scale * dx, scale * dv)
    };
    let part = |name: &str, of: &dyn Fn(Arrow) -> (f64, f64)| {
        let arrows = grid(CELLS).into_iter().map(|(x, v)| {
            let (dx, dv) = of(field.at(x, v));
            drawn(x, v, dx, dv)
        });
        let edge = REACH + 0.5 * cell;
        Panel::new(format!("{name}, α = {alpha}"))
            .x(Axis::linear("x").range(-edge, edge))
            .y(Axis::linear("v").range(-edge, edge))
            .arrows(Hue::alpha(alpha), "", arrows.collect())
    };
    vec![
        part("dissipative", &|a| (0.0, a.friction)),
        part("Hamiltonian", &|a| (a.transport, a.force)),
        [(-3.0, 2.0), (3.0, -2.0)].into_iter().fold(
            part("total", &|a| (a.transport, a.force + a.friction)),
            |panel, start| {
                panel.line(
                    Hue::Ink,
                    "two trajectories",
                    field.trajectory(start).take(10_000).step_by(10).collect(),
                )
            },
        ),
    ]
}

/// Of the quartic at α = 2 and 1.7, then of the Cauchy potential.
fn claims(all: &[Measured]) -> Vec<Claim> {
    let [light, heavy, slow, fast] = all else { return Vec::new() };
    vec![
        Claim::new(
            "f = x⁴/4, Gaussian energy: the field tends to diverge at α = 2; at α = 1.7 the strong dissipation compensates for the fast-growing f.",
            format!(
                "The dissipation at |v| = 3 is {:.1} times as strong at α = {} as at α = {}; the field points outward in {:.0} % of the window \
                 against {:.0} %. Of {} trajectories at α = 2 all but {} settle at the origin, in a mean time of {:.2}; at α = 1.7 all but {}, in {:.2}.",
                heavy.power / light.power,
                heavy.alpha,
                light.alpha,
                100.0 * heavy.outward,
                100.0 * light.outward,
                light.starts,
                light.escaped,
                light.settles,
                heavy.escaped,
                heavy.settles
            ),
            Verdict::of_all([heavy.power > light.power, heavy.outward < light.outward, light.escaped > 0]),
        ),
        Claim::new(
            "f = −log Cauchy, stable energy: at α = 2 the field concentrates very slowly at the minimum, at α = 1.7 faster.",
            format!(
                "Mean time until |x| stays below 1/2: {:.2} at α = 2, {:.2} at α = 1.7; outward in {:.0} % and {:.0} % of the window.",
                slow.settles,
                fast.settles,
                100.0 * slow.outward,
                100.0 * fast.outward
            ),
            // A tenth is the least that one would call faster.
            Verdict::of_all([fast.settles < 0.9 * slow.settles, fast.outward < slow.outward]),
        ),
    ]
}
