//! Random draws: in bulk from the tabulated quantile, and singly by Chambers, Mallows and Stuck.

mod timing;

use levy_stable::SymmetricStable;
use rand::distr::Distribution;
use std::hint::black_box;
use timing::{BATCH, group, rng, time};

fn main() {
    let sampler = |alpha| SymmetricStable::new(alpha).expect("a valid index").sampler();
    let mut c = timing::criterion();
    let mut group = group(&mut c, "sampling");
    for alpha in [0.8, 1.5, 1.9] {
        let bulk = sampler(alpha);
        let law = SymmetricStable::new(alpha).expect("a valid index");
        let (mut out, mut out_f32) = (vec![0.0; BATCH], vec![0.0; BATCH]);
        let mut rng = rng();
        time(&mut group, ("fill", alpha), BATCH, || {
            bulk.fill(&mut rng, &mut out);
            black_box(&out);
        });
        time(&mut group, ("fill_f32", alpha), BATCH, || {
            bulk.fill_f32(&mut rng, &mut out_f32);
            black_box(&out_f32);
        });
        time(&mut group, ("sample", alpha), BATCH, || {
            for _ in 0..BATCH {
                black_box::<f64>(law.sample(&mut rng));
            }
        });
        time(&mut group, ("new", alpha), 1, || {
            black_box(sampler(black_box(alpha)));
        });
    }
    group.finish();
    c.final_summary();
}
