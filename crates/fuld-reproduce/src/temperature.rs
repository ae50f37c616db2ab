//! Beyond the paper: what the field without β does at temperatures other than 1.

use super::claim::{Claim, Verdict};
use super::distance::Distance;
use super::exhibit::{Exhibit, Table};
use super::lab::Lab;
use super::quartic::well;
use fuld::gibbs::Gibbs;
use fuld::{Alpha, Beta, Friction, Integrator, Run, Schedule, System, SystemError, Underdamped};
use fuld_plot::{Axis, Figure, Hue, Panel};

const ALPHAS: [f64; 2] = [1.0, 1.5];
const BETAS: [f64; 7] = [0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0];
const GAMMA: f64 = 5.0;
const ETA: f64 = 0.02;
const CHAINS: usize = 4096;

type Field = fn(Underdamped) -> Result<System, SystemError>;

/// One dynamics at one temperature.
struct Point {
    beta: f64,
    distance: Distance,
    /// E x² over what it should be.
    ratio: f64,
    diverged: usize,
}

fn measure(lab: &Lab, field: Field, alpha: f64, beta: f64) -> anyhow::Result<Point> {
    let well = well()?;
    let gibbs = Gibbs::new(&well, beta)?;
    let parameters =
        Underdamped { alpha: Alpha::new(alpha)?, gamma: Friction::new(GAMMA)?, beta: Beta::new(beta)? };
    let run = Run::new(field(parameters)?, Integrator::Baoab, Schedule::constant(ETA)?);
    let run = Run { chains: CHAINS, warmup: 2_000, draws: 20, thin: 100, ..run };
    let (samples, outcome) = lab.run(run, &well)?;
    let draws = samples.coordinate(0);
    let finite = || draws.iter().flatten().filter(|x| x.is_finite());
    let second = finite().map(|x| x * x).sum::<f64>() / finite().count() as f64;
    Ok(Point {
        beta,
        distance: Distance::of(&draws, &gibbs)?,
        ratio: second / gibbs.expectation(|x| x * x),
        diverged: outcome.divergences.len(),
    })
}

/// Makes the exhibit.
pub(super) fn make(lab: &Lab) -> anyhow::Result<Exhibit> {
    let mut table =
        Table::new("temperatures", &["field, α, β", "KS to Gibbs", "95 % by chance", "E x² over exact"]);
    let [mut left, mut right] = ["distance to exp(−βf)", "second moment"].map(Panel::new);
    left = left.x(Axis::log("inverse temperature β").ticks(&BETAS)).y(Axis::log("KS distance"));
    right = right
        .x(Axis::log("inverse temperature β").ticks(&BETAS))
        .y(Axis::linear("E x² over its exact value"));
    let fields: [(&str, Field); 2] =
        [("∇G_{α} without β, as printed", System::fuld_beta_free), ("h_{β}, exact", System::fuld)];
    let mut all = Vec::new();
    let mut noise = BETAS.map(|beta| (beta, 0.0f64));
    for (name, field) in fields {
        for alpha in ALPHAS {
            let points = BETAS
                .map(|beta| measure(lab, field, alpha, beta))
                .into_iter()
                .collect::<Result<Vec<_>, _>>()?;
            let exact = name.starts_with('h');
            let (hue, label) = (Hue::alpha(alpha), format!("{name}, α = {alpha}"));
            let curve = |of: fn(&Point) -> f64| -> Vec<(f64, f64)> {
                points.iter().map(|p| (p.beta, of(p))).collect()
            };
            for point in &points {
                table.row([
                    format!("{}, {alpha}, {}", if exact { "exact" } else { "β-free" }, point.beta),
                    format!("{:.4}", point.distance.value),
                    format!("{:.4}", point.distance.chance),
                    format!("{:.4}", point.ratio),
                ]);
            }
            let (distances, ratios) = (curve(|p| p.distance.value), curve(|p| p.ratio));
            (left, right) = if exact {
                (left.line(hue, label.clone(), distances), right.line(hue, label, ratios))
            } else {
                (left.dashed(hue, label.clone(), distances), right.dashed(hue, label, ratios))
            };
            noise.iter_mut().zip(&points).for_each(|(noise, p)| noise.1 = noise.1.max(p.distance.chance));
            all.push((exact, points));
        }
    }
    left = left.dotted(Hue::Muted, "exceeded by chance once in twenty", noise.to_vec());
    let mut settings = toml::Table::new();
    settings.insert("potential".into(), "x^4/4 - x^2/2".into());
    settings.insert("alpha".into(), ALPHAS.to_vec().into());
    settings.insert("beta".into(), BETAS.to_vec().into());
    settings.insert("gamma".into(), GAMMA.into());
    settings.insert("eta".into(), ETA.into());
    settings.insert("integrator".into(), "baoab".into());
    settings.insert("chains".into(), (CHAINS as i64).into());
    Ok(Exhibit {
        id: "temperature",
        title: "Beyond the paper · FULD at every temperature".into(),
        text: "Theorem 1 is printed with ψ = e^(−g), but its proof uses e^(−βg). Taken at its word, the transport field of the stable energy \
               carries the temperature: h_β(v) = β^(1/α − 1) ∇G_α(β^(1/α) v). The paper's algorithm uses ∇G_α whatever β is, which is the \
               same only at β = 1 or α = 2."
            .into(),
        figures: vec![(
            Figure::new("temperature").panel(left).panel(right),
            "The double well at seven temperatures, BAOAB; solid: the exact field, dashed: the printed one.".into(),
        )],
        data: vec![table],
        tables: Vec::new(),
        settings,
        claims: claims(&all),
    })
}

