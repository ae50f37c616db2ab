//! Functions of the law to full precision, one point at a time.

mod timing;

use criterion::Criterion;
use levy_stable::{Regime, SymmetricStable};
use rand::RngExt;
use std::hint::black_box;
use timing::{BATCH, drawn, group, rng, time};

/// Returns points where the integral is used, between the series at the origin and that of the
/// tail.
fn middle(law: &SymmetricStable) -> Vec<f64> {
    let mut rng = rng();
    std::iter::repeat_with(|| rng.random_range(0.1..15.0))
        .filter(|&x| law.regime(x) == Regime::Contour)
        .take(BATCH)
        .collect()
}

type Function = fn(&SymmetricStable, f64) -> f64;

fn bench(c: &mut Criterion, name: &str, f: Function, cases: &[(&str, SymmetricStable, Vec<f64>)]) {
    let mut group = group(c, name);
    for (points, law, x) in cases {
        time(&mut group, (points, law.alpha()), BATCH, || {
            for &x in black_box(x) {
                black_box(f(law, x));
            }
        });
    }
    group.finish();
}

fn main() {
    let law = |alpha| SymmetricStable::new(alpha).expect("a valid index");
    let mut c = timing::criterion();

    let mut cases: Vec<_> = [0.5, 0.9, 1.1, 1.5, 1.75, 1.9, 1.99]
        .into_iter()
        .map(|alpha| ("middle", law(alpha), middle(&law(alpha))))
        .collect();
    cases.push(("drawn", law(1.5), drawn(&law(1.5))));
    bench(&mut c, "pdf", SymmetricStable::pdf, &cases);
    bench(&mut c, "score", SymmetricStable::score, &cases);
    bench(&mut c, "sf", SymmetricStable::sf, &cases);

    let p: Vec<f64> = rng().random_iter().take(BATCH).collect();
    let cases = [0.5, 0.9, 1.5, 1.9].map(|alpha| ("uniform", law(alpha), p.clone()));
    bench(&mut c, "quantile", SymmetricStable::quantile, &cases);

    let mut group = group(&mut c, "law");
    for alpha in [0.5, 1.5, 1.99] {
        time(&mut group, ("new", alpha), 1, || {
            black_box(law(black_box(alpha)));
        });
    }
    group.finish();
    c.final_summary();
}
