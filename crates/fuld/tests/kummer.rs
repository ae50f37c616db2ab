//! Kummer's function, compared with mpmath.

use fuld::numerics::{kummer, kummer_scaled};

fn rows() -> Vec<[f64; 4]> {
    let lines =
        include_str!("golden/kummer.csv").lines().filter(|line| !line.starts_with('#')).skip(1);
    lines
        .map(|line| {
            let numbers: Vec<f64> =
                line.split(',').map(|text| text.parse().expect("a number")).collect();
            numbers.try_into().expect("four columns")
        })
        .collect()
}

/// Returns the size that errors are relative to: the value, and for a < 0, where terms cancel, also
/// the largest term.
fn size(a: f64, b: f64, z: f64, value: f64) -> f64 {
    if a >= 0.0 {
        return value.abs();
    }
    let (mut term, mut largest) = (1.0f64, 1.0f64);
    for k in 0..3 {
        let k = f64::from(k);
        term *= (a + k) / (b + k) * (z / (k + 1.0));
        largest = largest.max(term.abs());
    }
    value.abs().max((-z).exp() * largest)
}

#[test]
fn golden_values() {
    let mut worst = [0.0f64; 2];
    for [a, b, z, scaled] in rows() {
        let error = (kummer_scaled(a, b, z) - scaled).abs() / size(a, b, z, scaled);
        assert!(error < 2e-14, "1F1({a}; {b}; {z}): {error:e}");
        let sign = usize::from(a < 0.0);
        worst[sign] = worst[sign].max(error);
        if z < 700.0 {
            let plain = kummer(a, b, z) / (0.5 * z).exp() / (0.5 * z).exp();
            assert!(
                (plain - scaled).abs() / size(a, b, z, scaled) < 2e-14,
                "1F1({a}; {b}; {z}): {plain}"
            );
        }
    }
    println!("worst for a >= 0: {:e}, for a < 0: {:e}", worst[0], worst[1]);
}
