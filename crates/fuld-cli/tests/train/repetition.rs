//! Equal settings give equal bits, and so do equivalent ones.

use super::{TINY, assert_same, file, finished, result};
use crate::program::fuld;

const FILES: [&str; 3] = ["weights.safetensors", "metrics.csv", "tail-index.csv"];

#[test]
fn results_do_not_depend_on_threads() {
    let noisy = format!("{TINY} --alpha 1.6 --inject-noise 1.5,1e-3 --tail-index every=100");
    let first = finished(&noisy);
    assert_same(&first, &finished(&noisy), &FILES);
    assert_same(&first, &finished(&format!("{noisy} --threads 1")), &FILES);
    assert_same(&first, &finished(&format!("{noisy} --threads 2")), &FILES);
    let other = finished(&format!("{noisy} --seed 1"));
    for name in FILES {
        assert!(file(&first, name) != file(&other, name), "{name} does not depend on the seed");
    }
}

#[test]
fn a_finished_run_is_repeated_only_with_fresh() {
    let folder = finished(TINY);
    let before = result(folder.path());
    fuld(folder.path(), TINY).with(0, &["finished", "--fresh"]);
    assert_eq!(result(folder.path()), before);
    let weights = file(&folder, "weights.safetensors");
    fuld(folder.path(), &format!("{TINY} --fresh")).with(0, &[]);
    assert_ne!(result(folder.path())["seconds"], before["seconds"]);
    assert!(file(&folder, "weights.safetensors") == weights);
}

#[test]
fn alpha_2_and_inactive_clipping_equal_sgd_with_momentum() {
    let same = ["weights.safetensors", "metrics.csv"];
    for step in ["", "--eta 0.2 --gamma 0.3", "--lr 0.02 --momentum 0.9"] {
        let sgdm = finished(&format!("{TINY} --optimizer sgdm {step}"));
        assert_same(&sgdm, &finished(&format!("{TINY} --alpha 2 {step}")), &same);
        assert_same(
            &sgdm,
            &finished(&format!("{TINY} --optimizer clip-norm --clip 1e9 {step}")),
            &same,
        );
        assert_same(
            &sgdm,
            &finished(&format!("{TINY} --optimizer clip-value --clip 1e9 {step}")),
            &same,
        );
        for other in ["--alpha 1.99", "--optimizer clip-norm --clip 0.1", "--optimizer clip-value"]
        {
            let other = finished(&format!("{TINY} {other} {step}"));
            assert!(file(&sgdm, same[0]) != file(&other, same[0]));
        }
    }
}

/// Measurements and tail indices do not affect training.
#[test]
fn measurements_do_not_change_the_weights() {
    let rarely = finished(TINY);
    let often = TINY.replace("--measure-every 20", "--measure-every 7 --tail-index every=33");
    let often = finished(&often);
    assert_same(&rarely, &often, &["weights.safetensors"]);
    let column = |name: &str| -> Vec<String> {
        let text = String::from_utf8(file(&often, name)).unwrap();
        let mut column: Vec<String> =
            text.lines().skip(1).map(|line| line.split(',').next().unwrap().into()).collect();
        column.dedup();
        column
    };
    assert_eq!(column("tail-index.csv"), ["0", "33", "66", "99"]);
    assert_eq!(column("metrics.csv").len(), 1 + 100 / 7 + 1);
    assert_eq!(column("metrics.csv").last().unwrap(), "100");
}
