//! A store opened by ArviZ. Requires a Python with arviz and zarr, named by FULD_PYTHON; `make
//! test` provides it.

use crate::wells::{run, wells};
use fuld::chains::{Callback, Control, ZarrSink};
use fuld::{Integrator, Run};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

#[test]
fn arviz_opens_the_store() {
    let Some(python) = std::env::var_os("FULD_PYTHON") else {
        println!("skipped: FULD_PYTHON names no python with arviz");
        return;
    };
    let store = Path::new(env!("CARGO_TARGET_TMPDIR")).join("arviz.zarr");
    for (dim, velocities) in [(1, false), (3, true)] {
        let _ = std::fs::remove_dir_all(&store);
        // More than one segment, the last not full.
        let run = Run { chains: 5, draws: 70_000, thin: 1, velocities, ..run(Integrator::Baoab) };
        run.stream(&wells(dim), &mut ZarrSink::new(&store), &mut |_| Control::Continue).unwrap();
        let mut last = Vec::new();
        let mut sink = Callback(|_, values: &[f64]| {
            let width = if velocities { 2 * dim } else { dim };
            last = values[values.len() - width..].to_vec();
            Ok(())
        });
        run.stream(&wells(dim), &mut sink, &mut |_| Control::Continue).unwrap();

        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/check/open_zarr.py");
        let output = Command::new(&python).arg(script).arg(&store).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let seen: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(seen["chain"], json!([0, 1, 2, 3, 4]));
        assert_eq!(seen["last_draw"], 69_999);
        if dim == 1 {
            assert_eq!(seen["dims"], json!({"x": ["chain", "draw"]}));
            assert_eq!(seen["shape"], json!({"x": [5, 70_000]}));
        } else {
            assert_eq!(seen["dims"]["v"], json!(["chain", "draw", "coordinate"]));
            assert_eq!(seen["shape"]["x"], json!([5, 70_000, 3]));
            assert_eq!(seen["values"]["v"], json!(last[dim..]));
        }
        assert_eq!(seen["values"]["x"], json!(last[..dim]));
        for rhat in seen["rhat"].as_array().unwrap() {
            assert!((rhat.as_f64().unwrap() - 1.0).abs() < 0.2, "{rhat}");
        }
    }
}
