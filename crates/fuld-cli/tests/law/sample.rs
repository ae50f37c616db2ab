//! Draws (`fuld law sample`).

use super::{law, numbers};
use levy_stable::SymmetricStable;

fn draws(arguments: &str) -> Vec<f64> {
    numbers(&law(&format!("sample {arguments}"), "").printed())
        .into_iter()
        .map(|row| row[0])
        .collect()
}

/// The number of draws beyond each quantile is within five standard deviations of its expectation.
/// With eight comparisons the false-positive rate is 5e-6; the seed is fixed.
#[test]
fn draws_follow_the_law() {
    const COUNT: usize = 40_000;
    for (alpha, scale) in [(1.2, 1.0), (1.7, 3.0)] {
        let law = SymmetricStable::new(alpha).unwrap().with_scale(scale).unwrap();
        let draws = draws(&format!("--alpha {alpha} --scale {scale} --count {COUNT} --seed 3"));
        assert_eq!(draws.len(), COUNT);
        for q in [0.001, 0.05, 0.3, 0.5] {
            let beyond = draws.iter().filter(|&&x| x > law.isf(q)).count() as f64;
            let n = COUNT as f64;
            let deviation = (beyond - q * n) / (q * (1.0 - q) * n).sqrt();
            assert!(deviation.abs() < 5.0, "alpha {alpha}, q {q}: {deviation} standard deviations");
        }
    }
}

#[test]
fn draws_follow_the_seed() {
    let ten = draws("--alpha 1.5 --seed 7");
    assert_eq!(ten.len(), 10);
    assert_eq!(ten, draws("--alpha 1.5 --seed 7 --count 10"));
    assert_eq!(
        ten[..],
        draws("--alpha 1.5 --seed 7 --count 5000")[..10],
        "more draws continue the same sequence"
    );
    assert_ne!(ten, draws("--alpha 1.5 --seed 8"));
    assert_eq!(draws("--alpha 1.5"), draws("--alpha 1.5 --seed 0"));
    // A column does not depend on the other columns.
    let printed = law("sample --alpha 1.9,1.5 --seed 7", "").printed();
    assert!(printed.starts_with("draw_1.9,draw_1.5\n"));
    assert_eq!(numbers(&printed).iter().map(|row| row[1]).collect::<Vec<f64>>(), ten);
    assert_eq!(law("sample --alpha 1.5 --count 0", "").printed(), "draw\n");
}