fn claims(all: &[(bool, Vec<Point>)]) -> Vec<Claim> {
    let points = |exact: bool, at_one: bool| {
        let of_field =
            all.iter().filter(move |(is_exact, _)| *is_exact == exact).flat_map(|(_, points)| points);
        of_field.filter(move |point| (point.beta == 1.0) == at_one)
    };
    let worst = |exact: bool, at_one: bool| {
        let worst = points(exact, at_one).max_by(|a, b| a.distance.value.total_cmp(&b.distance.value));
        worst.map_or(String::new(), |p| {
            format!("{:.3} at β = {} (by chance {:.3})", p.distance.value, p.beta, p.distance.chance)
        })
    };
    let agree =
        |exact: bool, at_one: bool| points(exact, at_one).all(|p| p.distance.agrees() && p.diverged == 0);
    let both = |exact: bool| {
        format!("KS distance up to {}; elsewhere up to {}.", worst(exact, true), worst(exact, false))
    };
    vec![
        Claim::new(
            "Theorem 1, with ψ = e^(−g) as printed: exp(−βf) is invariant at every β.",
            both(false),
            Verdict::of_all([agree(false, true), agree(false, false)]),
        ),
        Claim::ours(
            "With h_β, that is ψ = e^(−βg), exp(−βf) is invariant at every β.",
            both(true),
            Verdict::of_all([agree(true, true), agree(true, false)]),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A field that is right at β = 1 only holds in part, one that is right nowhere fails, and so does one that loses chains.
    #[test]
    fn a_bias_at_any_temperature_is_seen() {
        let point = |beta: f64, value: f64, diverged: usize| Point {
            beta,
            distance: Distance { value, chance: 0.01 },
            ratio: 1.0,
            diverged,
        };
        let verdict = |points: Vec<Point>| claims(&[(true, points)])[1].verdict;
        assert_eq!(verdict(vec![point(0.5, 0.01, 0), point(1.0, 0.01, 0)]), Verdict::Holds);
        assert_eq!(
            verdict(vec![point(0.5, 0.03, 0), point(4.0, 0.001, 0), point(1.0, 0.01, 0)]),
            Verdict::InPart
        );
        assert_eq!(verdict(vec![point(0.5, 0.01, 1), point(1.0, 0.01, 1)]), Verdict::Fails);
    }
}
