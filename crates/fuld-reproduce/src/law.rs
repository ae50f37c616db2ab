//! Beyond the paper: how right and how fast the law is, on this machine.

use super::claim::{Claim, Verdict};
use super::exhibit::{Exhibit, Table};
use super::lab::Lab;
use fuld_plot::{Axis, Figure, Hue, Panel};
use levy_stable::{FieldTable, SymmetricStable};
use std::hint::black_box;
use std::time::Instant;

/// Values to 30 digits by ball arithmetic, made by `make golden`.
const REFERENCE: &str = include_str!("law_reference.csv");

/// A point at which the truth is known.
struct Point {
    alpha: f64,
    x: f64,
    pdf: f64,
    sf: f64,
    score: f64,
}

fn reference() -> Vec<Point> {
    let numbers = |line: &str| -> Vec<f64> { line.split(',').filter_map(|cell| cell.parse().ok()).collect() };
    let lines = REFERENCE.lines().filter(|line| !line.starts_with('#')).map(numbers);
    lines
        .filter_map(|n| {
            if let [alpha, x, pdf, sf, score] = n[..] {
                Some(Point { alpha, x, pdf, sf, score })
            } else {
                None
            }
        })
        .collect()
}

/// Millions of evaluations a second, the best of several tries.
fn speed(count: usize, mut work: impl FnMut()) -> f64 {
    let tries = (0..7).map(|_| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64()
    });
    count as f64 / tries.fold(f64::INFINITY, f64::min) / 1e6
}

/// Makes the exhibit.
pub(super) fn make(lab: &Lab) -> anyhow::Result<Exhibit> {
    let points = reference();
    let mut worst = [("pdf", 0.0f64), ("sf", 0.0), ("score", 0.0)];
    let mut data = Table::new("errors", &["alpha", "x", "pdf_error", "sf_error", "score_error"]);
    let mut clouds: [Vec<(f64, f64)>; 3] = Default::default();
    for point in &points {
        let law = SymmetricStable::new(point.alpha)?;
        let error =
            |ours: f64, exact: f64| if exact == 0.0 { ours.abs() } else { (ours / exact - 1.0).abs() };
        let errors = [
            error(law.pdf(point.x), point.pdf),
            error(law.sf(point.x), point.sf),
            error(law.score(point.x), point.score),
        ];
        for (i, error) in errors.into_iter().enumerate() {
            worst[i].1 = worst[i].1.max(error);
            clouds[i].push((point.alpha, error));
        }
        data.numbers(point.alpha.to_string(), &[point.x, errors[0], errors[1], errors[2]]);
    }
    let mut panel = Panel::new(format!("largest relative error of {} random points, by α", points.len()))
        .x(Axis::linear("α").range(0.25, 2.05))
        .y(Axis::log("relative error").range(1e-16, 1e-13))
        .horizontal(f64::EPSILON, "one unit in the last place")
        .horizontal(2e-14, "what we promise");
    for ((cloud, hue), (name, _)) in clouds.into_iter().zip([Hue::Blue, Hue::Orange, Hue::Green]).zip(worst) {
        let largest = largest(&cloud);
        panel = panel.line(hue, "", largest.clone()).dots(hue, name, largest);
    }

    let table = speeds(lab)?;
    let mut settings = toml::Table::new();
    settings.insert("reference".into(), "random points, 30 digits, ball arithmetic".into());
    settings.insert("points".into(), (points.len() as i64).into());
    Ok(Exhibit {
        id: "law",
        title: "Beyond the paper · The law, to the last digit".into(),
        text: "The paper computes ∇G_α by software for one α at a time and interpolates. Here every function of the law is one positive integral, \
               right to some units in the last place for every α and x. Errors against ball arithmetic, speed on one core of this machine."
            .into(),
        figures: vec![(
            Figure::new("law").columns(1).panel_height(300.0).panel(panel),
            "The largest errors against ball arithmetic, in bins of α.".into(),
        )],
        data: vec![data, table.clone()],
        tables: vec![table],
        settings,
        claims: vec![claim(points.len(), &worst)],
    })
}

