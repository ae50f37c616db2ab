//! The tabulated kinetic-energy field: evaluation in both precisions, and the cost of building a
//! table.

mod timing;

use levy_stable::{FieldTable, SymmetricStable};
use std::hint::black_box;
use timing::{BATCH, drawn, group, time};

fn main() {
    let table = |alpha| FieldTable::new(alpha).expect("a valid index");
    let mut c = timing::criterion();
    let mut group = group(&mut c, "table");
    for alpha in [0.8, 1.5, 1.9] {
        let field = table(alpha);
        let v = drawn(&SymmetricStable::kinetic(alpha).expect("a valid index"));
        let v_f32: Vec<f32> = v.iter().map(|&v| v as f32).collect();
        let (mut out, mut out_f32) = (vec![0.0; BATCH], vec![0.0; BATCH]);
        time(&mut group, ("eval_into", alpha), BATCH, || {
            field.eval_into(black_box(&v), &mut out);
            black_box(&out);
        });
        time(&mut group, ("eval_into_f32", alpha), BATCH, || {
            field.eval_into_f32(black_box(&v_f32), &mut out_f32);
            black_box(&out_f32);
        });
    }
    for alpha in [0.8, 1.5, 1.9, 1.9999] {
        time(&mut group, ("new", alpha), 1, || {
            black_box(table(black_box(alpha)));
        });
    }
    group.finish();
    c.final_summary();
}
