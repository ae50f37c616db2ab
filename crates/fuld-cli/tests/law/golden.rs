//! Values agree with those computed by ball arithmetic.

use super::{law, numbers};
use levy_stable::SymmetricStable;

const SMALL: &str = include_str!("../../../levy-stable/tests/golden/small.csv");
const QUANTILE: &str = include_str!("../../../levy-stable/tests/golden/quantile.csv");

fn rows(csv: &str) -> Vec<Vec<f64>> {
    let lines = csv.lines().filter(|line| !line.starts_with('#')).skip(1);
    lines.map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect()).collect()
}

#[track_caller]
fn assert_close(ours: f64, exact: f64, size: f64, what: &str) {
    assert!((ours - exact).abs() <= 1e-12 * size, "{what}: {ours} is not {exact}");
}

/// Evaluates all points of each α in one call, from standard input.
#[test]
fn functions_have_their_golden_values() {
    let golden: Vec<Vec<f64>> = rows(SMALL).into_iter().filter(|row| row[0] >= 0.3).collect();
    let mut alphas: Vec<f64> = golden.iter().map(|row| row[0]).collect();
    alphas.dedup();
    assert!(alphas.len() > 5, "{alphas:?}");
    for alpha in alphas.into_iter().step_by(3) {
        let rows: Vec<&Vec<f64>> = golden.iter().filter(|row| row[0] == alpha).collect();
        let points: String = rows.iter().map(|row| format!("{:e}\n", row[1])).collect();
        for (function, column) in [("pdf", 2), ("sf", 3), ("score", 4), ("score-derivative", 5)] {
            let printed = law(&format!("{function} --alpha {alpha}"), &points).printed();
            assert_eq!(printed.lines().next(), Some(&*format!("x,{}", function.replace('-', "_"))));
            let ours = numbers(&printed);
            assert_eq!(ours.len(), rows.len());
            for (ours, row) in ours.iter().zip(&rows) {
                assert_eq!(ours[0], row[1]);
                // As in the tests of the library: near its zero, g″ is accurate relative to g′².
                let size =
                    if column == 5 { row[5].abs() + row[4] * row[4] } else { row[column].abs() };
                assert_close(
                    ours[1],
                    row[column],
                    size,
                    &format!("{function}({}) at {alpha}", row[1]),
                );
            }
        }
    }
}

#[test]
fn quantiles_have_their_golden_values() {
    for row in rows(QUANTILE).iter().filter(|row| row[0] >= 0.3).step_by(17) {
        let (alpha, q, x) = (row[0], row[1], row[2]);
        let ours = numbers(&law(&format!("isf {q:e} --alpha {alpha}"), "").printed());
        assert_eq!(ours[0][0], q);
        assert_close(ours[0][1], x, x.abs(), &format!("isf({q}) at {alpha}"));
    }
}

/// Printed numbers equal those of the library bit for bit, whatever their size.
#[test]
fn printed_numbers_are_exact() {
    let unit = SymmetricStable::new(1.5).unwrap();
    let wide = SymmetricStable::new(1.5).unwrap().with_scale(2.5).unwrap();
    let kinetic = SymmetricStable::kinetic(1.5).unwrap();
    type Value<'a> = &'a dyn Fn(f64) -> f64;
    let cases: [(&str, Value); 8] = [
        ("pdf", &|x| unit.pdf(x)),
        ("pdf --scale 2.5", &|x| wide.pdf(x)),
        ("logpdf", &|x| unit.ln_pdf(x)),
        ("cdf", &|x| unit.cdf(x)),
        ("sf --scale 2.5", &|x| wide.sf(x)),
        ("score", &|x| unit.score(x)),
        ("score-derivative --scale 2.5", &|x| wide.score_derivative(x)),
        ("grad-g", &|x| -kinetic.score(x)),
    ];
    for (function, value) in cases {
        let printed =
            law(&format!("{function} --alpha 1.5 -7.3 -1e-300 0 0.1 1 1e5 1e22 1e200"), "")
                .printed();
        let ours = numbers(&printed);
        let points: Vec<f64> = ours.iter().map(|row| row[0]).collect();
        assert_eq!(points, [-7.3, -1e-300, 0.0, 0.1, 1.0, 1e5, 1e22, 1e200]);
        for row in ours {
            assert_eq!(row[1], value(row[0]), "{function} at {}", row[0]);
        }
    }
    let printed = law("quantile 0.25 0.5 0.9 --alpha 1.5", "").printed();
    assert_eq!(numbers(&printed)[2], [0.9, unit.quantile(0.9)]);
    assert!(printed.contains("\n0.5,0\n"), "zero has no sign: {printed}");
}

#[test]
fn several_laws_are_columns() {
    let printed = law("sf -1..1/3 --alpha 1,2 5", "").printed();
    assert_eq!(printed.lines().next(), Some("x,sf_1,sf_2"));
    let ours = numbers(&printed);
    assert_eq!(ours.iter().map(|row| row[0]).collect::<Vec<f64>>(), [-1.0, 0.0, 1.0, 5.0]);
    assert_eq!(ours[0][1], 0.75, "a Cauchy variable exceeds -1 with probability 3/4");
    assert_eq!(ours[3][2], SymmetricStable::new(2.0).unwrap().sf(5.0));
    assert_eq!(law("sf 0 --alpha 1 --no-header", "").printed(), "0,0.5\n");
}