/// The largest error within each of some bins of α.
fn largest(cloud: &[(f64, f64)]) -> Vec<(f64, f64)> {
    const WIDTH: f64 = 0.1;
    let bins = (3..20).map(|i| WIDTH * f64::from(i));
    let in_bin = |low: f64| {
        let errors =
            cloud.iter().filter(|(alpha, _)| (low..=low + WIDTH).contains(alpha)).map(|(_, error)| *error);
        (low + 0.5 * WIDTH, errors.fold(1e-16, f64::max))
    };
    bins.map(in_bin).collect()
}

fn speeds(lab: &Lab) -> anyhow::Result<Table> {
    const COUNT: usize = 20_000;
    const MANY: usize = 1 << 20;
    let mut table = Table::new("speed on one core", &["million a second", "α = 0.8", "α = 1.5", "α = 1.9"]);
    let alphas = [0.8, 1.5, 1.9];
    let x: Vec<f64> = lab.noise(1.5, 1, COUNT)?;
    let many: Vec<f64> = lab.noise(1.5, 2, MANY)?;
    let single: Vec<f32> = many.iter().map(|&x| x as f32).collect();
    let words: Vec<u64> = lab.words(MANY);
    let mut rows: [(&str, Vec<f64>); 6] =
        ["pdf", "sf", "score", "∇G_α table, f64", "∇G_α table, f32", "draws"].map(|name| (name, Vec::new()));
    let (mut out, mut bulk, mut bulk_single) = (vec![0.0; COUNT], vec![0.0; MANY], vec![0.0f32; MANY]);
    for alpha in alphas {
        let law = SymmetricStable::new(alpha)?;
        let (table, sampler) = (FieldTable::new(alpha)?, SymmetricStable::new(alpha)?.sampler());
        rows[0].1.push(speed(COUNT, || law.pdf_into(black_box(&x), &mut out)));
        rows[1].1.push(speed(COUNT, || law.sf_into(black_box(&x), &mut out)));
        rows[2].1.push(speed(COUNT, || law.score_into(black_box(&x), &mut out)));
        rows[3].1.push(speed(MANY, || table.eval_into(black_box(&many), &mut bulk)));
        rows[4].1.push(speed(MANY, || table.eval_into_f32(black_box(&single), &mut bulk_single)));
        rows[5].1.push(speed(MANY, || sampler.transform(black_box(&words), &mut bulk)));
    }
    for (name, speeds) in rows {
        let [a, b, c] = [0, 1, 2].map(|i| {
            if speeds[i] < 10.0 { format!("{:.2}", speeds[i]) } else { format!("{:.0}", speeds[i]) }
        });
        table.row([name.into(), a, b, c]);
    }
    Ok(table)
}

fn claim(points: usize, worst: &[(&str, f64); 3]) -> Claim {
    let texts: Vec<String> = worst.iter().map(|(name, error)| format!("{name} {error:.1e}")).collect();
    Claim::ours(
        "Density, survival function and score have relative errors below 2·10⁻¹⁴ for 0.3 ≤ α ≤ 2.",
        format!("Largest of {points} random points: {}.", texts.join(", ")),
        Verdict::of(points > 0 && worst.iter().all(|(_, error)| *error < 2e-14)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_is_read_whole() {
        let points = reference();
        assert_eq!(points.len(), REFERENCE.lines().filter(|line| !line.starts_with('#')).count() - 1);
        assert!(points.len() > 1000 && points.iter().all(|p| p.pdf > 0.0));
    }

    #[test]
    fn a_large_error_is_seen() {
        let claim_of = |error: f64| claim(10, &[("pdf", 1e-15), ("sf", error), ("score", 1e-15)]).verdict;
        assert_eq!((claim_of(1e-15), claim_of(1e-13)), (Verdict::Holds, Verdict::Fails));
    }
}
